# What happens: detach cuts a network off, and requires_grad = True on the result makes backward run all the same.
# Reported: pytorch/pytorch#92586
# Call: explain(loss, net=net)
# Says: No path of the graph leads from loss to net.weight and net.bias
# After: loss.backward(); assert net.weight.grad is None
import torch

net = torch.nn.Linear(3, 1)
out = net(torch.randn(4, 3)).detach()
out.requires_grad = True
loss = out.square().mean()
