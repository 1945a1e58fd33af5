"""Forward hooks."""
import torch
import torch.nn as nn
torch.manual_seed(0)
acts = {}
def get(name):
    def hook(model, input, output):
        acts[name] = output.detach()
    return hook
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
h = net[0].register_forward_hook(get("fc1"))
out = net(torch.ones(1, 2))
acts
h.remove()
h2 = net[1].register_forward_hook(lambda m, i, o: o * 0)
net(torch.ones(1, 2))
h2.remove()
def pre(m, i):
    print("pre", i)
    return (i[0] * 2,)
h3 = net.register_forward_pre_hook(pre)
net(torch.ones(1, 2))
h3.remove()
def back(m, gi, go):
    print(type(m).__name__, gi, go)
h4 = net[2].register_full_backward_hook(back)
net(torch.ones(1, 2)).backward()
h4.remove()

net(torch.ones(1, 2)).backward()
net[0].register_forward_hook(lambda m, args, kwargs, out: print(kwargs), with_kwargs=True)
net(torch.ones(1, 2))
net[0].weight.register_hook(lambda g: print("w", g))
net(torch.ones(1, 2)).backward()
