"""Optim sgd momentum."""
import torch
import torch.optim as optim
x = torch.tensor([1., 2.], requires_grad=True)
opt = optim.SGD([x], lr=0.1, momentum=0.9, weight_decay=0.01)
for i in range(3):
    opt.zero_grad()
    (x ** 2).sum().backward()
    opt.step()
    print(x.data)
opt.state[x]
opt.state_dict()
opt.param_groups[0]["lr"]
opt.param_groups[0]["lr"] = 0.01
opt
opt.zero_grad()
x.grad
optim.SGD([x], lr=0.1, nesterov=True)
optim.SGD([x], lr=-1)
optim.SGD([x], lr=0.1, momentum=0.9, nesterov=True)
optim.SGD([x * 2], lr=0.1)
optim.SGD(x, lr=0.1)
optim.SGD([x, x], lr=0.1)
optim.SGD(["a"], lr=0.1)
optim.Adam([x], lr=0.1, betas=(1.0, 0.9))
optim.Adam([x])
