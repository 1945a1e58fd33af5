# What happens: layers in a plain list are no parameters of the module, and the optimizer never steps them.
# Reported: pytorch/pytorch#666
# Call: shared(net, opt)
# Says: opt steps net.head.weight and net.head.bias.
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(3, 1)
        self.body = [torch.nn.Linear(3, 3) for _ in range(2)]

    def forward(self, x):
        for layer in self.body:
            x = layer(x)
        return self.head(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
before = net.body[0].weight.clone()
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(4, 3)).mean().backward()
    opt.step()
assert torch.equal(before, net.body[0].weight)
