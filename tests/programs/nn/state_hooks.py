"""What a module saves and loads beside its own, and the hooks around it."""
import torch, torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.register_buffer("steps", torch.zeros(1))
    def get_extra_state(self):
        return {"x": 1}
    def set_extra_state(self, s):
        print("set", s)
m = Net()
sd = m.state_dict()
list(sd)
sd._metadata
m.load_state_dict(sd)
m.load_state_dict({"a.weight": torch.ones(2, 2), "b": 1, "a.c": 2, "c.d": 3})
m.load_state_dict({"a.weight": torch.ones(3, 2), "b": 1}, strict=False)
m.load_state_dict({"a.weight": torch.ones(2, 2), "b": 1}, strict=False)
m.load_state_dict([1])
def pre(mod, *a): print("pre", type(mod).__name__, a[1:3])
def post(mod, k): print(k); k.missing_keys.clear()
m.register_load_state_dict_post_hook(post)
m.a.register_load_state_dict_pre_hook(pre)
m.load_state_dict({"a.weight": torch.ones(2, 2)}, strict=False)
m.load_state_dict({"a.weight": torch.ones(2, 2)})
def rename(sd, prefix, *a):
    sd["a.weight"] = sd.pop("w")
n = Net()
n._register_load_state_dict_pre_hook(rename)
n.load_state_dict({"w": torch.ones(2, 2)}, strict=False)
nn.Linear(2, 2).load_state_dict(nn.Linear(2, 3).state_dict())
s = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
s.load_state_dict({"0.weight": torch.ones(2, 2), "0.bias": torch.ones(2), "1.weight": torch.ones(2)})
s.load_state_dict({"module.0.weight": torch.ones(2, 2)})
class My(nn.Linear):
    def _load_from_state_dict(self, sd, prefix, *args):
        print("loading", prefix)
        super()._load_from_state_dict(sd, prefix, *args)
nn.Sequential(My(1, 1)).load_state_dict(nn.Sequential(nn.Linear(1, 1)).state_dict())
m.register_state_dict_post_hook(lambda *a: 1)
m.state_dict()
