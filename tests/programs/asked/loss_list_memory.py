"""Loss list memory."""
import torch
w = torch.ones(1, requires_grad=True)
total = 0
for i in range(3):
    total += (w * i).sum()
total
total = 0
for i in range(3):
    total += (w * i).sum().item()
total
total = torch.tensor(0.)
for i in range(3):
    total += (w * i).sum()
total
total.backward()
w.grad
loss = 0
loss.backward()
loss = torch.tensor(1.)
loss.backward()
running = 0.0
running += total.detach()
running
total /= 3
total
print(total.item(), total.data, float(total))
