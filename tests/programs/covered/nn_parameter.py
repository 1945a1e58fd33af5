"""Parameters: made from tensors, copied, assigned to."""
import torch

from torch import nn
p = nn.Parameter(torch.ones(2))
p, type(p), isinstance(p, torch.Tensor), isinstance(p, nn.Parameter), p.is_leaf, type(p * 2), type(p.data), type(p.detach()), type(p.clone())
nn.Parameter()
nn.Parameter(3)
nn.Parameter([1.])
nn.Parameter(torch.tensor([1, 2]))
nn.Parameter(torch.tensor([1, 2]), requires_grad=False)
x = torch.ones(2)
q = nn.Parameter(x)
q.data_ptr() == x.data_ptr(), x._version, q._version
x.add_(1)
q, q._version
nn.Parameter(torch.ones(2, requires_grad=True) * 2)
r = nn.Parameter(p)
r is p
p.add_(1)
with torch.no_grad():
    p.add_(1)

p, p._version
p.data = torch.zeros(3)
p
nn.parameter.Parameter is nn.Parameter, nn.Buffer(torch.ones(1)) if hasattr(nn, "Buffer") else None
torch.nn.Parameter(torch.ones(1)).__class__.__name__
p.grad = torch.ones(3)
p.grad
p.grad.zero_()
