# What happens: a reentrant checkpoint behind a frozen stem: none of its inputs needs a gradient, so the block gets none.
# Reported: pytorch/pytorch#7617, mlfoundations/open_clip#573
# Call: explain(loss, stem=stem, block=block, head=head)
# Says: block.weight and block.bias: used in a reentrant checkpoint, none of whose inputs requires grad
# After: loss.backward(); assert block.weight.grad is None
import torch
from torch.utils.checkpoint import checkpoint

stem, block, head = (torch.nn.Linear(3, 3) for _ in range(3))
stem.requires_grad_(False)
hidden = checkpoint(block, stem(torch.randn(4, 3)), use_reentrant=True)
loss = head(hidden).mean()
