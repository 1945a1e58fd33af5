"""Which operations give a view, which the tensor itself, which a copy."""
import torch

a = torch.arange(12.).view(3, 4)
a._base.shape
b = a[1:]
c = b.t()
d = c.reshape(-1)
b._base is a._base, c._base is a._base, d._base is None
e = a.detach()
e._base is None, e._is_view()
f = a.data
f._is_view()
g = a.contiguous()
g is a
h = a.t().contiguous()
h._is_view()
a.view_as(a)._base is a._base
a.squeeze()._base is a._base, a.unsqueeze(0)._is_view(), a.alias()._is_view() if hasattr(a, "alias") else None
a.expand(3, 4)._is_view(), a.flatten()._is_view(), a.t().flatten()._is_view()
a.to(torch.float32) is a, a.float() is a, a.type(torch.float32) is a, a.to(a) is a, a.to("cpu") is a, a.to(torch.float32, copy=True) is a
a.type_as(a) is a, a.cpu() is a, a.numpy().base is None
a[:] is a, a[...]._base is a._base, a[...] is a, a[()]._is_view()
a.view(torch.int32)._is_view()
torch.as_tensor(a) is a, torch.asarray(a) is a
torch.broadcast_tensors(a)[0] is a
