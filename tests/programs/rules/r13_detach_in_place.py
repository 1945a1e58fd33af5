"""detach_() cuts a tensor loose where it stands, and refuses a view."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
y = x * 2
y.detach_()
print(y.requires_grad, y.grad_fn)
v = (x * 2)[:1]
v.detach_()
e = x.exp()
s = e.sum()
e.detach_()
s.backward()
print(x.grad)
