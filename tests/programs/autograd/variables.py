"""Variable, what tensors with gradients were called once."""
import torch
from torch.autograd import Variable

t = torch.ones(2)
v = Variable(t)
print(v, v is t, v.data_ptr() == t.data_ptr(), type(v), isinstance(t, Variable), isinstance(3, Variable))
t.add_(1)
print(v, v._version)
v = Variable(t, requires_grad=True)
print(v, v.is_leaf, t.requires_grad)
Variable(t, volatile=True)
Variable(t, True)
Variable(t, True, True)
Variable()
Variable(3)
Variable([1.])
Variable(torch.ones(2, dtype=torch.int64), requires_grad=True)
Variable(v * 2)
Variable(t, foo=1)
torch.autograd.variable(t)
(Variable(torch.tensor([2.]), requires_grad=True) ** 2).sum().backward()
