"""The same with a step: only B's numbers move."""
import torch
from torch import nn

torch.manual_seed(1)
A = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
B = nn.Linear(2, 1)
x = torch.tensor([[1., 2.], [0.5, -1.]])
before = [p.detach().clone() for p in A.parameters()]
y = A(x)
loss = (B(y.detach()) ** 2).sum()
print(loss)
loss.backward()
print([p.grad for p in A.parameters()])
with torch.no_grad():
    for p in B.parameters():
        p -= 0.1 * p.grad

print([bool((p == q).all()) for p, q in zip(A.parameters(), before)])
print(B.weight)
print((B(A(x)) ** 2).sum())
