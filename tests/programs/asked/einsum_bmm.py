"""Einsum bmm."""
import torch
A = torch.arange(6.).view(2, 3)
B = torch.arange(12.).view(3, 4)
torch.einsum("ij,jk->ik", A, B)
torch.einsum("ij->ji", A)
torch.einsum("ij->", A)
torch.einsum("ij->j", A)
torch.einsum("i,i->", A[0], A[1])
torch.einsum("i,j->ij", A[0], A[1])
torch.einsum("ii->i", torch.arange(9.).view(3, 3))
torch.einsum("bij,bjk->bik", A.expand(2, 2, 3), B.expand(2, 3, 4)).shape
torch.einsum("ij,jk", A, B)
torch.einsum("ij,jk->ik", A, A)
torch.einsum("ij,j->ik", A, A[0])
torch.einsum("...ij->...ji", A.view(1, 2, 3)).shape
torch.bmm(A.view(1, 2, 3), B.view(1, 3, 4))
torch.bmm(A, B)
torch.mm(A, A)
torch.mm(A[0], B)
A @ B[:, 0]
torch.matmul(A, A)
A @ torch.ones(2)
torch.dot(A[0], A[1])
torch.dot(A, B)
torch.dot(A[0], B[0])
torch.matmul(torch.ones(10, 2, 3), torch.ones(3, 4)).shape
torch.matmul(torch.ones(10, 1, 2, 3), torch.ones(5, 3, 4)).shape
torch.matmul(torch.ones(2, 2, 3), torch.ones(3, 3, 4))
torch.outer(A[0], A[1])
A * B
A.mv(torch.ones(3))
torch.addmm(torch.ones(2, 4), A, B)
torch.baddbmm(torch.ones(1, 2, 4), A[None], B[None])
torch.matmul(torch.tensor(1.), A)
torch.trace(torch.eye(3))
