# What happens: a hook keeps the input of an activation by module; the module runs twice, and the first call's is gone.
# Reported: openai/CLIP#239
# Call: check_gradients(step, net)
# Says: NOT the slope
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.act = torch.nn.ReLU()

    def forward(self, x):
        return self.act(self.second(self.act(self.first(x))))


net, inputs = Net(), {}
x = torch.randn(16, 3)


def step():
    return net(x).square().sum()


step().backward()
right = net.first.weight.grad.clone()
net.act.register_forward_hook(lambda module, args, out: inputs.update({module: args[0].detach()}))
net.act.register_full_backward_hook(lambda module, given, got: (got[0] * (inputs[module] > 0),))
net.zero_grad()
step().backward()
assert not torch.allclose(net.first.weight.grad, right)
