"""Mistakes: each line is an error to type checkers, of the kind that mypy names in the comment behind it."""

import tinytorch as torch
import tinytorch.nn.functional as F
from tinytorch import nn

x = torch.ones(2)
x.nothing  # attr-defined
x.svd()  # attr-defined
torch.nothing  # attr-defined
nn.Nothing  # attr-defined
nn.init.nothing  # attr-defined
F.nothing  # attr-defined
torch.optim.Nothing  # attr-defined
torch.autograd.nothing  # attr-defined
torch.autograd.graph.nothing  # attr-defined
torch.autograd.function.nothing  # attr-defined
torch.cuda.nothing  # attr-defined
x.grad.zero_()  # union-attr
x.grad_fn.name()  # union-attr
x.add("1")  # arg-type
x + "1"  # operator
x @ 2  # operator
x["a"]  # index
x[0] = "a"  # assignment
x.view("a")  # arg-type
x.sum(0, True, torch.float64)  # call-overload
torch.ones(2, dtype=3)  # call-overload
torch.tensor([1], require_grad=True)  # call-arg
torch.cat(x)  # arg-type
nn.Linear(3)  # call-arg
nn.Linear("3", 4)  # arg-type
nn.Dropout(probability=0.5)  # call-arg
F.cross_entropy(x)  # call-arg
torch.optim.SGD(3, lr=0.1)  # arg-type
torch.autograd.grad(x, 3)  # arg-type
x.register_hook(3)  # arg-type
size: str = x.size(0)  # assignment
number: str = x.numel()  # assignment
y: int = x * 2  # assignment
