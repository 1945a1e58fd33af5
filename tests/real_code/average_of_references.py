# What happens: a moving average is begun with p.data of each parameter, which are the parameters.
# Reported: open-mmlab/mmengine#266
# Call: shared(shadow, net)
# Says: shadow
import torch

net = torch.nn.Linear(3, 1)
shadow = {name: p.data for name, p in net.named_parameters()}
with torch.no_grad():
    net.weight.add_(1)
assert torch.equal(shadow["weight"], net.weight)
