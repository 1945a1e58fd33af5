# What happens: one network is stepped between the forward and the backward pass of a loss that went through it.
# Reported: pytorch/pytorch#39141
# Call: watch
# Says: opt.step()
import torch

critic, actor = torch.nn.Linear(2, 1), torch.nn.Linear(2, 2)
opt = torch.optim.SGD(critic.parameters(), 0.1)
action = actor(torch.randn(4, 2))
value = critic(action).mean()
critic(action.detach()).square().mean().backward()
opt.step()
try:
    value.backward()
except RuntimeError as error:
    assert "modified by an inplace operation" in str(error)
