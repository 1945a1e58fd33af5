# What happens: the loss of a code book is computed behind a straight-through estimator, and the book gets no gradient.
# Reported: ritheshkumar95/pytorch-vqvae#14
# Call: explain(loss, encoder=encoder, book=book)
# Says: book.weight: cut by .detach() or .data in straight_through_codebook.py:
# After: loss.backward(); assert book.weight.grad is None
import torch

encoder, book, x = torch.nn.Linear(3, 2), torch.nn.Embedding(4, 2), torch.randn(6, 3)
z = encoder(x)
nearest = book(torch.cdist(z, book.weight).argmin(1))
out = z + (nearest - z).detach()
loss = (out - z.detach()).square().mean() + out.mean()
