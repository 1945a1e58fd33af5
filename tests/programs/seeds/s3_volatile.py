"""volatile is gone: it warns and has no effect. A detached tensor can be made to require grad."""
import torch
from torch.autograd import Variable

t = torch.FloatTensor([1., 2.])
v = Variable(t, volatile=True)
print(v, v.requires_grad)
w = v * torch.tensor([3.], requires_grad=True)
print(w.requires_grad)
d = w.detach()
print(d.requires_grad)
d.requires_grad_()
d.sum().backward()
print(d.grad)
