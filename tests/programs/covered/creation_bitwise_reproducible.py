"""Random numbers to the last bit."""
import torch

g = torch.manual_seed(123)
torch.rand(5, dtype=torch.float64).tolist()
torch.randn(5).tolist()
torch.randn(20)[-4:].tolist()
torch.randint(0, 2**40, (3,)).tolist()
torch.randperm(30)[:6].tolist()
torch.empty(5).uniform_(2, 3).tolist()
torch.normal(1.0, 2.0, (3,)).tolist()
torch.bernoulli(torch.linspace(0, 1, 6)).tolist()
torch.empty(4).exponential_(2).tolist()
torch.randn(2, 3).t().stride(), torch.rand(3, 0).shape
a = torch.empty(4, 2).t().normal_()
a
torch.manual_seed(123).get_state().sum()
torch.empty(3, dtype=torch.float64).normal_(1, 0.5).tolist()
torch.randn(3, dtype=torch.float64).tolist()
torch.rand(3).mul(10).long().tolist()
