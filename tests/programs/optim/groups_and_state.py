"""Parameter groups, state dicts, closures, hooks, refusals."""

import copy, pickle
import torch
from torch import nn, optim
import torch.nn.functional as F
_ = torch.manual_seed(0)
m=nn.Linear(2,1)
o=optim.SGD([{'params':[m.weight]},{'params':m.bias,'lr':.5}],lr=.1,momentum=.9)
m(torch.ones(1,2)).sum().backward()
o.step()
sd=copy.deepcopy(o.state_dict())
o2=optim.SGD([{'params':[m.weight]},{'params':m.bias}],lr=1.)
o2.load_state_dict(sd)
o2
o2.state_dict()
o2.load_state_dict({'state':{},'param_groups':[]})
o2.load_state_dict({'state':{},'param_groups':[{'params':[0,1]},{'params':[2]}]})
o.add_param_group({'params':[nn.Parameter(torch.ones(1))],'lr':3.})
len(o.param_groups)
o.add_param_group({'params':[m.weight]})
o.add_param_group(3)
o.add_param_group({'params':[torch.ones(1)*nn.Parameter(torch.ones(1))]})
optim.SGD([],lr=.1)
optim.SGD(m.weight,lr=.1)
optim.SGD([3],lr=.1)
optim.SGD([m.weight,m.weight],lr=.1)
optim.SGD([{'params':[m.weight]},{'params':[m.weight]}],lr=.1)
optim.SGD({m.weight},lr=.1)
optim.SGD(m.parameters(),lr=-1)
optim.SGD(m.parameters(),lr=.1,momentum=-1)
optim.SGD(m.parameters(),lr=.1,weight_decay=-1)
optim.SGD(m.parameters(),lr=.1,nesterov=True)
optim.SGD(m.parameters(),lr=.1,foo=1)
optim.Adam(m.parameters(),betas=(2,0))
optim.Adam(m.parameters(),betas=(.9,1.))
optim.Adam(m.parameters(),eps=-1)
optim.Adam(m.parameters(),lr=-1)
optim.SGD(m.named_parameters(),lr=.1)
optim.SGD([{'params':[m.weight]},{}],lr=.1)
optim.SGD('abc',lr=.1)
optim.SGD([torch.ones(1)],lr=.1).param_groups[0]['params']
o=optim.SGD(m.parameters(),lr=.1)
o.zero_grad()
m.weight.grad
m(torch.ones(1,2)).sum().backward()
o.zero_grad(set_to_none=False)
m.weight.grad
def closure():
    o.zero_grad(); l=m(torch.ones(1,2)).sum(); l.backward(); return l
o.step(closure)
o.step()
v=m.weight._version
m(torch.ones(1,2)).sum().backward()
o.step()
m.weight._version-v
p=nn.Parameter(torch.ones(2))
o=optim.SGD([p],lr=.1)
o.step()
p
p.grad=torch.ones(2)
o.step()
p, p._version
o.param_groups[0]['lr']=1.
o.step()
p
o.step()
o.step()
isinstance(o,optim.Optimizer), type(o), optim.SGD
optim.Optimizer
optim.Optimizer([p],{}).step()
class My(optim.Optimizer):
    def __init__(self,params,lr=1.): super().__init__(params,dict(lr=lr))
    def step(self):
        for g in self.param_groups:
            for q in g['params']: q.data.add_(q.grad,alpha=-g['lr'])
o=My([p])
o.step()
p, o
pickle.loads(pickle.dumps(o.state_dict()))
x=torch.ones(2,requires_grad=True)
y=x*2
loss=(y*y).sum()
loss.backward(retain_graph=True)
oo=optim.SGD([x],lr=.1)
oo.step()
loss.backward()
w=torch.ones(2,requires_grad=True)
l=(w*w).sum()
l.backward(retain_graph=True)
optim.SGD([w],lr=.1).step()
l.backward()
