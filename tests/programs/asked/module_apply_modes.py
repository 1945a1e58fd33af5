"""Module apply modes."""
import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Sequential(nn.ReLU(), nn.Dropout(0.1)))
net.training, net[1].training
net.eval()
net.training, net[2][1].training
net.train(False) is net
net.train()
net[1].eval()
[m.training for m in net.modules()]
net.train("yes")
net.requires_grad_(False) is net
[p.requires_grad for p in net.parameters()]
net.double()
net[0].weight.dtype
net(torch.ones(1, 2))
net.float()
net.half()[0].bias.dtype
net.float().to(torch.device("cpu"))[0].weight.device
net.type(torch.float64)[0].weight.dtype
net.zero_grad()
def f(m):
    print(m.__class__.__name__)
_ = net.apply(f)
net.extra_repr()
net[0].extra_repr()
net._get_name()
net.get_submodule("2.1")
net.get_parameter("0.weight").shape
net.get_submodule("9")
hasattr(net, "foo"), "0" in net._modules
nn.Module()
nn.Module().forward(1)
net.state_dict(prefix="a.").keys()
nn.Linear(2, 2).weight.requires_grad
nn.Linear(0, 2)
nn.Linear(2, 2, dtype=torch.float64).weight.dtype
nn.Linear(2)
nn.Linear("a", 2)
nn.Linear(2, 2)([1, 2])
nn.ReLU()([1, 2])
nn.ReLU()(torch.tensor([-1, 2]))
nn.Sigmoid()(torch.tensor([0, 1]))
nn.Flatten()(torch.ones(2, 3, 4)).shape
nn.Linear(2, 2)(torch.ones(2, 2), 3)
nn.Identity()(5)
