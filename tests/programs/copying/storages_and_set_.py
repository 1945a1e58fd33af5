"""Storages, resize_ and set_."""

import torch
import numpy as np
t=torch.arange(6.); u=t.untyped_storage()
t=torch.ones(3)
t=torch.ones(3)
u=t.untyped_storage()
u.resizable()
u.nbytes(), u.size(), len(u)
u[0], u[-1], u[3]
u[0:4]
u[::2]
u[20]
u[0]=1
u[0]
u[1:3]=7
u.tolist()
u['a']
u.fill_(0)
u.copy_(torch.ones(3).untyped_storage())
u.clone().data_ptr()==u.data_ptr()
u.nbytes()
u.resize_(4)
u.resize_(0).nbytes()
u.device
u.dtype
u
t=torch.ones(2)
t.untyped_storage() is t.untyped_storage(), t.untyped_storage()==t.untyped_storage()
t.untyped_storage().data_ptr()==t.data_ptr()
t.untyped_storage().size()
t.untyped_storage().element_size()
u.tolist()
t=torch.arange(6.)
t.resize_(2,2)
t.resize_(3,3).shape, t.untyped_storage().nbytes()
t.resize_(-1)
t.resize_(2.)
t.resize_()
t.resize_(())
t.resize_((2,2),memory_format=torch.contiguous_format).stride()
torch.ones(1,2,2,2).resize_((1,2,2,2),memory_format=torch.channels_last).stride()
torch.ones(2,requires_grad=True).resize_(3)
(torch.ones(2,requires_grad=True)*2).resize_(3)
t=torch.arange(6.)
v=t[2:]
v.resize_(3)
v
v.resize_(8).shape, t.untyped_storage().nbytes(), t
v.resize_as_(torch.ones(2,2))
v.resize_as_(3)
v.resize_as_(torch.ones(2,2),memory_format=torch.preserve_format).stride()
v._version
t=torch.ones(2,3)
t.set_(torch.zeros(4))
t.set_(torch.zeros(4).untyped_storage())
t.set_(torch.zeros(4).untyped_storage(),1,(2,),(1,))
t.set_(torch.zeros(4).untyped_storage(),0,(2,2))
t.set_(torch.arange(4.).untyped_storage(),0,(2,2),(1,2))
t.set_(torch.arange(4.),0,(2,2),(1,2))
t.set_(torch.arange(4.),1,(2,))
t.set_()
t.set_(torch.arange(4))
t.set_(torch.arange(4.).untyped_storage(),-1,(2,),(1,))
t.set_(torch.arange(4.).untyped_storage(),3,(2,2),(2,1)).shape
t.set_(torch.arange(4.).untyped_storage(),0,(2,2),(1,))
t=torch.ones(2,requires_grad=True)
t.set_(torch.zeros(2))
t=torch.ones(2,requires_grad=True)*2
t.set_(torch.zeros(2))
with torch.no_grad(): t=torch.ones(2,requires_grad=True); print(t.set_(torch.zeros(3)), t._version)
t=torch.ones(2)
t.set_(torch.zeros(3).t())
t._version
