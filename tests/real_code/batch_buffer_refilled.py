# What happens: one buffer takes every batch; the losses of all batches are summed before backward.
# Call: watch
# Says: batch was changed by line 9 after line 10 saved it. PyTorch raises no error
import torch

batch, net = torch.zeros(2, 3), torch.nn.Linear(3, 1)
losses = []
for number in range(2):
    batch.data.fill_(number)
    losses.append(net(batch).sum())
sum(losses).backward()
assert net.weight.grad.tolist() == [[4.0, 4.0, 4.0]]
