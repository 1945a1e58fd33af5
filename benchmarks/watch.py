"""Time training steps under `copylab.watch()` beside the same steps without it, and hold them to their levels.

    python benchmarks/watch.py

Prints, for each model, a step of PyTorch's with Adam, a step under the watch and the ratio: the least processor time of
some rounds, in which both take turns. Fails where one is above its level. Needs PyTorch, and a machine that does
nothing else.
"""

import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import copylab
import torch
from torch import nn

ROUNDS = 12


class Block(nn.Module):
    """Two convolutions with batch norm, and a ReLU in place."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        made = [
            (nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels))
            for _ in range(2)
        ]
        (self.first, self.norm), (self.second, self.other) = made
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Any) -> Any:
        """Add what they make of x to it."""
        return self.relu(x + self.other(self.second(self.relu(self.norm(self.first(x))))))


def mlp() -> tuple[nn.Module, Any]:
    """Return a small MLP, where all is overhead."""
    return nn.Sequential(
        nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)
    ), torch.randn(32, 16)


def narrow(layers: int, width: int) -> tuple[nn.Module, Any]:
    """Return linear layers of one width, with ReLUs between them."""
    both = [layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*both[:-1]), torch.randn(64, width)


def convolutions() -> tuple[nn.Module, Any]:
    """Return 60 blocks of a convolution, batch norm and a ReLU, for small pictures."""
    blocks = []
    for _ in range(60):
        blocks += [nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()]
    return nn.Sequential(
        *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4)
    ), torch.randn(4, 16, 16, 16)


def transformer() -> tuple[nn.Module, Any]:
    """Return 12 layers of a transformer."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    return nn.Sequential(encoder, nn.Flatten(), nn.Linear(16 * 64, 4)), torch.randn(8, 16, 64)


def deep() -> tuple[nn.Module, Any]:
    """Return 60 small linear layers."""
    layers = [layer for _ in range(60) for layer in (nn.Linear(64, 64), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(64, 4)), torch.randn(32, 64)


def resnet() -> tuple[nn.Module, Any]:
    """Return a ResNet of 62 layers for small pictures."""
    blocks = [Block(16) for _ in range(30)]
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4)
    )
    return net, torch.randn(8, 3, 32, 32)


def step(net: nn.Module, x: Any) -> Callable[[], None]:
    """Return a training step with Adam."""
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    y = torch.randint(0, 4, (len(x),))

    def train() -> None:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()

    return train


def timed(train: Callable[[], None], context: Any, repeats: int) -> float:
    """Return seconds of processor time for one step."""
    with context:
        train()
        start = time.process_time()
        for _ in range(repeats):
            train()
        return (time.process_time() - start) / repeats


def main() -> int:
    """Time the models."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    above = 0
    for name, (net, x), repeats, level in (
        ("MLP", mlp(), 50, 3),
        ("4 small layers", narrow(4, 32), 50, 2.5),
        ("12 layers", narrow(12, 256), 10, 1.8),
        ("60 layers", deep(), 5, 2.5),
        ("transformer", transformer(), 2, 2.5),
        ("60 conv blocks", convolutions(), 2, 2.3),
        ("ResNet-62", resnet(), 1, 2),
    ):
        train = step(net, x)
        rounds = [
            (timed(train, nullcontext(), repeats), timed(train, copylab.watch(), repeats))
            for _ in range(ROUNDS)
        ]
        alone, watched = (min(times) * 1000 for times in zip(*rounds, strict=True))
        above += watched / alone > level
        print(
            f"{name:14} {alone:8.2f} ms alone, {watched:8.2f} ms watched: {watched / alone:.2f} times (level {level})"
        )
    return int(above > 0)


if __name__ == "__main__":
    sys.exit(main())
