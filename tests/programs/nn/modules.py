"""Modules, parameters, buffers, state dicts, hooks, containers."""

import collections, copy, pickle
import torch
from torch import nn
import torch.nn.functional as F
_ = torch.manual_seed(0)
m=nn.Sequential(nn.Linear(3,4),nn.ReLU(),nn.Linear(4,2))
m
nn.ParameterList([nn.Parameter(torch.ones(2)),nn.Parameter(torch.ones(2,3))])
nn.ParameterDict({'a':nn.Parameter(torch.ones(2)),'b':torch.ones(1)})
nn.ModuleList([nn.Linear(1,1),nn.Linear(1,1),nn.ReLU()])
nn.ModuleDict({'a':nn.ReLU(),'b':nn.Linear(1,1)})
type(m), type(m[0]), type(nn.Parameter(torch.ones(1))), nn.Module
m.state_dict()
[n for n,_ in m.named_parameters()]
[n for n,_ in m.named_modules()]
[n for n,_ in m.named_children()]
list(m.children())[0]
m[0].weight.shape, m[-1], m[0:2], len(m)
m.foo
m.forward
m.load_state_dict({})
m.load_state_dict({}, strict=False)
m.load_state_dict(m.state_dict())
sd=m.state_dict()
sd['0.weight']=torch.ones(2,2)
m.load_state_dict(sd)
sd=m.state_dict()
sd['foo']=torch.ones(1)
sd.pop('0.bias')
m.load_state_dict(sd)
m.load_state_dict(sd,strict=False)
m.load_state_dict(3)
sd=m.state_dict()
sd['0.bias']=3
m.load_state_dict(sd)
sd={k:v.double() for k,v in m.state_dict().items()}
m.load_state_dict(sd)
m[0].weight.dtype
m.load_state_dict(sd,assign=True)
m[0].weight.dtype, m[0].weight.requires_grad, type(m[0].weight)
m[0].weight.data_ptr()==sd['0.weight'].data_ptr()
m=m.float()
m[0].weight.dtype
m.double()[0].weight.dtype, m.half()[0].weight.dtype
m.float().to(torch.float64)[0].bias.dtype
m.to(torch.float32) is m
m.type(torch.float64)[0].weight.dtype
m.float()
m.eval().training, m.train().training, m.train(False)[0].training
m.train('a')
m.requires_grad_(False)[0].weight.requires_grad
m.requires_grad_(True)
w=m[0].weight
v=w._version
m.load_state_dict(m.state_dict())
w._version-v, w is m[0].weight
x=torch.ones(2,3)
m(x).sum().backward()
m[0].weight.grad is not None
m.zero_grad()
m[0].weight.grad
m(x).sum().backward()
m.zero_grad(set_to_none=False)
m[0].bias.grad
m2=copy.deepcopy(m)
m2[0].weight is m[0].weight, torch.equal(m2[0].weight,m[0].weight), m2[0].weight.grad
m3=copy.copy(m)
m3[0].weight is m[0].weight
pickle.loads(pickle.dumps(m))
torch.equal(pickle.loads(pickle.dumps(m))[0].weight, m[0].weight)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a=nn.Linear(2,2); self.b=self.a; self.p=nn.Parameter(torch.zeros(1)); self.register_buffer('buf',torch.ones(2)); self.register_buffer('np',torch.ones(1),persistent=False); self.register_parameter('q',None); self.c=None
    def forward(self,x): return self.b(self.a(x))+self.p
n=Net()
n
list(n.state_dict())
[k for k,_ in n.named_parameters()], [k for k,_ in n.named_parameters(remove_duplicate=False)]
[k for k,_ in n.named_buffers()], [k for k,_ in n.named_modules()], [k for k,_ in n.named_modules(remove_duplicate=False)]
[k for k,_ in n.named_parameters(prefix='z',recurse=False)]
len(list(n.parameters())), len(list(n.modules())), len(list(n.children()))
n.a=3
n.p=torch.ones(1)
n.p=None
n.p
n.p=nn.Parameter(torch.ones(1))
n.p
n.buf=3
n.buf=torch.zeros(2)
n.buf
n.buf=None
list(n.state_dict())
n.a=nn.ReLU()
n
n.new=nn.Parameter(torch.ones(1))
[k for k,_ in n.named_parameters()]
del n.new
hasattr(n,'new')
del n.zzz
n.register_parameter('a.b',nn.Parameter(torch.ones(1)))
n.register_parameter('',nn.Parameter(torch.ones(1)))
n.register_parameter(3,nn.Parameter(torch.ones(1)))
n.register_parameter('w',torch.ones(1))
n.register_parameter('training',nn.Parameter(torch.ones(1)))
n.register_buffer('p',torch.ones(1))
n.register_buffer('bb',3)
n.add_module('m',3)
n.add_module('forward',nn.ReLU())
n.register_parameter('nl',nn.Parameter(torch.ones(1))*2)
class B(nn.Module):
    def __init__(self): self.l=nn.Linear(1,1)
B()
class C(nn.Module):
    def __init__(self): self.l=nn.Parameter(torch.ones(1))
