"""Containers of modules and of parameters.

Source: `torch.nn`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Self

from ..ops.core import tensor_type
from ..tensor import Tensor
from .module import Module, indented
from .parameter import Parameter


class _Numbered(Module):
    """What Sequential and ModuleList share: modules by their position."""

    def _name_at(self, i: int) -> str:
        i = i.__index__()
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range")
        return list(self._modules)[i]

    def _renumber(self, modules: Iterable[Module | None]) -> None:
        found = list(modules)
        self._modules.clear()
        for i, m in enumerate(found):
            self._modules[str(i)] = m

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __setitem__(self, i: int, module: Module) -> None:
        setattr(self, self._name_at(i), module)

    def __delitem__(self, i: int | slice) -> None:
        for name in list(self._modules)[i] if isinstance(i, slice) else [self._name_at(i)]:
            delattr(self, name)
        self._renumber(self._modules.values())

    def pop(self, i: int | slice) -> Any:
        """Take a module out and return it."""
        found = self[i]
        del self[i]
        return found

    def append(self, module: Module) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end. TypeError for what cannot be walked through."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for m in modules:
            self.append(m)
        return self


class Sequential(_Numbered):
    """Modules one after another: given in order, or as an OrderedDict with names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = (
            args[0].items()
            if len(args) == 1 and isinstance(args[0], OrderedDict)
            else ((str(i), m) for i, m in enumerate(args))
        )
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """Call the modules one after another, each on what the one before returned."""
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return type(self)(OrderedDict(list(self._modules.items())[i]))
        return self._modules[self._name_at(i)]

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before the one at a position. IndexError out of range."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        index = index + n if index < 0 else index
        for i in range(n, index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module
        return self


class ModuleList(_Numbered):
    """Modules in a list that registers them."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return type(self)(list(self._modules.values())[i])
        return self._modules[self._name_at(i)]

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at a position."""
        found = list(self)
        found.insert(index, module)
        self._renumber(found)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)

    def __repr__(self) -> str:
        runs: list[tuple[int, int, str]] = []
        for i, m in enumerate(self):
            text = repr(m)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        lines = []
        for first, last, text in runs:
            head = f"({first})" if first == last else f"({first}-{last})"
            count = "" if first == last else f"{last - first + 1} x "
            lines.append(indented(f"{head}: {count}{text}", 2))
        return f"{self._get_name()}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"


class _Named(Module):
    """What ModuleDict and ParameterDict share: a dictionary's methods."""

    _group = "_modules"

    def _items(self) -> dict[str, Any]:
        return getattr(self, self._group)

    def __getitem__(self, name: str) -> Any:
        return self._items()[name]

    def __delitem__(self, name: str) -> None:
        del self._items()[name]

    def __len__(self) -> int:
        return len(self._items())

    def __iter__(self) -> Iterator[str]:
        return iter(self._items())

    def __contains__(self, name: str) -> bool:
        return name in self._items()

    def clear(self) -> None:
        """Take everything out."""
        self._items().clear()

    def pop(self, name: str) -> Any:
        """Take one out and return it."""
        found = self[name]
        del self[name]
        return found

    def keys(self) -> Any:
        """The names."""
        return self._items().keys()

    def items(self) -> Any:
        """The names with what they stand for."""
        return self._items().items()

    def values(self) -> Any:
        """What the names stand for."""
        return self._items().values()

    def update(self, other: Any) -> None:
        """Put in the pairs of a mapping or of an iterable."""
        for name, value in other.items() if hasattr(other, "items") else other:
            self[name] = value


class ModuleDict(_Named):
    """Modules in a dictionary that registers them."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """Parameters in a list that registers them; a plain tensor becomes one."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(values or [])

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), _as_parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end."""
        for value in values:
            self.append(value)
        return self

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def __getitem__(self, i: int | slice) -> Any:
        found = list(self._parameters.values())[i]
        return ParameterList(found) if isinstance(i, slice) else found

    def __setitem__(self, i: int, value: Any) -> None:
        self._parameters[list(self._parameters)[i]] = _as_parameter(value)

    def __repr__(self) -> str:
        return _listing(self, [(str(i), f"{p.dtype!r}", p) for i, p in enumerate(self)])


class ParameterDict(_Named):
    """Parameters in a dictionary that registers them; a plain tensor becomes one."""

    _group = "_parameters"

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.update(parameters or {})

    def __setitem__(self, name: str, value: Any) -> None:
        self._parameters[name] = _as_parameter(value)

    def __repr__(self) -> str:
        return _listing(self, [(name, tensor_type(p), p) for name, p in self.items()])


def _listing(module: Module, rows: list[tuple[str, str, Tensor]]) -> str:
    lines = [
        f"    ({name}): Parameter containing: [{kind} of size {'x'.join(map(str, p.shape))}]" for name, kind, p in rows
    ]
    if len(lines) == 1:
        return f"{module._get_name()}({lines[0][2:]})"
    return f"{module._get_name()}(" + ("\n" + "\n".join(lines) + "\n" if lines else "") + ")"


__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
