"""Anomaly mode names the forward line."""
import torch
x = torch.tensor([0., 1.], requires_grad=True)
y = x / x
y
y.sum().backward()
x.grad
torch.isnan(x.grad).any()
x.grad = None
(torch.log(x) * x).sum().backward()
x.grad
x.grad = None
((x - 1).abs() ** 0.5).sum().backward()
x.grad
x.grad = None
(x ** x).sum().backward()
x.grad
x.grad = None
torch.sqrt(x * 0).sum().backward()
x.grad
x.grad = None
(1 / x).clamp(max=10).sum().backward()
x.grad
x.grad = None
torch.exp(x * 1000).sum().backward()
x.grad
x.register_hook(lambda g: torch.nan_to_num(g))
x.grad = None
(x / x).sum().backward()
x.grad
assert not torch.isnan(x).any(), "nan"
assert torch.isfinite(x.log()).all(), "not finite"
