"""A hook on an output of unbind that was not used is called with None."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
a, b = x.unbind()
h = b.register_hook(lambda g: print("b", g))
a.backward()
print(x.grad)
