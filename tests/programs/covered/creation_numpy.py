"""From NumPy and back: shared memory, dtypes, mixed arithmetic."""
import torch

import numpy as np
a = np.array([1, 2, 3])
t = torch.from_numpy(a)
t[0] = 100
a
a[1] = 50
t
torch.from_numpy([1])
torch.from_numpy(np.array(["x"]))
torch.from_numpy(np.array([1, 2])[::-1])
torch.from_numpy(np.array([1], dtype=np.uint16))
torch.from_numpy(np.array([[1, 2], [3, 4]]).T).stride()
r = np.arange(3)
r.flags.writeable = False
torch.from_numpy(r)
torch.as_tensor(a).data_ptr() == t.data_ptr(), torch.as_tensor(a, dtype=torch.int64).data_ptr() == t.data_ptr(), torch.as_tensor(a, dtype=torch.float32).dtype
torch.asarray(a, copy=True).data_ptr() == t.data_ptr(), torch.asarray([1, 2], dtype=torch.float32), torch.asarray(t) is t
torch.asarray(t, dtype=torch.float32, copy=False)
torch.asarray([1], copy=False)
torch.asarray(torch.ones(2, requires_grad=True)), torch.asarray(torch.ones(2, requires_grad=True), requires_grad=True), torch.asarray([1.], requires_grad=True)
x = torch.ones(2, 2)
n = x.numpy()
n[0] = 7
x, np.asarray(x).base is None
w = torch.ones(2, requires_grad=True)
w.numpy()
w.detach().numpy(), w.numpy(force=True)
np.array(w)
t + np.array([1, 2, 3])
np.array([1, 2, 3]) + t
np.array([1., 2., 3.]) * t
np.float64(2) * t, t * np.float64(2), t + np.int64(1), np.float32(2) * torch.ones(2)
torch.ones(2) * np.array([1., 2.])
x.tolist(), t.tolist(), torch.tensor(1.5).tolist(), torch.tensor(True).numpy(), torch.tensor(2.5).numpy()
np.array([torch.tensor(1), torch.tensor(2)])
torch.tensor([1., 2.]).numpy().dtype, torch.tensor([1], dtype=torch.float16).numpy(), x.t().numpy().flags.f_contiguous
torch.from_numpy(np.zeros((0, 3))).shape, torch.from_numpy(np.array(5))
torch.frombuffer(bytearray([1, 2, 3, 4]), dtype=torch.int16), torch.frombuffer(bytearray(4), dtype=torch.uint8, offset=1, count=2)
torch.frombuffer(bytearray(3), dtype=torch.int16)
torch.frombuffer(b"ab", dtype=torch.uint8)
