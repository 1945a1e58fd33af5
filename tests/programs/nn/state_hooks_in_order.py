"""Hooks around state dicts, before and after."""
import torch, torch.nn as nn
m = nn.Linear(2, 2)
m._backward_hooks
m._forward_hooks
m._parameters.keys()
def h(*a): print("pre", len(a))
m.register_state_dict_pre_hook(h)
s = m.state_dict()
m._register_state_dict_hook(lambda mod, sd, prefix, meta: print("hook", list(sd), prefix))
s = m.state_dict()
m.register_state_dict_post_hook(lambda mod, sd, prefix, meta: print("post", list(sd), prefix))
s = m.state_dict()
m.register_load_state_dict_pre_hook(lambda *a: print("lpre", len(a)))
m.register_load_state_dict_post_hook(lambda mod, keys: print("lpost", keys))
m.load_state_dict(s)
m.load_state_dict({}, strict=False)
x = torch.ones(2, requires_grad=True)
x._backward_hooks
