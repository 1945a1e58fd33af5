"""Where the largest comes twice, at the bounds and at 0."""
import torch

def grad_of(f, *values):
    x = torch.tensor(values, requires_grad=True)
    f(x).sum().backward()
    return x.grad

print(grad_of(lambda x: x.max(), 2., 2., 1.))
print(grad_of(lambda x: x.amax(), 2., 2., 1.))
print(grad_of(lambda x: x.max(0).values, 2., 2., 1.))
print(grad_of(lambda x: torch.maximum(x, torch.full((3,), 2.)), 2., 3., 1.))
print(grad_of(torch.relu, -1., 0., 1.))
print(grad_of(lambda x: x.clamp(0., 1.), -1., 0., 0.5, 1., 2.))
print(grad_of(torch.abs, -1., 0., 1.))
