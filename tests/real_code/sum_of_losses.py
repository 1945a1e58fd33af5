# What happens: total += loss keeps the graph of each step.
# Reported: google/brax#152, BatsResearch/labelmodels#4
# Slow: eleven steps, and a search for what holds their results
# Call: growth(step)
# Says: held by the graph behind total
import torch

net, total = torch.nn.Linear(8, 8), 0


def step():
    global total
    loss = net(torch.randn(4, 8)).square().mean()
    total = total + loss


step()
step()
assert total.grad_fn is not None
