"""Norms and products are added up in torch's order, which depends on the layout: seen in numbers with all their digits."""

import torch

torch.manual_seed(0)
for shape in [(2,), (3,), (7,), (12,), (40,), (3, 5), (5, 3, 9)]:
    for t in [torch.randn(shape), torch.randn(shape[::-1]).permute(*reversed(range(len(shape)))), torch.randn(shape).double()]:
        print(shape, t.norm().item(), t.norm(1).item(), t.norm(dim=-1).flatten()[0].item(), t.norm(dim=0).flatten()[-1].item())
        print(torch.linalg.vector_norm(t, float("inf")).item(), (1 + t / 9).prod().item(), (1 + t / 9).prod(0).flatten()[0].item())
torch.randn(50).half().norm().item(), torch.randn(4, 3).norm(dim=(0, 1)).item(), torch.dist(torch.ones(3), torch.randn(3)).item()
torch.tensor(-2.5).norm(), torch.tensor([]).norm(), torch.zeros(2, 0).norm(dim=1), torch.ones(3).norm(0), torch.ones(2, 0).prod(1)
x = torch.tensor([0.3, 0.4, 1.2], requires_grad=True)
x.norm().backward()
x.grad.tolist()
