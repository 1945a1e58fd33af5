"""Attributes, wrong arguments and wrong operands."""
import torch

x = torch.tensor([1., 2.])
x.apply_(lambda v: v * 3)
x.requires_grad_().apply_(lambda v: v)
x.is_set_to(x.detach()), x.is_set_to(torch.ones(2))
x.backward
torch.Tensor.add is not None, x.add.__name__, torch.add.__name__, torch.sum.__name__
x.foo = 3
x.foo
x.bar
x.shape = 3
x.dtype = torch.int8
x.device = "cpu"
x.grad_fn = 3
x.is_leaf = False
del x.grad
x.grad
del x.foo
torch.ones(2, 3).shape + torch.ones(1).shape, torch.ones(2, 3).shape[0:1], torch.ones(2, 3).shape.numel(), torch.ones(2, 3).shape == (2, 3), torch.Size((1, 2)) * 2, tuple(torch.Size([1])), torch.Size([1, "a"]) if False else None
torch.Size([1.5])
torch.Size(3)
x.add("a")
torch.add(1, 2)
torch.add([1], [2])
x.mul(None)
x + None
x + "a"
x + [1, 2]
"a" + x
None + x
x @ None
x.sum(foo=1)
torch.sum()
torch.sum([1, 2])
torch.exp(3)
torch.exp(x, x, x)
torch.sqrt("a")
torch.abs(-3)
torch.relu(3.)
torch.cat(3)
torch.cat(x, 0)
torch.stack(x.detach()).shape
torch.nope
torch.nn.nope
x.cuda_nope()
