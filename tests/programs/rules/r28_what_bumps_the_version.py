"""resize_ bumps the version only if it changes something; t_ and unsqueeze_ bump it, detach_ and requires_grad_ do not."""
import torch

x = torch.zeros(2, 3)
x.resize_(2, 3)
print(x._version)
x.resize_(3, 2)
print(x._version)
x.t_()
print(x._version)
x.unsqueeze_(0)
print(x._version)
x.detach_()
x.requires_grad_()
print(x._version)
