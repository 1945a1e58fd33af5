# What happens: a hidden state goes from step to step with retain_graph=True, and all steps stay alive.
# Reported: sgadgil6/cnslab_fmri#4
# Slow: eleven steps, and a search for what holds their results
# Call: growth(step)
# Says: held by the graph behind state
import torch

net, state = torch.nn.GRUCell(2, 3), torch.zeros(1, 3)


def step():
    global state
    state = net(torch.randn(1, 2), state)
    net.zero_grad()
    state.sum().backward(retain_graph=True)


step()
assert state.grad_fn is not None
