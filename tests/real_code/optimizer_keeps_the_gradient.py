# What happens: an optimizer keeps the last gradient by reference; its difference from the present one is 0.
# Reported: shivram1987/diffGrad#2
# Call: shared(net, opt)
# Says: previous
import torch


class Diff(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})

    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            last = self.state[p].get("previous", torch.zeros_like(p))
            self.change = float((last - p.grad).abs().sum())
            p.sub_(0.1 * p.grad)
            self.state[p]["previous"] = p.grad


net = torch.nn.Linear(2, 1, bias=False)
opt = Diff(net.parameters())
for _ in range(3):
    opt.zero_grad(set_to_none=False)
    net(torch.randn(4, 2)).square().mean().backward()
    opt.step()
assert opt.change == 0
