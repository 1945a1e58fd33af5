"""Print large."""
import torch
torch.arange(2000)
torch.zeros(1001)
torch.arange(10000).view(100, 100)
torch.arange(1000.).view(10, 100)
torch.zeros(3, 1000)
torch.rand(0)
torch.zeros(0, 3)
torch.empty(2, 0, 3).shape
torch.arange(24).view(2, 3, 4)
torch.arange(24.).view(2, 3, 4) / 7
torch.tensor([[[]]])
torch.linspace(0, 1, 50)
torch.arange(60) * 1000
torch.eye(12)
torch.arange(2000.).view(2, 10, 100)[0]
torch.arange(1200).view(2, 2, 300)
