"""mul saves an operand only for the other one's gradient; a saved input is the very object."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
p = torch.tensor([3., 4.])
y = x * p
print(y.grad_fn._saved_self, y.grad_fn._saved_other)
print(y.grad_fn._saved_other is p)
z = x * x
print(z.grad_fn._saved_self is x, z.grad_fn._saved_other is x)
e = x.exp()
print(e.grad_fn._saved_result is e)
print(e.grad_fn._saved_result)
