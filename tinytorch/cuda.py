"""The simulated second device as `torch.cuda`: nothing here runs on a GPU.

`.cuda()` and `device="cuda"` always work; `is_available()` says False, as PyTorch does where there
is no GPU, so that a program which chooses its device by it runs alike on both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import make_module_getattr


def is_available() -> bool:
    """Return False: there is no GPU."""
    return False


def device_count() -> int:
    """Return 0, the number of GPUs."""
    return 0


if not TYPE_CHECKING:  # type checkers say so themselves
    __getattr__ = make_module_getattr("torch.cuda")
__all__ = ["device_count", "is_available"]
