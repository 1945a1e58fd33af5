"""What batch normalisation does to its running statistics, and which tensors it takes."""
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
bn = nn.BatchNorm1d(3)
x = torch.randn(4, 3)
y = bn(x)
y.detach().var(0, unbiased=False)
bn.running_mean, bn.running_var, bn.num_batches_tracked
bn.running_mean._version, bn.num_batches_tracked._version
z = bn(x + 1)
y.sum().backward()
bn.bias.grad
bn.eval()
bn(x)
F.batch_norm(x, None, None)
F.batch_norm(x, torch.zeros(3), None, training=True)
F.batch_norm(x, torch.zeros(3, requires_grad=True), torch.ones(3), training=True)
F.batch_norm(x[:1], None, None, training=True)
F.batch_norm(x, None, None, training=True, eps=0.0)
F.batch_norm(x.long(), None, None, training=True)
bn(x.double())
bn.double()(x)
F.batch_norm(torch.ones(0, 3), torch.zeros(3), torch.ones(3))
F.layer_norm(x, 3)
F.layer_norm(x, ())
F.layer_norm(x.double(), (3,), torch.ones(3))
F.layer_norm(torch.ones(2, 0), (0,))
