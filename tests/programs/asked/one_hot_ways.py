"""One hot ways."""
import torch
labels = torch.tensor([2, 0, 1])
torch.zeros(3, 3).scatter_(1, labels[:, None], 1.)
torch.nn.functional.one_hot(labels)
torch.nn.functional.one_hot(labels, 4).float()
torch.eye(3)[labels]
(labels[:, None] == torch.arange(3)).long()
o = torch.zeros(3, 3)
o[torch.arange(3), labels] = 1
o
o[range(3), labels]
o.argmax(1)
torch.nn.functional.one_hot(labels.float())
torch.nn.functional.one_hot(labels, 2)
torch.nn.functional.one_hot(torch.tensor([-1]))
torch.zeros(3, 3).scatter_(1, labels, 1.)
torch.zeros(3, 3).scatter_(1, labels[:, None].float(), 1.)
torch.zeros(3, 2).scatter_(1, labels[:, None], 1.)
torch.zeros(3, 3, dtype=torch.long).scatter_(1, labels[:, None], 1)
torch.zeros(3, 3).scatter(1, labels[:, None], 0.5)
