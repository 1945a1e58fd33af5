"""Nan handling."""
import torch
x = torch.tensor([1., float("nan"), 3., float("inf")])
torch.isnan(x), torch.isinf(x), torch.isfinite(x)
x != x
torch.isnan(x).any()
x.sum(), x.mean(), x.max(), x.min()
torch.nan_to_num(x)
torch.nan_to_num(x, nan=0., posinf=9.)
x[torch.isnan(x)] = 0
x
torch.tensor(0.) / 0, torch.log(torch.tensor([0., -1.])), torch.sqrt(torch.tensor(-1.))
w = torch.tensor([0., 1.], requires_grad=True)
torch.where(w > 0, w.log(), torch.zeros(2)).sum().backward()
w.grad
w.grad = None
torch.sqrt(w).sum().backward()
w.grad
w.grad = None
w.norm().backward()
w.grad
z = torch.zeros(2, requires_grad=True)
z.norm().backward()
z.grad
z.grad = None
(z / z).sum().backward()
z.grad
torch.tensor([1., float("nan")]).sort()
torch.tensor([1., float("nan")]).argmax()
torch.tensor([float("nan"), 1.]).clamp(0, 1)
float("nan") == torch.tensor(float("nan"))
torch.tensor([float("nan")]).int().shape
