"""List of states error."""
import torch
torch.manual_seed(0)
w = torch.ones(2, requires_grad=True)
out = torch.zeros(3, 2)
for i in range(3):
    out[i] = w * i
out
out.sum().backward()
w.grad
state = w * 1
outs = []
for i in range(2):
    state *= 2
    outs.append(state)
outs
sum(outs).sum().backward()
state = w * 1
outs = []
for i in range(2):
    state = state * 2
    outs.append(state)
outs
h = torch.zeros(2, 2)
for i in range(2):
    h[i] = torch.tanh(w + h[i - 1])
h
h.sum().backward()
a = w * 2
b = a * a
a += 1
b.sum().backward()
a = w * 2
b = a * a
a = a + 1
b.sum().backward()
w.grad
