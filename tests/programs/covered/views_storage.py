"""Storages: elements, sizes, sharing."""
import torch

x = torch.tensor([1, 2, 3], dtype=torch.int16)
s = x.untyped_storage()
len(s), s.nbytes(), s.size(), s[0], s[2]
s[0] = 5
x
list(s), s.tolist()
s
t = x[1:].untyped_storage()
t.data_ptr() == s.data_ptr(), x[1:].data_ptr() - s.data_ptr()
s.fill_(1)
x
u = s.clone()
u[0] = 9
x[0]
s[10]
s[-1]
s["a"]
s.device, s.is_cuda, type(s)
s.copy_(u)
x.element_size(), x.itemsize, x.nbytes, x[1:].nbytes
torch.UntypedStorage(3).nbytes()
s.resize_(10).nbytes()
x.storage_offset(), x[2].storage_offset()
