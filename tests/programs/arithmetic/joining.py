import torch
x = torch.arange(4.).reshape(2, 2).requires_grad_()
torch.cat([x, x])
torch.cat([x, torch.ones(2, 1, dtype=torch.int64)], 1)
torch.stack([x, x], -1).shape
torch.hstack([x, x]), torch.vstack([x, x])
x.repeat(1, 2)
x.tile(2)
x.repeat_interleave(2, 0)
x.flip(0), x.roll(1, 1)
x.tril()
x.triu(1).grad_fn
torch.cat([x, torch.ones(3, 3)])
torch.stack([x, torch.ones(3)])
torch.cat([])
x.repeat(2)
a, b = torch.broadcast_tensors(x, torch.ones(2))
a is x, b.stride()
y = torch.cat([x, x * 2])
y.sum().backward()
x.grad
