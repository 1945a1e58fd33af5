# What happens: a mask is expanded and then cut row by row: each row is cut as the shortest.
# Call: steps
# Says: Written to in place: the version counter of ones and mask went up from 0 to 1.
import torch

ones = torch.ones(1, 6)
scores = torch.randn(3, 6, requires_grad=True)
mask = ones.expand(3, -1)
for row, length in enumerate([6, 2, 5]):
    mask[row, length:] = 0
loss = (scores.softmax(1) * mask).sum()
loss.backward()
assert mask[0].sum() == 2
