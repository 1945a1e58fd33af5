"""State_dict returns references."""
import torch
import copy
import torch.nn as nn
torch.manual_seed(0)
m = nn.Linear(2, 1)
sd = m.state_dict()
sd
best = m.state_dict()
best_copy = copy.deepcopy(m.state_dict())
with torch.no_grad():
    m.weight.fill_(1.)
best["weight"]
best_copy["weight"]
m.load_state_dict(best_copy)
m.weight
sd["weight"].requires_grad
sd["weight"].data_ptr() == m.weight.data_ptr()
list(sd.keys())
type(sd)
m.load_state_dict({"weight": torch.zeros(1, 2)})
m.load_state_dict({"weight": torch.zeros(2, 2), "bias": torch.zeros(1)})
m.load_state_dict({"weight": torch.zeros(1, 2), "bais": torch.zeros(1)})
m.load_state_dict({"weight": torch.zeros(1, 2)}, strict=False)
m.load_state_dict({"weight": torch.zeros(1, 2), "bias": torch.ones(1), "extra": torch.ones(1)}, strict=False)
m.load_state_dict({"weight": torch.ones(1, 2), "bias": torch.ones(1)}, assign=True)
m.weight
