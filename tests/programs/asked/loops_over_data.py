"""Training loops with a data loader and a schedule."""

import torch
from torch import nn, optim
from torch.utils.data import TensorDataset, DataLoader, Dataset, random_split
torch.manual_seed(0)
X = torch.arange(10.).view(5, 2)
Y = torch.arange(5)
ds = TensorDataset(X, Y)
len(ds)
ds[0]
ds[1:3]
TensorDataset(X, torch.ones(3))
for xb, yb in DataLoader(ds, batch_size=2):
    print(xb, yb)
for xb, yb in DataLoader(ds, batch_size=2, shuffle=True):
    print(xb, yb)
for xb, yb in DataLoader(ds, batch_size=2, drop_last=True):
    print(yb)
len(DataLoader(ds, batch_size=2)), len(DataLoader(ds))
class Mine(Dataset):
    def __init__(self, n):
        self.n = n
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        return {"x": float(i), "y": i * i, "t": torch.full((2,), i)}
next(iter(DataLoader(Mine(3), batch_size=3)))
a, b = random_split(ds, [3, 2])
len(a), b.indices
[yb.tolist() for _, yb in DataLoader(a, batch_size=2)]
g = torch.Generator()
g.manual_seed(1)
[yb.tolist() for _, yb in DataLoader(ds, batch_size=2, shuffle=True, generator=g)]
model = nn.Linear(1, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
sched = optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
for e in range(5):
    opt.step()
    sched.step()
    print(e, sched.get_last_lr(), opt.param_groups[0]["lr"])
opt
sched.state_dict()
sched = optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)
opt.step(); sched.step()
sched.get_last_lr()
sched = optim.lr_scheduler.LambdaLR(optim.SGD(model.parameters(), lr=1.), lambda e: 0.95 ** e)
sched.step()
sched.get_last_lr()
sched = optim.lr_scheduler.CosineAnnealingLR(optim.SGD(model.parameters(), lr=1.), T_max=4)
for _ in range(4):
    sched.optimizer.step()
    sched.step()
    print(sched.get_last_lr())
sched = optim.lr_scheduler.MultiStepLR(optim.SGD(model.parameters(), lr=1.), [1, 3], 0.1)
for _ in range(4):
    sched.optimizer.step(); sched.step()
    print(sched.get_last_lr())
sched = optim.lr_scheduler.ReduceLROnPlateau(optim.SGD(model.parameters(), lr=1.), "min", patience=1)
for l in [1., 1., 1., 1., 0.5]:
    sched.step(l)
    print(sched.optimizer.param_groups[0]["lr"])
