"""Loading a state dict strictly and not, by copying and by taking its tensors."""

import torch
import torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
sd = m.state_dict()
print(sd)
print(type(sd))
sd._metadata
for k, v in sd.items():
    print(k, tuple(v.shape), v.requires_grad)
m.load_state_dict(sd)
print(m.load_state_dict(sd))
m.load_state_dict({})
m.load_state_dict({"a": torch.ones(1)})
m.load_state_dict({"0.weight": torch.ones(2, 2)}, strict=False)
m.load_state_dict({"0.weight": torch.ones(3, 2)}, strict=False)
m.load_state_dict({"0.weight": torch.ones(3, 2), "zzz": 3})
m.load_state_dict([1, 2])
m.load_state_dict(3)
m.load_state_dict(m)
m.load_state_dict({"0.weight": 3, "0.bias": torch.zeros(2), "2.weight": torch.zeros(1, 2), "2.bias": torch.zeros(1)})
m.load_state_dict({"0.weight": torch.zeros(2, 2).numpy(), "0.bias": torch.zeros(2), "2.weight": torch.zeros(1, 2), "2.bias": torch.zeros(1)})
m.load_state_dict({"0.weight": torch.zeros(2, 2, dtype=torch.float64), "0.bias": torch.zeros(2, dtype=torch.int64), "2.weight": torch.zeros(1, 2), "2.bias": torch.zeros(1)})
m[0].weight
m[0].weight.dtype
m.load_state_dict({"0.weight": torch.zeros(2, 2, dtype=torch.float64), "0.bias": torch.zeros(2), "2.weight": torch.zeros(1, 2), "2.bias": torch.zeros(1)}, assign=True)
m[0].weight
m[0].bias
lin = nn.Linear(2, 1)
lin.load_state_dict({"weight": torch.zeros(1, 2), "bias": torch.zeros(1, 1)})
lin.load_state_dict({"weight": torch.zeros(1, 2), "bias": torch.tensor(2.)})
lin.bias
lin.load_state_dict({"weight": torch.zeros(1, 2), "bias": torch.zeros(2), "extra": torch.zeros(2)})
r = lin.load_state_dict({"weight": torch.zeros(1, 2), "extra": torch.zeros(2)}, strict=False)
r
r.missing_keys, r.unexpected_keys
print(r)
class W(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(1, 1)
        self.register_buffer("count", torch.tensor(0))
        self.register_buffer("skip", torch.tensor(1.), persistent=False)
        self.register_buffer("none", None)
        self.p = nn.Parameter(torch.ones(1))
w = W()
w.state_dict().keys()
w.load_state_dict({"module." + k: v for k, v in w.state_dict().items()})
w.load_state_dict({"module." + k: v for k, v in w.state_dict().items()}, strict=False)
w.load_state_dict({k.replace("net", "module"): v for k, v in w.state_dict().items()})
sd = w.state_dict(prefix="pre.")
list(sd)
sd = w.state_dict(keep_vars=True)
sd["p"] is w.p
sd = w.state_dict()
sd["p"] += 5
w.p
sd["p"] is w.p
w.load_state_dict(sd, False)
