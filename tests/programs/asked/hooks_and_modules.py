"""Where a hook sits, what it sees, what becomes of what it returns."""

import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
# hooks asked about
acts, grads = {}, {}
class CNNless(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 3)
        self.fc2 = nn.Linear(3, 2)
    def forward(self, x):
        h = F.relu(self.fc1(x))
        h.register_hook(lambda g: grads.update(h=g))
        return self.fc2(h)
net = CNNless()
handles = [m.register_forward_hook(lambda m, i, o, n=n: acts.update({n: o})) for n, m in net.named_modules() if n]
net(torch.ones(1, 4)).sum().backward()
{k: v.shape for k, v in acts.items()}
grads
[h.remove() for h in handles]
acts["fc1"].requires_grad, acts["fc1"].grad_fn
for n, p in net.named_parameters():
    p.register_hook(lambda g, n=n: print(n, g.norm().item()))
net(torch.ones(1, 4)).sum().backward()
for p in net.parameters():
    p._backward_hooks
clip = net.fc1.weight.register_hook(lambda g: g.clamp(-0.01, 0.01))
net.zero_grad(); net(torch.ones(1, 4)).sum().backward()
net.fc1.weight.grad.abs().max() <= 0.0101
def save_grad(name):
    def hook(g):
        grads[name] = g
    return hook
x = torch.randn(1, 1, requires_grad=True)
y = 3 * x
z = y ** 2
y.register_hook(save_grad("y"))
z.backward()
grads["y"], y.grad
y.retain_grad()
h = y.register_hook(lambda g: g * 100)
z = y ** 2
z.backward()
y.grad, x.grad
h.remove()
x.register_hook("no")
x.register_hook(lambda g: "no")
(x * 2).backward()
torch.ones(1).register_hook(lambda g: g)
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda g: g[:1])
x.sum().backward()
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda g: g.mul_(2))
x.sum().backward(); x.grad
x.register_post_accumulate_grad_hook(lambda p: print("acc", p.grad))
x.sum().backward()
(x * 2).register_post_accumulate_grad_hook(lambda p: None)
# optimizer in backward
w = nn.Parameter(torch.ones(2))
o = torch.optim.SGD([w], lr=0.1)
def step_now(p):
    o.step(); o.zero_grad()
w.register_post_accumulate_grad_hook(step_now)
(w * 3).sum().backward()
w, w.grad
# activation patching
lin = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
h = lin[0].register_forward_hook(lambda m, i, o: torch.zeros_like(o))
lin(torch.ones(2))
h.remove()
h = lin[0].register_forward_pre_hook(lambda m, i: (i[0] * 0,))
torch.equal(lin[0](torch.ones(2)), lin[0].bias)
h.remove()
h = lin.register_forward_hook(lambda m, i, o: None)
lin(torch.ones(2)).shape
h.id in lin._forward_hooks
h.remove(); len(lin._forward_hooks)
# backward hooks misunderstanding
lin = nn.Linear(2, 1, bias=False)
lin.weight.data.fill_(2.)
lin.register_full_backward_hook(lambda m, gi, go: (gi[0] * 0,))
x = torch.ones(1, 2, requires_grad=True)
lin(x).backward()
x.grad, lin.weight.grad
m = nn.ReLU(inplace=True)
m.register_full_backward_hook(lambda m, gi, go: print("in place", gi, go))
m(x * 1)
m2 = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
m2[0].register_full_backward_hook(lambda m, gi, go: None)
m2(x)
nn.Linear(2, 1)(x).shape
hooks = nn.Linear(1, 1)
hooks.register_forward_hook(lambda m, a, o: print(1))
hooks.register_forward_hook(lambda m, a, o: print(2))
hooks.register_forward_hook(lambda m, a, o: print(0), prepend=True)
_ = hooks(torch.ones(1))
hooks.register_full_backward_hook(lambda m, gi, go: print("b1"))
hooks.register_full_backward_hook(lambda m, gi, go: print("b0"), prepend=True)
hooks.register_full_backward_pre_hook(lambda m, go: print("p1"))
hooks.register_full_backward_pre_hook(lambda m, go: print("p0"), prepend=True)
hooks(torch.ones(1, requires_grad=True)).backward()
class KW(nn.Module):
    def forward(self, x, *, scale=1.):
        return x * scale
k = KW()
k.register_forward_pre_hook(lambda m, a, kw: (a, {"scale": 10.}), with_kwargs=True)
k.register_forward_hook(lambda m, a, kw, o: print(a, kw, o), with_kwargs=True)
k(torch.ones(1), scale=2.)
