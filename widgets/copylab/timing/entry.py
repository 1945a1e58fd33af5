"""Who takes part in a race: methods, sizes, engines, as people give them, checked before anything is timed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Literal

from ..copying.methods import Method, method
from ..run.engines import checked
from ..run.program import compiled

METHODS = ("detach", "clone", "detach().clone()", "clone().detach()", "copy_", "new_tensor", "torch.tensor")
SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
SECONDS = 60.0
LARGEST = 100_000_000
Kind = Literal["leaf", "result", "plain"]
SOURCES: Mapping[str, str] = {
    "leaf": "x = torch.ones({size}, requires_grad=True)",
    "result": "a = torch.ones({size}, requires_grad=True)\nx = a * 2",
    "plain": "x = torch.ones({size})",
}


def chosen_source(source: str) -> str:
    """The lines that make x; `{size}` stands for its number of elements. Raises ValueError for another kind."""
    if source not in SOURCES:
        raise ValueError(f"source must be 'leaf', 'result' or 'plain', not {source!r}")
    return SOURCES[source]


def chosen_methods(given: Sequence[str | Method] | Mapping[str, str] | None) -> tuple[Method, ...]:
    """The methods, each once; ValueError for one that does not exist or is not Python."""
    if isinstance(given, Mapping):
        made = [Method(name, code) for name, code in given.items()]
    else:
        if isinstance(given, str | Method):
            given = (given,)
        made = [method(one) for one in (METHODS if given is None else given)]
    if not made:
        raise ValueError("a race needs a method")
    for one in made:
        try:
            compiled(one.code)
        except SyntaxError as error:
            raise ValueError(f"the code of {one.name!r} is not Python: {error}") from None
    return tuple({one.name: one for one in made}.values())


def chosen_sizes(given: Iterable[int] | None) -> tuple[int, ...]:
    """The sizes in order, each once; ValueError for one that cannot be."""
    given = SIZES if given is None else given
    sizes = (given,) if isinstance(given, int) else tuple(given)
    for size in sizes:
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= LARGEST:
            raise ValueError(f"a size is a number of elements from 1 to {LARGEST:,}, not {size!r}")
    if not sizes:
        raise ValueError("a race needs a size")
    return tuple(sorted(set(sizes)))


def chosen_engines(given: ModuleType | Sequence[ModuleType] | None) -> tuple[ModuleType, ...]:
    """The engines, each once; none for None. TypeError for what is no engine."""
    several = given if isinstance(given, list | tuple) else (given,)
    found = [checked(one) for one in several]
    return tuple(dict.fromkeys(one for one in found if one is not None))


def installed_engines() -> tuple[ModuleType, ...]:
    """tinytorch, and PyTorch where it is installed."""
    names = ["tinytorch", *(["torch"] if importlib.util.find_spec("torch") else [])]
    return tuple(importlib.import_module(name) for name in names)
