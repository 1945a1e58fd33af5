"""Which engine a program knows as `torch`, and what holds in a program that has just begun."""

from __future__ import annotations

import builtins
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from tinytorch.viz.catalogue import gettext
from tinytorch.viz.read.probe import engine_name


def checked(engine: object) -> ModuleType | None:
    """`engine`, or None for None. Raises TypeError for what is no module with a Tensor."""
    if engine is None or (isinstance(engine, ModuleType) and hasattr(engine, "Tensor")):
        return engine
    given = f"the module {engine.__name__}" if isinstance(engine, ModuleType) else type(engine).__name__
    raise TypeError(f"engine must be a module with a Tensor, such as torch or tinytorch, not {given}")


def named(names: Mapping[str, Any]) -> ModuleType | None:
    """The engine that `names` call `torch`, if they do."""
    torch = names.get("torch")
    return torch if isinstance(torch, ModuleType) and hasattr(torch, "Tensor") else None


def notebook_names() -> dict[str, Any]:
    """The variables of the running notebook; none outside of one."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return {} if shell is None else shell.user_ns


def engine_for(names: Mapping[str, Any], tensor: object = None) -> ModuleType:
    """The engine of a tensor; of code that runs with these names: their `torch`, the notebook's, or else tinytorch."""
    if hasattr(tensor, "untyped_storage"):
        return sys.modules[engine_name(tensor)]
    found = named(names) or named(notebook_names())
    if found is None:
        import tinytorch

        return tinytorch
    return found


def meant(given: object, own: ModuleType | None) -> ModuleType:
    """The engine of a method: the one it is given, the object's own, or that of the code that called the method."""
    return checked(given) or own or engine_for(sys._getframe(2).f_globals)


def tools(engine: ModuleType, *, stepped: bool) -> dict[str, Any]:
    """The builtins of a program: to its `import`, torch is `engine`; and nobody is there to be asked."""
    given = {**vars(builtins), "input": _unanswered if stepped else _unasked, "__import__": _importer(engine)}
    return given | ({"breakpoint": _unstopped} if stepped else {})


def untooled() -> dict[str, Any]:
    """What takes the place of those after the run, for functions that live on: Python's own, as they are by then."""
    return {name: _later(name) for name in ("input", "breakpoint", "__import__", "open")}


def _later(name: str) -> Callable[..., Any]:
    """Python's own `input` and the like, as it is when it is called: a notebook exchanges them for each cell."""

    def call(*args: Any, **named: Any) -> Any:
        return getattr(builtins, name)(*args, **named)

    return call


def _unanswered(_prompt: object = "", /) -> str:
    raise RuntimeError(
        gettext("input() cannot be answered while the code is stepped: write the answer into the code instead")
    )


def _unasked(_prompt: object = "", /) -> str:
    raise RuntimeError(gettext("input() cannot be answered here: write the answer into the code instead"))


def _unstopped(*_: object, **__: object) -> None:
    raise RuntimeError(gettext("breakpoint() cannot stop code that is stepped: every line is a stop already"))


def _importer(engine: ModuleType) -> Callable[..., Any]:
    """An `import` to which `torch` is `engine`, so that the same program runs under both."""

    def import_(name: str, *rest: Any, **named: Any) -> Any:
        relative = named.get("level", rest[3] if len(rest) > 3 else 0)
        if name.partition(".")[0] == "torch" and not relative and engine.__name__ != "torch":
            name = engine.__name__ + name[len("torch") :]
            if name == engine.__name__:
                return engine
        return builtins.__import__(name, *rest, **named)

    return import_


@contextmanager
def fresh(engine: ModuleType) -> Iterator[None]:
    """A context like that of a program that has just begun; afterwards all is as it was.

    Gradients are recorded, floats are float32, and warnings are not shown, whatever holds around it.
    """
    default: Any = engine.get_default_dtype()
    with warnings.catch_warnings(), engine.inference_mode(False), engine.enable_grad():
        warnings.simplefilter("ignore")
        if default is not engine.float32:
            engine.set_default_dtype(engine.float32)
        try:
            yield
        finally:
            if engine.get_default_dtype() is not default:
                engine.set_default_dtype(default)


@contextmanager
def apart(engine: ModuleType) -> Iterator[None]:
    """The same, and random numbers begin as after `torch.manual_seed(0)`: what is done here can be repeated."""
    drawn, numbers, own = engine.get_rng_state(), np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002
    with fresh(engine):
        engine.set_rng_state(_beginning(engine))
        try:
            yield
        finally:
            engine.set_rng_state(drawn)
            np.random.set_state(numbers)  # noqa: NPY002  # the global state it is
            random.setstate(own)


@lru_cache(maxsize=4)
def _beginning(engine: ModuleType) -> Any:
    return engine.Generator().manual_seed(0).get_state()
