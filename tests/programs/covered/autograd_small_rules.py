import torch

# the square of the distance is made once for both gradients
y, x = torch.tensor([1., 0.], requires_grad=True), torch.tensor([2., 0.], requires_grad=True)
gy, gx = torch.autograd.grad(torch.atan2(y, x).sum(), (y, x), create_graph=True)
gy, gx
gy.grad_fn.next_functions[1][0] is gx.grad_fn.next_functions[1][0], gy.grad_fn.next_functions[1][0]
torch.autograd.grad((gy * gx).sum(), (y, x))

# of two slices the first half is taken first

# a view of an inference tensor's data
with torch.inference_mode(): t = torch.ones(2, 2)
t.data.add_(1)
t.data[0].add_(1)
t.data.fill_diagonal_(7.)

# losses of flags
x = torch.tensor([0.5, 2.], dtype=torch.float64, requires_grad=True)
torch.nn.functional.mse_loss(x, torch.tensor([True, False])).backward()
x.grad
x.grad

# steps that are rounded
h = torch.tensor([[0.5, -2., 1.], [3., 1.5, 0.1]], dtype=torch.float16)
h.logsumexp(1), h.logsumexp(0)
h.log_softmax(1).tolist(), h.log_softmax(0).tolist()

# a view of a leaf, written to inside a Function
class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x.mul_(2))
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 2

leaf = torch.ones(3, requires_grad=True)
view = leaf.view(3)
leaf.requires_grad = False
Dirty.apply(view)

# what a write to a part freed is asked for where a gradient ends
x = torch.ones(3, requires_grad=True)
y = x * x
y[0] *= 0.5
torch.autograd.grad(y.sum(), x)
(y * 2).sum().backward(inputs=[y])

# a product that runs over zeros, once and twice differentiated
x = torch.tensor([[1., 2., 3.], [4., 0., 6.]], requires_grad=True)
x.cumprod(-1).sum().backward()
x.grad, x.grad._version
g, = torch.autograd.grad(x.cumprod(0).sum(), x, create_graph=True)
g, g._version
torch.autograd.grad((g * g).sum(), x)
torch.tensor([1., 2.], requires_grad=True).cumprod(-1).grad_fn._saved_dim

# dim=None is a dimension that was named
x.sum(None).grad_fn, x.sum(None).grad_fn._saved_dim, x.mean(dim=None, keepdim=True).grad_fn
torch.autograd.grad(x.sum(None) + x.mean(dim=None, keepdim=True).squeeze(), x)

# comparisons in place have gradients: zeros, whose filling counts
z = x * 2
z.gt_(1)
z.grad_fn(torch.ones(2, 3))._version

# a gradient in the parameter's own memory, which has gaps
p = torch.nn.Parameter(torch.arange(6.)[::2])
p.grad = p.detach()
p.sum().backward()
p

# where torch slices without an end
x = torch.tensor([0., 2.], requires_grad=True)
y = x.cumprod(0)
g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
ends, todo = [], [g.grad_fn]
while todo:
    if (f := todo.pop()) is not None:
        ends += [f._saved_end] * hasattr(f, "_saved_end")
        todo += [n for n, _ in f.next_functions]

sorted(ends, key=str)

# which dimension is put back: one as it was given, several in order
x = torch.tensor([[1., 2., 4.], [4., 1.5, 6.]], requires_grad=True)
for r in x.var(-1), x.prod(-1), x.sum((0, -1)):
    node = torch.autograd.grad((r * r).sum(), x, create_graph=True)[0].grad_fn
    dims, todo = set(), [node]
    while todo:
        if (f := todo.pop()) is not None:
            dims |= {f._saved_dim} if f.name() == "UnsqueezeBackward0" else set()
            todo += [n for n, _ in f.next_functions]
    print(sorted(dims))

# a comparison in place gives zeros like its operands
z = (x * 2).t()
z.eq_(torch.ones(2, dtype=torch.float64, requires_grad=True) * 1)
[(g.shape, g.stride(), g.dtype, g._version) for g in z.grad_fn(torch.ones(3, 2))] if z.grad_fn.name() == "EqBackward1" else z.grad_fn
y = x * 2
y.eq_(torch.ones(3, dtype=torch.float64, requires_grad=True) * 1)
[(g.shape, g.dtype, g._version) for g in y.grad_fn(torch.ones(2, 3))]
with torch.inference_mode(): t = torch.ones(7)
(x * 1).pow_(t)
(x * 1).clamp_(min=t)
h = torch.tensor([-5., -0.3, 11.2, 15.], dtype=torch.float16, requires_grad=True)

