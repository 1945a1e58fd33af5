"""SGD's steps, options and state."""
import torch

w = torch.tensor([1., -2.], requires_grad=True)
o = torch.optim.SGD([w], lr=0.1, momentum=0.9)
for _ in range(3):
    o.zero_grad()
    (w ** 2).sum().backward()
    o.step()
    print(w, w.grad, w._version)

o.state_dict()
o
o.param_groups[0]["lr"]
for kw in (dict(lr=0.1), dict(lr=0.1, weight_decay=0.5), dict(lr=0.1, momentum=0.9, nesterov=True), dict(lr=0.1, momentum=0.5, dampening=0.5), dict(lr=0.1, maximize=True)):
    v = torch.tensor([1., -2.], requires_grad=True)
    s = torch.optim.SGD([v], **kw)
    for _ in range(3):
        s.zero_grad()
        (v ** 2).sum().backward()
        s.step()
    print(v.tolist())

o.zero_grad(set_to_none=False)
w.grad
o.zero_grad()
w.grad
o.step()
w
torch.optim.SGD([w])
torch.optim.SGD([w], lr=-1)
torch.optim.SGD([w], lr=0.1, momentum=-1)
torch.optim.SGD([w], lr=0.1, nesterov=True)
torch.optim.SGD([w], lr=0.1, weight_decay=-1)
torch.optim.SGD(w, lr=0.1)
torch.optim.SGD([], lr=0.1)
torch.optim.SGD([3], lr=0.1)
torch.optim.SGD([w * 2], lr=0.1)
torch.optim.SGD([w, w], lr=0.1)
torch.optim.SGD([{"params": [w], "lr": 0.5}, {"params": [torch.ones(1, requires_grad=True)]}], lr=0.1)
torch.optim.SGD([{"params": [w]}, {"params": [w]}], lr=0.1)
torch.optim.SGD([{"lr": 1}], lr=0.1)
o.step(lambda: 5)
def closure():
    o.zero_grad()
    l = (w ** 2).sum()
    l.backward()
    return l

o.step(closure)
o.add_param_group({"params": torch.ones(1, requires_grad=True)})
o.add_param_group(3)
len(o.param_groups)
torch.optim.Optimizer([w], {})
