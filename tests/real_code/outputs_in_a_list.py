# What happens: a forward hook appends every output to a list, and with it the graph.
# Reported: growingnet/gromo#135
# Slow: eleven steps, and a search for what holds their results
# Call: growth(step)
# Says: held by the list activations
import torch

net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
activations = []
net[0].register_forward_hook(lambda module, args, out: activations.append(out))


def step():
    net.zero_grad()
    net(torch.randn(2, 4)).mean().backward()


step()
step()
assert len(activations) == 2
