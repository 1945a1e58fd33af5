"""Tensors inside containers and strings."""
import torch

x = torch.arange(4.).view(2, 2)
{"w": x, "l": [x[0], x[0, 0]]}
(x, None, 1.5)
print([x])
print({"a": x.requires_grad_()})
f"{x.detach()}"
str(x.sum()), repr(x.sum().detach()), f"{x.sum().item():.2f}", "%s" % x.detach()[0]
torch.tensor([[1.5, -2.25], [1000.125, 3]]), torch.tensor([1e-3, 1e3]), torch.tensor([[[1]], [[2]]]), torch.tensor([1.0, 2.0, 3.5]), torch.tensor([1e6, 1e7]), torch.tensor([1e7, 1.5])
torch.tensor([True, False]), torch.tensor([[True], [False]]), torch.tensor([-1, 10, 100]), torch.tensor([[-1.5, float("nan")], [float("inf"), 0]])
torch.tensor(float("nan")), torch.tensor(float("-inf")), torch.tensor(True), torch.tensor(7, dtype=torch.uint8), torch.tensor(-1e-8), torch.tensor(1e16), torch.tensor(123456.789)
torch.full((3, 3), 1e-7), torch.full((2,), 0.1, dtype=torch.float16), torch.linspace(0, 1, 7, dtype=torch.float64)
