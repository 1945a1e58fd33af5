"""Param update mistakes."""
import torch
w = torch.tensor([1.0], requires_grad=True)
(w ** 2).sum().backward()
w -= 0.1 * w.grad
w.data -= 0.1 * w.grad
w
w = w - 0.1 * w.grad
w, w.is_leaf
w.grad
w = torch.tensor([1.0], requires_grad=True)
(w ** 2).sum().backward()
with torch.no_grad():
    w = w - 0.1 * w.grad
w.requires_grad
(w ** 2).sum().backward()
w = torch.tensor([1.0], requires_grad=True)
(w ** 2).sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
w.grad.zero_()
w
w.detach().sub_(0.5)
w
w.data = w.data * 2
w, w.is_leaf
w.grad.data.zero_()
w = w.detach().requires_grad_(True)
w.grad
