"""Grad mode: whether operations are recorded. Each switch works as a context manager and as a decorator.

Source: `torch.no_grad`, `torch.enable_grad`, `torch.set_grad_enabled`, `torch.inference_mode`.
"""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import type_name


class _Here:
    """What holds in one thread. `run` calls NumPy without its floating point warnings."""

    __slots__ = ("asked", "grad", "inference", "run", "saving")

    def __init__(self) -> None:
        self.grad = True
        self.inference = False
        self.saving: tuple = ()  # the hooks on what is saved that hold, pairs, the innermost last
        self.asked = False  # inside inference mode: whether grad mode was switched on, though nothing is recorded there
        # torch gives inf and nan in silence. A context of its own keeps the user's `np.errstate` as it is and costs a
        # tenth of what `np.errstate` costs.
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


class _Modes(threading.local):
    """`here` is the thread's own; reading it costs several times what reading off it costs."""

    anomaly = False  # this and the next one are set on the class, for all threads
    check_nan = True

    def __init__(self) -> None:
        self.here = _Here()


MODES = _Modes()


class InferenceCounter(list):
    """Stands where other tensors have their version counter: an inference tensor has no version.

    Reading it is what saving a tensor does, so the error is that of saving one; `bump` says what a write says.
    """

    def __getitem__(self, i: Any) -> Any:
        raise RuntimeError("Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.")  # fmt: skip


class DetachedCounter(InferenceCounter):
    """The counter of what `detach()` and `.data` give of an inference tensor outside inference mode: it counts writes.

    Such a tensor cannot be saved either.
    """

    def number(self) -> int:
        """How many writes there were."""
        return len(self)


def bump(t: Any) -> None:
    """Count a write to a tensor. RuntimeError for an inference tensor outside of inference mode.

    torch counts after it has written, so the write has happened by the time the error is raised; so it has here.
    """
    counter = t._counter
    if type(counter) is list:
        counter[0] += 1
    elif type(counter) is DetachedCounter:
        counter.append(1)
    elif not MODES.here.inference:
        raise RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.")  # fmt: skip


class _Switch:
    """A mode that holds inside a `with` block or inside a decorated function."""

    mode: bool  # whether operations are recorded; of inference mode, whether it holds

    def __new__(cls, given: Any = None) -> Any:
        """Make the switch, or decorate a function with it."""
        switch = super().__new__(cls)
        return switch(given) if callable(given) else switch

    def __call__(self, function: Callable) -> Callable:
        """Decorate a function, inside which the mode holds."""

        @functools.wraps(function)
        def decorate_context(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorate_context

    def clone(self) -> _Switch:
        """Another switch to the same mode."""
        other = object.__new__(type(self))
        other.mode = self.mode
        other._before = _now()
        return other

    def __enter__(self) -> None:
        self._before = _now()
        self._turn()

    def __exit__(self, *exc: object) -> None:
        MODES.here.grad, MODES.here.inference, MODES.here.asked = self._before

    def _turn(self) -> None:
        here = MODES.here
        here.asked, here.grad = self.mode, self.mode and not here.inference


def _now() -> tuple[bool, bool, bool]:
    here = MODES.here
    return here.grad, here.inference, here.asked


class no_grad(_Switch):
    """Inside, nothing is recorded and results do not require grad."""

    __module__ = "torch.autograd.grad_mode"
    mode = False


class enable_grad(_Switch):
    """Inside, operations are recorded, even where an outer `no_grad` holds."""

    __module__ = "torch.autograd.grad_mode"
    mode = True


class set_grad_enabled(_Switch):
    """Turn recording on or off: at once when called, until the block ends when used as a context manager."""

    __module__ = "torch.autograd.grad_mode"

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type_name(mode)}")
        self.mode = mode
        super().__enter__()

    def __call__(self, function: Callable) -> Callable:
        """Decorate a function, inside which the mode holds."""
        self.__exit__()  # as a decorator it acts inside the function alone
        return super().__call__(function)

    def __enter__(self) -> None:
        self._turn()

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(_Switch):
    """Like `no_grad`, and tensors made inside are inference tensors: no version counter, never in a graph."""

    __module__ = "torch.autograd.grad_mode"
    mode = True

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def _turn(self) -> None:
        MODES.here.grad, MODES.here.inference, MODES.here.asked = not self.mode, self.mode, not self.mode


def is_grad_enabled() -> bool:
    """Whether grad mode is on: operations are recorded, unless inference mode holds as well."""
    return MODES.here.asked if MODES.here.inference else MODES.here.grad


def is_inference_mode_enabled() -> bool:
    """Whether inference mode holds."""
    return MODES.here.inference
