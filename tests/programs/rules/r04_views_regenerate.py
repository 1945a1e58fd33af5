"""Any version bump, even through detach(), makes an earlier view take a new grad_fn: AsStridedBackward0."""
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x * 2
v = y[:2]
print(v.grad_fn.name())
y.detach().add_(1)
print(v.grad_fn.name())
w = y.view(3)
with torch.no_grad():
    y.add_(1)

print(w.grad_fn.name(), v.grad_fn.name())
(v.sum() + w.sum()).backward()
print(x.grad)
