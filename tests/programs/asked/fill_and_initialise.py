"""Fill and initialise."""
import torch
torch.empty(2).fill_(3)
torch.zeros(2, 2).fill_diagonal_(1)
torch.zeros(3).index_fill_(0, torch.tensor([0, 2]), 5)
torch.eye(2, 3)
torch.zeros(2).new_tensor([1, 2])
torch.full((2, 2), 7), torch.full((2,), True)
torch.zeros(2, 2).copy_(torch.tensor([1., 2.]))
torch.tensor([1, 2]).fill_(2.7)
torch.tensor([1, 2]).zero_()
torch.arange(3).repeat(2, 1), torch.arange(3).repeat_interleave(2)
torch.ones(2, 3).tril(), torch.ones(2, 2).triu_(1)
torch.zeros(2).uniform_(0, 1).shape
torch.empty(3, dtype=torch.int64).random_(0, 10).dtype
torch.zeros(2, dtype=torch.int64).normal_()
torch.zeros(2, dtype=torch.int64).uniform_()
torch.ones(2, requires_grad=True).fill_(1)
torch.ones(2, requires_grad=True).data.fill_(3)
torch.zeros(2, 3).new_full((2,), 1)
torch.empty_like(torch.zeros(2, 3)).shape, torch.empty(2, 3).T.stride()
torch.tensor([[1, 2], [3, 4]]).flatten().tolist()
torch.tensor(3.5).expand(2)
torch.scalar_tensor(3), torch.asarray([1, 2])
torch.linspace(0, 1, 3, requires_grad=True)
torch.zeros(2, device="cpu"), torch.zeros(2, device="meta") if False else 0
torch.zeros(2, device="tpu")
torch.device("cuda"), torch.device("cuda:1"), torch.device("cpu").type, torch.device("cuda", 0).index
torch.device("nope")
torch.device("cuda" if torch.cuda.is_available() else "cpu")
