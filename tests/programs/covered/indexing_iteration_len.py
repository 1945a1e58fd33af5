"""Tensors where Python wants a number, an index, a sequence or a format."""
import torch

x = torch.arange(6).view(3, 2)
len(x), [r.tolist() for r in x], list(reversed(x))
len(torch.tensor(1))
list(torch.tensor(1))
for r in torch.tensor(1): pass
1 in x, 10 in x, "a" in x
torch.tensor([1., 2.]) in torch.tensor([[1., 2.]])
bool(torch.tensor([])), bool(torch.tensor([0])), bool(x.sum())
bool(x)
if torch.tensor([1, 2]): pass
int(torch.tensor([3.7])), float(torch.tensor(2)), complex(torch.tensor(2.)), int(torch.tensor(True))
int(x)
float(torch.zeros(0))
x.item()
torch.tensor([[5]]).item()
range(torch.tensor(3)), [1, 2, 3][torch.tensor(1)]
[1, 2][torch.tensor(1.)]
[1, 2][torch.tensor([0, 1])]
"%d %.2f" % (torch.tensor(3), torch.tensor(2.5))
f"{torch.tensor(2.5):.3f} {torch.tensor([1, 2])}"
f"{torch.tensor([1., 2.]):.3f}"
format(torch.tensor(7), "05d")
a, b, c = x
a
a, b = x
hash(x) == hash(x), x == x
x.__len__(), x.ndim, x.dim(), x.numel(), x.nelement(), x.size(), x.size(0), x.size(-1), x.shape[1]
x.size(5)
torch.tensor(1).size(0)
round(torch.tensor(2.567), ndigits=2)
abs(torch.tensor(-3)), divmod(torch.tensor(7), 2), pow(torch.tensor(2), 3), round(torch.tensor(2.5))
import math
math.floor(torch.tensor(2.5)), math.sqrt(torch.tensor(4))
max(torch.tensor([1, 5, 2])), sum(torch.tensor([1, 2])), sorted(torch.tensor([3, 1]))
