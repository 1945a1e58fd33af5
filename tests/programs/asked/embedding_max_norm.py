"""An embedding with max_norm writes to its table when it is read."""
import torch
import torch.nn.functional as F
w = torch.tensor([[3., 4.], [0.3, 0.4], [6., 8.]], requires_grad=True)
i = torch.tensor([0, 1, 0])
F.embedding(i, w, max_norm=1.0)
w, w._version
F.embedding(i, w, max_norm=1.0)._version, w._version
y = w * w
F.embedding(torch.tensor([2]), w, max_norm=1.0)
y.sum().backward()
F.embedding(i, w[0], max_norm=1.0)
F.embedding(i, w[0])
F.embedding(i.float(), w, max_norm=1.0)
F.embedding(torch.tensor([5]), w, max_norm=1.0)
F.embedding(torch.tensor([5]), w)
F.one_hot(torch.tensor([], dtype=torch.long))
