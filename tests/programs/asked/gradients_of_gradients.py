"""Penalty on a gradient, learning to learn by hand, Jacobians, straight-through, accumulation."""

import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(7)
# gradient penalty
critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
real, fake = torch.randn(4, 2), torch.randn(4, 2)
eps = torch.rand(4, 1)
mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
score = critic(mix)
grads = torch.autograd.grad(outputs=score, inputs=mix, grad_outputs=torch.ones_like(score), create_graph=True, retain_graph=True)[0]
grads
gp = ((grads.norm(2, dim=1) - 1) ** 2).mean()
gp
gp.backward()
[None if p.grad is None else p.grad.shape for p in critic.parameters()]
critic[0].weight.grad
critic[2].weight.grad
critic[2].bias.grad
critic[0].bias.grad
# MAML by hand
w = torch.tensor([1.0, -2.0], requires_grad=True)
def task_loss(w, t):
    return ((w - t) ** 2).sum()
inner = task_loss(w, torch.tensor([0.5, 0.5]))
g, = torch.autograd.grad(inner, w, create_graph=True)
fast = w - 0.1 * g
outer = task_loss(fast, torch.tensor([1.0, 1.0]))
outer.backward()
w.grad
fast.grad
fast
# functional forward with fast weights
lin = nn.Linear(2, 1)
params = {n: p for n, p in lin.named_parameters()}
loss = F.linear(real, params["weight"], params["bias"]).pow(2).mean()
gs = torch.autograd.grad(loss, list(params.values()), create_graph=True)
fastp = {n: p - 0.1 * gg for (n, p), gg in zip(params.items(), gs)}
F.linear(real, fastp["weight"], fastp["bias"]).pow(2).mean().backward()
lin.weight.grad, lin.bias.grad
# jacobian, hessian
def f(x):
    return torch.stack([x[0] ** 2 * x[1], x[1].sin()])
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = f(x)
J = torch.stack([torch.autograd.grad(yi, x, retain_graph=True)[0] for yi in y])
J
# straight through
class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).float()
    @staticmethod
    def backward(ctx, g):
        return g.clamp(-1, 1)
x = torch.tensor([-1., 0.5, 2.], requires_grad=True)
STE.apply(x).sum().backward()
x.grad
x.grad = None
y = x.round()
z = x + (y - x).detach()
z
(z * torch.tensor([1., 2., 3.])).sum().backward()
x.grad
hard = F.one_hot(x.argmax(), 3).float()
soft = F.softmax(x, 0)
st = hard - soft.detach() + soft
st
st[2].backward()
x.grad
# gradient accumulation
m = nn.Linear(1, 1)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
for i, batch in enumerate(torch.arange(8.).view(4, 2, 1)):
    (m(batch).mean() / 2).backward()
    if (i + 1) % 2 == 0:
        print(i, m.weight.grad, m.bias.grad)
        opt.step()
        opt.zero_grad()
m.weight
torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
m(torch.ones(1, 1) * 100).backward()
torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
m.weight.grad
torch.nn.utils.clip_grad_value_(m.parameters(), 0.5)
m.weight.grad
torch.nn.utils.parameters_to_vector(m.parameters())
