# What happens: the gradients of two tasks are kept by reference and set to zero in place: their similarity is 1.
# Reported: vasily789/adaptive-weighted-gans#1
# Call: shared(first, second)
# Says: first and second have 2 tensors in common: 0 and 1.
import torch

net = torch.nn.Linear(2, 1)


def gradients(x):
    net(x).sum().backward()
    return [p.grad for p in net.parameters()]


first = gradients(torch.ones(1, 2))
net.zero_grad(set_to_none=False)
second = gradients(torch.tensor([[1.0, -1.0]]))
assert torch.equal(first[0], second[0])
