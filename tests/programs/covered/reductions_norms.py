"""Norms of all orders and their gradients."""
import torch

x = torch.tensor([[3., -4.], [0., 5.]])
x.norm(), x.norm(1), x.norm(float("inf")), x.norm(-float("inf")), x.norm(0), x.norm(3), x.norm("fro"), x.norm(2, 0), x.norm(p=1, dim=1, keepdim=True), x.norm(dim=(0, 1)), x.norm(dtype=torch.double)
x.norm("foo")
torch.linalg.norm(x), torch.linalg.vector_norm(x, 1), torch.linalg.vector_norm(x, float("inf"), dim=0)
x.long().norm()
torch.linalg.vector_norm(x.long())
w = torch.zeros(2, requires_grad=True)
w.norm().backward()
w.grad
for p in (1, 2, 3, float("inf"), 0.5):
    v = x.clone().requires_grad_()
    n = v.norm(p)
    n.backward()
    print(p, n, v.grad)

