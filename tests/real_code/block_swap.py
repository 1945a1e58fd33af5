# What happens: layers take turns in one slot of memory, and the next one's weights are there when backward reads.
# Reported: WalkingMeatAxolotl/AnimaLoraStudio#466
# Call: watch
# Says: slot.copy_(homes[layer])
import torch
from torch import nn

layers = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4))
homes = {layer: layer.weight.detach().clone() for layer in layers}
slot = torch.empty(4, 4)


def fetch(layer, _):
    slot.copy_(homes[layer])
    layer.weight.data = slot


for layer in layers:
    layer.register_forward_pre_hook(fetch)
x = torch.randn(2, 4)
loss = layers(x).sum()
loss.backward()
