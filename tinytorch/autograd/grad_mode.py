"""The switches of autograd, as context managers and decorators. Source: `torch.autograd.grad_mode`."""

from __future__ import annotations

import threading
from typing import Any

from ..graph.modes import _Switch, enable_grad, inference_mode, no_grad, set_grad_enabled
from ..naming import type_name
from ..tensor import Tensor


class _Threads(threading.local):
    allowed = True


THREADS = _Threads()


class set_multithreading_enabled(_Switch):
    """Say whether backward may use several threads, at once or inside a `with` block; tinytorch's uses one anyway.

    Source: `torch.autograd.set_multithreading_enabled`.
    """

    __module__ = "torch.autograd.grad_mode"

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_multithreading_enabled(): argument 'enabled' (position 1) must be bool, not " + type_name(mode)
            )
        self.mode, self.prev = mode, THREADS.allowed
        THREADS.allowed = mode

    def clone(self) -> set_multithreading_enabled:
        """Another switch to the same mode."""
        return self.__class__(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        THREADS.allowed = self.prev


def is_multithreading_enabled() -> bool:
    """Whether backward may use several threads."""
    return THREADS.allowed


class _unsafe_preserve_version_counter(_Switch):
    """Inside, writes to these tensors are not counted: afterwards their counters stand where they stood.

    Source: `torch.autograd._unsafe_preserve_version_counter`.
    """

    __module__ = "torch.autograd.grad_mode"

    def __init__(self, tensors: Any) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self.prev_versions = tuple([t._version for t in self.tensors])

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        for tensor, version in zip(self.tensors, self.prev_versions, strict=True):
            tensor._vc.version = version


__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]
