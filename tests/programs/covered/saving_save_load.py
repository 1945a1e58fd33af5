"""save and load: containers, shared memory, refusals."""
import torch

import io
def rt(obj, **k):
    f = io.BytesIO()
    torch.save(obj, f)
    f.seek(0)
    return torch.load(f, **k)

rt(torch.arange(3)), rt([torch.ones(1), 2, "a", None, (1.5, True)]), rt({"x": {"y": torch.zeros(2, 2)}}), rt(torch.ones(2, requires_grad=True)), rt(torch.nn.Parameter(torch.ones(1))), rt(3), rt(torch.Size([1])), rt(torch.float32), rt(torch.device("cpu"))
a = torch.arange(10.)
b, c = rt((a, a[2:5]))
c[0] = 100
b
c.storage_offset(), c.untyped_storage().nbytes(), rt(a[2:5]).untyped_storage().nbytes(), rt(a[2:5].clone()).untyped_storage().nbytes()
rt(a.view(2, 5).t()).stride()
rt(a.requires_grad_() * 2)
class Foo:
    pass

rt(Foo())
torch.load("/nonexistent/file.pt")
torch.save(a)
rt(torch.ones(1), map_location="cpu"), rt(torch.ones(1), weights_only=False), rt(torch.ones(1), weights_only=True)
rt(set([1, 2])), rt(torch.arange(3)[1]), rt(torch.empty(0, 3)), rt(torch.tensor(True)), rt(torch.ones(2, dtype=torch.float16))
from collections import OrderedDict
rt(OrderedDict(a=torch.ones(1)))
