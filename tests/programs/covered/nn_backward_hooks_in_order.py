"""Hooks on modules, nodes, tensors and accumulators in the order in which they run."""
import torch
from torch.autograd import Function
import torch.nn as nn
order = []
class MyModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
    def forward(self, x):
        return self.linear(x)
x = torch.randn(2, 3, requires_grad=True)
m = MyModule()
m.register_full_backward_hook(lambda a, b, c: order.append("module_hook")) and None
count = 0
def reg(nodes):
    global count
    for node, _ in nodes:
        if node is None:
            continue
        count += 1
        i = f"{node.name()}_{count}"
        node.register_prehook(lambda _, i=i: order.append(f"pre_{i}"))
        node.register_hook(lambda a, b, i=i: order.append(f"post_{i}"))
        reg(node.next_functions)
loss = m(x).sum()
reg(((loss.grad_fn, None),))
x.register_hook(lambda _: order.append('tx')) and None
m.linear.weight.register_hook(lambda _: order.append('tw')) and None
m.linear.bias.register_hook(lambda _: order.append('tb')) and None
x.register_post_accumulate_grad_hook(lambda _: order.append('ax')) and None
m.linear.weight.register_post_accumulate_grad_hook(lambda _: order.append('aw')) and None
m.linear.bias.register_post_accumulate_grad_hook(lambda _: order.append('ab')) and None
loss.backward()
order
model = nn.Linear(3, 2)
opts = {p: torch.optim.Adam([p]) for p in model.parameters()}
def step(p):
    opts[p].step()
    opts[p].zero_grad()
hs = [p.register_post_accumulate_grad_hook(step) for p in model.parameters()]
with torch.no_grad():
    for p in model.parameters():
        p.fill_(0.5)
for _ in range(3):
    model(torch.ones(2, 3)).sum().backward()
[p for p in model.parameters()], [p.grad for p in model.parameters()]
for h in hs:
    h.remove()
model(torch.ones(2, 3)).sum().backward()
model.bias.grad
f = nn.MSELoss()
cnt = [0]
f.register_full_backward_hook(lambda m, gi, go: cnt.__setitem__(0, cnt[0] + 1)) and None
a = torch.rand(1, requires_grad=True)
l = f(a, torch.rand(1))
g, = torch.autograd.grad(l, a, create_graph=True)
cnt
_ = torch.autograd.grad(g, a)
cnt
class T(nn.Module):
    def forward(self, x):
        return x ** 2
t = T()
t.register_full_backward_hook(lambda m, gi, go: print('h', gi, go)) and None
t.register_full_backward_pre_hook(lambda m, go: print('p', go)) and None
u = torch.tensor([1., 2.], requires_grad=True)
t(u).sum().backward()
t(u.detach()).requires_grad
t.register_full_backward_hook(lambda m, gi, go: (gi[0] * 3,)) and None
u.grad = None
t(u).sum().backward()
u.grad
t.register_full_backward_hook(lambda m, gi, go: gi[0]) and None
t(u).sum().backward()
t2 = T()
t2.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0])) and None
t2(u).sum().backward()
t3 = T()
t3.register_full_backward_pre_hook(lambda m, go: (go[0] * 2,)) and None
u.grad = None
t3(u).sum().backward()
u.grad
t3.register_full_backward_pre_hook(lambda m, go: 3) and None
t3(u).sum().backward()
class In(nn.Module):
    def forward(self, x):
        return x.mul_(2)
n = In()
n.register_full_backward_hook(lambda m, gi, go: None) and None
n(u.clone())
class Out2(nn.Module):
    def forward(self, x, y):
        return x * y, x + y
o2 = Out2()
o2.register_full_backward_hook(lambda m, gi, go: print(len(gi), len(go), gi, go)) and None
p, q = o2(u, torch.ones(2))
(p.sum() + q.sum()).backward()
p, q = o2(u, torch.ones(2))
p.sum().backward()
p.grad_fn.name(), type(p.grad_fn).__name__
p, q = o2(u, torch.ones(2))
p.add_(1)
