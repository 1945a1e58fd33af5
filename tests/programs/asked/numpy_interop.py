"""Numpy interop."""
import torch
import numpy as np
a = torch.ones(5)
b = a.numpy()
a.add_(1)
b
a = np.ones(5)
t = torch.from_numpy(a)
np.add(a, 1, out=a)
t
t2 = torch.tensor(a)
t3 = torch.as_tensor(a)
a[0] = 100
t, t2, t3
torch.from_numpy(np.array([1, 2, 3]))
torch.from_numpy(np.array([1, 2, 3], dtype=np.float32))
torch.from_numpy([1, 2])
torch.from_numpy(np.array(["a"]))
torch.from_numpy(np.arange(4)[::-1])
torch.from_numpy(np.arange(4)[::-1].copy())
torch.tensor(np.float64(3.5))
torch.tensor([np.float32(1), 2])
torch.ones(2, requires_grad=True).numpy()
torch.ones(2, requires_grad=True).detach().numpy()
np.asarray(torch.ones(2, requires_grad=True))
torch.tensor([True, False]).numpy()
torch.Tensor(np.array([1, 2]))
torch.tensor(5).numpy()
type(torch.ones(1).numpy())
torch.from_numpy(np.zeros((2, 3), dtype=np.uint16))
with torch.no_grad():
    print(torch.ones(2, requires_grad=True).numpy())
