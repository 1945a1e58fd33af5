"""Writing by index in the graph: CopySlices for views, IndexPut for lists and masks, and the gradients of both."""
import torch

x = torch.arange(6., requires_grad=True)
v = torch.tensor(3., requires_grad=True)
y = (x * 1).view(2, 3)
y[0, 1] = v
y.grad_fn.name(), y._base.grad_fn.name()
y[[1], [2]] = v * 2
y.grad_fn.name()
y[y > 3.5] = 0
y.sum().backward()
x.grad, v.grad
x.grad = None
x[[0, 0, 2]].sum().backward()
x.grad
g, = torch.autograd.grad((x[[1, 1]] ** 3).sum(), x, create_graph=True)
g, g.grad_fn.name()
torch.autograd.grad(g.sum(), x)
x[x > 100].sum().backward()
x[0] = 1
x[[0]] = 1
f = (x * 2)[[1, 2]].grad_fn
f._saved_indices, f._saved_self_sym_sizes
