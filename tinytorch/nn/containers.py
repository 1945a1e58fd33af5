"""Containers of modules. Source: `torch.nn.modules.container`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from operator import index
from typing import Any, Self

from .module import Module


class _Numbered(Module):
    """What Sequential and ModuleList share: modules by their position."""

    def _name_at(self, i: int) -> str:
        if not -len(self) <= index(i) < len(self):
            raise IndexError(f"index {i} is out of range")
        return list(self._modules)[i]

    def _renumber(self, modules: Iterable[Module | None]) -> None:
        found = {str(i): m for i, m in enumerate(modules)}
        self._modules.clear()
        self._modules.update(found)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, i: int | slice) -> Any:
        return self._sliced(i) if isinstance(i, slice) else self._modules[self._name_at(i)]

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

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for m in list(modules):
            self.append(m)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put a module before the one at a position."""
        for i in range(len(self), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)


class Sequential(_Numbered):
    """Modules one after another: given in order, or as an OrderedDict with names."""

    _place = "container"

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else ((str(i), m) for i, m in enumerate(args)):
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """Call the modules one after another, each on what the one before returned."""
        for module in self._modules.values():
            input = module(input)
        return input

    def _sliced(self, i: slice) -> Sequential:
        return type(self)(OrderedDict(list(self._modules.items())[i]))

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before the one at a position. IndexError out of range."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        super().insert(index + len(self) if index < 0 else index, module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)


class ModuleList(_Numbered):
    """Modules in a list that registers them."""

    _place = "container"

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(() if modules is None else modules)

    def _sliced(self, i: slice) -> ModuleList:
        return type(self)(list(self)[i])

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        runs: list[list] = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [f"({i}): {text}" if i == j else f"({i}-{j}): {j - i + 1} x {text}" for i, j, text in runs]
        return (
            f"{self._get_name()}("
            + "".join("\n  " + line.replace("\n", "\n  ") for line in lines)
            + ("\n)" if lines else ")")
        )


class ModuleDict(Module):
    """Modules in a dictionary that registers them."""

    _place = "container"

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update({} if modules is None else modules)

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

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def items(self) -> Any:
        """The names with their modules."""
        return self._modules.items()

    def pop(self, key: str) -> Module:
        """Take one out and return it."""
        return self._modules.pop(key)

    def clear(self) -> None:
        """Take everything out."""
        self._modules.clear()

    def update(self, modules: Any) -> None:
        """Put in the pairs of a mapping or of an iterable. TypeError for anything else."""
        if not isinstance(modules, Iterable):
            said = "ModuleDict.update should be called with an iterable of key/value pairs, but got "
            raise TypeError(said + type(modules).__name__)
        for key, module in modules.items() if hasattr(modules, "items") else modules:
            self[key] = module
