"""Clone().detach() or detach().clone()?"""
import torch
x = torch.tensor([1., 2., 3.], requires_grad=True)
a = x.clone().detach()
b = x.detach().clone()
a, b
a.requires_grad, b.requires_grad
a.data_ptr() == x.data_ptr(), b.data_ptr() == x.data_ptr()
c = x.clone()
c
c.is_leaf, c.requires_grad
c.sum().backward()
x.grad
c.grad
d = torch.tensor(x)
d
e = x.new_tensor(x)
e
torch.clone(x, memory_format=torch.preserve_format)
x.clone().detach().requires_grad_(True)
x.detach().clone().requires_grad_()
y = x * 2
z = torch.tensor(y, requires_grad=True)
z.is_leaf
