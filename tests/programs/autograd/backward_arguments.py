"""backward: gradients to start from, inputs, flags, and everything it refuses."""
import torch

a = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor([3., 4.], requires_grad=True)

def backward(*args, **kwargs):
    a.grad = b.grad = None
    torch.autograd.backward(*args, **kwargs)
    return a.grad, b.grad

backward([a * 2, b * 2], [torch.ones(2)])
backward([(a * 2).sum()], [None, torch.ones(2)])
backward([a * 2, b * 2], [torch.ones(2), torch.ones(3)])
backward([a * 2, b * 2], [torch.ones(2), torch.ones(2, 2)])
backward([(a * b).sum(), b.sum()])
backward([a * 2, b * 2], (torch.ones(2), torch.tensor([1., 3.])))
backward([], [])
backward(3)
backward([3])
backward(a * 2, 3)
backward(a * 2, [3])
backward(a * 2)
backward(a * 2, torch.ones(3))
backward(a * 2, torch.ones(2, dtype=torch.float64))
backward(a * 2, torch.ones(2, dtype=torch.int64))
backward(torch.ones(()))
backward(torch.ones(2))
backward(torch.tensor(3))
backward([a.sum(), torch.ones(())])
backward(a.sum(), grad_variables=torch.ones(()))
backward(a.sum(), torch.ones(()), grad_variables=torch.ones(()))
backward(a.sum(), inputs=[])
backward(a.sum(), inputs=[torch.ones(2)])
backward(a.sum(), inputs=[3])
backward(a.sum(), inputs=3)
backward((a * b).sum(), inputs=[b])
backward((a * b).sum(), inputs=b)
backward((a * b).sum(), inputs={"b": b})
backward(a.sum(), inputs=[b * 2])
backward(a.sum(), retain_graph="x")
c = a * b
backward((c * c).sum(), inputs=[c])
c.grad
(a * 2).backward([1, 1])
a.sum().backward(foo=1)
backward((a ** 2).sum(), create_graph=True)
a.grad.sum().backward()
a.grad
with torch.no_grad():
    y = (a * 2).sum()
y.backward()
y = (a * b).sum()
y.backward()
y.backward()
with torch.inference_mode():
    (a * b).sum().backward()
