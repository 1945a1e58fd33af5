"""detach() shares the version counter of its source; .data has one of its own, new on each access."""
import torch

a = torch.tensor([1., 2., 3.], requires_grad=True)
out = a.sigmoid()
print(out._version, out.detach()._version, out.data._version)
c = out.data
c.zero_()
print(out._version, c._version, out.data._version)
d = out.detach()
d.zero_()
print(out._version, d._version, c._version)
