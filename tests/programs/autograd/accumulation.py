"""What .grad looks like: its strides, whose memory it is, what is added in place."""
import torch

def strides(make, f):
    x = make()
    f(x).backward()
    return x.grad.stride(), x.stride(), x.grad._version, x.grad.is_leaf

leaves = [
    lambda: torch.arange(6.).view(2, 3).requires_grad_(),
    lambda: torch.arange(6.).view(2, 3).t().requires_grad_(),
    lambda: torch.arange(6.).view(2, 3)[:, :2].requires_grad_(),
    lambda: torch.ones(1).expand(3).detach().requires_grad_(),
    lambda: torch.ones(2, 3, 4).permute(2, 0, 1).requires_grad_(),
    lambda: torch.ones(4, 1).requires_grad_(),
    lambda: torch.tensor(2.).requires_grad_(),
]
[strides(leaf, lambda x: x.sum()) for leaf in leaves]
[strides(leaf, lambda x: (x * 2).sum()) for leaf in leaves]
[strides(leaf, lambda x: (x * x).sum()) for leaf in leaves]
[strides(leaf, lambda x: (x + x).sum()) for leaf in leaves]
[strides(leaf, lambda x: x.clone().sum()) for leaf in leaves]
[strides(leaf, lambda x: (x.unsqueeze(0) * 3).sum()) for leaf in leaves]
x = torch.ones(2, 3, requires_grad=True)
g = torch.ones(2, 3)
x.backward(g)
print(x.grad.data_ptr() == g.data_ptr(), x.grad is g)
x.grad.add_(1)
g
x.grad = None
x.backward(torch.ones(3, 2).t())
x.grad.stride()
first = x.grad
x.backward(g)
print(first is x.grad, first)
x.grad = None
kept = []
h = x.register_hook(lambda grad: kept.append(grad))
(x * 2).backward(torch.ones(2, 3))
print(kept[0] is x.grad, kept[0].data_ptr() == x.grad.data_ptr(), x.grad._version)
x = torch.ones(2, requires_grad=True)
x.grad = torch.ones(2)
mine = x.grad
(x * 2).sum().backward()
print(mine is x.grad, mine, mine._version)
x.grad = torch.ones(1).expand(2)
(x * 2).sum().backward()
x.grad = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
x.grad
x.grad = None
(x.double() * x).sum().backward()
print(x.grad, x.grad.dtype)
