# What happens: a token is expanded to the batch and one row is written; all rows and the parameter change.
# Reported: pytorch/tensordict#1008, pytorch/pytorch#42726
# Call: shared(token, rows)
# Says: rows sees each cell 4 times.
import torch

token = torch.nn.Parameter(torch.zeros(1, 1, 3))
rows = token.expand(4, -1, -1).detach()
rows[0] = 1
assert rows[3].sum() == 3
assert token.sum() == 3
