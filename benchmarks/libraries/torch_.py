"""PyTorch, with one thread or with as many as it takes by itself (0)."""

from __future__ import annotations

from typing import Any

import torch

from .torchlike import build


def start(threads: int) -> str:
    """Set the number of threads and say which version runs."""
    if threads:
        torch.set_num_threads(threads)
    return f"PyTorch {torch.__version__}, {torch.get_num_threads()} thread{'s' * (torch.get_num_threads() > 1)}"


def case(name: str) -> Any:
    """The action of a case, or None."""
    return build(torch, name)
