"""repeat, tile and repeat_interleave."""
import torch

x = torch.tensor([[1, 2], [3, 4]])
x.repeat(2, 1), x.repeat(1, 2), x.repeat(2, 1, 1).shape, x.repeat((1, 2)), x.repeat(0, 1).shape
x.repeat(2)
x.repeat(-1, 2)
x.repeat()
torch.tensor(5).repeat(2, 2), x.tile(2), x.tile((2, 1, 1)).shape, torch.tile(x, ()), torch.tile(torch.tensor(1), (2,))
x.repeat_interleave(2), x.repeat_interleave(2, dim=0), x.repeat_interleave(torch.tensor([1, 3]), dim=1), torch.repeat_interleave(torch.tensor([2, 0, 1]))
x.repeat_interleave(torch.tensor([1, 2, 3]), dim=0)
x.repeat_interleave(-1)
x.repeat_interleave(torch.tensor([1.5, 2]), dim=0)
x.repeat_interleave(torch.tensor([1, -2]), dim=0)
x.repeat_interleave(torch.tensor([2]), 1), torch.repeat_interleave(x, 2, output_size=8)
w = torch.arange(2., requires_grad=True)
w.repeat(2, 3).sum().backward()
w.grad
w.repeat_interleave(torch.tensor([1, 2])).sum().backward()
w.grad
