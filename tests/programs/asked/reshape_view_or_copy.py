"""Reshape view or copy."""
import torch
z = torch.zeros(3, 2)
x = z.view(2, 3)
z.fill_(1)
x
z = torch.zeros(3, 2)
y = z.reshape(6)
x = z.t().reshape(6)
z.fill_(1)
y
x
x.data_ptr() == z.data_ptr(), y.data_ptr() == z.data_ptr()
y._base is z
x._base
torch.flatten(z).data_ptr() == z.data_ptr()
z.t().flatten().data_ptr() == z.data_ptr()
z.t().contiguous().stride()
z.t().clone().stride()
z.unsqueeze(0).shape, z.unsqueeze(-1).stride(), z.squeeze().shape
