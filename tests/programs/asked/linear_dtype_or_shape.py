"""What a product that adds says first: of dtypes, of shapes, of sizes that the sum cannot take; options of layers."""
import torch
import torch.nn as nn
i = torch.ones(2, 3, dtype=torch.long)
a = torch.ones(2, 3)
nn.Linear(5, 4)(i)
nn.Linear(5, 4)(a)
nn.Linear(3, 4)(i)
nn.Linear(3, 4, bias=False)(i)
nn.Linear(5, 4).double()(a)
torch.addmm(torch.ones(4), i[0], torch.ones(4, 5))
torch.addmm(torch.ones(4), a[0], torch.ones(4, 5))
torch.baddbmm(torch.ones(4), i[None], torch.ones(1, 4, 5))
torch.baddbmm(torch.ones(5), i[None], torch.ones(1, 4, 5))
torch.baddbmm(torch.ones(5), a[None], torch.ones(1, 4, 5))
nn.Softmax("a")
nn.ReLU("yes")
nn.L1Loss(foo=1)
torch.manual_seed(0)
t = torch.zeros(20)
t._version
t._version
