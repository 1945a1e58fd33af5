"""What the layers' constructors take, how they refuse, how they print."""

import torch
import torch.nn as nn
print(nn.Hardtanh(), nn.Hardtanh(-2, 2, True), nn.ReLU6(), nn.ReLU6(True), nn.SELU(), nn.SELU(True), nn.CELU(), nn.CELU(0.5, True))
print(nn.Hardshrink(), nn.Softshrink(), nn.Softshrink(1.0), nn.Hardsigmoid(), nn.Hardsigmoid(True), nn.Hardswish(), nn.Hardswish(True), nn.Mish(), nn.Mish(True))
print(nn.Softsign(), nn.Tanhshrink(), nn.Threshold(0.1, 20), nn.Threshold(0.1, 20, True), nn.GLU(), nn.GLU(1), nn.PReLU(), nn.PReLU(3, 0.1))
nn.ReLU(1, 2)
nn.ReLU(foo=1)
nn.Sigmoid(3)
nn.Dropout(0.1, True, 3)
nn.Threshold(0.1)
nn.Unflatten()
nn.ReLU()()
nn.ReLU()(torch.ones(1), torch.ones(1))
nn.MSELoss()(torch.ones(1))
nn.MSELoss(1, 2, 3, 4)
nn.MSELoss(foo=3)
nn.CrossEntropyLoss()(torch.ones(1))
nn.CrossEntropyLoss(reduction="sum").reduction
nn.CrossEntropyLoss(weight=torch.ones(2)).weight
vars(nn.Hardtanh())["min_val"]
nn.PReLU().weight
nn.PReLU(2, 0.1).weight
nn.PReLU()(torch.tensor([-1., 2.]))
p = nn.PReLU()
p(torch.tensor([-1., 2.])).sum().backward()
p.weight.grad
nn.PReLU(3)(torch.ones(2, 2))
nn.Hardtanh()(torch.tensor([-3., 0.5]))
nn.GLU()(torch.ones(4))
nn.Softplus(1)
nn.LogSigmoid()
nn.ReLU.__init__.__qualname__
nn.ReLU.forward.__qualname__
nn.ReLU().forward
nn.Flatten(1, 2, 3)
nn.Softmax(dim=1)(torch.ones(2))
nn.Softmax(1, 2)
nn.Hardtanh(2, 1)
nn.Hardtanh(min_value=-3)
nn.LeakyReLU(negative_slope=0.1).negative_slope
nn.LeakyReLU(-1.)
nn.ELU(alpha=0.5)(torch.tensor([-1.]))
nn.ELU(inplace=True)(torch.tensor([-1.]))
nn.ELU(1., True)(torch.tensor([-1.], requires_grad=True))
nn.SiLU(True)(torch.tensor([-1.]))
x = torch.tensor([-1., 1.], requires_grad=True)
y = x * 2
nn.LeakyReLU(0.1, True)(y) is y
y
y.sum().backward()
x.grad
nn.Softmax()(torch.ones(1))
nn.Unflatten(1, (2, 2))
nn.Unflatten(1, [2, 2])
nn.Unflatten(1, 3)
nn.Unflatten("a", (("b", 2),))