C()
class D(nn.Module): pass
D()(3)
D()
nn.Module()
nn.Module(3)
nn.Module(a=3)
nn.Linear(2,3)(torch.ones(1,3))
nn.Linear(2,3)(torch.ones(1,2).double())
nn.Linear(2,3)(3)
nn.Linear(2)
nn.Linear(0,2).weight.shape
nn.Linear(2,3,dtype=torch.float64).weight.dtype
nn.Linear(2,3,device='cpu').bias
l=nn.Linear(2,3)
l.weight.is_leaf, l.weight.requires_grad, l.in_features, l.bias.shape
l.weight
l.reset_parameters()
h=l.register_forward_hook(lambda m,i,o: print('fh',type(i),i[0].shape,o.shape))
_=l(torch.ones(1,2))
h.remove()
_=l(torch.ones(1,2))
h=l.register_forward_pre_hook(lambda m,i: (i[0]*0,))
l(torch.ones(1,2))
h.remove()
h=l.register_forward_hook(lambda m,i,o: o*0)
l(torch.ones(1,2))
h.remove()
h=l.register_forward_hook(lambda m,a,k,o: print(a,k),with_kwargs=True)
_=l(input=torch.ones(1,2))
h.remove()
h=l.register_forward_pre_hook(lambda m,a,k: (a,{'input':k['input']*0}),with_kwargs=True)
l(input=torch.ones(1,2))
h.remove()
h=l.register_full_backward_hook(lambda m,gi,go: print('bh',gi,go))
l(torch.ones(1,2)).sum().backward()
l(torch.ones(1,2,requires_grad=True)).sum().backward()
h.remove()
h=l.register_full_backward_pre_hook(lambda m,go: print('bph',go))
l(torch.ones(1,2)).sum().backward()
h.remove()
h=l.register_full_backward_hook(lambda m,gi,go: (gi[0]*0,))
x=torch.ones(1,2,requires_grad=True)
y=l(x)
x.grad
h.remove()
h.remove()
l.apply(lambda m: print(type(m).__name__)) is l
nn.Sequential(nn.ReLU()).apply(lambda m: print(m))
s=nn.Sequential(collections.OrderedDict(a=nn.ReLU(),b=nn.Linear(1,1)))
s, s.a, s[1]
s.append(nn.Tanh()), len(s)
s.insert(0,nn.Identity())
s.extend([nn.ReLU()])
s.pop(0)
s[0]=nn.Sigmoid()
s
del s[0]
s
s+nn.Sequential(nn.ReLU())
s[10]
nn.Sequential(3)
nn.Sequential([nn.ReLU()])
ml=nn.ModuleList([nn.ReLU()])
ml.append(nn.Tanh())
ml.extend([nn.Identity()])
ml.insert(1,nn.Sigmoid())
ml
ml[-1], ml[0:2], len(ml), nn.ReLU() in ml
del ml[0]
ml
ml.pop(0), ml
ml+[nn.ReLU()]
ml(3)
ml.append(3)
md=nn.ModuleDict({'a':nn.ReLU()})
md['b']=nn.Tanh()
md.update({'c':nn.Identity()})
list(md), md['a'], 'b' in md, len(md), list(md.keys()), list(md.items())[0]
md.pop('a'), md
del md['b']
md.clear()
md
md['zz']
pl=nn.ParameterList([torch.ones(1)])
pl.append(nn.Parameter(torch.ones(2)))
pl.extend([torch.ones(3)])
len(pl), pl[0], [k for k,_ in pl.named_parameters()], pl[-1]
pl[0]=torch.zeros(1)
pl
pd=nn.ParameterDict({'a':torch.ones(1)})
pd['b']=nn.Parameter(torch.ones(2))
list(pd.keys()), pd['a'], 'a' in pd, len(pd), [k for k,_ in pd.named_parameters()]
nn.Parameter()
nn.Parameter(torch.ones(2))
nn.Parameter(torch.ones(2,dtype=torch.int64),requires_grad=False)
nn.Parameter(torch.ones(2),requires_grad=False)
nn.Parameter(3)
nn.Parameter([1.])
p=nn.Parameter(torch.ones(2)*torch.ones(2,requires_grad=True))
p.is_leaf, p.grad_fn
isinstance(p,torch.Tensor), isinstance(p,nn.Parameter), isinstance(torch.ones(1),nn.Parameter)
p*2
p.data, type(p.data), p.detach(), type(p.detach()), type(p.clone()), type(p.to(torch.float64)), type(p[0])
copy.deepcopy(p), type(copy.deepcopy(p)), type(copy.copy(p))
t=torch.ones(2)
p=nn.Parameter(t)
p.data_ptr()==t.data_ptr(), p._version, t.add_(1), p._version
nn.Buffer(torch.ones(2))
type(nn.Buffer(torch.ones(2)))
class E(nn.Module):
    def __init__(self): super().__init__(); self.b=nn.Buffer(torch.ones(2)); self.c=nn.Buffer(torch.ones(1),persistent=False)
E().state_dict(), list(E().buffers())
n.get_parameter('p'), n.get_submodule('a'), n.get_buffer('np')
n.get_submodule('zz')
n.get_parameter('zz')
n.get_parameter('a')
n.get_submodule('a.zz')
m[0].bias
nn.Dropout(.5)(torch.ones(6)), nn.Dropout(.5).eval()(torch.ones(6))
nn.Dropout(2.)
nn.Dropout(p=.3,inplace=True)
nn.MSELoss(reduction='sum')(torch.ones(2),torch.zeros(2))
nn.CrossEntropyLoss(weight=torch.ones(3))(torch.ones(2,3),torch.tensor([0,1]))
nn.CrossEntropyLoss(weight=torch.ones(3)).state_dict()
nn.CrossEntropyLoss(label_smoothing=.1)
nn.BCEWithLogitsLoss(pos_weight=torch.ones(1))(torch.ones(1),torch.ones(1))
nn.Softmax(dim=0)(torch.ones(2)), nn.Softmax()(torch.ones(2,2)), nn.Flatten()(torch.ones(2,2,2)).shape, nn.Flatten(0)(torch.ones(2,2)).shape, nn.Identity(3,a=2)(5), nn.Sigmoid()(torch.tensor(0.))
