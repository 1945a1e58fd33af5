# What happens: [mlp] * 2 is one module twice, and its weights are shared by accident.
# Reported: acids-ircam/ddsp_pytorch#37
# Call: shared(towers)
# Says: towers.0 and towers.1 are one object: Sequential.
import torch

towers = torch.nn.ModuleList([torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())] * 2)
assert len(list(towers.parameters())) == 2
