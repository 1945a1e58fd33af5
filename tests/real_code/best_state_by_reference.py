# What happens: the best weights are kept as state_dict(), and go on with the training.
# Reported: WenjieDu/PyPOTS#667, pytorch/tutorials#188
# Call: shared(best, net)
# Says: best and net see the same cells through 2 tensors each: weight and bias.
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
best = net.state_dict()
before = best["bias"].clone()
net(torch.ones(1, 3)).sum().backward()
opt.step()
assert not torch.equal(best["bias"], before)
