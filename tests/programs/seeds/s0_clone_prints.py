"""A clone has the shape, dtype and device of its source, and is a node of the graph: CloneBackward0, with the 0."""
import torch

a = torch.tensor(1.0, requires_grad=True, dtype=torch.float64)
a_ = a.clone()
print(a_)
print(a_.shape, a_.dtype, a_.device)
print(a_.is_leaf, a_.requires_grad, a_.grad_fn.name())
print(a_.shape == a.shape, a_.dtype == a.dtype, a_.device == a.device)
