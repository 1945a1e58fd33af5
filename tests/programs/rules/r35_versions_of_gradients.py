"""Which fresh gradients have been written to: torch's formulas fill and add in place, and that counts."""
import torch

y = torch.tensor([1.0, 2.0, 3.0])


def version(f):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    f(x).sum().backward()
    return x.grad._version


version(lambda x: x * 2)
version(lambda x: x.max(0)[0])
version(lambda x: x.topk(1)[0])
version(lambda x: x.sort()[0])
version(lambda x: x.take(torch.tensor([0])))
version(lambda x: x.gather(0, torch.tensor([0])))
version(lambda x: x.index_select(0, torch.tensor([0])))
version(lambda x: y.clone().eq_(x))
version(lambda x: x.floor())
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = torch.addcdiv(x, x, x)
(y * y).sum().backward(create_graph=True)
f = x.grad.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[1][0]
f.name(), f._saved_other._version
x[True].grad_fn._saved_indices[0]._version
x[False].grad_fn._saved_indices[0]._version
(x @ torch.ones(3, 2))._version
(torch.ones(2, 3) @ x)._version
