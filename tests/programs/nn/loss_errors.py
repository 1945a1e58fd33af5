"""Losses: what is refused or warned of."""

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
F.mse_loss(torch.ones(2),torch.ones(3))
F.mse_loss(torch.ones(2),torch.ones(1))
F.mse_loss(torch.ones(2),3)
F.mse_loss(torch.ones(2),torch.ones(2),reduction='foo')
F.mse_loss(torch.ones(2),torch.ones(2).double())
F.mse_loss(torch.ones(2).long(),torch.ones(2).long())
F.mse_loss(torch.ones(0),torch.ones(0))
F.mse_loss(torch.ones(2),torch.ones(2),size_average=False)
F.mse_loss(torch.ones(2),torch.ones(2),reduce=False)
F.cross_entropy(torch.ones(2,3),torch.tensor([0,3]))
F.cross_entropy(torch.ones(2,3),torch.tensor([0,-1]))
F.cross_entropy(torch.ones(2,3),torch.tensor([0,1,2]))
F.cross_entropy(torch.ones(2,3),torch.tensor([0.,1.]))
F.cross_entropy(torch.ones(2,3),torch.tensor([0,1],dtype=torch.int32))
F.cross_entropy(torch.ones(2,3),torch.tensor([[0,1]]))
F.cross_entropy(torch.ones(2,3).long(),torch.tensor([0,1]))
F.cross_entropy(torch.ones(2,3),torch.tensor([0,1]),weight=torch.ones(2))
F.cross_entropy(torch.ones(2,3),torch.tensor([0,1]),label_smoothing=2.)
F.cross_entropy(torch.tensor(1.),torch.tensor(0))
F.nll_loss(torch.ones(2,3),torch.tensor([[0],[1]]))
F.nll_loss(torch.ones(3),torch.tensor([0,1]))
F.binary_cross_entropy(torch.tensor([2.]),torch.tensor([1.]))
F.binary_cross_entropy(torch.tensor([.5]),torch.tensor([1]))
F.binary_cross_entropy(torch.ones(2),torch.ones(3))
F.binary_cross_entropy_with_logits(torch.ones(2),torch.ones(3))
