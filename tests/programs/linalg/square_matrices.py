"""Determinants, inverses, equations and powers."""

import torch
R=lambda *s: torch.randn(*s,requires_grad=True)
def d(f,*xs):
    t=f(*xs); n=t.grad_fn
    print(t, t.stride(), t.dtype, t._is_view(), n.name() if n else None)
    def ch(n,d=0):
        if n is None or d>6: return
        print(' '*d+n.name(), {a[7:]:(getattr(n,a) if not isinstance(getattr(n,a),torch.Tensor) else 'T') for a in sorted(dir(n)) if a.startswith('_saved_')})
        for m,_ in n.next_functions: ch(m,d+1)
    ch(n)
    g=torch.autograd.grad(t.sum() if t.dtype.is_floating_point else t, [x for x in xs if isinstance(x,torch.Tensor) and x.requires_grad], create_graph=True, allow_unused=True)
    print(g)
    s=sum((h*h).sum() for h in g if h is not None)
    if s.requires_grad: print(torch.autograd.grad(s,[x for x in xs if isinstance(x,torch.Tensor) and x.requires_grad],allow_unused=True))
a=torch.arange(6.).view(2,3)
b=torch.arange(12.).view(3,4)
i=torch.arange(6).view(2,3)
v=torch.arange(3.)
sq=torch.tensor([[2.,1.],[1.,3.]])
_ = torch.manual_seed(0)
d(torch.mm,R(3,2).t().detach().requires_grad_(),R(3,2))
d(torch.trace,R(3,3))
d(torch.trace,R(2,3))
torch.trace(v)
torch.trace(i)
d(torch.det,R(3,3))
d(torch.linalg.det,R(2,2))
d(lambda x: torch.linalg.norm(x,1),R(3))
d(lambda x: torch.linalg.vector_norm(x,1,dim=1),R(2,3))
d(lambda x: torch.linalg.vector_norm(x,float('inf')),R(2,3))
torch.matrix_power(sq,3)
torch.linalg.multi_dot([a,b])
torch.linalg.inv(torch.zeros(2,2))
torch.linalg.det(a)
torch.linalg.solve(sq,torch.ones(3))
torch.linalg.cholesky(-sq)
d(lambda x: torch.chain_matmul(x,b),R(2,3))
