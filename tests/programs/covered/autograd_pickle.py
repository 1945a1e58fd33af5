"""Pickling tensors, Parameters and views; what cannot be pickled."""
import torch

import pickle, io
x = torch.arange(4.).view(2, 2).t()
y = pickle.loads(pickle.dumps(x))
y, y.stride(), y._version
p = torch.nn.Parameter(torch.ones(2))
pickle.loads(pickle.dumps(p))
w = torch.ones(2, requires_grad=True)
pickle.loads(pickle.dumps(w))
pickle.dumps(w * 2) is None
pickle.loads(pickle.dumps(w * 2))
a = torch.arange(5)
f = io.BytesIO()
torch.save({"a": a, "v": a[1:3]}, f)
n = f.seek(0)
d = torch.load(f)
d["v"][0] = 50
d
pickle.loads(pickle.dumps(torch.float32)), pickle.loads(pickle.dumps(torch.Size([1, 2])))
pickle.loads(pickle.dumps(torch.device("cpu")))
for dt in (torch.bool, torch.uint8, torch.float16, torch.int16):
    print(pickle.loads(pickle.dumps(torch.ones(2, dtype=dt))))
