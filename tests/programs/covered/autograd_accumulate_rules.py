"""Into .grad: a tensor of its own, added to in place, except where the graph of gradients is kept."""
import torch

x = torch.ones(2, 3, requires_grad=True)
g = torch.full((2, 3), 2.)
y = x * 1
y.backward(g)
x.grad is g, x.grad.data_ptr() == g.data_ptr()
p = x.grad
(x * 3).sum().backward()
x.grad is p, p, p._version
w = torch.ones(2, 3).t().requires_grad_()
w.sum().backward()
w.grad.stride()
e = torch.ones(1).expand(3).detach().requires_grad_()
(e * 2).sum().backward()
e.grad, e.grad.stride()
x.grad = None
x.sum().backward(create_graph=True)
q = x.grad
x.sum().backward(create_graph=True)
x.grad is q, q, x.grad
x.grad.requires_grad, x.grad.grad_fn
x.grad.zero_()
