# What happens: a reentrant checkpoint behind a frozen stem: the body of the network never learns.
# Call: explain(loss, body=body, head=head)
# Says: used in a reentrant checkpoint, none of whose inputs requires grad
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
stem, body, head = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU()), nn.Linear(8, 1)
stem.requires_grad_(False)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], 0.1)
data, target = torch.randn(32, 4), torch.randn(32, 1)
for epoch in range(3):
    features = checkpoint(body, stem(data), use_reentrant=True)
    loss = (head(features) - target).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
