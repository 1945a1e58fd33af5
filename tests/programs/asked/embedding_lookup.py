"""Embedding lookup."""
import torch
import torch.nn as nn
import torch.nn.functional as F
W = torch.arange(12.).view(4, 3).requires_grad_()
idx = torch.tensor([1, 1, 3])
W[idx]
W[idx].sum().backward()
W.grad
W.grad = None
W.index_select(0, idx).sum().backward()
W.grad
F.embedding(idx, W)
torch.eye(4)[idx] @ W
F.embedding(torch.tensor([5]), W)
W[torch.tensor([5])]
W[torch.tensor([1.])]
W.index_select(0, idx.int())
idx.tolist(), idx.unique()
W[idx, 0], W[idx][:, 1]
W[:, idx - 1]
W[-1], W[[-1]]
W[idx.bool()]
W[idx > 1]
W[torch.tensor([True, False, True, False])].sum()
W[torch.tensor(2)], W[torch.tensor(2)].shape
W[torch.tensor([[0, 1], [2, 3]]), :2].shape
torch.index_select(W, 1, torch.tensor([0, 2]))
torch.take(W, torch.tensor([0, 11]))
W.gather(0, torch.tensor([[0, 1, 2]]))
W.detach().index_fill_(0, torch.tensor([0]), -1)
W.index_add(0, torch.tensor([0]), torch.ones(1, 3)).grad_fn
W.index_put((torch.tensor([0]), torch.tensor([1])), torch.tensor([50.]))[0]
