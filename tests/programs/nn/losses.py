"""Losses: values, nodes, first and second gradients."""

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
d(lambda a,b: F.binary_cross_entropy(a,b),P(3),P(3))
d(lambda a,b: F.binary_cross_entropy(a,b,weight=T([1.,2.,3.])),P(3),P(3))
d(lambda a,b: F.binary_cross_entropy(a,b,reduction='sum'),P(3),P(3).detach())
d(lambda a,b: F.binary_cross_entropy_with_logits(a,b),R(3),P(3))
d(lambda a,b: F.binary_cross_entropy_with_logits(a,b),R(3),P(3).detach())
d(lambda a,b: F.binary_cross_entropy_with_logits(a,b,weight=T([1.,2.,3.]),pos_weight=T([1.,2.,3.])),R(3),P(3).detach())
d(lambda a: F.nll_loss(a,T([0,2])),R(2,3))
d(lambda a: F.nll_loss(a,T([0,2]),reduction='sum'),R(2,3))
d(lambda a: F.nll_loss(a,T([0,2]),reduction='none'),R(2,3))
d(lambda a: F.nll_loss(a,T([0,2]),weight=T([1.,2.,3.])),R(2,3))
d(lambda a: F.nll_loss(a,T(1)),R(3))
d(lambda a: F.cross_entropy(a,T([0,2])),R(2,3))
d(lambda a: F.cross_entropy(a,T([0,-100])),R(2,3))
d(lambda a: F.cross_entropy(a,T([-100,-100])),R(2,3))
d(lambda a: F.cross_entropy(a,T([0,2]),weight=T([1.,2.,3.])),R(2,3))
d(lambda a: F.cross_entropy(a,T([0,2]),label_smoothing=.1),R(2,3))
d(lambda a: F.cross_entropy(a,T([0,2]),label_smoothing=.1,weight=T([1.,2.,3.])),R(2,3))
d(lambda a: F.cross_entropy(a,T([0,2]),label_smoothing=.1,reduction='none'),R(2,3))
d(lambda a: F.cross_entropy(a,T([0,2]),label_smoothing=.1,reduction='sum'),R(2,3))
d(lambda a,b: F.cross_entropy(a,b),R(2,3),P(2,3))
d(lambda a,b: F.cross_entropy(a,b,reduction='sum'),R(2,3),P(2,3))
d(lambda a,b: F.cross_entropy(a,b,reduction='none'),R(2,3),P(2,3))
d(lambda a,b: F.cross_entropy(a,b,weight=T([1.,2.,3.])),R(2,3),P(2,3))
d(lambda a,b: F.cross_entropy(a,b,label_smoothing=.1),R(2,3),P(2,3))
d(lambda a,b: F.cross_entropy(a,b),R(3),P(3))
d(lambda a: F.cross_entropy(a,T(1)),R(3))
d(lambda a: F.cross_entropy(a,T([[0,1],[2,0]])),R(2,3,2))
d(lambda a: F.nll_loss(a,T([[0,1],[2,0]])),R(2,3,2))
d(lambda a,b: F.mse_loss(a,b),R(2,3),R(2,3))
d(lambda a,b: F.mse_loss(a,b),R(2,3),R(3).detach())
d(lambda a,b: F.mse_loss(a,b,reduction='none'),R(2,3),R(2,3).detach())
d(lambda a,b: F.l1_loss(a,b),R(2,3),R(2,3))
