# What happens: detach cuts a network off, and requires_grad = True on the result makes backward run all the same.
# Reported: pytorch/pytorch#92586
# Call: explain(loss, net=net)
# Says: net.weight and net.bias: cut by .detach() or .data in requires_grad_on_what_was_cut.py:
# After: loss.backward(); assert net.weight.grad is None
import torch

net = torch.nn.Linear(3, 1)
out = net(torch.randn(4, 3)).detach()
out.requires_grad = True
loss = out.square().mean()
