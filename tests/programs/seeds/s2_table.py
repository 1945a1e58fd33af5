"""The table of the copy methods: requires_grad, leaf, node, same memory, who sees a write."""
import warnings
import torch

warnings.simplefilter("ignore")
methods = {
    "z": lambda z: z,
    "empty_like(z).copy_(z)": lambda z: torch.empty_like(z).copy_(z),
    "z.data": lambda z: z.data,
    "z.detach()": lambda z: z.detach(),
    "z.clone()": lambda z: z.clone(),
    "z.clone().detach()": lambda z: z.clone().detach(),
    "z.detach().clone()": lambda z: z.detach().clone(),
    "torch.tensor(z)": lambda z: torch.tensor(z),
    "z.new_tensor(z)": lambda z: z.new_tensor(z),
}
for name, copy in methods.items():
    x = torch.tensor([1.], requires_grad=True)
    y = torch.tensor([1.], requires_grad=True)
    z = x + y
    c = copy(z)
    node = c.grad_fn.name() if c.grad_fn else None
    shared = c.data_ptr() == z.data_ptr()
    with torch.no_grad():
        c.fill_(9.0)
    print(f"{name:24}{c.requires_grad!s:7}{c.is_leaf!s:7}{node!s:32}{shared!s:7}{z.tolist()} {z._version}")
