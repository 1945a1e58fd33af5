"""Slices and ints, negative and out of range."""
import torch

x = torch.arange(10)
x[-3:], x[:-3], x[2:-2:3], x[-100:2], x[5:100], x[7:3], x[::4], x[torch.tensor(2):torch.tensor(5)], x[True:3]
x[::-1]
x[0:5:0]
x[1.5:]
x[:"a"]
x[[-1, -10]]
x[[-11]]
x[-11]
x[10]
m = x.view(2, 5)
m[-1, -1], m[1][2], m[:, -1], m[..., 0], m[0, ...], m[None].shape, m[:, None, :].shape, m[..., None, None].shape
m[0, 0, 0]
m[..., 0, 0, 0]
m[[0, 1], [0, 1], [0, 1]]
m[2, 0]
m[0, 5]
m["0"]
m[{}]
m[slice(None), slice(1, 3)]
del m[0]
