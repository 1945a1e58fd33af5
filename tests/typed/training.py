"""A user's program, in which type checkers find no error: a net is trained, with hooks, modes, an own operation."""

from collections.abc import Iterator
from typing import Any

import tinytorch as torch
import tinytorch.nn.functional as F
from tinytorch import nn
from tinytorch.autograd import Function
from tinytorch.autograd.function import once_differentiable


class Cube(Function):
    """x cubed, with a gradient of its own."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """Save x and compute."""
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        """Read x back."""
        x: torch.Tensor = ctx.saved_tensors[0]
        return 3 * x * x * grad


class Block(nn.Module):
    """Two layers and a buffer."""

    scale: torch.Tensor

    def __init__(self, width: int, classes: int, *, device: torch.device | None = None) -> None:
        super().__init__()
        self.first = nn.Linear(4, width, device=device)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.act = nn.ReLU()
        self.drop = nn.Dropout(p=0.1)
        self.head = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, classes))
        self.gain = nn.Parameter(torch.ones(width))
        self.register_buffer("scale", torch.full((1,), 0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of classes."""
        x = self.act(self.first(x))
        for layer in self.layers:
            x = x + F.relu(layer(x))
        out: torch.Tensor = self.head(self.drop(x) * self.gain * self.scale)
        return out


def batches(
    x: torch.Tensor, y: torch.Tensor, size: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Parts of the data."""
    for start in range(0, len(x), size):
        yield x[start : start + size], y[start : start + size]


@torch.no_grad()
def accuracy(net: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    """The part that is right."""
    net.eval()
    right: torch.Tensor = net(x).argmax(dim=1) == y
    net.train()
    return right.float().mean().item()


@torch.no_grad
def halve(x: torch.Tensor) -> None:
    """In place."""
    x.mul_(0.5)


@torch.inference_mode()
def predicted(net: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The classes."""
    return F.softmax(net(x), dim=-1).max(dim=-1).indices


torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = torch.randn(32, 4, generator=generator, device=device)
labels = torch.randint(0, 3, (32,))
net = Block(8, 3, device=device).to(device).train()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
adam = torch.optim.Adam([{"params": [net.gain], "lr": 1e-3}])
criterion = nn.CrossEntropyLoss()
seen: list[torch.Size] = []


def note(module: nn.Module, args: tuple[Any, ...], output: torch.Tensor) -> None:
    """Look at what comes out."""
    seen.append(output.shape)


handle = net.first.register_forward_hook(note)
for epoch in range(3):
    for inputs, targets in batches(data, labels, 8):
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets) + 1e-3 * sum((p**2).sum() for p in net.parameters())
        loss.backward()
        with torch.no_grad():
            for name, parameter in net.named_parameters():
                grad = parameter.grad
                if grad is not None and not name.endswith("bias"):
                    grad.clamp_(-1.0, 1.0)
        optimizer.step()
    print(epoch, f"{accuracy(net, data, labels):.2f}")
handle.remove()

state = net.state_dict()
torch.save(state, "/dev/null")
copied = {name: tensor.clone() for name, tensor in state.items()}
print(net.load_state_dict(copied, strict=True))
halve(net.gain)

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True, dtype=torch.float64)
y: torch.Tensor = Cube.apply(x)
y.register_hook(lambda grad: grad * 2)
y.retain_grad()
y.sum().backward(retain_graph=True)
(gx,) = torch.autograd.grad(y.sum(), x, create_graph=True)
view = x.detach().view(-1)
view += 1
view[0] = 3.0
view[view > 2] *= 2
view[None, 1:3, ...].copy_(torch.zeros(2))
x.data.add_(1, alpha=2)
x.grad = None
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
    z = (x.exp() @ x.T).relu()
with torch.set_grad_enabled(False), torch.autograd.set_detect_anomaly(True):
    z = z.reshape(2, 2).permute(1, 0).contiguous()
values, indices = torch.max(x, 0)
parts = torch.split(torch.arange(6).to(torch.float32), 2)
joined = torch.cat(parts, dim=0).unsqueeze(0).expand(2, -1)
chosen = torch.where(joined > 1, joined, torch.zeros_like(joined))
array = chosen.numpy()
back = torch.from_numpy(array)
number = float(x.sum()) + int(labels[0]) + x.sum().item()
rows = [row.tolist() for row in x]
best = max(x.flatten(), key=lambda t: t.item())
same = torch.equal(x, x) and torch.allclose(x, x + 1e-9) and bool((x == x).all())
wide = torch.promote_types(torch.int64, torch.float16)
