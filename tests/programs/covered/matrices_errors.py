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
torch.addmm(torch.ones(4), a, b), torch.addmm(torch.ones(2, 4), a, b, beta=2, alpha=0.5), torch.addmv(torch.ones(2), a, torch.ones(3)), torch.addr(torch.zeros(2, 3), torch.ones(2), torch.ones(3)), torch.baddbmm(torch.ones(1), torch.ones(1, 1, 2), torch.ones(1, 2, 1)), torch.outer(torch.arange(2), torch.arange(3)), torch.ger(torch.ones(1), torch.ones(2)), torch.inner(a, a), torch.vdot(torch.ones(2), torch.ones(2)), torch.kron(torch.eye(2), torch.ones(1, 2)), torch.linalg.multi_dot([a, b]), torch.chain_matmul(a, b) if False else None
torch.addmm(torch.ones(3, 3), a, b)
torch.outer(a, a)
torch.einsum("ij,jk->ik", a, b), torch.einsum("ii", torch.eye(3)), torch.einsum("ij->ji", a).shape, torch.einsum("i,j", torch.arange(2), torch.arange(2)), torch.einsum("...ij->...i", a), torch.einsum("bij,bjk->bik", torch.ones(2, 1, 2), torch.ones(2, 2, 1)).shape
torch.einsum("ij,jk->ik", a)
torch.einsum("ij,kj->ik", a, b)
torch.einsum("ij->kk", a)
torch.einsum("i?", a)
torch.einsum("ijk->i", a)
torch.tensordot(a, b, 1).shape, torch.tensordot(a, b, dims=([1], [0])).shape
torch.tensordot(a, b, 2)
torch.cross(torch.tensor([1., 0., 0.]), torch.tensor([0., 1., 0.])), torch.cross(torch.tensor([1, 2, 3]), torch.tensor([3, 2, 1]), dim=0)
torch.matrix_power(torch.tensor([[1., 1.], [0., 1.]]), 3), torch.linalg.det(torch.eye(2)), torch.inverse(torch.tensor([[2., 0.], [0., 4.]])), torch.linalg.solve(torch.eye(2), torch.ones(2)), torch.trace(torch.eye(3))
torch.inverse(torch.ones(2, 3))
torch.inverse(torch.zeros(2, 2))
torch.mm(a, b, out=torch.empty(1, 1)).shape
