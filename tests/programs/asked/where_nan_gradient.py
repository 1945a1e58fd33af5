"""Where nan gradient."""
import torch
x = torch.tensor([0., 2.], requires_grad=True)
y = torch.where(x > 0, x.sqrt(), torch.zeros_like(x))
y.sum().backward()
x.grad
x.grad = None
safe = torch.where(x > 0, x, torch.ones_like(x))
torch.where(x > 0, safe.sqrt(), torch.zeros_like(x)).sum().backward()
x.grad
x.grad = None
x.abs().sum().backward()
x.grad
x.grad = None
x.pow(0.5).sum().backward()
x.grad
x.grad = None
x.prod().backward()
x.grad
x.grad = None
x.max().backward()
x.grad
x.grad = None
torch.tensor([1., 1.], requires_grad=True).max().backward()
z = torch.tensor([1., 1.], requires_grad=True)
z.max().backward()
z.grad
z.grad = None
z.max(0).values.backward()
z.grad
z.grad = None
torch.max(z, torch.tensor([1., 0.])).sum().backward()
z.grad
z.grad = None
z.std().backward()
z.grad
z.grad = None
(z - 1).norm().backward()
z.grad
torch.nan_to_num(z.grad)
z.grad[z.grad != z.grad] = 0
z.grad
c = torch.tensor([-1., 0., 1.], requires_grad=True)
torch.relu(c).sum().backward()
c.grad
c.grad = None
c.clamp(0, 1).sum().backward()
c.grad
c.grad = None
c.sign().sum().backward()
c.grad
torch.atan2(c, c).sum().backward()
c.grad
c.median().backward()
c.grad
c.sort().values[0].backward()
c.grad
