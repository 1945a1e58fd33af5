"""A second backward raises where something was saved: x * 2 saves the number, x + 2 saves nothing."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
y = (x * 2).sum()
y.backward()
y.backward()
y = (x / 2).sum()
y.backward()
y.backward()
y = (x + 2).clone()
y = (-y).sum()
y.backward()
y.backward()
m = x.mean()
m.backward()
m.backward()
print(x.grad)
