# What happens: a memory of prototypes is read through detach() in the loss, and never learns.
# Reported: haowang1992/DSN#2
# Call: explain(loss, net=net, memory=memory)
# Says: memory: cut by .detach() or .data in memory_is_detached.py:
# After: loss.backward(); assert memory.grad is None
import torch

net, memory = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.randn(4, 2))
z = net(torch.randn(5, 3))
loss = (z @ memory.detach().t()).logsumexp(1).mean()
