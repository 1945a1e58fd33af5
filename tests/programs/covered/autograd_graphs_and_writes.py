"""Graphs written to in place, deep graphs, gradients that share memory and gradients that do not."""
import torch, gc, math
from torch.autograd import Function, Variable
torch.manual_seed(0) and None
x = torch.randn(3, 3)
def scope():
    x = torch.randn(1, requires_grad=True)
    y = x.clone()
    for _ in range(2000):
        y = y + y * 0.000001
    return y.grad_fn.name()
scope()
class MyOp(Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + b
    @staticmethod
    def backward(ctx, g):
        return g, g
def scope2():
    x = torch.ones(1, requires_grad=True)
    y = x.clone()
    for _ in range(500):
        y = MyOp.apply(y, y) / 2
    y.backward()
    return x.grad
scope2()
class Fg(Function):
    ptr = None
    @staticmethod
    def forward(ctx, a, b):
        return a + b
    @staticmethod
    def backward(ctx, g):
        Fg.ptr = g.data_ptr()
        return g, g
class NonCont(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.size = a.size()
        return torch.tensor([1.0])
    @staticmethod
    def backward(ctx, g):
        return torch.ones(1).expand(ctx.size)
a = torch.randn(5, 6, requires_grad=True)
b = torch.randn(5, 6, requires_grad=True)
NonCont.apply(Fg.apply(a, b)).backward()
a.grad = b.grad = None
Fg.apply(a, b)[1][0].backward()
leaves = [torch.zeros(2, 2, requires_grad=True) for _ in range(4)]
inter = [l * i + l * l for i, l in enumerate(leaves)]
loss = sum(v * i for i, v in enumerate(inter)).sum()
def group(l, n):
    return (l[i:i + n] for i in range(0, len(l), n))
d = [di for batch in group(inter, 2) for di in torch.autograd.grad(loss, batch)]
torch.autograd.backward(inter, d)
[l.grad for l in leaves]
mu = torch.ones(1, requires_grad=True)
x = torch.empty(1)
loss = 0
for i in range(3):
    x.detach_()
    x.copy_(mu + i)
    ft = torch.tensor([float(i)])
    m = x * ft
    s = m.sum()
    loss += s
loss.backward()
mu.grad
x
x = torch.ones(5, 5, requires_grad=True)
y = Variable(torch.ones(5, 5) * 4, requires_grad=True)
z = x * y
q = z + y
w = z * y
z.add_(2).shape
q.backward(torch.ones(5, 5), retain_graph=True)
w.backward(torch.ones(5, 5))
z = x * y
q = z * y
r = z + y
w = z.add_(y)
w.backward(torch.ones(5, 5), retain_graph=True)
r.backward(torch.ones(5, 5), retain_graph=True)
q.backward(torch.ones(5, 5))
m = x / 2
z = m + y / 8
q = z * y
r = z + y
pv = z._version
w = z.exp_()
z._version - pv
with torch.no_grad():
    x.grad.zero_().sum()
r.backward(torch.ones(5, 5), retain_graph=True)
x.grad[0]
w.backward(torch.ones(5, 5), retain_graph=True)
x.grad[0]
q.backward(torch.ones(5, 5))
leaf = torch.ones(5, 5, requires_grad=True)
x = leaf.clone()
x.add_(10)[0]
y = x + 2
y.backward(torch.ones(5, 5))
leaf.grad[0]
z = x * y
x.add_(2)[0]
z.backward(torch.ones(5, 5))
b = torch.ones(3, requires_grad=True, dtype=torch.double)
c = torch.zeros(3, dtype=torch.double)
c[[1, 2]] = b[[1, 1]]
c.backward(torch.tensor([1, 1, 1], dtype=torch.double))
c.backward(torch.tensor([1, 1, 1], dtype=torch.double))
b.grad
c = b + 1
c.backward(torch.ones(3))
c.backward(torch.ones(3, dtype=torch.double))
c.backward(torch.tensor([1, 1, 1], dtype=torch.double))
a = torch.tensor([1.0, 0, 0])
b = torch.zeros(3, requires_grad=True)
t = b + 0
t[a != 0] = t[a != 0]
t.backward(torch.zeros_like(t))
b.grad
a = torch.randn(2, 2, requires_grad=True)
bb = torch.randn(2, 2, requires_grad=True)
x = torch.zeros_like(a)
x.requires_grad
torch.mul(a, bb, out=x)
with torch.no_grad():
    torch.mul(a, bb, out=x) is x
x = torch.zeros(2, 2, requires_grad=True)
torch.mul(a.detach(), bb.detach(), out=x)
torch.add(a.detach(), bb.detach(), out=x.detach()).shape
a = torch.arange(10., requires_grad=True)
b = a.narrow(0, 0, 2).clone().view(-1)
b.relu_()
c = b.clone()
del b
_ = gc.collect()
s = c.sum()
s.backward()
s, a.grad
a = torch.rand(10, requires_grad=True).narrow(0, 0, 10)
a.relu_()
x = torch.zeros(1, requires_grad=True)
y = x.view_as(x)
y.add_(1)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(True))
x = torch.ones(3, 2, requires_grad=True)
g, = torch.autograd.grad(net(x).pow(2), [x], grad_outputs=torch.ones(3, 2), create_graph=True)
torch.autograd.grad(g.sum(), [x])[0].shape
x = torch.randn(10, requires_grad=True)
class MO(Function):
    @staticmethod
    def forward(ctx, x):
        return x[:5], x[5:]
    @staticmethod
    def backward(ctx, *grad):
        return torch.cat(grad)
a, b = MO.apply(x)
b.output_nr, a._is_view(), b._base is x
class TF(Function):
    @staticmethod
    def forward(ctx, b):
        ctx.save_for_backward(b)
        return b * 2
    @staticmethod
    def backward(ctx, g):
        b, = ctx.saved_tensors
        print(b.output_nr, b.grad_fn.name())
TF.apply(b).sum().backward()
x = torch.ones(5, 5, requires_grad=True)
y = torch.ones(5, 5, requires_grad=True)
a = x + 2
b = y + 2
c = x + 2
add1 = a + b
add2 = add1 + c
for _ in range(4):
    a = a * 2
    b = b * 2
    c = c * 2
branch = a + b + c
out = add2 + branch
go = torch.ones(5, 5)
out.backward(go)
x.grad[0], y.grad[0], go[0]
x = torch.ones(2, 2, requires_grad=True)
y = torch.full((2, 2), 3., requires_grad=True)
z = x**2 + y * x + y**2
z.backward(torch.ones(2, 2), create_graph=True)
x.grad, y.grad
gs = 2 * x.grad + y.grad
gs.backward(torch.ones(2, 2))
x.grad, y.grad
gs = 2 * x.grad + y.grad
torch.autograd.grad(outputs=[gs], grad_outputs=[torch.ones(2)], inputs=[x], create_graph=True)
x = torch.randn(4, 2, requires_grad=True)
a, b = x.chunk(2)
x.register_hook(lambda *g: print('called')) and None
ga, gb = torch.autograd.grad((a + 2 * b), [a, b], grad_outputs=torch.ones(2, 2), create_graph=True)
ga, gb, x.grad
v = torch.tensor(2.)
a = torch.rand(3, 3, requires_grad=True)
torch.autograd.grad(a.diagonal(), a, v.expand(3))
torch.autograd.grad(a[0], a, torch.tensor([5.]).expand(3))
torch.autograd.grad(a[1:], a, torch.ones(3, 1).expand(2, 3, 3)[:, 0])
x = torch.arange(20.).view(10, 2).requires_grad_()
o = x.chunk(5)[2] * 4 + 2
o.sum().backward()
x.grad[3:7]
e = torch.rand(4, 0, requires_grad=True)
f = torch.rand(4, 1, requires_grad=True)
(e + f).sum().backward()
f.grad, e.grad
xf = torch.randn(5, 5)
isinstance(xf.float(), torch.FloatTensor), isinstance(xf.int(), torch.IntTensor), isinstance(xf, torch.DoubleTensor)
for t in [torch.DoubleTensor, torch.FloatTensor, torch.IntTensor, torch.ByteTensor]:
    y = torch.ones(2, 2, dtype=t.dtype)
