"""Adam's steps, options and state."""
import torch

w = torch.tensor([1., -2.], requires_grad=True)
o = torch.optim.Adam([w], lr=0.1)
for _ in range(3):
    o.zero_grad()
    (w ** 2).sum().backward()
    o.step()
    print(w)

o.state_dict()
o
o.state[w]
for kw in (dict(lr=0.1, weight_decay=0.1), dict(lr=0.1, amsgrad=True), dict(lr=0.1, betas=(0.5, 0.9), eps=1e-3), dict(lr=0.1, maximize=True), dict()):
    v = torch.tensor([1., -2.], requires_grad=True)
    s = torch.optim.Adam([v], **kw)
    for _ in range(4):
        s.zero_grad()
        (v ** 2).sum().backward()
        s.step()
    print(v.tolist())

v = torch.tensor([1., -2.], requires_grad=True)
torch.optim.Adam([w], lr=-1)
torch.optim.Adam([w], eps=-1)
torch.optim.Adam([w], betas=(1.5, 0.9))
torch.optim.Adam([w], betas=(0.5, 1.0))
torch.optim.Adam([w], weight_decay=-1)
sd = o.state_dict()
w2 = w.detach().clone().requires_grad_()
o2 = torch.optim.Adam([w2], lr=0.5)
o2.load_state_dict(sd)
o2.param_groups[0]["lr"]
for q, p in ((w, o), (w2, o2)):
    p.zero_grad()
    (q ** 2).sum().backward()
    p.step()
o2.load_state_dict({"state": {}, "param_groups": []})
o2.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})
import io
f = io.BytesIO()
torch.save(sd, f)
n = f.seek(0)
w.double().dtype
