"""The named tuples that operations with several results return: `torch.return_types.max` and its like."""

from __future__ import annotations

from typing import Any

from .errors import ShownAs

_KNOWN: dict[str, type] = {}


def _restored(name: str, values: tuple) -> tuple:
    """What `pickle` makes again of a result."""
    return _KNOWN[name](values)


def named(name: str, fields: tuple[str, ...]) -> type:
    """The class of the results of an operation, under the names that its schema gives them."""
    if name in _KNOWN:
        return _KNOWN[name]

    def show(self: tuple) -> str:
        parts = ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n{parts})"

    def missing(self: tuple, attribute: str) -> None:
        raise AttributeError(f"'torch.return_types.{name}' object has no attribute '{attribute}'")

    def readonly(self: tuple, attribute: str, value: Any) -> None:
        if attribute in fields:
            raise AttributeError("readonly attribute")
        missing(self, attribute)

    body: dict[str, Any] = {
        "__getattr__": missing, "__setattr__": readonly, "__repr__": show,
        "__reduce__": lambda self: (_restored, (name, tuple(self))),
        "shown_as": f"torch.return_types.{name}", "__slots__": (), "__module__": "torch.return_types",
        "__doc__": f"What `torch.{name}` returns: {' and '.join(fields)}.", "n_fields": len(fields),
        "n_sequence_fields": len(fields), "n_unnamed_fields": 0,
    }  # fmt: skip
    for i, field in enumerate(fields):
        body[field] = property(lambda self, i=i: self[i])  # type: ignore[misc]
    made = _KNOWN[name] = ShownAs(name, (tuple,), body)
    return made


def __getattr__(name: str) -> type:
    try:
        return _KNOWN[name]
    except KeyError:
        raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'") from None
