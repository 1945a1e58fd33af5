"""B = a is no copy."""
import torch
a = torch.zeros(3)
b = a
b[0] = 1
a
c = a.clone()
c[1] = 5
a
d = a[:]
d[2] = 7
a
e = a.view(-1)
e is a, e.data_ptr() == a.data_ptr()
import copy
f = copy.copy(a)
f[0] = 99
a
g = copy.deepcopy(a)
g[0] = -1
a
h = torch.tensor(a)
h = torch.tensor(a.numpy())
i = torch.as_tensor(a)
i is a
torch.as_tensor(a, dtype=torch.float64).data_ptr() == a.data_ptr()
a.to(torch.float32) is a, a.float() is a, a.contiguous() is a, a.to("cpu") is a
a.to(torch.float32, copy=True) is a
a.cpu() is a
a.double() is a
id(a[0]) == id(a[0])
[a] * 2
def change(t):
    t += 1
    t = t * 100
change(a)
a
