"""Division, floor and remainder of signed integers."""
import torch

a = torch.tensor([7, -7, 7, -7])
b = torch.tensor([2, 2, -2, -2])
a / b, a // b, a % b, torch.fmod(a, b), torch.remainder(a, b)
torch.div(a, b, rounding_mode="trunc"), torch.div(a, b, rounding_mode="floor"), torch.div(a.float(), b, rounding_mode="floor")
torch.div(a, b, rounding_mode="foo")
torch.floor_divide(a, 2), torch.true_divide(a, b), 7 // b, 7 % b, 7 / b
a // 0
a % 0
torch.fmod(a, 0)
a / 0
a.float() // 0, a.float() % 0, torch.tensor(0.) / 0
torch.div(a, 0, rounding_mode="floor")
torch.tensor([5.5, -5.5]) % 2, torch.tensor([5.5, -5.5]) // 2, torch.tensor([5.5, -5.5]).fmod(2), -3 % torch.tensor([2.5])
torch.tensor([5], dtype=torch.uint8) // torch.tensor([2], dtype=torch.int8)
a // 2.5, torch.tensor(True) // torch.tensor(True)
torch.tensor(-128, dtype=torch.int8) // -1, torch.tensor([-128], dtype=torch.int8).abs(), -torch.tensor([-128], dtype=torch.int8)
torch.tensor([100], dtype=torch.int8) + 100, torch.tensor([2**62]) * 4, torch.tensor([200], dtype=torch.uint8) + torch.tensor([100], dtype=torch.uint8)
