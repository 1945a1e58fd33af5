"""detach() shares storage and version counter; .data shares the storage, with a counter of its own, new each time."""
import torch

x = torch.ones(3)
x.add_(1)
d = x.detach()
p = x.data
print(x._version, d._version, p._version)
d.add_(1)
p.add_(1)
p.add_(1)
print(x._version, d._version, p._version, x.data._version)
print(x, x.data_ptr() == p.data_ptr())
