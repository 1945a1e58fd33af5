"""Index errors."""
import torch
x = torch.arange(6).view(2, 3)
x[2]
x[0, 3]
x[0, 0, 0]
x[-3]
x[1.0]
x["a"]
x[[0, 5]]
x[torch.tensor([0, 5])]
x[torch.tensor([0.5])]
x[::-1]
x[0:10]
x[..., 0], x[:, None].shape, x[None, ..., None].shape
x[1, [0, 2]]
x[[0, 1], [0, 1]]
x[[0, 1], [0, 1, 2]]
x[(0, 1)]
x[torch.tensor([[0, 1], [1, 0]])]
x[:, torch.tensor([True, False, True])]
x[True]
x[False]
x.select(0, 5)
x.index_select(0, torch.tensor([0, 3]))
x.index_select(0, torch.tensor([[0]]))
x.narrow(0, 1, 2)
x.sum(2)
x.sum(dim=-3)
x.squeeze(5)
x.unsqueeze(4)
x.transpose(0, 2)
x.permute(0)
x.permute(0, 0)
torch.tensor(5)[0]
len(torch.tensor(5))
len(x)
for row in x:
    print(row)
for v in torch.tensor(3):
    print(v)
list(x[0])
x.tolist()
x.shape[0], x.size(1), x.size(5)
x.size(-1), x.dim(), x.numel(), x.nelement(), x.ndim
5 in x, torch.tensor(5) in x, 10 in x
x.t()[0] = 9
x
x[0, 0] = torch.tensor([1, 2])
x[0][1] = 100
x
x[[0]][0, 0] = 55
x
x[5] = 1
x.item()
x[0, 0].item()
int(x[0, 0]), float(x[0, 0]), int(x)
range(10)[x[0, 2]]
[10, 20, 30, 40, 50, 60, 70, 80, 90, 100][x[0, 2]]
