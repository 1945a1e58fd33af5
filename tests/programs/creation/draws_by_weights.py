"""Draws by weights, and numbers in the shape of another tensor."""
import torch
torch.manual_seed(0).initial_seed()
torch.empty(3).random_(10)
torch.multinomial(torch.tensor([0.1, 0.5, 0.4]), 2)
torch.multinomial(torch.tensor([0.1, 0.5, 0.4]), 5, replacement=True)
torch.rand_like(torch.ones(2))
torch.randn_like(torch.ones(2, dtype=torch.float64))
torch.randint_like(torch.ones(2), 5)
torch.rand(2, dtype=torch.float16)
