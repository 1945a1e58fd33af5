"""clamp, lerp, addcmul and other operations of several tensors."""
import torch

x = torch.tensor([-1., 0.5, 2.], requires_grad=True)
x.clamp(0, 1), x.clamp(min=0), x.clamp(max=torch.tensor([0., 1., 1.])), x.clip(0, 1), torch.clamp(x, 1, 0), x.clamp(torch.tensor(0.), torch.tensor(1.)), x.clamp_min(0), x.clamp_max(1)
x.clamp()
x.clamp("a")
x.clamp(0, 1).sum().backward()
x.grad
torch.clamp(torch.tensor([1, 5]), 2, 3), torch.clamp(torch.tensor([1, 5]), min=2.5), torch.tensor([1, 5], dtype=torch.uint8).clamp(2), torch.tensor([1., float("nan")]).clamp(0, 0.5)
torch.where(x > 0, x, -x).grad_fn, torch.where(x > 0, x, 0.).grad_fn
x.detach().clamp_(0, 1)
torch.tensor([True]).clamp(0, 1)
torch.lerp(torch.zeros(2), torch.ones(2), 0.3), torch.lerp(torch.zeros(2), torch.ones(2), torch.tensor([0.1, 0.9])), torch.addcmul(torch.ones(2), torch.ones(2), torch.ones(2), value=2), torch.addcdiv(torch.ones(2), torch.ones(2), torch.full((2,), 4.))
torch.addcdiv(torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64))
torch.round(torch.tensor([0.5, 1.5, 2.5, -0.5])), torch.round(torch.tensor([1.2345]), decimals=2), torch.round(torch.tensor([1234]), decimals=-2) if False else None, torch.trunc(torch.tensor([-1.7]))
torch.cumsum(torch.tensor([[1, 2], [3, 4]]), 1), torch.cumprod(torch.tensor([1, 2, 3], dtype=torch.int8), 0), torch.tensor([True, True]).cumsum(0), torch.cumsum(torch.tensor(3), 0), torch.tensor([1, 2]).cumsum(0, dtype=torch.float32)
torch.cumsum(torch.tensor([1]), 2)
torch.cumsum(torch.tensor([1]))
torch.tensor([1, 2]).cumsum_(0), torch.tensor([1., 2.]).cumprod_(0)
