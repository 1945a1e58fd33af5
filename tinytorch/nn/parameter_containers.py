"""Containers of parameters, which hold other things as well.

Source: `torch.nn.ParameterList`, `torch.nn.ParameterDict`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Any, Self

from ..devices import CPU
from ..ops.core import tensor_type
from ..tensor import Tensor
from .containers import pairs
from .module import Module
from .parameter import Parameter


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _line(name: Any, value: Any, kind: str) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    where = "" if value.device == CPU else f" ({value.device})"
    return f"  ({name}): {what} containing: [{kind} of size {'x'.join(map(str, value.shape))}{where}]"


class ParameterList(Module):
    """Parameters in a list that registers them; a plain tensor becomes one, other things stay what they are."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name_at(self, i: int) -> str:
        i = index(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range")
        return str(i % len(self))

    def append(self, value: Any) -> Self:
        """Add one at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add some at the end. TypeError for a tensor and for what cannot be walked through."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return type(self)([self[n] for n in range(len(self))[i]])
        return getattr(self, self._name_at(i))

    def __setitem__(self, i: int, value: Any) -> None:
        setattr(self, self._name_at(i), _as_parameter(value))

    def extra_repr(self) -> str:
        """A line for each."""
        return "\n".join(_line(i, p, repr(getattr(p, "dtype", None))) for i, p in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A list is not to be called: RuntimeError."""
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters in a dictionary that registers them; a plain tensor becomes one, other things stay what they are."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, _attribute(key), _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, _attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """What is there under a name, put in first if nothing is."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take everything out."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take one out and return it."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Take the last one out and return it with its name."""
        key = next(reversed(self._keys)) if self._keys else self._keys.popitem()[0]
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """What is there under a name, or the default."""
        return self[key] if key in self else default  # noqa: SIM401 - it is this method

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Another dictionary with these names, all for the same."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterator[tuple[str, Any]]:
        """The names with what they stand for."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterator[Any]:
        """What the names stand for."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Put in the pairs of a mapping, a plain one in the order of its names, or of an iterable."""
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())
        for key, value in pairs("ParameterDict", "ParametersDict", parameters):
            self[key] = value

    def extra_repr(self) -> str:
        """A line for each."""
        return "\n".join(_line(k, p, tensor_type(p) if isinstance(p, Tensor) else "") for k, p in self.items())

    def __call__(self, input: Any) -> Any:
        """A dictionary is not to be called: RuntimeError."""
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        out = self.copy()
        out.update(other)
        return out

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        out = other.copy()
        out.update(self)
        return out

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self


def _attribute(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
            f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
        )
    return key


__all__ = ["ParameterDict", "ParameterList"]
