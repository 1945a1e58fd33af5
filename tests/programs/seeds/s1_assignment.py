"""Assignment copies nothing: two names, one tensor."""
import torch

a = torch.tensor([1.0, 2.0])
b = a
print(a is b, id(a) == id(b))
b += 1
print(a)
b = b + 1
print(a, b, a is b)
