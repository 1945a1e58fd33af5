"""All kinds of hooks on one graph, in the order they run in, with backward and with autograd.grad."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
y = x * 2
z = (y * y).sum()
leaf = y.grad_fn.next_functions[0][0]
h = x.register_post_accumulate_grad_hook(lambda p: print("x after", p.grad, p is x))
h = leaf.register_hook(lambda gi, go: print("leaf post", gi, go))
h = leaf.register_prehook(lambda go: print("leaf pre", go))
h = x.register_hook(lambda g: print("x", g))
h = y.grad_fn.register_prehook(lambda go: print("y pre", go))
h = y.grad_fn.register_hook(lambda gi, go: print("y post", gi, go))
y.retain_grad()
h = y.register_hook(lambda g: (print("y", g), g * 10)[1])
z.backward(retain_graph=True)
print(y.grad, x.grad)
torch.autograd.grad(z, [x, y], retain_graph=True)
torch.autograd.grad(z, [y], retain_graph=True)
torch.autograd.grad(z, [x], retain_graph=True)
print(y.grad, x.grad)
z.backward(inputs=[x], retain_graph=True)
print(y.grad, x.grad)
z.backward(inputs=[y], retain_graph=True)
print(y.grad, x.grad)
torch.autograd.grad(y, y, torch.ones(2), retain_graph=True)
torch.autograd.grad(x, x, torch.ones(2))
x.backward(torch.ones(2))
