import torch
i = torch.tensor([1, 2, 3])
u = torch.tensor([250, 3, 7], dtype=torch.uint8)
b = torch.tensor([True, False, True])
h = torch.tensor([1., 2.], dtype=torch.float16)
i + 1.5
i * torch.tensor(2.5)
u + 10
u + 300
u * i
b + 1
b + b
b / b
h + 1
h + torch.tensor([1., 2.])
h * torch.tensor([1, 2])
i / 2
i // 2
-i // 2
i % -2
torch.result_type(i, 1.5)
torch.promote_types(torch.uint8, torch.int8)
torch.can_cast(torch.float32, torch.int64)
i += 0.5
i.add_(torch.tensor([1.5, 1.5, 1.5]))
b - b
b - 1
-b
i // 0
i << 2
~b
u & 6
2 ** i
i ** -1
i + 2 ** 70
