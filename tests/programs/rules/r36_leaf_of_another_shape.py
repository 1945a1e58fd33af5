"""A leaf whose memory was exchanged: graphs that hold its accumulator, and those made since."""
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
view = x[:1]
with torch.no_grad():
    x.set_(x.untyped_storage(), 0, (1,), (1,))

view.sum().backward()
x.grad
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
kept = x * 2
x.data = torch.ones(2, 3)
(x * x).sum().backward(create_graph=True)
x.grad
x = torch.tensor([1.0, 2.0], requires_grad=True)
x[:1].mul_(2)
x.data = torch.ones(2, 1)
x.backward(torch.ones_like(x))
x.grad
x = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
handle = x.register_post_accumulate_grad_hook(lambda t: print("after", t.grad))
y = x * 3
x.requires_grad_(False)
y.sum().backward()
x.grad
