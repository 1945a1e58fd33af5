"""An assignment to a slice is CopySlices, to a list of places IndexPutBackward0; each bumps the version once."""
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x * 1
y[0] = 5.
print(y.grad_fn.name(), y._version)
y[1:] = torch.zeros(2)
print(y.grad_fn.name(), y._version)
y[[0, 1]] = torch.ones(2)
print(y.grad_fn.name(), y._version)
y[y > 0] = 9.
print(y.grad_fn.name(), y._version)
y.sum().backward()
print(x.grad)
i = torch.zeros(3, dtype=torch.int64)
i[:2] = torch.tensor([1.7, 2.7])
i[[0, 1]] = torch.tensor([1.7, 2.7])
i
