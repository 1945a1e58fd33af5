"""Hooks on several tensors at once: with all of their gradients, or with the first."""
import torch
from torch.autograd.graph import register_multi_grad_hook

a = torch.tensor([1.0, 2.0], requires_grad=True)
b, c = a * 2, a * 3
alone = torch.ones(2, requires_grad=True)
h = register_multi_grad_hook((b, c, alone), print)
(b + c).sum().backward(retain_graph=True)
(b * c).sum().backward(inputs=(b,), retain_graph=True)
(b + alone).sum().backward(retain_graph=True)
alone.sum().backward()
torch.autograd.grad((b + c).sum(), a, retain_graph=True)
torch.autograd.grad((b + alone).sum(), alone, retain_graph=True)
h.remove()
(b + c).sum().backward(retain_graph=True)
with register_multi_grad_hook((b, c), print, mode="any"):
    (b * c).sum().backward(retain_graph=True)
    (b * c).sum().backward(retain_graph=True)
register_multi_grad_hook((b, c.detach()), print)
h = register_multi_grad_hook((b, c.detach()), print, mode="any")
h.remove()
register_multi_grad_hook((b, c), print, mode="some")
class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        raise ValueError("not today")
d = Fails.apply(b)
h = register_multi_grad_hook((c, d, b), print)
(c + d).sum().backward(retain_graph=True)
(c + d).sum().backward(inputs=c, retain_graph=True)
