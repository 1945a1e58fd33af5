"""Every dtype printed, with elements and without."""
import torch

for dt in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64):
    print(torch.ones(2, dtype=dt), torch.tensor(1, dtype=dt), torch.empty(0, dtype=dt), torch.zeros(1, 2, dtype=dt))

torch.empty(0, 3), torch.empty(2, 0, 3, dtype=torch.int32), torch.empty(0, requires_grad=True), torch.tensor([], dtype=torch.float64)
torch.tensor(2.), torch.tensor(2.5, requires_grad=True), torch.tensor(-0.), torch.tensor([0., -0.])
torch.ones(2, dtype=torch.float64, requires_grad=True) * 2
str(torch.ones(2)), repr(torch.ones(2)), torch.Size([2, 3]), torch.Size([]), str(torch.Size([1])), torch.float32, torch.device("cpu"), torch.strided
torch.ones(1, 1, 1, 1), torch.ones(2, 1, 2)
torch.ones(2, 2, 2, 2, dtype=torch.int8)
