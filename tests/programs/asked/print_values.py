"""Print values."""
import torch
torch.tensor([0.1, 1000.])
torch.tensor([1e-5, 1.])
torch.tensor([1e-5])
torch.tensor([1e10, 1.])
torch.tensor([123456789.])
torch.tensor([1., 2., 1e8])
torch.tensor([float("nan"), float("inf"), -float("inf"), 1.])
torch.tensor([float("nan"), 1.5])
torch.tensor([1., 2., 3.])
torch.tensor([1., 2.5, -3.])
torch.tensor(3.14159265)
torch.tensor(1e-7), torch.tensor(1e7), torch.tensor(123456.)
print(torch.tensor(3.14159265).item())
torch.tensor(0.1).item()
torch.tensor(0.1, dtype=torch.float64).item()
torch.tensor([0.1, 0.2]).tolist()
f"{torch.tensor(3.14159):.2f}"
f"{torch.tensor([3.14159])}"
"{:.3f}".format(torch.tensor(2.))
"%.3f" % torch.tensor(2.)
"%d" % torch.tensor(2)
f"{torch.tensor([1., 2.]):.2f}"
str(torch.tensor([1, 2]))
torch.tensor([True, False])
torch.tensor([1., 2.], dtype=torch.float16)
torch.tensor([-0.0, 0.0])
torch.ones(2, requires_grad=True) * 1e-9
torch.tensor([1e-40])
torch.tensor([1, 1000000000000])
torch.tensor([3], dtype=torch.uint8)
torch.tensor(True)
torch.Size([2, 3])
torch.Size([2, 3]).numel()
torch.ones(2, 3).shape == (2, 3)
torch.float32, torch.device("cpu"), torch.strided
