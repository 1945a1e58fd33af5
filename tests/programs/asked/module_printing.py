"""Module printing."""
import torch
import torch.nn as nn
nn.Linear(2, 3, bias=False)
nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 3), nn.Tanh()))
nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
nn.ModuleDict({"a": nn.Linear(1, 1), "act": nn.ReLU()})
nn.ReLU(), nn.ReLU(inplace=True), nn.Sigmoid(), nn.Dropout(0.2), nn.Flatten(), nn.Identity()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.w = nn.Parameter(torch.ones(2))
        self.register_buffer("running", torch.zeros(2))
        self.k = 3
    def forward(self, x):
        return self.fc(x) * self.w
net = Net()
net
[n for n, _ in net.named_parameters()]
[n for n, _ in net.named_buffers()]
[n for n, _ in net.named_modules()]
[n for n, _ in net.named_children()]
list(net.state_dict())
net.fc.in_features, net.fc.weight.shape
dict(net.named_parameters())["w"]
class Bad(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(2, 2)
Bad()
class NoForward(nn.Module):
    pass
NoForward()(1)
NoForward()
net.nothing
net.fc = 3
net.w = torch.ones(2)
net.w = nn.Parameter(torch.zeros(2))
net.running = torch.ones(2)
net.running
net._parameters.keys(), net._buffers.keys()
class Extra(nn.Module):
    def extra_repr(self):
        return "a=1"
Extra()
nn.Parameter(torch.ones(2))
nn.Parameter(torch.ones(2), requires_grad=False)
nn.Parameter(torch.tensor([1, 2]))
isinstance(nn.Parameter(torch.ones(1)), torch.Tensor), type(nn.Parameter(torch.ones(1)) * 2)
nn.Parameter(torch.ones(1)).data
nn.Sequential(1)
nn.Linear(2, 3).weight.shape, nn.Linear(2, 3)(torch.ones(5, 4, 2)).shape
net.cuda if False else net.double().fc if hasattr(net.fc, "weight") else net.double().w.dtype
