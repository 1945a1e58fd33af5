import torch
x = torch.tensor([1., 4., 9.])
o = torch.empty(0)
torch.sqrt(x, out=o)
o
p = torch.empty(2)
torch.add(x, 1, out=p)
p._version
torch.add(x, 1, out=torch.empty(3, dtype=torch.int64))
x.sqrt_()._version
torch.tensor([1, 2]).sqrt_()
torch.tensor([1, 2]).div_(2)
torch.add(x, 2, x)
x.requires_grad_()
torch.exp(x, out=torch.empty(3))
y = x * 1
y.exp_()
y.grad_fn._saved_result
y.floor_divide_(2)
y.sum().backward()
z = x * 1
w = z * z
z.add_(1)
w.sum().backward()
x.add(torch.ones(2))
x.detach().add_(torch.ones(2, 3))
x + "a"
torch.eq(x, None)
x == None
