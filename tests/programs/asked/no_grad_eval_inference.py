"""No grad eval inference."""
import torch
import torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
x = torch.ones(1, 2)
m.training
m(x)
m.eval()
m(x)
m(x).requires_grad
with torch.no_grad():
    y = m(x)
y.requires_grad
m.train()
with torch.inference_mode():
    z = m(x)
z
z.requires_grad, z.is_inference()
z.requires_grad_()
z += 1
z * 2
w = torch.ones(2, requires_grad=True)
(w * z).sum().backward()
z.clone() * w
z._version
with torch.no_grad():
    v = w * 2
v.requires_grad
torch.is_grad_enabled()
@torch.no_grad()
def f(a):
    return a * 2
f(w)
with torch.set_grad_enabled(False):
    print((w * 2).requires_grad)
with torch.no_grad():
    with torch.enable_grad():
        print((w * 2).requires_grad)
torch.is_inference_mode_enabled()
