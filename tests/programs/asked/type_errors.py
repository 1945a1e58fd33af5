"""Type errors."""
import torch
torch.ones(2) + "a"
torch.ones(2) + None
torch.ones(2) + [1, 2]
"a" + torch.ones(2)
torch.ones(2) * {}
torch.add(1, 2)
torch.add(torch.ones(2), "a")
torch.sum([1, 2])
torch.exp(1.0)
torch.sqrt(4)
torch.max([1, 2])
torch.mean(torch.tensor([1, 2]))
torch.matmul(torch.ones(2), [1, 2])
torch.ones(2).matmul(2)
torch.ones(2) @ 2
torch.cat(torch.ones(2), torch.ones(2))
torch.stack(torch.ones(2))
torch.ones(2).view("a")
torch.ones(2).view(1.0)
torch.ones(2).reshape()
torch.ones(2).sum("a")
torch.ones(2).sum(1.0)
torch.ones(2).backward(1, 2, 3, 4, 5)
torch.ones(2).foo
torch.foo
torch.ones(2).fill_("a")
torch.ones(2).fill_(torch.ones(2))
torch.ones(2).copy_(1)
torch.ones(2).clamp("a")
torch.ones(2).to("float")
torch.ones(2).to("gpu")
torch.ones(2).expand("a")
torch.ones(2).requires_grad_("a")
torch.zeros(2, requires_grad="yes")
torch.zeros_like([1, 2])
torch.from_numpy(torch.ones(2))
torch.where([True], 1, 2)
torch.allclose([1], [1])
torch.is_tensor([1])
torch.numel([1])
torch.save(1)
torch.manual_seed("a")
torch.arange("a")
torch.linspace(0, 1)
torch.full(2, 3)
torch.full((2,), "a")
torch.randint(10)
torch.randint(5, 5, (2,))
torch.randn("a")
torch.rand(2, generator=1)
torch.eye(-1)
torch.ones(2)["a"]
torch.ones(2)[1.5]
torch.ones(2)[None, "a"]
torch.ones(2)[{}]
torch.ones(2).T()
