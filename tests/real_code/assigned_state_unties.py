# What happens: load_state_dict(assign=True) gives each name a tensor of its own: what was tied is not.
# Reported: pytorch/pytorch#188346
# Call: steps
# Says: until now one tensor, are two
from torch import nn

net = nn.ModuleDict({"embed": nn.Embedding(5, 3), "out": nn.Linear(3, 5, bias=False)})
net["out"].weight = net["embed"].weight
state = {key: value.clone() for key, value in net.state_dict().items()}
net.load_state_dict(state, assign=True)
