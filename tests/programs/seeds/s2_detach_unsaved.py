"""detach() guarantees no right gradient: it raises if a saved value was changed, an unsaved one passes."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
z = x + 1
z.detach().zero_()
z.sum().backward()
print(z, x.grad)
w = (x * x).sum()
x.detach().numpy()[0] = 50.0
x.grad = None
w.backward()
print(x.grad)
