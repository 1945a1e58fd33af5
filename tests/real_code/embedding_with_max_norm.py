# What happens: an embedding with max_norm renormalises its weight in place when it is called.
# Reported: pytorch/pytorch#26596
# Call: watch
# Says: emb.weight was written to by line 9 after line 8 saved it. PyTorch raises an error
import torch

emb, w = torch.nn.Embedding(5, 3, max_norm=0.1), torch.randn(4, 3, requires_grad=True)
scores = emb.weight @ w.t()
loss = scores.sum() + emb(torch.tensor([1, 2])).sum()
try:
    loss.backward()
except RuntimeError as error:
    assert "modified by an inplace operation" in str(error)
