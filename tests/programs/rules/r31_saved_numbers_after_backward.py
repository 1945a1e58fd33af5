"""After backward a saved tensor is gone; so is the factor that mul saved, but not the exponent of pow nor alpha of add."""
import torch

a = torch.tensor(2., requires_grad=True)
y = a ** 2
y.grad_fn._saved_exponent
y.backward()
y.grad_fn._saved_self
y.grad_fn._saved_exponent
z = a * 3
z.backward()
z.grad_fn._saved_other
print(z.grad_fn._saved_self)
w = a.add(a, alpha=2)
w.backward()
w.grad_fn._saved_alpha
b = a.clone()
b += 1
b.grad_fn._saved_alpha
