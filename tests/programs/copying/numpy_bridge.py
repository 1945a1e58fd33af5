"""Arrays and tensors in one expression, and the way back to NumPy."""

import numpy as np
import torch
a=torch.arange(6.).view(2,3)
v=a[0]
r=torch.ones(3,requires_grad=True)
i=torch.arange(3)
np.ones(3)*v
np.ones(3)+r
np.float64(2)*v
np.float32(2)*v
v*np.float64(2)
v*np.ones(3)
v+np.float32(1)
v-np.int64(2)
np.int64(2)*i
np.float64(2)*i
v*np.ones(3,dtype=np.float32)
np.add(v,v)
np.sin(v)
np.asarray(v)
np.asarray(r.detach())
np.ones(3)==v
v==np.ones(3)
np.array([1,2,3])[i]
v.numpy().flags.owndata
r.numpy()
r.numpy(force=True)
a.t().numpy()
a.numpy().dtype
v.__array__()
v.__array__(np.float64)
v.__array_wrap__(np.ones(2))
