"""Inplace sigmoid error."""
import torch
torch.manual_seed(0)
x = torch.randn(3, requires_grad=True)
y = torch.sigmoid(x)
y += 1
y.sum().backward()
y = torch.tanh(x)
y.mul_(2)
y.sum().backward()
y = torch.exp(x)
y[0] = 0
y.sum().backward()
y = torch.softmax(x, 0)
y.clamp_(0, 0.2)
y.sum().backward()
y = torch.relu(x)
y -= 1
y.sum().backward()
y = x.sqrt()
y.neg_()
y.sum().backward()
