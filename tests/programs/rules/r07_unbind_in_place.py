"""An output of unbind or split takes no in-place change in grad mode, where grad is involved."""
import torch

x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
y = x * 1
a, b = y.unbind()
a.add_(1)
p, q = (x * 1).split(1)
p.mul_(2)
plain = torch.zeros(2, 2)
r, s = plain.unbind()
r.add_(1)
print(plain)
