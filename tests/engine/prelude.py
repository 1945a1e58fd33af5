"""What the random programs of `differential` may call besides torch: hooks, a file in memory, custom Functions."""

import re

# What PyTorch says of calls that no lesson comes to: tinytorch refuses them as well, in the words of Python or NumPy.
OWN_WORDS = re.compile(
    "tensor has no dimensions|"
    "have (the )?same dtype, but |expected scalar type|unsupported range|"
    "Storage size calculation overflowed|"
    "Expected reduction dim|Size does not match at dimension|"
    "linalg.matrix_norm|check_uniform_bounds|normal_kernel_cpu"
)

# The same source runs on either engine, each time with the name `torch` for it.
PRELUDE = '''
import copy, io, pickle
import numpy as np

log = []

def note(t):
    """Write down what a hook was given."""
    log.append(None if t is None else (t.detach().tolist(), t.stride(), t.requires_grad, t._version))

def pack(t):
    log.append(("pack", tuple(t.shape), t.stride(), t.requires_grad, t.is_leaf))
    return t.detach().clone()

def unpack(t):
    log.append(("unpack", tuple(t.shape)))
    return t

def saved(*tensors):
    """The tensors after a round through a file."""
    file = io.BytesIO()
    torch.save(tensors, file)
    file.seek(0)
    return torch.load(file)

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        log.append(ctx.needs_input_grad)
        return (g * y).sum_to_size(x.shape), (g * x).sum_to_size(y.shape)

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x ** 3
        ctx.save_for_backward(x, result)
        return result

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        x, result = ctx.saved_tensors
        return g * 3 * x * x

class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2

class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g

class Part(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x[:1]

    @staticmethod
    def backward(ctx, g):
        out = torch.zeros(ctx.shape, dtype=g.dtype)
        out[:1] = g
        return out

class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        a, b = x * 2, x > 0
        ctx.mark_non_differentiable(b)
        ctx.set_materialize_grads(False)
        return a, b

    @staticmethod
    def backward(ctx, g, _):
        return None if g is None else g * 2
'''
