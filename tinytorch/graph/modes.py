"""Grad mode: whether operations are recorded. Each switch works as a context manager and as a decorator.

Source: `torch.no_grad`, `torch.enable_grad`, `torch.set_grad_enabled`, `torch.inference_mode`.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any


class _Modes(threading.local):
    grad = True
    inference = False
    anomaly = False
    check_nan = True


MODES = _Modes()


class _Switch:
    """A mode that holds inside a `with` block or inside a decorated function (generators included)."""

    def __call__(self, function: Callable) -> Callable:
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generator(*args: Any, **kwargs: Any):
                with self._again():
                    running = function(*args, **kwargs)
                    try:
                        sent = None
                        while True:
                            value = running.send(sent)
                            with _restored(self):
                                sent = yield value
                    except StopIteration as stop:
                        return stop.value

            return generator

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return wrapper

    def _again(self) -> _Switch:
        return self.__class__()

    def __enter__(self) -> None:
        self._before = (MODES.grad, MODES.inference)
        self._set()

    def __exit__(self, *exc: object) -> None:
        MODES.grad, MODES.inference = self._before

    def _set(self) -> None:
        raise NotImplementedError


class _restored:
    """The modes from outside a switch, for the time a decorated generator is suspended."""

    def __init__(self, switch: _Switch) -> None:
        self.switch = switch

    def __enter__(self) -> None:
        self.inner = (MODES.grad, MODES.inference)
        MODES.grad, MODES.inference = getattr(self.switch, "_before", (True, False))

    def __exit__(self, *exc: object) -> None:
        MODES.grad, MODES.inference = self.inner


class no_grad(_Switch):
    """Inside, nothing is recorded and results do not require grad."""

    def __new__(cls, function: Callable | None = None) -> Any:
        switch = super().__new__(cls)
        return switch if function is None else switch(function)

    def _set(self) -> None:
        MODES.grad = False


class enable_grad(_Switch):
    """Inside, operations are recorded, even where an outer `no_grad` holds."""

    def __new__(cls, function: Callable | None = None) -> Any:
        switch = super().__new__(cls)
        return switch if function is None else switch(function)

    def _set(self) -> None:
        MODES.grad = True


class set_grad_enabled(_Switch):
    """Turn recording on or off: at once when called, until the block ends when used as a context manager."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._before = (MODES.grad, MODES.inference)
        MODES.grad = self.mode

    def __call__(self, function: Callable) -> Callable:
        MODES.grad = self._before[0]  # as a decorator it acts inside the function alone
        return super().__call__(function)

    def _again(self) -> _Switch:
        switch = object.__new__(set_grad_enabled)
        switch.mode = self.mode
        return switch

    def __enter__(self) -> None:
        if not hasattr(self, "_before"):
            self._before = (MODES.grad, MODES.inference)
        MODES.grad = self.mode

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self.mode})"


class inference_mode(_Switch):
    """Like `no_grad`, and tensors made inside are inference tensors: no version counter, never in a graph."""

    def __new__(cls, mode: bool | Callable = True) -> Any:
        switch = super().__new__(cls)
        if callable(mode):
            switch.mode = True
            return switch(mode)
        return switch

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def _again(self) -> _Switch:
        return inference_mode(self.mode)

    def _set(self) -> None:
        MODES.inference = self.mode
        MODES.grad = not self.mode


def is_grad_enabled() -> bool:
    """Whether operations are being recorded."""
    return MODES.grad


def is_inference_mode_enabled() -> bool:
    """Whether inference mode holds."""
    return MODES.inference
