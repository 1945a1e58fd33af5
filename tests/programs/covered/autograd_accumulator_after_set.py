"""A leaf that looks at other memory: after set_() its gradients flow to an accumulator of its own, after .data not."""
import torch

x = torch.ones(4, requires_grad=True)
edge = torch.autograd.graph.get_gradient_edge(x)
y = x * 2
with torch.no_grad():
    x.set_(torch.zeros(4))
torch.autograd.grad(y.sum(), x, retain_graph=True)
torch.autograd.grad(y.sum(), edge, retain_graph=True)
y.sum().backward()
x.grad
x = torch.ones(4, requires_grad=True)
y = x * 2
with torch.no_grad():
    x.set_(torch.zeros(2))
y.sum().backward()
x.grad
(x * 3).sum().backward()
x.grad = None
(x * 3).sum().backward()
x.grad
p = torch.nn.Parameter(torch.ones(5))
for _ in range(3):
    with torch.no_grad():
        p.set_(p[1:])
        p.grad = None
    torch.cat((p, p)).sum().backward()
    print(p.grad)
x = torch.ones(4, requires_grad=True)
y = x * 2
x.data = torch.zeros(4)
torch.autograd.grad(y.sum(), x)
