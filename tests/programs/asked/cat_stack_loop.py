"""Cat stack loop."""
import torch
outs = []
for i in range(3):
    outs.append(torch.full((2,), float(i)))
torch.cat(outs)
torch.stack(outs)
torch.stack(outs, dim=1)
torch.cat(outs, dim=1)
torch.cat([torch.ones(2, 3), torch.ones(2, 2)], dim=1).shape
torch.cat([torch.ones(2, 3), torch.ones(2, 2)])
torch.stack([torch.ones(2), torch.ones(3)])
torch.cat([])
torch.stack([])
torch.cat([torch.tensor(1), torch.tensor(2)])
torch.stack([torch.tensor(1), torch.tensor(2)])
torch.tensor([torch.tensor(1), torch.tensor(2.5)])
torch.tensor([torch.ones(2), torch.ones(2)])
torch.Tensor([torch.tensor(1.)])
torch.tensor([[1, 2], [3]])
torch.tensor(outs)
x = torch.tensor([])
for i in range(3):
    x = torch.cat((x, torch.tensor([float(i)])))
x
torch.cat([torch.ones(2), "a"])
torch.cat(torch.ones(2, 2))
torch.hstack([torch.ones(2), torch.zeros(1)]), torch.vstack([torch.ones(2), torch.zeros(2)])
a = torch.ones(1, requires_grad=True)
b = torch.cat([a, a * 2])
b
b.sum().backward()
a.grad
losses = [a * i for i in range(3)]
sum(losses)
torch.stack(losses)
torch.cat(losses).mean()
torch.concat([torch.ones(1)])
