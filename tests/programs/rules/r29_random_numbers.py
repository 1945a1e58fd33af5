"""The numbers of a seed: randn below 16 elements and from 16 on, rand, and what comes after."""
import torch

_ = torch.manual_seed(0)
torch.randn(3)
torch.rand(2)
torch.randn(1)
torch.randn(17)
torch.randn(16, dtype=torch.float64)
torch.rand(3, dtype=torch.float64)
_ = torch.manual_seed(42)
torch.rand(5)
torch.randint(0, 10, (5,))
torch.randperm(6)
