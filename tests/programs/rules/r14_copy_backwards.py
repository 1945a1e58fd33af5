"""copy_ into a tensor without history: its first next function is None."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
t = torch.zeros(2)
t.copy_(x)
print(t.grad_fn.name())
print(t.grad_fn.next_functions[0])
print(t.grad_fn.next_functions[1][0].name())
u = x * 2
u.copy_(x)
print([n.name() for n, _ in u.grad_fn.next_functions])
