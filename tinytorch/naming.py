"""Classes carry the names that torch's own have, in what Python says of their objects too."""

from __future__ import annotations

from typing import Any

_name_of: Any = type.__dict__["__name__"]
_MADE_BY_A_CLASS_STATEMENT = 1 << 9  # Py_TPFLAGS_HEAPTYPE


class ShownAs(type):
    """A class with `shown_as` prints as the class of that name; one derived from it prints as itself.

    torch's classes are written in C and have their module in their name, which Python's own errors print: `can only
    concatenate str (not "torch.Size") to str`. Such a name is given to the class when it is made, and `__name__`
    answers without the module, as torch's do.
    """

    def __new__(mcs, name: str, bases: tuple, body: dict) -> ShownAs:
        """Make a class under the name that it is shown as."""
        body.setdefault("__qualname__", name)
        return super().__new__(mcs, body.get("shown_as", name), bases, body)

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return _name_of.__get__(cls).rpartition(".")[2]

    def __repr__(cls) -> str:
        name = cls.__dict__.get("shown_as")
        return type.__repr__(cls) if name is None else f"<class '{name}'>"


def type_name(x: Any) -> str:
    """The type of an object as CPython and torch name it in errors: what is written in C has its module before its name."""
    kind = type(x)
    name = _name_of.__get__(kind)
    in_c = not kind.__flags__ & _MADE_BY_A_CLASS_STATEMENT
    return f"{kind.__module__}.{name}" if in_c and kind.__module__ != "builtins" else name
