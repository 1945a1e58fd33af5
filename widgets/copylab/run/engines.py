"""Which engine is meant: the one that was given, the `torch` of whoever asks, or tinytorch."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


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


def engine_for(names: Mapping[str, Any]) -> ModuleType:
    """The engine of code that runs with these names: their `torch`, the notebook's, or else tinytorch."""
    found = named(names) or named(notebook_names())
    if found is None:
        import tinytorch

        return tinytorch
    return found


def meant(given: object, own: ModuleType | None) -> ModuleType:
    """The engine of a method: the one it is given, the object's own, or that of the code that called the method."""
    return checked(given) or own or engine_for(sys._getframe(2).f_globals)
