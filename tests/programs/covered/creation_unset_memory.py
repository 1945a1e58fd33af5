# Where determinism is asked for, memory that nobody wrote to shows: nan, true, or the largest number.
import torch
torch.empty(2)._version
torch.use_deterministic_algorithms(True)
torch.empty(2), torch.empty(2, dtype=torch.int32), torch.empty(2, dtype=torch.bool)
torch.empty_like(torch.ones(2, dtype=torch.float16)), torch.ones(1).new_empty(2), torch.empty_strided((2, 2), (1, 2))
torch.Tensor(2), torch.FloatTensor(2), torch.empty(2, out=torch.ones(2))
torch.ones(1).resize_(3), torch.ones(2).resize_as_(torch.ones(3))
torch.ones(4)[:2].resize_(3), torch.ones(4).resize_(2).resize_(4)
torch.empty(2)._version, torch.ones(1).resize_(3)._version
torch.zeros(2), torch.zeros_like(torch.ones(2)), torch.full_like(torch.ones(2), 3), torch.ones(2).clone()
torch.add(torch.ones(3), 1, out=torch.empty(0))
torch.use_deterministic_algorithms(False)

# a gradient counts each place once, however often the index names it
v = torch.tensor(5., requires_grad=True)
torch.ones(2, 3).index_fill(1, torch.tensor([2, 0, 2]), v).sum().backward()
v.grad
torch.div(torch.tensor([7.8242], dtype=torch.float16), torch.tensor([0.0563], dtype=torch.float16), rounding_mode="trunc")

# only one half of the matrix counts, yet its gradient is symmetric
A = torch.tensor([[2., 5.], [1., 3.]], requires_grad=True)
values, vectors = torch.linalg.eigh(A)
(values * torch.tensor([1., 2.])).sum().backward()
A.grad
torch.linalg.eigh(A, "U")[1].abs().sum().backward()
torch.equal(A.grad, A.grad.T)
