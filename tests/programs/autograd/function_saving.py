"""save_for_backward: inputs, outputs, None, what is neither; versions; what may not be saved."""
import torch
from torch.autograd import Function

def saving(*what):
    class Save(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(*[{"x": x, "y": y}.get(w, w) for w in what])
            return y
        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]
    return Save

x = torch.tensor([1., 2.], requires_grad=True)
w = x * 1
y = saving("x").apply(w)
y.grad_fn.saved_tensors[0] is w
w.add_(1)
y.grad_fn.saved_tensors
y.sum().backward()
y = saving("y").apply(x)
y.grad_fn.saved_tensors
y.grad_fn.saved_tensors[0] is y
f = y.grad_fn
y.add_(1)
f.saved_tensors
saving(None, "x").apply(x).grad_fn.saved_tensors
saving(3).apply(x)
saving("x", None, [x]).apply(x)
saving(torch.ones(2) * 5).apply(x).grad_fn.saved_tensors
with torch.inference_mode():
    inference = torch.ones(2)
saving(inference).apply(x)

class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 3, x)
        return x * 1

Twice.apply(x).grad_fn.saved_tensors

class Once(Function):
    clear_saved_tensors_on_access = True
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        ctx.saved_tensors
        return ctx.saved_tensors[0]

Once.apply(x).sum().backward()
