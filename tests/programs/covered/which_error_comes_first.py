import torch

# one cell for many elements, and another mistake at once
wide = torch.zeros(1).expand(3)
wide.logical_not_()
wide.lerp_(torch.ones(4), 0.5)
wide.uniform_(2, 1)
wide.normal_(0, -1)
wide.random_(3, 1)
flags = torch.zeros(1, dtype=torch.bool).expand(3)
flags.uniform_()
flags.cumsum_(0)
flags.pow_(torch.ones(2, 3, dtype=torch.bool))
flags.addcdiv_(flags, flags)
torch.zeros((), dtype=torch.bool).pow_(torch.ones(2, dtype=torch.bool))
torch.zeros((), dtype=torch.bool).addcmul_(torch.ones(2, dtype=torch.bool), torch.ones(2, dtype=torch.bool))

# with out=: pointwise operations look at the memory first, others at the dtype or only after they resized
ints = torch.zeros(1, dtype=torch.int64).expand(3)
torch.exp(torch.zeros(3), out=ints)
torch.softmax(torch.zeros(3), 0, out=ints)
torch.masked_select(torch.zeros(3), torch.tensor([True] * 3), out=ints)
out = torch.zeros(1).expand(2, 2)
torch.sum(torch.ones(2, 3), 0, out=out)
out.shape, out.stride(), out._version
torch.cumsum(torch.ones(2, 3), 0, out=torch.zeros(1).expand(2, 2))
torch.add(torch.ones(3), 1, out=torch.zeros(1).expand(2, 2))
torch.cumsum(torch.ones(3), 0, out=torch.zeros(1).expand(3))
torch.ones(2, 2, out=(out := torch.zeros(3)))._version

# views that must not be used any more, and shapes that do not fit
x = torch.ones(2, 3, requires_grad=True)
a, b = x.split(1)
with torch.no_grad(): x.mul_(1)
torch.ones(7).expand_as(b)
torch.ones(7).view_as(b)
torch.outer(a, b)
torch.nn.functional.linear(a, b)
torch.isclose(a, b)
torch.asarray(a, copy=True)
torch.asarray(a, copy=False, dtype=torch.float64)
list(x[:0].split(1, 1)[0])
x[:, :0].argmax()
a.any(5)
a.gt(torch.ones(7))
torch.zeros(3, 3).scatter(0, torch.tensor([[0, 1]]), src=2.5)
torch.zeros(3, 3).scatter_(0, torch.tensor([[0, 1]]), value=2.5)
a.flatten(5)
a.movedim(5, 0)
a.tensor_split(-1)
a.narrow(0, 5, 1)
a.chunk(0)
a.matmul(torch.tensor(2.))
a - (b > 0)
a ** torch.ones(7)
a.bitwise_not()
with torch.inference_mode(): t = torch.ones(3)
(x.sum(0) * 1)[0].mul_(t)
u = x.unbind(1)[0]
with torch.no_grad(): x.mul_(1)
u.reshape(1)
a.reshape(5)
torch.arange(6).view(2, 3).expand(4, 2, 3).tril_()[0]
torch.arange(6).view(2, 3).expand(2, 2, 2, 3).tril_()

# a product with `@` of a view that is stale, and does not fit
whole = torch.ones(2, 3, requires_grad=True)
with torch.no_grad():
    stale = whole[:]
with torch.no_grad():
    whole.add_(1)
stale[0].shape
stale @ torch.eye(2)
stale @ torch.ones(5)
