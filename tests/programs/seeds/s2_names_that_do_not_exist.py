"""torch.newtensor and torch.new_tensor do not exist; requires_grad is no method."""
import torch

x = torch.tensor([1.])
torch.newtensor(x)  # transcript: type only
torch.new_tensor(x)  # transcript: type only
x.clone().detach().requires_grad(True)
x.clone().detach().requires_grad_(True)
torch.tensor(x, reauiresgrad=True)  # transcript: type only
