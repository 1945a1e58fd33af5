"""Tensors made in inference mode, used outside of it: views are not recorded, writes refused, data can be replaced."""
import torch

with torch.inference_mode():
    t = torch.ones(2, 3, requires_grad=True)
    f = torch.ones(2, 3)
for look in (lambda t: t.view(-1), lambda t: t[0], lambda t: t.t(), lambda t: t.unbind()[0], lambda t: t.split(1)[0],
             lambda t: t.expand(2, 2, 3), lambda t: t.detach(), lambda t: t.contiguous()):
    v = look(t)
    print(v.requires_grad, v.is_leaf, v.is_inference(), v._is_view())
t + 1
t * 2
t * torch.ones(3)
t * torch.ones(3, requires_grad=True)
(t + torch.ones(2, 3, requires_grad=True)).sum().backward()
t.grad
t.add_(1)
t.t_()
t.unsqueeze_(0)
t.shape
f.t_()
f.shape
f.add_(1)
f[0, 0]
f.requires_grad_()
f._version
f.clone().is_inference()
f.data = torch.zeros(2)
f.is_inference()
x = torch.ones(2, requires_grad=True)
with torch.inference_mode():
    y = x * 1
    w = x.view(-1)
    print(y.is_inference(), w.is_inference(), w.requires_grad, w._is_view())
w.add_(1)
w * 2
with torch.inference_mode():
    x.add_(1)
w.grad_fn
x.is_leaf, x._version
