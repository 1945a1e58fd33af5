"""Clone backward."""
import torch
x = torch.tensor([1., 2.], requires_grad=True)
y = x.clone()
y.register_hook(lambda g: print("clone got", g))
(y * 2).sum().backward()
x.grad
y.grad
x.clone().retain_grad()
z = x.clone()
z.retain_grad()
(z ** 2).sum().backward()
z.grad, x.grad
x.clone() is x
c = x.clone()
c += 1
x, c
c.grad_fn.next_functions[0][0]
d = x.clone().detach()
d.requires_grad, d._version
e = x.data.clone()
e.requires_grad
f = x.clone().requires_grad_(False)
torch.empty_like(x).copy_(x)
g = torch.empty_like(x).copy_(x)
g.grad_fn
torch.zeros(2).copy_(x).sum().backward()
x.grad
x.new_tensor([1, 2]), x.new_zeros(2), x.new_ones(1, 2), x.new_full((2,), 7), x.new_empty(0)
torch.ones_like(x), torch.ones_like(x, requires_grad=True)
x.to(torch.float64)
x.to(torch.float64).sum().backward()
x.grad
x.type(torch.float16)
x.contiguous() is x
