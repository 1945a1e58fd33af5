"""Numbers that do not fit a dtype."""
import torch

torch.tensor(300, dtype=torch.uint8)
torch.tensor([-1], dtype=torch.uint8)
torch.tensor(2**63)
torch.tensor([1.5], dtype=torch.int64), torch.tensor(float("inf"), dtype=torch.int32)
torch.full((2,), 300, dtype=torch.uint8)
torch.full((2,), 2**63)
torch.ones(2, dtype=torch.uint8) + 300
torch.ones(2, dtype=torch.uint8) * -1
torch.ones(2, dtype=torch.uint8) == 300
torch.ones(2, dtype=torch.uint8) < -1
torch.zeros(2, dtype=torch.int8).fill_(200)
torch.zeros(2).fill_(1e50)
torch.tensor(1e50), torch.tensor([1e-50]), torch.tensor(70000., dtype=torch.float16)
torch.tensor([3.7, -3.7, float("nan"), 1e20]).int()[:2]
torch.tensor([300.]).to(torch.uint8), torch.tensor([-1]).to(torch.uint8), torch.tensor([256]).to(torch.bool)
torch.arange(5, dtype=torch.uint8) - 3
torch.zeros(2, dtype=torch.int32) + 2**40
torch.tensor([1, 2], dtype=torch.int8).sum(), torch.tensor([100, 100], dtype=torch.int8).sum(), torch.tensor([100, 100], dtype=torch.int8).sum(dtype=torch.int8)
torch.tensor([True, True]).sum(), torch.tensor([True, True]).prod(), torch.tensor([1, 2], dtype=torch.int32).cumsum(0).dtype
torch.tensor([60000., 60000.], dtype=torch.float16).sum()
torch.tensor([1, 2]).mean()
torch.tensor([1, 2]).mean(dtype=torch.float32)
torch.tensor([1, 2]).std()
torch.tensor([1, 2]).norm()
