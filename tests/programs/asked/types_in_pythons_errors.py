"""What Python itself says of torch's shapes, dtypes and devices names them as torch does, with the module."""

import torch

x = torch.ones(2, 3)
"shape: " + x.shape
"dtype: " + x.dtype
"device: " + x.device
"layout: " + x.layout
"storage: " + x.untyped_storage()
x.shape + [4]
x.shape + (4,)
[4] + x.shape
1 + x.shape
x.shape * 2
x.shape * 1.5
x.shape < 3
x.shape.append(4)
x.shape[0] = 5
x.shape.rank
x.dtype.name
x.dtype + 1
x.dtype()
x.dtype[0]
torch.float32 < torch.float64
len(x.dtype)
x.device.name
x.device.type = "cuda"
torch.device("cpu") < torch.device("cuda")
iter(x.device)
int(x.device)
[1, 2][x.dtype]
x + x.dtype
x[x.dtype]
x[0] = x.device
torch.tensor(x.device)
torch.Generator() + 1
torch.Generator().state
torch.finfo(3)
torch.iinfo(int)
type(x.shape).__name__, type(x.dtype).__name__, type(x.device).__name__
type(x.shape), type(x.dtype), type(x.device), type(x.max(0))
x.max(0).size
"max: " + x.max(0)
