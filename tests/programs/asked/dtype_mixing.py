"""Dtype mixing."""
import torch
torch.tensor([1, 2]) + torch.tensor([0.5, 1.5])
torch.tensor([1, 2]) * 1.5
torch.tensor([1, 2], dtype=torch.int8) + 1
torch.tensor([1.5], dtype=torch.float64) + torch.tensor([1.5])
torch.tensor([1.], dtype=torch.float16) * 2.5
torch.tensor([True]) + 1
torch.tensor([True]) + torch.tensor([True])
torch.tensor(1.5, dtype=torch.float64) + torch.ones(2)
torch.ones(2, dtype=torch.int32) + torch.ones(2, dtype=torch.int64)
torch.tensor([1, 2]) / 2
torch.tensor([1, 2]).mean()
torch.tensor([1, 2]).float().mean()
a = torch.tensor([1, 2])
a += 0.5
a *= 2
a /= 2
a.add_(torch.tensor([0.5, 0.5]))
a
torch.mm(torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64))
torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.int64)
torch.cat([torch.ones(1), torch.ones(1, dtype=torch.float64)])
torch.cat([torch.tensor([1]), torch.tensor([1.5])])
torch.result_type(torch.tensor([1]), 1.0)
torch.can_cast(torch.double, torch.float), torch.promote_types(torch.int32, torch.float16)
-torch.tensor([True])
torch.tensor([True]) - torch.tensor([True])
~torch.tensor([True, False]), ~torch.tensor([1, 2])
torch.tensor([1.7, -1.7]).int()
torch.tensor(3.7).to(torch.long)
torch.tensor([300]).to(torch.uint8)
torch.tensor([1., 2.]).type(torch.LongTensor)
torch.tensor([1, 2]).type()
torch.get_default_dtype()
torch.tensor([1, 2]).sqrt()
torch.tensor([2 ** 31])
torch.tensor([1e40])
torch.uint8 == torch.tensor([1], dtype=torch.uint8).dtype
