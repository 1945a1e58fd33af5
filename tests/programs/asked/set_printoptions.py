"""Set printoptions."""
import torch
x = torch.tensor([3.14159265, 2.71828183, 1000.5])
torch.set_printoptions(precision=2)
x
torch.set_printoptions(sci_mode=False)
torch.tensor([1e-6, 1e6])
torch.set_printoptions(sci_mode=True, precision=4)
x
torch.set_printoptions(profile="full")
torch.arange(1100)
torch.set_printoptions(profile="default")
torch.set_printoptions(threshold=5, edgeitems=1)
torch.arange(10)
torch.arange(30).view(5, 6)
torch.set_printoptions(profile="default")
torch.set_printoptions(linewidth=40)
torch.arange(20.)
torch.set_printoptions(profile="short")
torch.rand(2000).shape, torch.arange(2000) / 3
torch.set_printoptions(profile="default")
torch.set_printoptions(precision=10)
torch.tensor([0.1])
torch.tensor([0.1], dtype=torch.float64)
torch.set_printoptions(profile="default", sci_mode=None)
torch.set_printoptions(profile="nope")
x
