"""Reading by index: views for ints and slices, copies for lists, masks and tensors."""
import torch

x = torch.arange(12.).view(3, 4)
for i in (1, slice(1, None), (slice(None), 2), None, Ellipsis, (), (None, Ellipsis, 0)):
    print(x[i].shape, x[i]._is_view())
for i in ([0, 2], torch.tensor([1, 1]), x > 5, ([0, 1], [2, 3]), (slice(None), [0, 3]), True, torch.tensor(2), [True, False, True]):
    print(x[i], x[i]._is_view())
x[:, [0, -1]], x[[0], :, None].shape, x[..., [1]].stride()
x[[[0, 1], [1, 2]]]
x[torch.tensor([0, 1], dtype=torch.uint8)]
x[3]
x[0, 0, 0]
x[1.0]
x["a"]
x[[5]]
x[::-1]
x[[0, 1], [0, 1, 2]]
x[torch.tensor([True, False])]
x[torch.tensor([1.5])]
torch.tensor(1.)[0]
torch.tensor(1.)[:]
