"""Operations that write into a part of a tensor: each is one function that writes, offered in place and on a copy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from .arguments import called_as_method, signatures_of, unfit
from .copying import copied, preserve_format
from .core import op, record, recording, write_in_place, write_out

Recorded = tuple[type, tuple[Tensor, ...], dict[str, Any]]


def takes_out(name: str) -> bool:
    """Whether torch's function of this name has a form with `out`."""
    return any(p.name == "out" for s in signatures_of(name) for p in s.params)


def both_forms(
    what: str, node: Callable[..., Recorded], layout: Any = preserve_format,
    whole: Callable[[Tensor, dict], Tensor] | None = None, function_too: bool = False,
) -> Callable:  # fmt: skip
    """Declare an operation `name` and its in-place form `name_` by a function `_name(self, ...)` that writes to `self`.

    `node(self, values)` says what is recorded: the kind, the inputs that gradients flow to, and what is saved besides
    the arguments. `layout` is that of the copy, and `whole` makes the tensor that is copied where that is not the input
    itself.
    """

    def declare(write: Callable) -> Callable:
        name = write.__name__.strip("_")
        parameters = list(inspect.signature(write).parameters.values())[1:]
        known = [p.name for p in parameters]
        positional = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}

        def bind(args: tuple, kwargs: dict) -> dict[str, Any]:
            values = defaults | dict(zip(positional, args, strict=False)) | kwargs
            if len(args) > len(positional) or len(values) != len(known) or any(k not in known for k in kwargs):
                raise TypeError(f"{name}() got arguments that do not fit")
            return values

        def in_place(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            values = bind(args, kwargs)
            kind, inputs, more = node(self, values)
            kind = getattr(kind, "in_place", kind)
            return write_in_place(self, inputs, kind, values | more, lambda: write(self, **values))

        def on_a_copy(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            out_ = kwargs.pop("out", None)
            if out_ is not None and (called_as_method() or not takes_out(name)):
                raise unfit(name)
            values = bind(args, kwargs)
            source = input if whole is None else whole(input, values)
            kind, inputs, more = node(source, values)
            out = copied(source, memory_format=layout)
            if out_ is not None:
                write(out.detach(), **values)
                return write_out(out_, out._data, name, *inputs)
            write(out, **values)
            if recording(*inputs):
                record(out, kind, inputs, **(values | more))
            return out

        in_place.__name__, on_a_copy.__name__ = f"{name}_", name
        in_place.__doc__ = f"{what} In place.\n\nSource: `torch.Tensor.{name}_`."
        on_a_copy.__doc__ = f"{what} In a copy.\n\nSource: `torch.Tensor.{name}`."
        op(f"{name}_", function=function_too)(in_place)
        made = op(name)(on_a_copy)
        made.write = write
        return made

    return declare
