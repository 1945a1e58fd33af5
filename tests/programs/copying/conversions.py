"""to, type, copy_, fill_, deepcopy, pickle, dtypes and devices."""

import copy, pickle, io, collections
import torch
torch.is_floating_point(3)
torch.numel(3)
torch.is_tensor()
x=torch.ones(2,3)
reversed(torch.tensor(3))
x.apply_(3)
x.long().apply_(lambda v: v*2)
x.apply_(lambda v: 'a')
x.is_set_to(3)
x.type('torch.FloatTensor') is x
x.type('foo')
x.type(torch.float64).dtype
x.type(3)
x.type_as(3)
x.to()
x.to(None)
x.to(torch.float64,torch.int64)
x.to(dtype='a')
x.to(foo=1)
x.to(torch.float64,copy=True).dtype
x.to(torch.float32,False,True) is x
x.to(x.double()).dtype
x.to(other=x.double()).dtype
x.to(device='cpu',dtype=torch.int64)
x.to('cpu',torch.int64)
x.to(int)
x.to(dtype=bool)
x.float() is x
x.float(memory_format=torch.preserve_format) is x
x.double().dtype, x.half().dtype, x.int().dtype, x.long().dtype, x.short().dtype, x.char().dtype, x.byte().dtype, x.bool().dtype
x.cpu() is x
x.requires_grad_('a')
x.requires_grad_(False).requires_grad
torch.ones(2,dtype=torch.int64).requires_grad_()
torch.ones(2,dtype=torch.int64).requires_grad_(False)
x.requires_grad=3
x.requires_grad=None
torch.clone(3)
torch.detach(x).shape
x.contiguous() is x
x.t().contiguous().stride()
x.copy_(3)
x.copy_(torch.ones(4))
x.copy_(torch.ones(2,2,3))
x.copy_(torch.arange(3))
x.long().copy_(torch.tensor([1.5,2.5,-3.5]))
x.bool().copy_(torch.tensor([0.,.5,1.]))
x.copy_(torch.ones(2,3),non_blocking=True)
x.data.shape
x.data=3
x.data=torch.ones(2,dtype=torch.int64)
x
x=torch.ones(2,3)
x.fill_()
x.fill_('a')
x.fill_(torch.ones(2))
x.fill_(2)
x.fill_(True)
x.fill_(value=3)
x.long().fill_(2.7)
torch.fill(x,3)
torch.fill_(x,3)
x.zero_()
torch.zero_(x)
copy.copy(x).shape
copy.deepcopy(x) is x
pickle.loads(pickle.dumps(x))
y=torch.ones(2,requires_grad=True)
y.foo=3
copy.deepcopy(y).foo
copy.copy(y).foo
z=y*2
copy.deepcopy(z)
copy.copy(z)
copy.deepcopy(y[:1])
a=torch.arange(4.)
l=copy.deepcopy([a,a[1:3],a.detach()])
l[0][1]=9
l
l[0]._base, l[1]._base, l[1]._is_view(), l[1]._version, l[0]._version
c=copy.copy(a)
c._version, c.data_ptr()==a.data_ptr(), c._is_view()
class K: pass
pickle.loads(pickle.dumps(torch.float32)) is torch.float32
pickle.loads(pickle.dumps(torch.Size([2,3])))
pickle.loads(pickle.dumps(torch.device('cpu')))
pickle.loads(pickle.dumps([a,a[1:]]))[0].shape
m=torch.nn.Linear(2,2)
m2=pickle.loads(pickle.dumps(m))
torch.equal(m.weight,m2.weight)
pickle.loads(pickle.dumps(torch.strided))
pickle.loads(pickle.dumps(torch.contiguous_format)) is torch.contiguous_format
torch.set_default_dtype(torch.float64)
torch.tensor(1.), torch.ones(2), torch.tensor([1,2])/2, torch.arange(0,1,.5), torch.get_default_dtype()
torch.set_default_dtype(torch.float32)
torch.get_default_dtype()
torch.set_default_dtype(torch.float16)
torch.ones(1)
torch.set_default_dtype(torch.float32)
torch.finfo(torch.float32).eps, torch.finfo(torch.float16).max, torch.finfo().bits
torch.iinfo(torch.int32).max, torch.iinfo(torch.uint8)
torch.finfo(torch.int32)
torch.iinfo(torch.float32)
torch.float32.is_floating_point, torch.bool.itemsize
torch.float
torch.double, torch.half, torch.short, torch.int, torch.long
torch.pi, torch.e, torch.inf, torch.nan, torch.newaxis
torch.device('cpu',0)
torch.device(3.)
torch.device()
torch.device(type='cpu')
with torch.device('cpu'): torch.ones(1)
torch.device('meta')
torch.nn.functional.foo
x.foo
hasattr(torch,'foo'), hasattr(x,'foo'), hasattr(torch.nn,'foo')
