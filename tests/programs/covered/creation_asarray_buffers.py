# asarray over whatever has memory, and what it does to a leaf
import array
import numpy as np
import torch
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = torch.asarray(x, requires_grad=False)
y is x, x.requires_grad
x.requires_grad_()
z = torch.asarray(x * 2, requires_grad=False)
z.requires_grad, z.is_leaf
torch.asarray(x[1:], requires_grad=False).requires_grad, x.requires_grad
b = bytearray(b"12345678")
y = torch.asarray(b, dtype=torch.uint8)
y[0] = 65
b
y = torch.asarray(b, dtype=torch.uint8, copy=True)
y[0] = 66
b
torch.asarray(b, dtype=torch.int32)
torch.asarray(b"12345678")
torch.asarray(bytearray(b"1234567"))
torch.asarray(b"")
torch.asarray(bytearray(8), requires_grad=True)
torch.asarray(bytearray(8), dtype=torch.int32, requires_grad=True)
torch.asarray(array.array("f", [1, 2]))
torch.asarray(memoryview(bytearray(8)), dtype=torch.float64)
torch.asarray(np.float32(3))
torch.asarray(np.float32(3), copy=False)
torch.asarray([1, 2], copy=False)
torch.tensor(b"ab")
torch.tensor(bytearray(b"ab"))
torch.ones(2).clone(memory_format=torch.channels_last)
torch.ones(2).clone(memory_format=torch.contiguous_format)
del x.data
x.T = x
del x.mT
