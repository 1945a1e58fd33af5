# What happens: a compiled function saves a view of its input, and the input is refilled before backward.
# Reported: pytorch/pytorch#197887
# Slow: the compiler
# Call: watch
# Says: x was written to by line 11 after line 8 saved it. PyTorch raises an error
import torch

f = torch.compile(lambda x, w: torch.tanh(x @ w).sum(), backend="aot_eager")
x, w = torch.randn(4, 3), torch.randn(3, 2, requires_grad=True)
y = f(x, w)
x.mul_(3)
try:
    y.backward()
except RuntimeError as error:
    assert "modified by an inplace operation" in str(error)
