"""Products of matrices and vectors, and the shapes and dtypes they refuse."""
import torch

a = torch.ones(2, 3)
b = torch.ones(3, 4)
a @ b, a @ torch.ones(3), torch.ones(2) @ a, torch.ones(3) @ torch.ones(3)
a @ a
a @ torch.ones(2)
torch.mm(a, torch.ones(3))
torch.mm(a, a)
torch.mv(a, torch.ones(2))
torch.bmm(torch.ones(1, 2, 3), torch.ones(2, 3, 4))
torch.bmm(a, b)
torch.dot(torch.ones(2), torch.ones(3))
torch.dot(a, a)
torch.dot(torch.ones(2), torch.ones(2).double())
a @ b.double()
a.long() @ b
a.long() @ b.long()
a @ 2
2 @ a
torch.tensor(2) @ a
torch.ones(2, 1, 2, 3).matmul(torch.ones(5, 3, 2)).shape
torch.ones(2, 2, 3) @ torch.ones(3, 3, 2)
torch.addmm(torch.ones(4), a, b), torch.addmm(torch.ones(2, 4), a, b, beta=2, alpha=0.5), torch.addmv(torch.ones(2), a, torch.ones(3)), torch.baddbmm(torch.ones(1), torch.ones(1, 1, 2), torch.ones(1, 2, 1)), torch.outer(torch.arange(2), torch.arange(3))
torch.addmm(torch.ones(3, 3), a, b)
torch.outer(a, a)
torch.einsum("ij,jk->ik", a, b), torch.einsum("ii", torch.eye(3)), torch.einsum("ij->ji", a).shape, torch.einsum("i,j", torch.arange(2), torch.arange(2)), torch.einsum("...ij->...i", a), torch.einsum("bij,bjk->bik", torch.ones(2, 1, 2), torch.ones(2, 2, 1)).shape
torch.einsum("ij,jk->ik", a)
torch.einsum("ij,kj->ik", a, b)
torch.einsum("ij->kk", a)
torch.einsum("i?", a)
torch.einsum("ijk->i", a)
torch.trace(torch.eye(3))
torch.mm(a, b, out=torch.empty(1, 1)).shape
