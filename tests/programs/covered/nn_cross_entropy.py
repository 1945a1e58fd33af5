"""cross_entropy and nll_loss: reductions, weights, targets they refuse."""
import torch

import torch.nn.functional as F
x = torch.tensor([[1., 2., 0.5], [0.1, -1., 3.]], requires_grad=True)
t = torch.tensor([1, 2])
F.cross_entropy(x, t), F.cross_entropy(x, t, reduction="none"), F.cross_entropy(x, t, reduction="sum"), F.cross_entropy(x[0], t[0]), F.cross_entropy(x, t, weight=torch.tensor([1., 2., 3.])), F.cross_entropy(x, t, ignore_index=1), F.cross_entropy(x, t, label_smoothing=0.1), F.cross_entropy(x, x.softmax(1).detach())
F.cross_entropy(x, t).backward()
x.grad
F.nll_loss(x.log_softmax(1), t), F.nll_loss(x.log_softmax(1), t, reduction="none")
F.cross_entropy(x, torch.tensor([1, 3]))
F.cross_entropy(x, torch.tensor([1, -1]))
F.cross_entropy(x, torch.tensor([1]))
F.cross_entropy(x, torch.tensor([1., 2.]))
F.cross_entropy(x, torch.tensor([[1, 2]]))
F.cross_entropy(x, torch.tensor([1, 2], dtype=torch.int32))
F.cross_entropy(x.detach().long(), t)
F.cross_entropy(x, t, weight=torch.ones(2))
F.cross_entropy(x, torch.tensor([-100, -100]))
F.cross_entropy(x, t, reduction="foo")
F.cross_entropy(x, t, label_smoothing=2)
F.nll_loss(x[0], t)
F.nll_loss(torch.tensor(1.), t)
F.one_hot(torch.tensor([-1]))
F.one_hot(torch.tensor([3]), 2)
F.one_hot(torch.tensor([1.]))
F.cross_entropy(x, t).grad_fn, F.nll_loss(x, t).grad_fn, F.cross_entropy(x, t).grad_fn.next_functions
F.cross_entropy(torch.ones(1, 2, 3), torch.zeros(1, 3, dtype=torch.long))
