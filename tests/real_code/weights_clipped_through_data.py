# What happens: weights are clipped through .data after the loss was computed with them.
# Call: watch
# Says: critic.weight was changed by line 10 after line 8 saved it. PyTorch raises no error
import torch

critic = torch.nn.Linear(3, 1)
x = torch.randn(4, 3, requires_grad=True)
loss = critic(x).mean()
for p in critic.parameters():
    p.data.clamp_(-0.01, 0.01)
loss.backward()
assert x.grad.abs().max() <= 0.0026
