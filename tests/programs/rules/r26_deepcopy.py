"""deepcopy of a leaf copies .grad, of a result raises; a view takes its whole storage along."""
import copy
import torch

x = torch.tensor([1., 2.], requires_grad=True)
(x * 2).sum().backward()
c = copy.deepcopy(x)
print(c, c.grad, c.grad is x.grad, c.data_ptr() == x.data_ptr())
p = torch.nn.Parameter(torch.tensor([1., 2.]))
(p * 2).sum().backward()
print(copy.deepcopy(p).grad)
big = torch.arange(6.)
v = copy.deepcopy(big[1:3])
print(v, v.untyped_storage().nbytes(), v.storage_offset())
a, b = copy.deepcopy([big, big[:2]])
b[0] = 50.
print(a)
copy.deepcopy(x * 2)
