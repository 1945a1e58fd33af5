"""state_dict and load_state_dict, with every complaint."""
import torch

from torch import nn
g = torch.manual_seed(1)
m = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
m
sd = m.state_dict()
sd
list(sd), type(sd), sd._metadata
sd["0.weight"].requires_grad, sd["0.weight"].data_ptr() == m[0].weight.data_ptr()
m.load_state_dict(sd)
bad = dict(sd)
del bad["0.bias"]
bad["x"] = torch.ones(1)
m.load_state_dict(bad)
m.load_state_dict(bad, strict=False)
bad = dict(sd)
bad["0.bias"] = torch.ones(3)
m.load_state_dict(bad)
bad["0.weight"] = 3
m.load_state_dict(bad, strict=False)
m.load_state_dict(3)
new = {k: torch.zeros_like(v) for k, v in sd.items()}
r = m.load_state_dict(new)
r
m[0].weight
m.load_state_dict({k: torch.ones_like(v) for k, v in sd.items()}, assign=True)
m[0].weight, type(m[0].weight)
m.load_state_dict({k: v.double() for k, v in sd.items()})
m[0].weight.dtype
m.state_dict(prefix="p.", keep_vars=True)
import io
f = io.BytesIO()
torch.save(m.state_dict(), f)
n = f.seek(0)
torch.load(f)
r.missing_keys, r.unexpected_keys
nn.Linear(1, 1).load_state_dict({})
nn.Linear(1, 1).load_state_dict({"weight": torch.ones(2, 1), "bias": torch.ones(2), "z": 1, "y": 2})
