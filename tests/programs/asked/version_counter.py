"""Version counter."""
import torch
x = torch.zeros(3)
x._version
x.add_(1)
x._version
y = x[0]
y._version
y.fill_(2)
x._version, y._version
x.data.add_(1)
x._version
x.detach().add_(1)
x._version
x.numpy()[0] = 5
x, x._version
with torch.no_grad():
    x.mul_(2)
x._version
x[0] = 1
x._version
x += 1
x._version
x = x + 1
x._version
x.clone()._version
torch.from_numpy(x.numpy())._version
x.copy_(torch.ones(3))._version
x.requires_grad_()._version
x.zero_()
