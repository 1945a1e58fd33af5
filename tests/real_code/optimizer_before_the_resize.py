# What happens: an embedding is made larger after the optimizer was made, which goes on stepping the old one.
# Reported: huggingface/transformers#3532, microsoft/nni#4521
# Call: steps
# Says: opt still holds the former net.0.weight
import torch

net = torch.nn.Sequential(torch.nn.Embedding(4, 3), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
net[0] = torch.nn.Embedding(5, 3)
before = net[0].weight.clone()
for _ in range(2):
    opt.zero_grad()
    net(torch.tensor([1, 4])).mean().backward()
    opt.step()
assert torch.equal(net[0].weight, before)
