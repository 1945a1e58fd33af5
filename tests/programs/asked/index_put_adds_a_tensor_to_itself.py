"""Values that lie in the memory they are added to are read as the additions before left them."""

import torch

a = torch.arange(6.0).view(3, 2).t()
p, q = a.tensor_split(2, 0)
q.data.index_put_((torch.tensor([0, 0]),), q, accumulate=True)
a
b = torch.arange(6.0).view(2, 3)
b.index_put_((torch.tensor([0, 1, 0]),), b[0], accumulate=True)
b = torch.arange(6.0).view(2, 3)
b.index_put_((torch.tensor([0, 1, 0]), torch.tensor([0, 1, 0])), b[0], accumulate=True)
b = torch.arange(4.0)
b.index_put_((torch.tensor([0, 0, 1, 1]),), b, accumulate=True)
b = torch.arange(4.0)
b.index_put_((torch.tensor([3, 3, 2, 2]),), b, accumulate=True)
b.index_put_((torch.tensor([3, 3, 2, 2]),), b)
b = torch.arange(8.0).view(2, 2, 2)
b.index_put_((None, torch.tensor([0, 0])), b, accumulate=True)
