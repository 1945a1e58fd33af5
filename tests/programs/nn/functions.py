"""Activations, dropout, softmax, embedding."""

import torch
from torch import nn
import torch.nn.functional as F
def names(n,d=0):
    if n is None or d>5: return
    print(' '*d+n.name(), {a[7:]:(getattr(n,a) if not isinstance(getattr(n,a),torch.Tensor) else 'T') for a in sorted(dir(n)) if a.startswith('_saved_')})
    for m,_ in n.next_functions: names(m,d+1)
def d(f,*xs):
    t=f(*xs); print(t, t.stride(), t.dtype); names(t.grad_fn)
    xs=[x for x in xs if x.requires_grad]
    g=torch.autograd.grad(t.sum(), xs, create_graph=True, allow_unused=True); print(g)
    s=sum((h*h).sum() for h in g if h is not None)
    if s.requires_grad: print(torch.autograd.grad(s,xs,allow_unused=True))
R=lambda *s: torch.randn(*s,requires_grad=True)
P=lambda *s: (torch.rand(*s)*.8+.1).requires_grad_()
T=torch.tensor
_ = torch.manual_seed(0)
d(lambda a: F.one_hot(T([0,2]),3).float()*a,R(3))
d(F.relu,R(3))
d(lambda a: F.relu(a*1,inplace=True),R(3))
d(lambda a: F.dropout(a),R(6))
d(lambda a: F.dropout(a,.2),R(6))
d(lambda a: F.dropout(a,0.),R(3))
d(lambda a: F.dropout(a,1.),R(3))
d(lambda a: F.dropout(a,.5,False),R(3))
d(lambda a: F.dropout(a*1,.5,True,True),R(3))
d(lambda a: F.softmax(a,0),R(2,3))
d(lambda a: F.softmax(a,-1),R(2,3))
d(lambda a: F.softmax(a,1,dtype=torch.float64),R(2,3))
d(lambda a: F.log_softmax(a,0),R(2,3))
d(lambda a: F.log_softmax(a),R(3))
F.dropout(torch.ones(2),2.)
F.softmax(torch.ones(2),3)
F.softmax(torch.ones(2).long(),0)
F.relu(3)
F.linear(torch.ones(2),3)
F.sigmoid(torch.ones(1))
F.tanh(torch.ones(1))
