"""Run a few lines with one engine or the other as their `torch`, in a namespace of their own.

The lines are the project's own or a user's copy method: there is no time limit here, that is what `trace` is for.
"""

from __future__ import annotations

import builtins
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from .trace import _importer


def execute(code: str | Sequence[str], engine: ModuleType, say: Callable[..., None] | None = None) -> Mapping[str, Any]:
    """Run `code` and return its names. `engine` is its `torch`, whether it is imported or not; `say` its `print`.

    A program may come in parts: each is compiled once, however many programs it is a part of.
    It runs as in a fresh program: gradients are recorded, floats are float32, warnings are not shown, whatever holds
    around the call. Raises what the code raises.
    """
    names: dict[str, Any] = {"__name__": "__main__", "torch": engine}
    names["__builtins__"] = {**vars(builtins), "__import__": _importer(engine), "input": no_input}
    if say is not None:
        names["print"] = say
    with fresh(engine):
        for part in (code,) if isinstance(code, str) else code:
            exec(compiled(part), names)
    return names


def no_input(_prompt: object = "", /) -> str:
    """Stand in for `input`: the program runs many times over, and nobody is asked."""
    raise RuntimeError("input() cannot be answered here: write the answer into the code instead")


@lru_cache(maxsize=512)
def compiled(code: str) -> CodeType:
    """The code, compiled once."""
    return compile(code, "<program>", "exec", dont_inherit=True)


@contextmanager
def seeded(engine: ModuleType) -> Iterator[None]:
    """Inside, random numbers begin as after `torch.manual_seed(0)`; afterwards the user's own go on where they were."""
    with same_random_numbers(engine):
        engine.set_rng_state(_beginning(engine))
        yield


@contextmanager
def same_random_numbers(engine: ModuleType) -> Iterator[None]:
    """Leave the random numbers of the engine, of NumPy and of Python where they were, so that a run can be repeated."""
    drawn: Any = engine.get_rng_state() if hasattr(engine, "get_rng_state") else None
    numbers, own = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002  # the global state it is
    try:
        yield
    finally:
        random.setstate(own)
        np.random.set_state(numbers)  # noqa: NPY002
        if drawn is not None:
            engine.set_rng_state(drawn)


@lru_cache(maxsize=4)
def _beginning(engine: ModuleType) -> Any:
    return engine.Generator().manual_seed(0).get_state()


@contextmanager
def fresh(engine: ModuleType) -> Iterator[None]:
    """A context like that of a program that just began; afterwards all is as it was."""
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
