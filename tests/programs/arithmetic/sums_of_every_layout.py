"""A sum is added up in the order of the result, whatever the operand's layout: the last bits and the strides show it."""

import torch

torch.manual_seed(0)
a = torch.randn(100, 5, 6)
for layout in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]:
    back = [layout.index(i) for i in range(3)]
    t = a.permute(layout).contiguous().permute(back)
    for dims in [0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2)]:
        s = t.sum(dims)
        print(t.stride(), dims, s.stride(), s.double().sum().item(), s.flatten()[0].item())
row = torch.randn(6)
for t in [row.expand(100, 5, 6), row[:5, None].expand(100, 5, 6), row[:1].expand(100, 5, 6)]:
    print(t.stride(), t.sum((0, 2)).double().sum().item(), t.sum((1, 2))[0].item(), t.sum().item(), t.mean(0)[0, 0].item())

# so a gradient summed down is dense, and a leaf takes it without a copy
x = torch.zeros(2, 3, requires_grad=True)
x.expand(4, 2, 3).backward(torch.ones(4, 3, 2).mT)
x.grad, x.grad.stride(), x.grad._version
