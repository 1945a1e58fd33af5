"""reshape returns a view where it can and a copy where it must; view raises instead of copying."""
import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
y = x.reshape(4)
t = x.t()
z = t.reshape(4)
print(y.data_ptr() == x.data_ptr())
print(z.data_ptr() == x.data_ptr())
x += 10
print(y)
print(z)
print(t)
t.view(4)
t.contiguous().view(4)
t.is_contiguous()
