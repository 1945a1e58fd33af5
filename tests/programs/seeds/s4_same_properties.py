"""Shape, dtype, strides and offset are the source's with both; the version counter is the difference."""
import torch

base = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64, requires_grad=True)
x = base[:, 1:].t()
for c in (x.detach(), x.data):
    print(c.shape == x.shape, c.dtype == x.dtype, c.device == x.device)
    print(c.stride() == x.stride(), c.storage_offset() == x.storage_offset())

v = x.detach()
d = x.data
v.zero_()
print(x._version, v._version, d._version)
d.zero_()
print(x._version, v._version, d._version)
