"""Module hook errors."""
import torch
import torch.nn as nn
torch.manual_seed(0)
m = nn.Linear(2, 1)
m.register_forward_hook(lambda m, i, o: print("fwd", tuple(i[0].shape), tuple(o.shape)))
m(torch.ones(3, 2)).shape
m.forward(torch.ones(3, 2)).shape
m.register_forward_pre_hook(lambda m, i: print("pre"))
m(torch.ones(3, 2)).shape
m.register_forward_hook(lambda m, i, o: "replaced")
m(torch.ones(3, 2))
m2 = nn.Linear(2, 1)
m2.register_full_backward_hook(lambda m, gi, go: (gi[0] * 0,))
x = torch.ones(1, 2, requires_grad=True)
m2(x).sum().backward()
x.grad
m2.weight.grad
m3 = nn.ReLU(inplace=True)
m3.register_full_backward_hook(lambda m, gi, go: None)
m3(x * 2).sum().backward()
m4 = nn.Linear(2, 1)
m4.register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
m4(x).backward()
m4.bias.grad
pre = nn.Linear(2, 1)
pre.register_full_backward_pre_hook(lambda module, grad_output: grad_output[0] * torch.ones(2))
pre(torch.ones(1, 2, requires_grad=True)).sum().backward()