# what may be written to, and then cannot be saved
with torch.inference_mode(): t = torch.ones(3)
t.data.pow_(torch.ones(3, requires_grad=True) * 2)
t[:1].mul_(torch.ones(3, requires_grad=True))
z = torch.zeros(()).expand(1)
z.set_(z.untyped_storage()).stride()
h = torch.tensor([-0.9, 0.3, 1.2, 2.5], dtype=torch.float16, requires_grad=True)
for f in torch.tanh, torch.sigmoid, lambda t: t.softmax(0)[:2], lambda t: t.log_softmax(0)[1:]:
    print(torch.autograd.grad(f(h).sum(), h)[0].tolist(), torch.autograd.grad(f(h).sum(), h, create_graph=True)[0].tolist())

# a freed CopySlices lets its write go; who holds that node reads on
x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
y = x * 1
y[0].exp_()
y.sum().backward(create_graph=True)
y.backward(torch.ones(2, 2))
names, todo = [], [x.grad.grad_fn]
while todo:
    if (f := todo.pop()) is not None and len(names) < 30:
        names.append((f.name(), getattr(f, "_saved_result", None)))
        todo += [n for n, _ in f.next_functions]

[n for n in names if n[1] is not None]

# a refused write has made the view's history anew
x = torch.zeros(2, 1, requires_grad=True)
y = x * 1
v = y.expand(2, 2, 1)
y.detach().add_(1)
v.sin_()
y.detach_()
v.grad_fn.next_functions[0][0] is None

# a leaf that out= gave another shape keeps its accumulator
leaf = torch.zeros(2, 1, requires_grad=True)
y = leaf * 2
acc = y.grad_fn.next_functions[0][0]
with torch.no_grad(): torch.sum(torch.ones(2, 2), 0, out=leaf).shape
(leaf * 1).grad_fn.next_functions[0][0] is acc
z = torch.zeros(2, 1, requires_grad=True)
torch.autograd.grad(z.cumprod(0).sum(), z)[0].stride()

# a saved view whose history may not be made anew cannot be looked at
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

base = torch.ones(3)
v = Same.apply(base)
v[None] += 1
v.requires_grad = True
r = v.exp() * v.gather(0, torch.tensor([0, 0, 0]))
base.requires_grad_()
r.grad_fn.next_functions[1][0]._saved_self

# stack gives as many gradients as it took tensors
x = torch.ones(2, requires_grad=True)
s = torch.stack([x, x])
s.data = torch.ones(4)
len(s.grad_fn(torch.ones(4)))
s.grad_fn(torch.ones(1))

# a leaf that has got another shape since: only who asks for its gradient hears of it
u, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
both = u + v
v.data = torch.ones(4)
torch.autograd.grad(both.sum(), [u], retain_graph=True)
torch.autograd.grad(both.sum(), [v], retain_graph=True)
both.sum().backward(inputs=[u])
u.grad

# a result that was set through a view: to be asked for its gradient runs what has no derivative
r = (torch.ones(2, 2, requires_grad=True) * 2)
r[0].set_(r)
r.sum().backward(inputs=[r])

# what a second derivative hands on is fresh, however many sums are in it
w = torch.linspace(-1, 1, 3, requires_grad=True)
p = w.softmax(0)
first = torch.autograd.grad(p.exp().sum(), w, create_graph=True)[0]
handle = first.grad_fn.register_hook(lambda inner, outer: print([t._version for t in inner]))
first.sum().backward()

# sums that disobey the layout of their leaf are told where they are built as a graph, too
leaf = torch.ones(2, 3, requires_grad=True)
leaf.grad = torch.ones(3, 2).t()
(leaf * leaf).sum().backward(create_graph=True)
leaf.grad.stride()

# to retain what is retained already looks at no history
many = (torch.ones(2, 3, requires_grad=True) * 2)
part = many.unbind(0)[0]
(part * part).sum().backward(inputs=[part], retain_graph=True)
with torch.no_grad():
    many.copy_(many.clone())
part.retain_grad()
part.grad_fn

# a view that a write elsewhere has put on the graph is asked for its history first, and then keeps its gradient
plain = torch.ones(2, 3)
seen = plain.movedim(0, -1)
scale = torch.tensor(1.5, requires_grad=True)
seen[:1] = scale
scale.sum().backward(inputs=[seen])
seen.retains_grad, seen.grad
