"""view, reshape and flatten, and what they refuse."""
import torch

x = torch.arange(6.).view(2, 3)
x.view(4)
x.view(-1, -1)
x.view(-1, 4)
x.view(-2, 3)
x.t().view(6)
x.view()
x.view(2.0, 3)
x.view((3, 2)), x.view([6]), x.view(torch.Size([1, 6]))
x.view(torch.int32)
x.view(torch.float64)
x.view(torch.int16).shape
x.view(dtype=torch.uint8).shape
x.t().view(torch.int16)
x[:, :2].view(torch.float64).shape
x.reshape(5)
x.view(size=(6,))
x.reshape(()), torch.tensor([3.]).view(())
x.view_as(torch.zeros(3, 2))
x.view_as(torch.zeros(5))
x.flatten(1, 0)
x.flatten(3)
x.unflatten(1, (3, 1)).shape, x.unflatten(-1, (-1, 3)).shape
x.unflatten(1, (2, 2))
x.unflatten(1, ())
x.unflatten(5, (1, 2))
x.ravel().data_ptr() == x.data_ptr()
