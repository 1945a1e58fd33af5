"""Large tensors are summarised."""
import torch

torch.arange(1000), torch.arange(1001)
torch.zeros(50, 50)
torch.zeros(100, 20)
torch.arange(2000.).view(2, 1000)
torch.ones(11, 10, 10)
torch.zeros(1, 1, 1001)
torch.zeros(1001, dtype=torch.bool), torch.zeros(2000, requires_grad=True), torch.arange(1500.) / 7
torch.randn(0, 2000).shape
torch.zeros(7, 200, dtype=torch.int16)
torch.arange(1001.) * 1e6
