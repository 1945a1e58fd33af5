"""SGD, Adam and AdamW step by step, digit by digit."""

import torch
from torch import optim
def run(make,dt=torch.float32,n=37,steps=12):
    g=torch.Generator().manual_seed(3); p=torch.nn.Parameter(torch.randn(n,generator=g,dtype=dt)); o=make([p])
    for i in range(steps):
        p.grad=torch.randn(n,generator=g,dtype=dt)*.7
        o.step()
    print(p.tolist()); print({k:(v.tolist() if isinstance(v,torch.Tensor) else v) for k,v in o.state[p].items()})
for dt in (torch.float32,torch.float64):
    for kw in (dict(lr=.1),dict(lr=.1,momentum=.9),dict(lr=.1,momentum=.9,nesterov=True),dict(lr=.1,momentum=.9,dampening=.3),dict(lr=.1,weight_decay=.01),dict(lr=.1,maximize=True)): run(lambda p: optim.SGD(p,**kw),dt)
for dt in (torch.float32,torch.float64):
    for kw in (dict(),dict(lr=.01,betas=(.8,.99)),dict(lr=.1,eps=1e-3),dict(weight_decay=.1),dict(amsgrad=True,lr=.1),dict(maximize=True,lr=.1)): run(lambda p: optim.Adam(p,**kw),dt)
