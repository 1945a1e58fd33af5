"""`backward(inputs=...)` with a tensor that is no leaf: its own node runs its hooks, but not its formulas."""
import torch


def pack(t):
    return t


def unpack(t):
    print("unpack", tuple(t.shape))
    return t


x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x.exp() * 3

handle = y.grad_fn.register_hook(lambda inputs, outputs: print("post", inputs, outputs))
handle2 = y.grad_fn.register_prehook(lambda outputs: print("pre", outputs))
(y * y).sum().backward(inputs=[y])
y.grad, x.grad
w = x // 2
w.sum().backward(inputs=[w])
y.sum().backward(inputs=[y])
