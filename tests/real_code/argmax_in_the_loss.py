# What happens: a loss compares the classes that argmax has chosen; no gradient gets behind it.
# Reported: wonbeomjang/mobile-hair-segmentation-pytorch#3, Ugenteraan/Deep_Hierarchical_Classification#6
# Call: explain(loss, body=body, head=head)
# Says: argmax has no derivative, in argmax_in_the_loss.py:
import torch
from torch import nn

body, head = nn.Linear(3, 4), nn.Linear(1, 1)
x, target = torch.randn(5, 3), torch.randn(5, 1)
mask = body(x).argmax(1, keepdim=True).float()
loss = (head(mask) - target).abs().mean()
