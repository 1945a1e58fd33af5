"""What torch keeps in `torch.utils`, as far as it belongs to copying and training on the CPU."""

from typing import Any

from ..missing import missing
from . import data, dlpack


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.utils' has no attribute '{}'", name)


__all__ = ["data", "dlpack"]
