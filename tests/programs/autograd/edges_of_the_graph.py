"""get_gradient_edge, register_multi_grad_hook and the counting of writes."""
import torch
from torch.autograd.graph import Node, get_gradient_edge, increment_version, register_multi_grad_hook

x = torch.ones(2, requires_grad=True)
y = x * 2
z = (y * y).sum()
edge = get_gradient_edge(y)
print(edge.output_nr, edge.node is y.grad_fn, isinstance(edge.node, Node))
leaf = get_gradient_edge(x)
print(leaf.node.name(), leaf.output_nr)
torch.autograd.grad(z, edge, retain_graph=True)
torch.autograd.grad(z, [edge, x, leaf], retain_graph=True)
torch.autograd.backward(edge, torch.ones(2), retain_graph=True)
x.grad
torch.autograd.backward(edge)
torch.autograd.backward(edge, torch.ones(3))
get_gradient_edge(torch.ones(2))
torch.autograd.grad(z, get_gradient_edge(x * 3), materialize_grads=True, retain_graph=True)
z.backward(inputs=[leaf], retain_graph=True)
x.grad
a, b = torch.tensor([1., 2.], requires_grad=True), torch.tensor([3., 4.], requires_grad=True)
c, d = a * b, a * b
h = register_multi_grad_hook((a, b, c, d), lambda grads: print([g is not None for g in grads]))
c.sum().backward(retain_graph=True)
c.sum().backward(inputs=(a,), retain_graph=True)
(c + d).sum().backward(retain_graph=True)
h.remove()
c.sum().backward(retain_graph=True)
h = register_multi_grad_hook((a, c), lambda g: print("first", g), mode="any")
c.sum().backward(retain_graph=True)
register_multi_grad_hook((a,), print, mode="some")
register_multi_grad_hook((torch.ones(2),), print)
increment_version(a)
increment_version([a, b, a])
print(a._version, b._version)
increment_version(3)
increment_version((1,))
c.sum().backward()
torch._C._autograd._unsafe_set_version_counter((a, b), (0, 0))
c.sum().backward()
torch._C._autograd._unsafe_set_version_counter((a,), (-1,))
torch._C._autograd._unsafe_set_version_counter((a, b), (1,))
