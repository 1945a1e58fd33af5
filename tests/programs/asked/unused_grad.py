"""One of the differentiated Tensors appears to not have been used."""
import torch
x = torch.tensor(1., requires_grad=True)
z = torch.tensor(2., requires_grad=True)
y = x * 2
torch.autograd.grad(y, z)
y = x * 2
torch.autograd.grad(y, z, allow_unused=True)
y = x * 2
torch.autograd.grad(y, [x, z], allow_unused=True)
y = x * 2
torch.autograd.grad(y, [x, z], materialize_grads=True)
torch.autograd.grad(y, [x, z], allow_unused=False, materialize_grads=True)
k = torch.tensor(3.)
torch.autograd.grad(x * k, k)
torch.autograd.grad(k * 2, x)
torch.autograd.grad(torch.ones(2) * x, x)
torch.autograd.grad(torch.ones(2) * x, x, grad_outputs=torch.ones(2))
torch.autograd.grad(torch.ones(2) * x, x, torch.ones(3))
torch.autograd.grad(x.exp(), x, is_grads_batched=False)
torch.autograd.grad((x * 2, x * 3), (x,), (torch.tensor(1.), None))
