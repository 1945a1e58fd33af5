# Memory handed on by DLPack: shared, with a version counter of its own
import numpy as np
import torch
from torch.utils.dlpack import from_dlpack, to_dlpack
x = torch.arange(6.).reshape(2, 3)
y = torch.from_dlpack(x)
y[0, 0] = 9
x
x._version, y._version, x.data_ptr() == y.data_ptr()
y._is_view(), y.is_leaf, y.requires_grad
torch.from_dlpack(x.t()).stride(), torch.from_dlpack(x[1]).storage_offset()
torch.from_dlpack(x[1]).untyped_storage().nbytes(), torch.from_dlpack(x[:, 1]).untyped_storage().nbytes()
torch.from_dlpack(x, copy=True).data_ptr() == x.data_ptr()
torch.from_dlpack(x, device="cpu").device
capsule = to_dlpack(x)
from_dlpack(capsule)
from_dlpack(capsule)
torch.from_dlpack([1.])
torch.from_dlpack(3)
torch.from_dlpack(torch.ones(2, requires_grad=True))
torch.from_dlpack(torch.ones(2, requires_grad=True).detach())
a = np.arange(3.)
z = torch.from_dlpack(a)
z[0] = 7
a, z
n = np.from_dlpack(x)
n[1, 1] = 5
x, x._version
np.from_dlpack(torch.ones(2, requires_grad=True))
y.resize_(100)
x.__dlpack_device__()
x.__dlpack__(stream=1)
for dtype in (torch.bool, torch.int8, torch.int64, torch.float16):
    torch.from_dlpack(torch.ones(2, dtype=dtype))

torch.from_dlpack(torch.tensor(3))
torch.from_dlpack(torch.empty(0, 3))


class Older:  # which speaks the protocol as it was before versions, and of which NumPy makes read-only arrays
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


held = np.arange(6.0).reshape(2, 3)
taken = torch.from_dlpack(Older(held.T))
taken[0, 1] = 9
taken, taken.stride(), held
