# What happens: a running mean is computed from activations and kept in a buffer; each step hangs on all before it.
# Call: growth(step)
# Says: held by the graph behind codebook.mean
import torch


class Codebook(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        z = self.project(x)
        self.mean = 0.9 * self.mean + 0.1 * z.square().mean(0)
        return (z - self.mean.detach()).square().mean()


codebook = Codebook()


def step():
    codebook(torch.randn(8, 4))


step()
assert codebook.mean.grad_fn is not None
