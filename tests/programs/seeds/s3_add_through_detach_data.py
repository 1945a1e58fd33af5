"""Old names: Variable(t) is a plain tensor over t's memory, FloatTensor makes a float32 tensor."""
import torch
from torch.nn import init
from torch.autograd import Variable

t1 = torch.FloatTensor([1., 2.])
v1 = Variable(t1)
t2 = torch.FloatTensor([2., 3.])
v2 = Variable(t2)
v3 = v1 + v2
v3_detached = v3.detach()
v3_detached.data.add_(t1)
print(v3, v3_detached)
print(type(v1) is torch.Tensor, v1.data_ptr() == t1.data_ptr())
print(v1.requires_grad, Variable(t1, requires_grad=True))
isinstance(t1, torch.FloatTensor)
isinstance(v1, Variable)
t1.type()
