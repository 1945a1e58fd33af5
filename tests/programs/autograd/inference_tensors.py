"""Inference tensors: what they refuse, inside and outside of inference mode, and what has happened by then."""
import copy

import torch

x = torch.tensor([1., 2.], requires_grad=True)
n = torch.tensor([1., 2.])
with torch.inference_mode():
    i = torch.ones(2)
    j, v, vx, d = x * 2, n[:1], x[:1], x.detach()
    print([t.is_inference() for t in (i, j, v, vx, d, i[:1], i.clone(), i.data, n.clone())])
    print(i[:1]._is_view(), v._is_view(), v._base is n)
    i.add_(1)
    n.add_(1)
    x.add_(1)
    print(i, n, n._version, x)
with torch.inference_mode():
    i._version
with torch.inference_mode():
    x.mul(2).sum().backward()
print(copy.copy(i).is_inference(), copy.deepcopy(i).is_inference())
i._version
i.add_(1)
i
i[:1].zero_()
i
i[0] = 3.
i
i.copy_(n)
i
torch.add(n, n, out=i)
i
i.requires_grad_()
i.requires_grad = True
i.detach_()
n.copy_(i)
x * i
x + i
x.exp() * i
(x * 2 + i).sum().backward()
x.grad
(i * 2).is_inference()
i.view(2).is_inference()
v.add_(1)
vx.add_(1)
print(v)
vx.grad_fn
torch.nn.Parameter(i)
torch.autograd.graph.increment_version(i)
with torch.no_grad():
    print(x * i)
w = x.exp()
with torch.inference_mode():
    w.add_(1)
w.sum().backward()
base = torch.zeros(4, requires_grad=True) * 1
with torch.inference_mode():
    part = base[:2]
print(part.is_inference(), part._is_view(), part.requires_grad)
part.mul_(2)
base.add_(1)
part.grad_fn
print(part)
