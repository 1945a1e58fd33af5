"""Modes: whether operations are recorded, whether tensors have versions, whether nodes remember where they were made.

Each switch works as a context manager, those of grad mode as decorators, too. Source: `torch.autograd.grad_mode`,
`torch.autograd.anomaly_mode`.
"""

from __future__ import annotations

import contextvars
import threading
import warnings
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any, Self, TypeVar, overload

import numpy as np

from ..base import HERE, type_name

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

# torch gives inf and nan in silence, whatever the user's `np.errstate`. What NumPy does about
# floating point errors it has in a ContextVar, the only one that `np.seterr` sets in an empty
# context. Setting it costs a fifth of what `np.errstate` costs.
_SILENT = contextvars.Context()
_SILENT.run(np.seterr, all="ignore")
_errors, IGNORED = next(iter(_SILENT.items()))
get_errors, set_errors = _errors.get, _errors.set


class _Here:
    """What holds in one thread."""

    __slots__ = ("asked", "errors", "grad", "inference", "node", "packing", "run_ufunc", "saving")

    def __init__(self) -> None:
        self.grad = True
        self.inference = False
        self.saving: tuple = ()  # the hooks on what is saved that hold, pairs, the innermost last
        self.packing: Any = None  # the saved tensor whose pack hook runs
        self.node: Any = None  # the node that backward has come to
        self.asked = False  # inside inference mode: whether grad mode was switched on, though nothing is recorded there
        # While backward silences NumPy: what the user had it do about floating point errors.
        self.errors: Any = None
        # Calls a ufunc in a context in which NumPy is silent, at a quarter of the cost of
        # `run_silenced`. Python code would not find the user's ContextVars there, by which
        # Jupyter knows the cell that prints; nor would a signal handler.
        self.run_ufunc = _SILENT.copy().run


class _Modes(threading.local):
    """`here` is the thread's own; reading it costs several times what reading off it costs."""

    anomaly = False  # this and the next one are set on the class, for all threads
    check_nan = True

    def __init__(self) -> None:
        self.here = _Here()


MODES = _Modes()


def run_silenced(kernel: Callable, *args: Any) -> Any:
    """Call a kernel in the caller's context, without NumPy's floating point warnings and errors."""
    errors = get_errors()
    try:  # An interrupt may come as soon as NumPy is silent; with a token it could not be undone.
        set_errors(IGNORED)
        return kernel(*args)
    finally:
        set_errors(errors)


def call_user(function: Callable, *args: Any) -> Any:
    """Call a function of the user's with the user's `np.errstate`, though backward silences NumPy.

    What the function sets by `np.seterr` holds after backward, as on torch.
    """
    here = MODES.here
    errors, here.errors = here.errors, None
    if errors is None:
        return function(*args)
    try:
        set_errors(errors)
        return function(*args)
    finally:
        here.errors = get_errors()
        set_errors(IGNORED)


class _Switch(ContextDecorator):
    """A mode that holds inside a `with` block or inside a decorated function."""

    mode: bool  # whether operations are recorded; of inference mode, whether it holds

    @overload
    def __new__(cls, given: _Decorated) -> _Decorated: ...  # type: ignore[misc]
    @overload
    def __new__(cls, given: bool | None = None) -> Self: ...
    def __new__(cls, given: Any = None) -> Any:
        """Make the switch, or decorate a function with it."""
        switch = super().__new__(cls)
        return switch(given) if callable(given) else switch

    def clone(self) -> Self:
        """Another switch to the same mode."""
        return type(self)(self.mode)

    _recreate_cm = clone  # which a decorated function calls

    def __enter__(self) -> None:
        here = MODES.here
        self._before = here.grad, here.inference, here.asked
        self._turn()

    def __exit__(self, *exc: object) -> None:
        MODES.here.grad, MODES.here.inference, MODES.here.asked = self._before

    def _turn(self) -> None:
        here = MODES.here
        here.asked, here.grad = self.mode, self.mode and not here.inference


class no_grad(_Switch):
    """Inside, nothing is recorded and results do not require grad."""

    mode = False


class enable_grad(_Switch):
    """Inside, operations are recorded, even where an outer `no_grad` holds."""

    mode = True


class set_grad_enabled(_Switch):
    """Turn recording on or off: at once when called, until the block ends when used as a context manager."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type_name(mode)}"
            )
        self.mode = mode
        super().__enter__()

    def __call__(self, function: _Decorated) -> _Decorated:
        """Decorate a function, inside which the mode holds."""
        self.__exit__()  # as a decorator it acts inside the function alone
        return super().__call__(function)

    def __enter__(self) -> None:
        self._turn()

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(_Switch):
    """Like `no_grad`, and tensors made inside are inference tensors: no version counter, never in a graph."""

    mode = True

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def _turn(self) -> None:
        MODES.here.grad, MODES.here.inference, MODES.here.asked = (
            not self.mode,
            self.mode,
            not self.mode,
        )


for _switch in (no_grad, enable_grad, set_grad_enabled, inference_mode):
    _switch.__module__ = "torch.autograd.grad_mode"


def is_grad_enabled() -> bool:
    """Whether grad mode is on: operations are recorded, unless inference mode holds as well."""
    return MODES.here.asked if MODES.here.inference else MODES.here.grad


def is_inference_mode_enabled() -> bool:
    """Whether inference mode holds."""
    return MODES.here.inference


# anomaly mode: nodes remember where they were made, and backward says where what failed was made ------------------------

# what anomaly mode has called with each new node; mostly empty, which is all that making one asks
MADE: list[Callable[[Any], None]] = []


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode, for all threads. Source: `torch.set_anomaly_enabled`."""
    type(MODES).anomaly, type(MODES).check_nan = enabled, check_nan
    MADE[:] = [_remember] if enabled else []


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode holds."""
    return MODES.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode also looks for nan in gradients."""
    return MODES.check_nan


class set_detect_anomaly:
    """Switch anomaly mode: at once when called, until the block ends when used as a context manager."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = MODES.anomaly, MODES.check_nan
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(*self.before)


class detect_anomaly(set_detect_anomaly):
    """Inside, backward says where what failed was made, and raises if a gradient is nan (with `check_nan`)."""

    def __init__(self, check_nan: bool = True) -> None:
        self.before, self.check_nan = (MODES.anomaly, MODES.check_nan), check_nan
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.", stacklevel=2)  # fmt: skip

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)


set_detect_anomaly.__module__ = detect_anomaly.__module__ = "torch.autograd.anomaly_mode"


def _remember(node: Any) -> None:
    """Note on a new node where the user made it."""
    import traceback

    ours = f'  File "{HERE}'
    node.metadata["traceback_"] = [
        frame for frame in traceback.format_stack() if not frame.startswith(ours)
    ]


def check_gradients(node: Any, outputs: list) -> None:
    """Raise torch's RuntimeError if anomaly mode looks for nan, and finds one in what a node computed."""
    for i, grad in enumerate(outputs if MODES.check_nan else ()):
        array = getattr(grad, "_data", grad)  # results are tensors only where they are recorded
        if array is not None and np.isnan(array).any():
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def explain(node: Any, say: list) -> None:
    """Add to `say`, pairs of a warning and its place, where the node that failed was made."""
    stack, line = node.metadata.get("traceback_"), 100
    known = "No forward pass information available. Enable detect anomaly during forward pass for more information."
    if stack is not None:
        known, line = f"Traceback of forward call that caused the error:\n{''.join(stack)}", 122
    say.append(
        (
            f"Error detected in {node.name()}. {known}",
            f"torch/csrc/autograd/python_anomaly_mode.cpp:{line}",
        )
    )
