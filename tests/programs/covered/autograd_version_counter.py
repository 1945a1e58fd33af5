"""What raises a version counter and what does not."""
import torch

x = torch.zeros(2)
y = x.view(2)
x._version, y._version
x.add_(1)
x._version, y._version
z = x.detach()
z.add_(1)
x._version
x.data.add_(1)
x._version
x[0] = 3
x._version
with torch.no_grad():
    x.zero_()

x._version
x.data = torch.ones(3)
x._version
x.numpy()[0] = 7
x._version, x
x.resize_(3)
x._version
x.resize_(2)
x._version
x.set_(torch.ones(4))
x._version
x.t_()
x.unsqueeze_(0)
x._version
x.requires_grad_()
x._version
x._version = 3
