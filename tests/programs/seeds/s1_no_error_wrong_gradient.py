"""No error does not mean a right gradient: autograd cannot see these three writes. The right answer is 6."""
import copy
import torch

a = torch.tensor([3.0], requires_grad=True)
y = (a * 1) ** 2
y.backward()
print(a.grad)
a.grad = None
b = a * 1
y = b ** 2
b.data.fill_(100.0)
y.backward()
print(a.grad)
a.grad = None
b = a * 1
y = b ** 2
b.detach().numpy()[0] = 100.0
y.backward()
print(a.grad)
b = torch.tensor([3.0], requires_grad=True)
c = copy.copy(b)
y = b ** 2
with torch.no_grad():
    c.fill_(100.0)

y.backward()
print(b.grad)
