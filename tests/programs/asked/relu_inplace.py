"""Relu inplace."""
import torch
torch.manual_seed(0)
import torch.nn as nn
import torch.nn.functional as F
x = torch.tensor([-1., 1.], requires_grad=True)
nn.ReLU(inplace=True)(x)
y = x * 2
z = nn.ReLU(inplace=True)(y)
z is y
y
z.sum().backward()
x.grad
y = torch.sigmoid(x)
F.relu_(y)
y.sum().backward()
y = x * x
nn.ReLU(inplace=True)(y).sum().backward()
x.grad
y = x.exp()
nn.ReLU(inplace=True)(y).sum().backward()
y = x * 2
y.relu_().sigmoid_()
y
y.sum().backward()
nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))(x).sum().backward()
h = nn.Linear(2, 2)(x)
a = h + 1
h.add_(1).mul_(2)
h.sum().backward()
