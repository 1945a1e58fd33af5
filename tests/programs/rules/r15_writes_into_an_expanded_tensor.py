"""An expanded tensor has one cell for many elements: add_, mul_, copy_ raise, zero_ and fill_ do not."""
import torch

e = torch.ones(1).expand(3)
e.add_(1)
e.mul_(2)
e.copy_(torch.ones(3))
e.zero_()
e.fill_(7)
