"""Expressions, and what type checkers say of each in the comment behind it; of PyTorch's they say the same.

Where PyTorch's class has another name, or its type is wider, that one is in the brackets.
"""

import tinytorch as torch
import tinytorch.nn.functional as F
from tinytorch import nn

x = torch.ones(2, 3, requires_grad=True)
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
linear = nn.Linear(3, 1)
reveal_type(torch.ones(2))  # Tensor
reveal_type(torch.tensor([1, 2]))  # Tensor
reveal_type(torch.arange(3))  # Tensor
reveal_type(torch.zeros((2, 3), dtype=torch.int64))  # Tensor
reveal_type(torch.Tensor(2, 3))  # Tensor
reveal_type(x * 2)  # Tensor
reveal_type(2 * x)  # Tensor
reveal_type(1 - x)  # Tensor
reveal_type(1 / x)  # Tensor
reveal_type(2**x)  # Tensor
reveal_type(-x)  # Tensor
reveal_type(x @ x.T)  # Tensor
reveal_type(x == 2)  # Tensor
reveal_type(x != x)  # Tensor
reveal_type(x > 1)  # Tensor
reveal_type((x > 1) & (x < 2))  # Tensor
reveal_type(~(x > 1))  # Tensor
reveal_type(x[0])  # Tensor
reveal_type(x[0, 1:, None])  # Tensor
reveal_type(x[[0, 1]])  # Tensor
reveal_type(x[x > 0])  # Tensor
reveal_type(x.clone())  # Tensor
reveal_type(x.detach())  # Tensor
reveal_type(x.data)  # Tensor
reveal_type(x.view(-1))  # Tensor
reveal_type(x.view(3, 2))  # Tensor
reveal_type(x.reshape((3, 2)))  # Tensor
reveal_type(x.sum())  # Tensor
reveal_type(x.sum(0, keepdim=True))  # Tensor
reveal_type(x.add_(1))  # Tensor
reveal_type(x.requires_grad_())  # Tensor
reveal_type(x.to(torch.float64))  # Tensor
reveal_type(x.to("cpu"))  # Tensor
reveal_type(x.float())  # Tensor
reveal_type(x.grad)  # Tensor | None
reveal_type(x.grad_fn)  # Node | None
reveal_type(x.shape)  # Size
reveal_type(x.shape[0])  # int
reveal_type(x.shape[1:])  # Size
reveal_type(x.size())  # Size
reveal_type(x.size(0))  # int
reveal_type(x.stride())  # tuple[int, ...]
reveal_type(x.stride(0))  # int
reveal_type(x.dim())  # int
reveal_type(x.ndim)  # int
reveal_type(x.numel())  # int
reveal_type(x.is_leaf)  # bool
reveal_type(x.requires_grad)  # bool
reveal_type(x.is_contiguous())  # bool
reveal_type(x.is_floating_point())  # bool
reveal_type(x.data_ptr())  # int
reveal_type(x.storage_offset())  # int (PyTorch: int | SymInt)
reveal_type(x.untyped_storage())  # UntypedStorage
reveal_type(x.untyped_storage().data_ptr())  # int
reveal_type(x._version)  # int
reveal_type(x.dtype)  # dtype
reveal_type(x.dtype.itemsize)  # int
reveal_type(x.device)  # device
reveal_type(x.device.type)  # str
reveal_type(x.item())  # int | float
reveal_type(float(x.sum()))  # float
reveal_type(len(x))  # int
reveal_type(x.max())  # Tensor
reveal_type(x.max(1).values)  # Tensor
reveal_type(torch.max(x, 1).indices)  # Tensor
reveal_type(torch.stack([x, x]))  # Tensor
reveal_type(x.unbind())  # tuple[Tensor, ...]
reveal_type(x.chunk(2))  # tuple[Tensor, ...]
reveal_type(torch.equal(x, x))  # bool
reveal_type(torch.is_grad_enabled())  # bool
reveal_type(torch.result_type(x, 1))  # dtype
reveal_type(torch.float32)  # dtype
reveal_type(torch.strided)  # Layout (PyTorch: layout)
reveal_type(torch.contiguous_format)  # MemoryFormat (PyTorch: memory_format)
reveal_type(torch.inf)  # float
reveal_type(torch.device("cpu"))  # device
reveal_type(torch.Size([2, 3]))  # Size
reveal_type(torch.Size([2, 3]).numel())  # int
reveal_type(torch.manual_seed(0))  # Generator
reveal_type(torch.get_rng_state())  # Tensor
reveal_type(torch.autograd.grad(x.sum(), x))  # tuple[Tensor, ...]
reveal_type(x.register_hook(print).remove())  # None (PyTorch: Any)
reveal_type(F.relu(x))  # Tensor
reveal_type(F.softmax(x, dim=0))  # Tensor
reveal_type(F.linear(x, x))  # Tensor
reveal_type(F.cross_entropy(x, x))  # Tensor
reveal_type(nn.init.zeros_(x))  # Tensor
reveal_type(nn.Parameter(x))  # Parameter
reveal_type(nn.Parameter(x).grad)  # Tensor | None
reveal_type(linear.weight)  # Tensor
reveal_type(linear.in_features)  # int
reveal_type(nn.Dropout().p)  # float
reveal_type(net.train())  # Sequential
reveal_type(net.to(torch.float64))  # Sequential
reveal_type(list(net.parameters()))  # list[Parameter]
reveal_type(dict(net.named_parameters()))  # dict[str, Parameter]
reveal_type(net.state_dict())  # dict[str, Any]
reveal_type(net.training)  # bool
reveal_type(torch.optim.SGD(net.parameters(), lr=0.1).param_groups)  # list[dict[str, Any]]
with torch.no_grad() as nothing:
    reveal_type(nothing)  # None
