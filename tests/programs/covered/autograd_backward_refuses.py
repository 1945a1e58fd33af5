"""What backward and grad take and refuse: batches of gradients, inputs, roots, unused tensors."""
import torch
from torch.autograd import Function
torch.manual_seed(0) and None
x = torch.randn(2, 2, requires_grad=True)
out = x.clone()
bg = torch.arange(3).expand(2, 2, 3).transpose(0, 2)
g, = torch.autograd.grad(out, (x,), (bg,), is_grads_batched=True)
g, g.stride(), g.dtype
torch.autograd.grad(x.clone(), (x,), (torch.ones(2, 2),), is_grads_batched=True)
o = x.sum()
torch.autograd.grad(o, (x,), (torch.arange(3),), is_grads_batched=True)
torch.autograd.grad(x.sum(), (x,), (torch.ones(2).unsqueeze(1),), is_grads_batched=True)
torch.autograd.grad(x.sum(), (x,), is_grads_batched=True)
torch.autograd.grad(x * 2, x, torch.eye(4).view(4, 2, 2), is_grads_batched=True)[0].shape
torch.autograd.grad((x * x), x, torch.eye(4).view(4, 2, 2), is_grads_batched=True, create_graph=True)[0].requires_grad
y = torch.randn(2, requires_grad=True)
torch.autograd.grad(x * 2, (x, y), torch.eye(4).view(4, 2, 2), is_grads_batched=True, allow_unused=True)[1]
torch.autograd.grad(x * 2, (x, y), torch.eye(4).view(4, 2, 2), is_grads_batched=True, allow_unused=True, materialize_grads=True)[1]
class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        print('ran')
        return g
a = Fails.apply(torch.ones(1, requires_grad=True) * 2)
b = torch.ones(1, requires_grad=True)
torch.autograd.grad(a, (b,), allow_unused=True)
c = torch.ones(1, requires_grad=True)
a = Fails.apply(torch.ones(1, requires_grad=True) * 2)
torch.autograd.grad(a + c, (b, c), allow_unused=True)
a = Fails.apply(torch.ones(1, requires_grad=True) * 2)
torch.autograd.backward(a, inputs=(b,))
b.grad
x = torch.ones(1, requires_grad=True)
y = torch.ones(1, requires_grad=True)
torch.autograd.grad(x * 2, [x, y], allow_unused=True)
torch.autograd.grad(x * 2, [x, y], allow_unused=False)
torch.autograd.grad(x * 2, [x, y], materialize_grads=True)
t = torch.tensor(0.5, requires_grad=True)
u = torch.tensor(1.0, requires_grad=True)
v = t * u
d, = torch.autograd.grad(v, t, create_graph=True)
torch.autograd.grad(d, t, create_graph=True, allow_unused=True)
d2, = torch.autograd.grad(d, t, create_graph=True, allow_unused=True, materialize_grads=True)
d2
torch.autograd.grad(d2, t, materialize_grads=True)
x = torch.arange(4.).view(2, 2).requires_grad_()
xn = x * 1
yy = torch.ones(2, 2, requires_grad=True)
z = torch.ones(2, 2, requires_grad=True)
out = xn ** 2 + yy * xn + yy ** 2
out.backward(torch.ones(2, 2), create_graph=True, inputs=[x, yy, xn])
x.grad, yy.grad, xn.grad
out.backward(torch.ones(2, 2), create_graph=True, inputs=[z])
z.grad
torch.autograd.backward(out, torch.ones(2, 2), inputs=[])
torch.autograd.backward(out, torch.ones(2, 2), inputs=())
out.backward(torch.ones(2, 2), inputs=yy, retain_graph=True)
out.backward(torch.ones(2, 2), inputs=torch.ones(2), retain_graph=True)
out.backward(torch.ones(2, 2), inputs=3)
out.backward(torch.ones(2, 2), inputs=[3])
out.backward(torch.ones(2, 2), inputs=[None])
out.backward(torch.ones(2))
out.backward()
out.backward(3)
out.backward([torch.ones(2, 2)])
out.backward(torch.ones(2, 2, dtype=torch.int64), retain_graph=True)
out.backward(torch.ones(2, 2, dtype=torch.double), retain_graph=True)
out.backward(gradient=torch.ones(2, 2), retain_graph=1)
out.backward(torch.ones(2, 2), foo=1)
torch.autograd.backward([out, out.sum()], [torch.ones(2, 2)])
torch.autograd.backward([out.sum(), out.mean()], retain_graph=True)
torch.autograd.backward([out, out], [torch.ones(2, 2), None])
torch.autograd.backward(out, grad_variables=torch.ones(2, 2), retain_graph=True)
torch.autograd.backward(out, torch.ones(2, 2), grad_variables=torch.ones(2, 2))
torch.autograd.backward(3)
torch.autograd.backward(None)
torch.autograd.backward([3])
torch.autograd.backward([])
torch.autograd.backward(())
torch.autograd.backward(out.detach())
torch.autograd.backward([out.sum(), torch.ones(1)])
a = torch.ones(2, 2, requires_grad=True)
b = torch.ones(2, 2, requires_grad=True)
w = a * b
torch.autograd.backward([w, w], [torch.ones(2, 2), torch.full((2, 2), 2.)])
a.grad, b.grad
p = torch.ones(3, requires_grad=True)
q = p ** 2
r = q ** 3
torch.autograd.backward([q, r], [torch.ones(3), torch.ones(3)])
p.grad
s = p.sum()
s.backward()
s.backward()
p.grad
m = (p * p).sum()
m.backward()
m.backward()
m.backward(retain_graph=True)
k = (p * p).sum()
k.backward(create_graph=True)
p.grad
k.backward()
p.grad
p.grad = None
k2 = (p + 1).sum()
k2.backward(create_graph=True)
p.grad, p.grad.requires_grad
p.grad = None
p.sum().backward(create_graph=True)
p.grad
l = torch.ones(2, requires_grad=True)
(l * l).sum().backward()
l.grad, l.grad.requires_grad, l.grad._version, l.grad.is_leaf, l.grad.grad_fn
gid = id(l.grad)
(l * l).sum().backward()
id(l.grad) == gid, l.grad._version
(l * l).sum().backward(create_graph=True)
id(l.grad) == gid, l.grad.grad_fn
with torch.no_grad():
    (l * 3).sum().backward()
