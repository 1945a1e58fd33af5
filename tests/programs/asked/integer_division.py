"""Integer division."""
import torch
a = torch.tensor([5, -5, 7])
a / 2
a // 2
torch.div(a, 2, rounding_mode="floor")
torch.div(a, 2, rounding_mode="trunc")
torch.floor_divide(a, 2)
a % 3
torch.remainder(a, -3), torch.fmod(a, -3)
a / 0
a // 0
a % 0
torch.tensor([5., -5.]) // 2
torch.tensor([5., -5.]) // 0
torch.tensor([5., -5., 0.]) / 0
2 / torch.tensor([1, 2, 4])
2 ** torch.tensor([1, 2, 3])
torch.tensor([2, 3]) ** 2
torch.tensor([2, 3]) ** -1
torch.tensor([2, 3]) ** 0.5
divmod(7, 2)
torch.true_divide(torch.tensor([1, 2]), 2)
torch.div(a, 2, rounding_mode="up")
a.div_(2)
a.floor_divide_(2)
a
