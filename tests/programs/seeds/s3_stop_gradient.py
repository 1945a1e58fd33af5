"""B(y.detach()) trains B and leaves A alone; B(y) trains both."""
import torch
import torch.nn as nn

torch.manual_seed(0)
A = nn.Linear(3, 2)
B = nn.Linear(2, 1)
x = torch.tensor([1., 2., 3.])
y = A(x)
z = B(y.detach())
z.backward()
print(z)
print(A.weight.grad, A.bias.grad)
print(B.weight.grad, B.bias.grad)
z = B(A(x))
z.backward()
print(A.weight.grad)
print(A.bias.grad)
print(B.weight.grad, B.bias.grad)
