"""unique, searchsorted, bucketize and bincount."""
import torch

x = torch.tensor([3, 1, 2, 3, 1])
x.unique(), torch.unique(x, return_inverse=True), torch.unique(x, return_counts=True), torch.unique(x, True, True, True), x.unique(sorted=False).shape
x.unique_consecutive(), torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 1]), return_inverse=True, return_counts=True)
m = torch.tensor([[1, 2], [3, 4], [1, 2]])
m.unique(dim=0), m.unique(dim=0, return_inverse=True, return_counts=True), m.unique(dim=1), m.unique_consecutive(dim=0)
m.unique(dim=2)
torch.unique(torch.tensor([True, False, True])), torch.unique(torch.tensor([1.5, 1.5])), torch.unique(torch.tensor(3)), torch.unique(torch.tensor([]))
m.unique(return_inverse=True)
torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6, 0])), torch.searchsorted(torch.tensor([1, 3, 5]), 3, right=True), torch.searchsorted(torch.tensor([1., 3.]), torch.tensor([2.]), side="right"), torch.searchsorted(torch.tensor([[1, 3], [2, 4]]), torch.tensor([[2], [3]])), torch.searchsorted(torch.tensor([1, 2]), torch.tensor([1]), out_int32=True)
torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3.]))
torch.searchsorted(torch.tensor([[1, 3]]), torch.tensor([1]))
torch.searchsorted(torch.tensor([1]), torch.tensor([1]), right=True, side="left")
torch.bucketize(torch.tensor([1, 4]), torch.tensor([2, 3])), torch.bucketize(2, torch.tensor([2, 3]), right=True)
torch.bincount(torch.tensor([1, 1, 3])), torch.bincount(torch.tensor([0, 1]), minlength=4), torch.bincount(torch.tensor([0, 1, 1]), weights=torch.tensor([0.5, 1., 2.])), torch.bincount(torch.tensor([], dtype=torch.long))
torch.bincount(torch.tensor([-1]))
torch.bincount(torch.tensor([1.]))
torch.bincount(torch.tensor([[1]]))
torch.bincount(torch.tensor([1]), weights=torch.tensor([1., 2.]))
torch.bincount(torch.tensor([1]), minlength=-1)
torch.lexsort if hasattr(torch, "lexsort") else None
