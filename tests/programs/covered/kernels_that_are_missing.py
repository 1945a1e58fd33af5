"""What PyTorch has no kernel for, and a write into an expanded view made without grad."""
import torch

for dtype in (torch.bool, torch.float32, torch.float16, torch.int32):
    for shape in ((2,), (2, 2), (0,)):
        try:
            print(dtype, shape, torch.ones(shape, dtype=dtype).bincount())
        except (RuntimeError, NotImplementedError) as error:
            print(dtype, shape, type(error).__name__, error)
for dtype in (torch.bool, torch.uint16, torch.float16):
    try:
        print(torch.ones(2, 2, dtype=dtype).trace())
    except NotImplementedError as error:
        print(error)
x = torch.ones(2, 3, requires_grad=True)
with torch.no_grad():
    wide = torch.arange(3).expand(2, 3)
wide.copy_(x)
torch.ones(2).index_put([1], torch.ones(1))
torch.ones(2).index_put((torch.tensor([0]),), torch.ones(1))
