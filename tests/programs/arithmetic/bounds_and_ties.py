import torch
x = torch.tensor([1., 3., 3., 0.], requires_grad=True)
x.max().backward()
x.grad
x.grad = None
x.max(0)
x.max(0).values.backward()
x.grad
x.grad = None
x.amax().backward()
x.grad
x.grad = None
torch.maximum(x, torch.tensor([1., 1., 3., 1.])).sum().backward()
x.grad
x.grad = None
x.clamp(1, 3).sum().backward()
x.grad
y = x.clamp(min=1)
y.grad_fn._saved_min, y.grad_fn._saved_max
x.median()
x.median(0)
x.sort(descending=True)
x.topk(3)
x.argmax(), x.argmin()
torch.clamp(x)
torch.maximum(x, 2)
x.max("a")
torch.zeros(0).max()
torch.zeros(0, 2).max(0)
