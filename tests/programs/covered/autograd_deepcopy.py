"""deepcopy of leaves, non-leaves, views that share memory, and Parameters."""
import torch

import copy
x = torch.tensor([1., 2.], requires_grad=True)
x.sum().backward()
y = copy.deepcopy(x)
y, y.grad, y.is_leaf
z = copy.deepcopy(x * 2)
a = torch.arange(6.)
l = copy.deepcopy([a, a[2:4]])
l[0][2] = 100
l
l[1].storage_offset(), l[1].untyped_storage().nbytes()
c = copy.copy(a)
c is a
c[0] = 9
a
p = torch.nn.Parameter(torch.ones(2))
q = copy.deepcopy(p)
q, q.grad
x.tag = "hello"
copy.deepcopy(x).tag
