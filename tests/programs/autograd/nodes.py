"""What can be asked of a node, and calling it by hand."""
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x * 2
print(type(y.grad_fn), y.grad_fn.metadata, y.grad_fn._sequence_nr() < (y * 1).grad_fn._sequence_nr())
y.grad_fn.foo
y.grad_fn._saved_foo
leaf = y.grad_fn.next_functions[0][0]
print(leaf.name(), leaf.variable is x, leaf.next_functions, leaf._sequence_nr())
print(len(y.grad_fn._input_metadata), y.grad_fn._input_metadata[0].shape, y.grad_fn._input_metadata[0].dtype)
y.grad_fn(torch.ones(3))
(x * y).grad_fn(torch.ones(3))
y.grad_fn()
y.grad_fn == y.grad_fn
y.grad_fn.metadata["note"] = 1
y.grad_fn.metadata
(x * x).grad_fn._saved_self is x
y.sum().backward()
y.grad_fn._saved_other
y.grad_fn = None
y.is_leaf = True
y._version = 3
x.grad = 3
x.grad = torch.ones(2)
x.grad = x
x.grad = torch.ones(3, dtype=torch.float64)
x.requires_grad = 3
y.requires_grad = False
y.requires_grad = True
y.requires_grad_(False)
torch.ones(2, dtype=torch.int64).requires_grad_()
torch.ones(2, dtype=torch.int64).requires_grad = True
x.requires_grad_("a")
