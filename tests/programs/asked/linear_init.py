"""Linear init."""
import torch
import torch.nn as nn
torch.manual_seed(0)
l = nn.Linear(3, 2)
l.weight
l.bias
torch.manual_seed(0)
nn.init.xavier_uniform_(l.weight)
nn.init.constant_(l.bias, 0.1)
nn.init.kaiming_normal_(l.weight, nonlinearity="relu")
nn.init.kaiming_uniform_(l.weight, a=5 ** 0.5)
nn.init.normal_(l.weight, 0, 0.02)
nn.init.uniform_(l.weight)
nn.init.zeros_(l.bias)
nn.init.ones_(l.weight)
nn.init.xavier_normal_(l.weight, gain=nn.init.calculate_gain("tanh"))
nn.init.xavier_uniform_(l.bias)
nn.init.calculate_gain("relu"), nn.init.calculate_gain("leaky_relu", 0.2)
def init_weights(m):
    print(m)
    if type(m) == nn.Linear:
        m.weight.fill_(1.0)
net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
with torch.no_grad():
    net.apply(init_weights)
net.apply(init_weights)
def init2(m):
    if isinstance(m, nn.Linear):
        torch.nn.init.xavier_uniform_(m.weight)
        m.bias.data.fill_(0.01)
net.apply(init2)
net[0].weight, net[1].bias
