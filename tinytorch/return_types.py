"""The named tuples that operations with several results return: `torch.return_types.max` and its like."""

from __future__ import annotations

from typing import Any

from .errors import ShownAs

_KNOWN: dict[str, type] = {}


def _restored(name: str, values: tuple) -> tuple:
    return _KNOWN[name](values)


def named(name: str, fields: tuple[str, ...]) -> type:
    """The class of the results of an operation, under the names that its schema gives them."""
    if name in _KNOWN:
        return _KNOWN[name]

    def show(self: tuple) -> str:
        parts = ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n{parts})"

    def readonly(self: tuple, attribute: str, value: Any) -> None:
        raise AttributeError("readonly attribute")

    body: dict[str, Any] = {
        "__setattr__": readonly, "__repr__": show, "__reduce__": lambda self: (_restored, (name, tuple(self))),
        "shown_as": f"torch.return_types.{name}", "__slots__": (), "__module__": "torch.return_types",
        "__doc__": f"What `torch.{name}` returns: {' and '.join(fields)}.",
        **{field: property(lambda self, i=i: self[i]) for i, field in enumerate(fields)},  # type: ignore[misc]
    }  # fmt: skip
    made = _KNOWN[name] = ShownAs(name, (tuple,), body)
    return made


def __getattr__(name: str) -> type:
    if name not in _KNOWN:
        raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'")
    return _KNOWN[name]
