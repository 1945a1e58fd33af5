"""Where lines break."""
import torch

torch.arange(30), torch.arange(30.), torch.arange(40) % 2 == 0, torch.arange(20) * 1000, torch.arange(12.) / 3, torch.arange(60).view(2, 30), torch.zeros(23), torch.zeros(24), torch.ones(17), torch.ones(30, requires_grad=True), torch.ones(10, dtype=torch.float64), torch.arange(20, dtype=torch.int32), torch.ones(30, dtype=torch.float16)
x = torch.ones(8, requires_grad=True) * 2.5
x
x.double()
x.view(2, 4).exp()
torch.ones(6, requires_grad=True, dtype=torch.float64).cumsum(0).sum()
(torch.arange(10., requires_grad=True) * 1.5).view(1, 10).log_softmax(1)
