"""Gradients through indexing, and the node each way of indexing leaves."""
import torch

x = torch.tensor([[1., 2., 3.], [4., 5., 6.]], requires_grad=True)
x[0, 1].backward()
x.grad
x[torch.tensor([0, 0]), torch.tensor([1, 1])].sum().backward()
x.grad
x[x > 3].sum().backward()
x.grad
x[:, [0, 2]].grad_fn
x[None, ..., 1].grad_fn
x[1:, ::2].grad_fn
x[0].grad_fn
x[()].grad_fn
x[..., None].grad_fn
x[True].grad_fn
