# What happens: an embedding that is tied to the output layer gets pretrained weights of its own.
# Call: steps
# Says: net.embed.weight and net.out.weight, until now one tensor, are two.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(10, 4), nn.Linear(4, 10, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x):
        return self.out(self.embed(x))


torch.manual_seed(0)
net = Net()
pretrained = torch.randn(10, 4)
net.embed.weight = nn.Parameter(pretrained.clone())
opt = torch.optim.SGD(net.parameters(), 0.1)
words, following = torch.randint(10, (32,)), torch.randint(10, (32,))
for epoch in range(3):
    loss = nn.functional.cross_entropy(net(words), following)
    opt.zero_grad()
    loss.backward()
    opt.step()
