"""Saving, loading part of a model, renaming, resuming an optimiser, what a saved view carries."""

import torch
import torch.nn as nn
import io, copy, pickle
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 3)
        self.fc2 = nn.Linear(3, 1)
    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
print("Model's state_dict:")
for name in net.state_dict():
    print(name, "\t", net.state_dict()[name].size())
print("Optimizer's state_dict:")
for k in opt.state_dict():
    print(k, "\t", opt.state_dict()[k])
buf = io.BytesIO()
torch.save(net.state_dict(), buf)
buf.seek(0)
net2 = Net()
net2.load_state_dict(torch.load(buf, weights_only=True))
all(torch.equal(a, b) for a, b in zip(net.parameters(), net2.parameters()))
buf.seek(0)
sd = torch.load(buf, map_location="cpu")
type(sd), list(sd)
sd["fc1.weight"].requires_grad
buf = io.BytesIO()
net(torch.ones(1, 2)).sum().backward(); opt.step()
torch.save({"epoch": 5, "model_state_dict": net.state_dict(), "optimizer_state_dict": opt.state_dict(), "loss": torch.tensor(0.4)}, buf)
buf.seek(0)
ck = torch.load(buf)
ck.keys()
ck["epoch"], ck["loss"]
ck["optimizer_state_dict"]
opt2 = torch.optim.SGD(net2.parameters(), lr=0.5)
opt2.load_state_dict(ck["optimizer_state_dict"])
opt2
opt2.state[net2.fc1.weight].keys()
# warm start
part = {k: v for k, v in ck["model_state_dict"].items() if k.startswith("fc1")}
net3 = Net()
net3.load_state_dict(part)
net3.load_state_dict(part, strict=False)
own = net3.state_dict()
own.update(part)
net3.load_state_dict(own)
renamed = {k.replace("fc1", "layer1"): v for k, v in own.items()}
net3.load_state_dict(renamed)
net3.load_state_dict(renamed, strict=False)
class Bigger(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 4)
        self.fc2 = nn.Linear(4, 1)
Bigger().load_state_dict(own)
Bigger().load_state_dict(own, strict=False)
good = {k: v for k, v in own.items() if v.shape == Bigger().state_dict()[k].shape}
Bigger().load_state_dict(good, strict=False)
wrapped = {"module." + k: v for k, v in own.items()}
net3.load_state_dict(wrapped)
from collections import OrderedDict
net3.load_state_dict(OrderedDict((k[7:], v) for k, v in wrapped.items()))
t = torch.arange(4.)
buf = io.BytesIO(); torch.save([t, t[1:3]], buf); buf.seek(0)
a, b = torch.load(buf)
b[0] = 9.
a
buf = io.BytesIO(); torch.save(t[1:2], buf); len(buf.getvalue()) > 0; buf.seek(0)
c = torch.load(buf)
c.untyped_storage().nbytes(), c.storage_offset()
buf = io.BytesIO(); torch.save(t[1:2].clone(), buf); buf.seek(0)
torch.load(buf).untyped_storage().nbytes()
buf = io.BytesIO(); torch.save(nn.Parameter(torch.ones(2)), buf); buf.seek(0)
torch.load(buf)
buf = io.BytesIO(); torch.save(torch.ones(2, requires_grad=True), buf); buf.seek(0)
torch.load(buf)
buf = io.BytesIO(); torch.save(torch.ones(2, requires_grad=True) * 2, buf); buf.seek(0)
torch.load(buf)
w = torch.ones(2, requires_grad=True); w.grad = torch.ones(2)
buf = io.BytesIO(); torch.save(w, buf); buf.seek(0)
torch.load(buf).grad
buf = io.BytesIO(); torch.save({"a": 1, "b": [1.5, None, True, "x"], "c": (1, 2)}, buf); buf.seek(0)
torch.load(buf)
pickle.loads(pickle.dumps(torch.ones(2)))
pickle.loads(pickle.dumps(net.state_dict()))["fc2.bias"].shape
pickle.loads(pickle.dumps(nn.Linear(1, 1)))
copy.deepcopy(net).fc1
