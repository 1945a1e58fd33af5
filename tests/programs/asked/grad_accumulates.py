"""Grad accumulates."""
import torch
w = torch.tensor([1.0], requires_grad=True)
for i in range(3):
    loss = (w * 2).sum()
    loss.backward()
    print(i, w.grad)
w.grad.zero_()
w.grad
(w * 2).sum().backward()
w.grad
w.grad = None
(w * 2).sum().backward()
w.grad
w.grad.data.zero_()
w.grad = torch.ones(2)
w.grad = torch.ones(1, dtype=torch.float64)
w.grad = 3
w.grad = torch.ones(1)
w.grad
del w.grad
w.grad
