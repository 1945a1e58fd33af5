"""Containers of modules.

Source: `torch.nn`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from operator import index
from typing import Any, Self

from .module import Module, indented


class _Numbered(Module):
    """What Sequential and ModuleList share: modules by their position."""

    def _name_at(self, i: int) -> str:
        i = index(i)
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

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

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
        """Add modules at the end."""
        for m in list(modules):
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

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *_sequential(other))

    def __iadd__(self, other: Sequential) -> Self:
        return self.extend(_sequential(other))

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*list(self) * self._times(other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        return self.extend(list(self) * (self._times(other) - 1))

    def _times(self, n: int) -> int:
        if not isinstance(n, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(n)}")
        if n <= 0:
            raise ValueError(f"Non-positive multiplication factor {n} for {type(self)}")
        return n

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


def _sequential(other: Any) -> Sequential:
    if not isinstance(other, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
    return other


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

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end. TypeError for what cannot be walked through."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        return super().extend(modules)

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at a position."""
        for i in range(len(self), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module

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


class ModuleDict(Module):
    """Modules in a dictionary that registers them."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take everything out."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take one out and return it."""
        found = self[key]
        del self[key]
        return found

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """The names with their modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Put in the pairs of a mapping or of an iterable. TypeError, ValueError for what holds no pairs."""
        for key, module in pairs("ModuleDict", "ModuleDict", modules):
            self[key] = module


def pairs(name: str, said: str, given: Any) -> Iterator[tuple[str, Any]]:
    """The pairs of a mapping or of an iterable of pairs, one by one."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{said}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if hasattr(given, "items"):
        yield from given.items()
        return
    for i, pair in enumerate(given):
        element = f"{name} update sequence element #{i}"
        if not isinstance(pair, Iterable):
            raise TypeError(f"{element} should be Iterable; is{type(pair).__name__}")
        if len(pair) != 2:  # type: ignore[arg-type]
            raise ValueError(f"{element} has length {len(pair)}; 2 is required")  # type: ignore[arg-type]
        yield tuple(pair)  # type: ignore[misc]


__all__ = ["ModuleDict", "ModuleList", "Sequential"]
