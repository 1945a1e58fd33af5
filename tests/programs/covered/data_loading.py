"""Data sets, samplers, batches: in order, shuffled, from one's own classes."""

import torch
import numpy as np
from torch.utils.data import *
from collections import namedtuple
torch.manual_seed(0)
ds = TensorDataset(torch.arange(10))
list(DataLoader(ds, batch_size=4))
[b[0].tolist() for b in DataLoader(ds, batch_size=3, shuffle=True)]
[b[0].tolist() for b in DataLoader(ds, batch_size=3, shuffle=True)]
torch.rand(1)
list(RandomSampler(range(5)))
list(RandomSampler(range(5), replacement=True, num_samples=7))
list(RandomSampler(range(5), num_samples=12))
list(RandomSampler(range(5), generator=torch.Generator().manual_seed(1)))
RandomSampler([])
RandomSampler(range(3), num_samples=0)
RandomSampler(range(3), replacement=3)
list(SequentialSampler(range(3)))
list(SubsetRandomSampler([5, 7, 9]))
list(WeightedRandomSampler([0.1, 0.9, 0.4], 5))
list(WeightedRandomSampler([0.1, 0.9, 0.4], 2, replacement=False))
WeightedRandomSampler([0.1], 0)
list(BatchSampler(SequentialSampler(range(7)), 3, False)), list(BatchSampler(SequentialSampler(range(7)), 3, True))
BatchSampler(range(3), 0, False)
len(BatchSampler(range(7), 3, False))
parts = random_split(range(10), [0.7, 0.3])
[list(p) for p in parts]
[p.indices for p in random_split(range(10), [3, 7], generator=torch.Generator().manual_seed(42))]
random_split(range(10), [3, 3])
random_split(range(10), [0.5, 0.6])
[len(p) for p in random_split(range(10), [0.33, 0.33, 0.34])]
random_split(range(2), [0.9, 0.1])[1].indices
c = ConcatDataset([range(3), range(10, 12)])
len(c), [c[i] for i in range(5)], c[-1]
c[-9]
ConcatDataset([])
(ds + ds)[12]
Subset(ds, [3, 1])[1]
Subset(ds, [3, 1])[[0, 1]]
default_collate([1, 2])
default_collate([1., 2.])
default_collate([True, False])
default_collate(["a", "b"])
default_collate([torch.ones(2), torch.zeros(2)])
default_collate([torch.ones(2), torch.zeros(3)])
default_collate([(1, 2.), (3, 4.)])
default_collate([[1, 2.], [3, 4.]])
default_collate([{"a": 1, "b": [1, 2]}, {"a": 2, "b": [3, 4]}])
default_collate([np.ones(2), np.zeros(2)])
default_collate([np.float32(1), np.float32(2)])
P = namedtuple("P", "x y")
default_collate([P(1, 2), P(3, 4)])
default_collate([None, None])
default_collate([(1, 2), (3,)])
default_collate([object(), 3])
default_convert([np.ones(2), 3])
torch.manual_seed(0)
next(iter(DataLoader(ds, 2, True)))
DataLoader(ds, shuffle=True, sampler=[1])
DataLoader(ds, batch_sampler=[[1]], batch_size=3)
[b[0].tolist() for b in DataLoader(ds, batch_sampler=[[1, 2], [5]])]
[b[0].tolist() for b in DataLoader(ds, batch_size=3, sampler=[9, 8, 7, 6])]
DataLoader(ds, batch_size=0)
DataLoader(ds, num_workers=-1)
DataLoader(ds, batch_size=None, drop_last=True)
list(DataLoader(ds, batch_size=None))[:2]
list(DataLoader(range(5), 2, collate_fn=lambda b: b))
class It(IterableDataset):
    def __iter__(self):
        return iter(range(5))
list(DataLoader(It(), batch_size=2))
len(DataLoader(It()))
DataLoader(It(), shuffle=True)
class D(Dataset):
    pass
D()[0]
len(D())
DataLoader(D())
next(iter(DataLoader(D(), sampler=[0])))
class E(Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return torch.full((2,), float(i), requires_grad=True), i
for x, y in DataLoader(E(), batch_size=2):
    print(x, y)
dl = DataLoader(E(), batch_size=3)
dl.dataset.__class__, dl.batch_size, dl.drop_last, len(dl), dl.num_workers
it = iter(dl)
next(it), next(it)
next(it)
for i, (x, y) in enumerate(dl):
    print(i, x.shape, y)
for epoch in range(2):
    for xb, in DataLoader(ds, 5, shuffle=True, generator=torch.Generator().manual_seed(3)):
        print(epoch, xb)
torch.utils.data.TensorDataset(torch.ones(2, 3))[0][0]
TensorDataset()
class T(Dataset):
    def __init__(self, d, transform=None): self.d, self.transform = d, transform
    def __len__(self): return len(self.d)
    def __getitem__(self, i):
        x = self.d[i]
        return self.transform(x) if self.transform else x
[b.tolist() for b in DataLoader(T(torch.arange(4.), lambda x: x * 2), batch_size=3)]
[b.tolist() for b in DataLoader(torch.arange(4.), batch_size=3)]
[b for b in DataLoader([1, 2, 3], batch_size=2)]
[b for b in DataLoader(["x", "yy", "z"], batch_size=2)]
[b for b in DataLoader([(torch.ones(1), "a")] * 2, batch_size=2)]
