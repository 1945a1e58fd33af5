"""Makes the modules that hold no parameters: each calls a function and shows its options.

Source: `torch.nn`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .module import Module

REQUIRED = object()  # an option without a default


def layer(
    name: str, function: Callable, what: str, shown: str = "", *, inputs: str = "input", base: str = "",
    set_up: Callable = lambda module, values: vars(module).update(values), **options: Any,
) -> type:  # fmt: skip
    """A module whose forward is `function(module, *inputs)`.

    `options` are the arguments of its constructor, `shown` says how they print: each name is one that prints,
    `inplace` only where it is true, and text in braces is a format. `base` is the class that torch's error names.
    Its methods are written out, so that wrong arguments raise Python's own errors.
    """
    arguments = ["self", *(k if v is REQUIRED else f"{k}=_options[{k!r}]" for k, v in options.items())]
    given = ", ".join(f"{k!r}: {k}" for k in options)
    source = f"""
def __init__({", ".join(arguments)}):
    _init(self)
    _set_up(self, {{{given}}})
def forward(self, {inputs}):
    return _function(self, {inputs})
"""
    body: dict[str, Any] = {}
    exec(source, {"_options": options, "_init": Module.__init__, "_set_up": set_up, "_function": function}, body)
    body["__init__"].__qualname__ = f"{base or name}.__init__"
    body["forward"].__qualname__ = f"{name}.forward"
    body["forward"].__doc__ = "Call the layer's function on the inputs with the layer's options."

    def extra_repr(self: Any) -> str:
        """The options, as the layer prints them."""
        if "{" in shown:
            return shown.format(**vars(self))
        names = [n for n in shown.split() if n != "inplace"]
        said = [f"{n}={getattr(self, n)}" for n in names]
        return ", ".join([*said, "inplace=True"] if "inplace" in shown and self.inplace else said)

    extra_repr.__qualname__ = f"{name}.extra_repr"
    body |= {"extra_repr": extra_repr, "__doc__": f"{what}\n\nSource: `torch.nn.{name}`.", "__constants__": list(options),
             "__module__": function.__module__}  # fmt: skip
    return type(name, (Module,), body)
