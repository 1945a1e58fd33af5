"""Iterating and python."""
import torch
t = torch.arange(6).view(2, 3)
for i, row in enumerate(t):
    print(i, row, row.sum())
[r.tolist() for r in t]
list(zip(t[0], t[1]))
a, b = t
a
a, b, c = t
dict(enumerate(t[0]))
max(t[0]), min(t[0].tolist())
sum(t)
len(t), len(t[0])
len(torch.tensor(1))
t[0] in [t[0]]
3 in t
reversed(t)
list(reversed(t[0]))
map(float, t[0])
list(map(float, t[0]))
t[0] == [0, 1, 2]
t == 3
bool(t[0, 1]), bool(t[0, 0])
if t[0, 1]:
    print("truthy")
if t:
    print("ambiguous")
assert t.sum()
all(t[0] == torch.tensor([0, 1, 2]))
any(t[0] > 5)
print(t[0], t[1], sep=" | ")
print("loss:", torch.tensor(0.123456), torch.tensor(0.5, requires_grad=True))
print(f"{torch.tensor(1.5)} {torch.tensor([1.5])} {torch.tensor(1.5, requires_grad=True)}")
print(f"{torch.tensor(1.23456):.3f} {torch.tensor(3):d} {torch.tensor(3):>5}")
print("{:.2f}".format(torch.tensor(1.234, requires_grad=True)))
print("{:.2f}".format(torch.tensor(1.234, requires_grad=True) * 1))
str(torch.tensor(1.5)), repr(torch.tensor(1.5))
torch.tensor([1, 2]).__repr__()
divmod(torch.tensor(7), 2)
torch.tensor(3) << 1, torch.tensor(5) & 3, torch.tensor(5) ^ 1, torch.tensor(1) | 2
2 - torch.tensor(1), 2 / torch.tensor(4), 2 // torch.tensor(4), 7 % torch.tensor(4), 2 ** torch.tensor(3)
+torch.tensor(1), -torch.tensor(1), abs(torch.tensor(-1)), ~torch.tensor(1)
torch.tensor(1) < 2 < torch.tensor(3)
t.sum().item() == 15
isinstance(t.sum().item(), int)
x = torch.tensor(1)
x += 1.5
x += 1
x
[1, 2, 3][torch.tensor(1)]
"abc" * torch.tensor(2)
[0] * torch.tensor(3)
range(torch.tensor(2))
