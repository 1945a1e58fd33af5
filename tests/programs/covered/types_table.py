"""The table of type promotion."""
import torch

D = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64]
for a in D:
    print(str(a)[6:].ljust(8), *[str(torch.promote_types(a, b))[6:].ljust(8) for b in D])

for a in D:
    print(str(a)[6:].ljust(8), *[str((torch.ones(2, dtype=a) * s).dtype)[6:].ljust(8) for s in (True, 2, 2.5, torch.tensor(2), torch.tensor(2.5), torch.tensor(True), torch.tensor(2, dtype=torch.int8), torch.tensor(2.5, dtype=torch.double))])

for a in D:
    print(str(a)[6:].ljust(8), *[str((torch.ones(2, dtype=a) / s).dtype)[6:].ljust(8) for s in (True, 2, 2.5, torch.tensor(2), torch.ones(2, dtype=torch.double))])

torch.result_type(torch.tensor([1]), 2.5), torch.result_type(1, 2.5), torch.result_type(torch.tensor(1, dtype=torch.uint8), torch.tensor([1], dtype=torch.int8))
torch.can_cast(torch.float, torch.int), torch.can_cast(torch.int, torch.float), torch.can_cast(torch.bool, torch.uint8), torch.can_cast(torch.int64, torch.bool)
torch.promote_types(torch.int8, 3)
torch.result_type(torch.tensor([1.]))
