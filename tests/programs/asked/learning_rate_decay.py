"""Learning rate decay."""
import torch
torch.manual_seed(0)
w = torch.tensor([1.], requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
for epoch in range(4):
    for g in opt.param_groups:
        g["lr"] = 1.0 * (0.1 ** (epoch // 2))
    opt.zero_grad()
    (w ** 2).sum().backward()
    opt.step()
    print(epoch, opt.param_groups[0]["lr"], w.item())
opt.param_groups
opt.state
opt.state_dict()
o2 = torch.optim.SGD([w], lr=0.5)
o2.load_state_dict(opt.state_dict())
o2.param_groups[0]["lr"]
o2.load_state_dict({"state": {}, "param_groups": []})
w.grad
opt.zero_grad(set_to_none=False)
w.grad
opt.step()
w
opt.param_groups[0].keys()
torch.optim.SGD([w])
torch.optim.SGD([w], lr=0.1, maximize=True)
o3 = torch.optim.SGD([w], lr=0.1, maximize=True)
(w * 2).sum().backward()
o3.step()
w
torch.optim.Optimizer
