# What happens: losses are appended as tensors for a plot.
# Reported: Quantinuum/lambeq#251, pnnl/neuromancer#292
# Slow: eleven steps, and a search for what holds their results
# Call: growth(step)
# Says: held by the list history
import torch

net, history = torch.nn.Linear(8, 8), []


def step():
    loss = net(torch.randn(4, 8)).square().mean()
    net.zero_grad()
    history.append(loss)


step()
assert history[0].requires_grad
