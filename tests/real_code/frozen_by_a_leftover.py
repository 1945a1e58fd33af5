# What happens: a generator was frozen for the critic's step, and stays frozen for its own.
# Call: explain(loss, generator=generator)
# Says: loss requires no grad
import torch

generator = torch.nn.Linear(3, 2)
generator.requires_grad_(False)
loss = generator(torch.randn(4, 3)).mean()
assert not loss.requires_grad
