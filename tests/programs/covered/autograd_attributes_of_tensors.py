"""What can be read off a tensor about its gradients, set there, and deleted from it."""
import torch

x = torch.ones(2, requires_grad=True)
x.volatile
x.name, x.output_nr, x.retains_grad, x.is_leaf
del x.grad
x.grad
del x.data
del x.requires_grad
del x._grad_fn
del x._backward_hooks
del x.grad_fn
del x.shape
x.data = None
x.name = "x"
x._backward_hooks, x._post_accumulate_grad_hooks
h = x.register_hook(lambda g: None)
len(x._backward_hooks)
x._grad_fn
y = x * 2
y._grad_fn.name()
y._grad_fn = 3
y._grad_fn = None
y.grad_fn, y.requires_grad
x.grad_dtype
x.grad_dtype = torch.float64
x.grad = torch.zeros(2)
x.grad = torch.zeros(2, dtype=torch.float64)
(x * 3).sum().backward()
x.grad
x.grad_dtype = torch.float32
x.grad = None
x.grad_dtype = torch.float16
(x * 3).sum().backward()
x.grad
x.grad_dtype = None
x.grad_dtype
x.grad = torch.ones(2, dtype=torch.int64)
x.grad_dtype = torch.int32
x.grad_dtype = "float"
z = x * 2
z.grad_dtype
z.grad_dtype = torch.float32
w = torch.ones(2, requires_grad=True)
w.grad = torch.ones(2, dtype=torch.int64)
w.grad = torch.ones(2, dtype=torch.float16)
w.grad = torch.ones(2, dtype=torch.uint8)
