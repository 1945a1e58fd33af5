"""Numbers of NumPy, numbers beyond int64 and those that a narrow dtype cannot hold."""
import numpy as np
import torch

t, h = torch.tensor([1, 2], dtype=torch.uint8), torch.tensor([1., 2.], dtype=torch.float16)
t + np.bool_(True), t * np.float32(1.5), t - np.int64(3), t / np.float64(4)
torch.tensor([True, False]) * np.bool_(True)
torch.tensor([True]) - np.bool_(True)
t & np.bool_(True)
t + 2**63
torch.tensor([1]) * 10**19
torch.tensor([1.]) * 10**19
t ** 10**19
None / t
'a' / t
np.array(3.) / torch.tensor([2., 4.])
h * 1e40, h / 1e40, 1e40 / h
h.clamp(0, 1e40)
h ** 1e40
torch.tensor([1.]).clamp(max=1e40)
torch.tensor([True]).clamp(max=True)
torch.clamp(3, 0, 1)
torch.finfo(torch.float16), torch.iinfo(torch.int64)
torch.iinfo(torch.bool)
torch.linspace(-10, 10, 5, dtype=torch.uint8)
torch.linspace(0, 300, 4, dtype=torch.int8)
torch.linspace(0, 1, 3, dtype=torch.bool)
torch.lerp(torch.zeros(2), torch.ones(2), torch.tensor(0.5, dtype=torch.float64))
