"""The libraries that torch can compute with, so that programs which set their switches run: none of them is used here.

A switch is remembered and changes nothing. Source: `torch.backends`.
"""

from typing import Any

from ..missing import missing
from . import cuda, cudnn, mps


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.backends' has no attribute '{}'", name)


__all__ = ["cuda", "cudnn", "mps"]
