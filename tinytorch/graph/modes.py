"""Grad mode, inference mode, anomaly mode, and NumPy's floating point errors.

Each mode has a class that works as a context manager; those of grad mode work as decorators, too.
Source: `torch.autograd.grad_mode`, `torch.autograd.anomaly_mode`.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import threading
import traceback
import warnings
from collections.abc import Callable, Generator
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np

from ..base import (
    PACKAGE_FOLDER,
    WAITING_WARNINGS,
    as_absence_error,
    as_torch_error,
    type_name,
    warn_user,
)
from .node_names import name_of_node

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

# torch computes inf and nan without a warning, whatever the user's `np.errstate` is. NumPy keeps
# its handling of floating point errors in a ContextVar, the only one that `np.seterr` sets in an
# empty context. To set this variable takes a fifth of the time of `np.errstate`.
_SILENT_CONTEXT = contextvars.Context()
_SILENT_CONTEXT.run(np.seterr, all="ignore")
_numpy_errors, IGNORED_ERRORS = next(iter(_SILENT_CONTEXT.items()))
get_numpy_errors, set_numpy_errors = _numpy_errors.get, _numpy_errors.set


class ThreadState:
    """The modes of one thread, and what runs in it."""

    __slots__ = (
        "backward_nr",
        "grad_requested",
        "inference",
        "is_recording",
        "node",
        "packing",
        "run_ufunc_silenced",
        "saved_tensor_hooks",
        "saved_tensor_hooks_refusal",
        "user_errstate",
    )

    def __init__(self) -> None:
        self.is_recording = True  # grad mode is on: operations get nodes
        self.inference = False
        # Grad mode as it was set inside of inference mode, where nothing is recorded but
        # `is_grad_enabled()` shows it.
        self.grad_requested = False
        # Active pairs of pack hook and unpack hook, the innermost last.
        self.saved_tensor_hooks: tuple = ()
        # What is raised for such hooks; None if they are allowed.
        self.saved_tensor_hooks_refusal: str | None = None
        self.packing: Any = None  # the SavedTensor whose pack hook runs
        self.node: Any = None  # the node that backward runs
        # The number of the walk that runs, as `torch._C._current_graph_task_id()`.
        self.backward_nr = -1
        # The user's `np.errstate`, while backward ignores floating point errors; else None.
        self.user_errstate: Any = None
        # Calls a ufunc in a context in which NumPy ignores errors, in a quarter of the time of
        # `run_silenced`. Only ufuncs: Python code would not find the user's ContextVars there, by
        # which Jupyter knows the cell that prints, nor would a signal handler.
        self.run_ufunc_silenced = _SILENT_CONTEXT.copy().run


class Modes(threading.local):
    """The modes in effect: `thread` are those of the thread that reads it.

    Reading `thread` is slow, so functions read it once.
    """

    # These two are set on the class: as in torch, anomaly mode is one for all threads.
    anomaly = False
    check_nan = True

    def __init__(self) -> None:
        self.thread = ThreadState()


MODES = Modes()


def run_silenced(kernel: Callable, *args: Any) -> Any:
    """Call a kernel in the caller's context, without NumPy's floating point warnings and errors."""
    errors = get_numpy_errors()
    # An interrupt may come right after `set`. Then `errors` is known and a token of the ContextVar
    # would not be.
    try:
        set_numpy_errors(IGNORED_ERRORS)
        return kernel(*args)
    except MemoryError as error:
        raise as_torch_error(error) from None
    except ValueError as error:
        raise as_absence_error(error) from None
    finally:
        set_numpy_errors(errors)


def call_user(function: Callable, *args: Any) -> Any:
    """Call a user's function as outside of backward.

    It has the user's `np.errstate`, which backward replaces, and warnings in it come at once. What
    it sets by `np.seterr` stays set after backward, as with torch.
    """
    thread, waiting_calls = MODES.thread, WAITING_WARNINGS.calls
    errstate, thread.user_errstate = thread.user_errstate, None
    try:
        WAITING_WARNINGS.calls = None
        if errstate is not None:
            set_numpy_errors(errstate)
        return function(*args)
    finally:
        WAITING_WARNINGS.calls = waiting_calls
        if errstate is not None:
            thread.user_errstate = get_numpy_errors()
            set_numpy_errors(IGNORED_ERRORS)


class ModeSwitch(ContextDecorator):
    """A mode that is in effect inside of a `with` block or of a decorated function."""

    mode: bool

    @overload
    def __new__(cls, orig_func: _Decorated) -> _Decorated: ...  # type: ignore[misc]
    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...
    def __new__(cls, orig_func: Any = None) -> Any:
        """Make the switch, or decorate a function with it.

        `@no_grad` works without parentheses, as in torch.
        """
        # As in torch, whatever it is gets decorated, and no sooner than it is called is it missed.
        return super().__new__(cls) if orig_func is None else cls()(orig_func)

    def clone(self) -> Self:
        """Make another switch to the same mode."""
        return type(self)()

    def _recreate_cm(self) -> Self:
        """Make the switch for one call of a decorated function."""
        return self.clone()

    def __call__(self, function: _Decorated) -> _Decorated:
        """Decorate a function, inside of which the mode is in effect.

        In a generator it is while that runs, and not in its caller between two values.
        """
        if inspect.isclass(function):
            warn_user(
                "Decorating classes is deprecated and will be disabled in future versions. You "
                "should only decorate functions or methods. To preserve the current behavior of "
                "class decoration, you can directly decorate the `__init__` method and nothing else.",
                FutureWarning,
            )
            return super().__call__(lambda *args, **named: function(*args, **named))  # type: ignore[return-value]
        if inspect.isgeneratorfunction(function):
            return _switch_in_generator(self, function)  # type: ignore[return-value]
        return super().__call__(function)

    def __enter__(self) -> None:
        thread = MODES.thread
        self._outer = thread.is_recording, thread.inference, thread.grad_requested
        self._switch_mode()

    def __exit__(self, *exc: object) -> None:
        thread = MODES.thread
        thread.is_recording, thread.inference, thread.grad_requested = self._outer

    def _switch_mode(self) -> None:
        thread = MODES.thread
        thread.grad_requested = self.mode
        thread.is_recording = self.mode and not thread.inference


def _switch_in_generator(switch: ModeSwitch, function: Callable) -> Callable:
    """Return a generator function with the mode switched each time that its generator runs.

    Source: PyTorch's _contextlib.py.
    """

    @functools.wraps(function)
    def run_generator(*args: Any, **named: Any) -> Generator:
        generator = function(*args, **named)
        resume, request = generator.send, None
        while True:
            try:
                with switch.clone():
                    value = resume(request)
            except StopIteration as end:
                return end.value
            try:
                resume, request = generator.send, (yield value)
            except GeneratorExit:
                with switch.clone():
                    generator.close()
                raise
            except BaseException as error:  # noqa: BLE001 it goes on in the generator
                resume, request = generator.throw, error

    return run_generator


class no_grad(ModeSwitch):
    """Context manager: inside, nothing is recorded and results do not require grad."""

    mode = False

    if not TYPE_CHECKING:  # to which a decorated function would be an argument of this

        def __init__(self) -> None:
            # Refuses `no_grad(None)`, as torch's does; `enable_grad` has none, and takes it.
            pass


class enable_grad(ModeSwitch):
    """Context manager: inside, operations are recorded, even within a `no_grad`."""

    mode = True


class set_grad_enabled(ModeSwitch):
    """Turn recording on or off.

    At once when called, until the block ends when used as a context manager.
    """

    def __new__(cls, *args: Any, **named: Any) -> Self:  # type: ignore[misc]  # noqa: ARG004
        """Make the switch; as in torch, it decorates a function only when it is called."""
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type_name(mode)}"
            )
        self.mode = mode
        super().__enter__()

    def __call__(self, function: _Decorated) -> _Decorated:
        """Decorate a function, inside of which the mode is in effect."""
        self.__exit__()  # calling the class switched the mode, and a decorator must not
        return super().__call__(function)

    def __enter__(self) -> None:
        self._switch_mode()

    def clone(self) -> Self:
        """Make another switch to the same mode."""
        return type(self)(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(ModeSwitch):
    """Like `no_grad`.

    Tensors that are made inside are inference tensors: they have no version and are never in a
    graph.
    """

    @overload  # type: ignore[misc]
    def __new__(cls, mode: _Decorated) -> _Decorated: ...  # type: ignore[misc]
    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    def __new__(cls, mode: Any = True) -> Any:
        """Make the switch, or decorate a function with it."""
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def clone(self) -> Self:
        """Make another switch to the same mode."""
        return type(self)(self.mode)

    def _switch_mode(self) -> None:
        thread = MODES.thread
        thread.inference = self.mode
        thread.is_recording = thread.grad_requested = not self.mode


for _switch in (no_grad, enable_grad, set_grad_enabled, inference_mode):
    _switch.__module__ = "torch.autograd.grad_mode"


def is_grad_enabled() -> bool:
    """Return True if grad mode is on. Within inference mode nothing is recorded even so."""
    thread = MODES.thread
    return thread.grad_requested if thread.inference else thread.is_recording


def is_inference_mode_enabled() -> bool:
    """Return True inside of inference mode."""
    return MODES.thread.inference


# values that leave the graph -------------------------------------------------------------------

GRAPH_EXIT_LISTENERS: list[Callable[[str, list, int, bool], None]] = []
"""Called where an operation makes no node although tensors that it reads require grad: with its
name, these tensors, the number of all that it reads, and whether operations are recorded."""

# anomaly mode ----------------------------------------------------------------------------------

NODE_LISTENERS: list[Callable[[Any], None]] = []
"""Called with each new node: in anomaly mode, and by who looks on. Making a node only checks whether this is empty."""


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode, for all threads. TypeError for what is no bool.

    Source: `torch.set_anomaly_enabled`.
    """
    for position, (name, value) in enumerate((("enabled", enabled), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not "
                f"{type_name(value)}"
            )
    Modes.anomaly, Modes.check_nan = enabled, check_nan
    others = [listener for listener in NODE_LISTENERS if listener is not _note_traceback]
    NODE_LISTENERS[:] = [_note_traceback, *others] if enabled else others


def is_anomaly_enabled() -> bool:
    """Return True in anomaly mode."""
    return MODES.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Return True if anomaly mode also looks for nan in gradients."""
    return MODES.check_nan


class set_detect_anomaly:
    """Switch anomaly mode.

    At once when called, until the block ends when used as a context manager.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.outer = MODES.anomaly, MODES.check_nan
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(*self.outer)


class detect_anomaly(set_detect_anomaly):
    """Context manager: inside, nodes remember where they were made.

    An error in backward comes with a warning that shows the forward call of the node that failed.
    With `check_nan`, a gradient that is nan is an error, too.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.outer, self.check_nan = (MODES.anomaly, MODES.check_nan), check_nan
        warnings.warn(
            (
                "Anomaly Detection has been enabled. This mode will increase the runtime and "
                "should only be enabled for debugging."
            ),
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)


set_detect_anomaly.__module__ = detect_anomaly.__module__ = "torch.autograd.anomaly_mode"


def _note_traceback(node: Any) -> None:
    """Keep on a new node the lines of the user's code that made it."""
    own_frame = f'  File "{PACKAGE_FOLDER}'
    frames = traceback.format_stack()
    node.metadata["traceback_"] = [frame for frame in frames if not frame.startswith(own_frame)]


def check_for_nan(node: Any, gradients: list) -> None:
    """Raise torch's RuntimeError if anomaly mode looks for nan and a node computed one."""
    if not MODES.check_nan:
        return
    computes_all = node._needs_tensors or node._formula_gives_all_inputs
    for i, (gradient, edge) in enumerate(zip(gradients, node._edges, strict=True)):
        if edge is None and not computes_all:
            continue  # PyTorch does not compute what goes nowhere
        array = getattr(gradient, "_data", gradient)  # a tensor only with `create_graph`
        if array is not None and np.isnan(array).any():
            raise RuntimeError(
                f"Function '{name_of_node(node)}' returned nan values in its {i}th output."
            )


def describe_failure(node: Any) -> tuple[str, str]:
    """Return torch's warning about where a node that failed was made.

    The message, and the place in torch's source from which torch gives it.
    """
    frames, line = node.metadata.get("traceback_"), 100
    origin = (
        "No forward pass information available. Enable detect anomaly during forward pass "
        "for more information."
    )
    if frames is not None:
        origin, line = f"Traceback of forward call that caused the error:\n{''.join(frames)}", 122
    place = f"torch/csrc/autograd/python_anomaly_mode.cpp:{line}"
    return f"Error detected in {name_of_node(node)}. {origin}", place
