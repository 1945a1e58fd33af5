# What happens: relu works in place on what a skip connection adds afterwards.
# Reported: rosinality/vq-vae-2-pytorch#60
# Call: shared(x, y)
# Says: x and y are one tensor.
import torch

x = torch.tensor([-1.0, 2.0])
y = torch.nn.functional.relu(x, inplace=True)
assert (y + x).tolist() == [0.0, 4.0]
