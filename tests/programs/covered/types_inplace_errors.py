"""In-place results that do not fit the tensor's dtype."""
import torch

a = torch.ones(2, dtype=torch.int64)
a.add_(1.5)
a += 1.5
a *= torch.tensor([1.5, 2])
a /= 2
a.div_(2)
a.div_(2, rounding_mode="floor")
a.pow_(2.0)
a.pow_(-1)
b = torch.ones(2, dtype=torch.bool)
b += 1
b += True
b *= 2
b -= True
b.mul_(torch.tensor([1, 2]))
c = torch.ones(2, dtype=torch.uint8)
c -= 2
c
c += 300
c.add_(torch.tensor([1000, 2]))
c.sub_(1.5)
f = torch.ones(2)
f.add_(torch.ones(2, dtype=torch.double))
f.half().add_(torch.ones(2))
torch.add(a, 1.5, out=torch.empty(2, dtype=torch.int64))
torch.add(a, 1, out=torch.empty(2))
torch.add(f, 1, out=torch.empty(2, dtype=torch.bool))
torch.add(torch.ones(2), 1, alpha=2.5), torch.add(a, a, alpha=2.5)
torch.add(b, b, alpha=2)
torch.add(b, b, alpha=True), torch.sub(a, b)
a.exp_()
a.sqrt()
a.floor_(), a.ceil(), a.round()
a.sigmoid_()
a.copy_(torch.tensor([2.7, -2.7]))
a.clamp_(0.5)
a.clamp(0.5)
torch.tensor([1, 5]).clamp(max=2.5), torch.tensor([1, 5]).clamp(min=torch.tensor([2., 3.]))
a.clamp()
a.lerp(a, 0.5)
torch.ones(2).lerp(torch.zeros(2), 0.25), torch.ones(2).lerp(torch.ones(2, dtype=torch.double), 0.5)
