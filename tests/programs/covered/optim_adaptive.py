"""RMSprop and Adagrad with every option."""

import torch
from torch import optim
def run(make, steps=3, **kw):
    w = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    b = torch.tensor([0.1], requires_grad=True)
    o = make([w, b], **kw)
    for i in range(steps):
        o.zero_grad()
        loss = ((w.sum(1) - 1) ** 2).sum() + (b * 3).exp().sum()
        loss.backward()
        o.step()
    return w.detach(), b.detach(), w._version, o.state_dict()
run(optim.RMSprop)
run(optim.RMSprop, lr=0.1, momentum=0.9)
run(optim.RMSprop, lr=0.1, centered=True)
run(optim.RMSprop, lr=0.1, centered=True, momentum=0.5, weight_decay=0.1)
run(optim.RMSprop, lr=0.1, maximize=True, alpha=0.5)
run(optim.RMSprop, lr=torch.tensor(0.1))
run(optim.Adagrad)
run(optim.Adagrad, lr=0.5, lr_decay=0.1)
run(optim.Adagrad, lr=0.5, weight_decay=0.1, initial_accumulator_value=0.3)
run(optim.Adagrad, lr=0.5, maximize=True, eps=1e-3)
optim.RMSprop([torch.ones(1, requires_grad=True)], alpha=-1)
optim.RMSprop([torch.ones(1, requires_grad=True)], lr=-1)
optim.RMSprop([torch.ones(1, requires_grad=True)], momentum=-1)
optim.Adagrad([torch.ones(1, requires_grad=True)], lr_decay=-1)
optim.Adagrad([torch.ones(1, requires_grad=True)], initial_accumulator_value=-1)
optim.Adagrad([torch.ones(1, requires_grad=True)]).state
optim.RMSprop([torch.ones(1, requires_grad=True)]).state
type(optim.RMSprop([torch.ones(1, requires_grad=True)]))
