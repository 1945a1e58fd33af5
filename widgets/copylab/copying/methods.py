"""The ways to copy a tensor that people use, each as the lines that make `y` out of `x`.

A method says nothing about what it does: `facts` runs its lines and looks.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tinytorch.viz import summarize_text

from ..wording import gettext, gettext_noop


@dataclass(frozen=True)
class Method:
    """A way to make `y` from `x`. Own ones can be made and are taken wherever a method's name is.

    name: as people write it: "clone", ".data", "clone().detach()".
    code: Python lines that use the names `torch` and `x`, and set `y`.
    note: what it is for, in a sentence.
    docs: the address of its documentation; it is shown, never fetched.
    also: other ways to write the name.
    """

    name: str
    code: str
    note: str = ""
    docs: str = ""
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.code.strip():
            raise ValueError("a method needs a name and code that makes y from x")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return summarize_text(f"Method({self.name!r}, {self.code!r})")


_torch_page = "https://docs.pytorch.org/docs/stable/{}.html".format
_tensor_page = "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.{}.html".format
_python_page = "https://docs.python.org/3/{}.html".format
_ = gettext_noop
_ALL = (
    Method(
        "=",
        "y = x",
        _("a second name for the same tensor"),
        _python_page("reference/simple_stmts"),
        ("assignment",),
    ),
    Method(
        "clone", "y = x.clone()", _("a copy that gradients flow through"), _tensor_page("clone")
    ),
    Method("detach", "y = x.detach()", _("the same memory, off the graph"), _tensor_page("detach")),
    Method(
        ".data",
        "y = x.data",
        _("the same memory, out of autograd's sight"),
        _torch_page("notes/autograd"),
    ),
    Method(
        "detach().clone()",
        "y = x.detach().clone()",
        _("a copy of the values alone"),
        _tensor_page("detach"),
    ),
    Method(
        "clone().detach()",
        "y = x.clone().detach()",
        _("the same in the other order"),
        _tensor_page("clone"),
    ),
    Method(
        "copy_",
        "y = torch.empty_like(x)\ny.copy_(x)",
        _("the values written into a tensor that is already there"),
        _tensor_page("copy_"),
        ("empty_like().copy_()", "empty_like(x).copy_(x)"),
    ),
    Method(
        "torch.tensor",
        "y = torch.tensor(x)",
        _("a new leaf from data, made for numbers and lists"),
        _torch_page("generated/torch.tensor"),
    ),
    Method(
        "new_tensor",
        "y = x.new_tensor(x)",
        _("a new leaf of x's dtype and device"),
        _tensor_page("new_tensor"),
    ),
    Method("view", "y = x.view(-1)", _("the same memory in another shape"), _tensor_page("view")),
    Method(
        "reshape",
        "y = x.reshape(-1)",
        _("another shape: a view if it can be, else a copy"),
        _tensor_page("reshape"),
    ),
    Method(
        "to", "y = x.to(x.dtype)", _("a conversion, here to what x is already"), _tensor_page("to")
    ),
    Method(
        "to(float64)",
        "y = x.to(torch.float64)",
        _("a conversion to another dtype"),
        _tensor_page("to"),
        ("to(dtype)", "double"),
    ),
    Method(
        "to(copy=True)",
        "y = x.to(x.dtype, copy=True)",
        _("a conversion that always copies"),
        _tensor_page("to"),
    ),
    Method(
        "as_tensor",
        "y = torch.as_tensor(x)",
        _("a tensor out of anything, copied only if need be"),
        _torch_page("generated/torch.as_tensor"),
    ),
    Method(
        "from_numpy",
        "y = torch.from_numpy(x.detach().numpy())",
        _("by way of NumPy and back"),
        _torch_page("generated/torch.from_numpy"),
        ("numpy",),
    ),
    Method(
        "deepcopy",
        "import copy\ny = copy.deepcopy(x)",
        _("what Python copies when it copies all there is"),
        _python_page("library/copy"),
    ),
    Method(
        "copy.copy",
        "import copy\ny = copy.copy(x)",
        _("Python's shallow copy"),
        _python_page("library/copy"),
        ("copy", "shallow copy"),
    ),
    Method(
        "contiguous",
        "y = x.contiguous()",
        _("rows in order, copied only if they are not"),
        _tensor_page("contiguous"),
    ),
    Method(
        "x[:]",
        "y = x[:]",
        _("a slice of everything"),
        _torch_page("tensor_view"),
        ("[:]", "slice", "slicing"),
    ),
    Method(
        "x[[...]]",
        "rows = list(range(len(x)))\ny = x[rows]",
        _("every row, chosen by a list"),
        _torch_page("tensor_view"),
        ("[[...]]", "x[[0, 1]]", "list index", "fancy indexing"),
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({entry.name: entry for entry in _ALL})
"""All methods by name, the common ones first."""


def method(name: str | Method) -> Method:
    """Return the method of that name, however it is written: "clone", "x.clone()", "torch.Tensor.clone".

    A Method is returned as it is. Raises ValueError, with the names there are and the closest one, for an unknown
    name, and TypeError for what is no name.
    """
    if isinstance(name, Method):
        return name
    if not isinstance(name, str):
        raise TypeError(
            gettext(
                "a method is named by a string such as 'clone', not by {type}",
                type=type(name).__name__,
            )
        )
    bare_name = _strip_name(name)
    if bare_name in _METHODS_BY_NAME:
        return _METHODS_BY_NAME[bare_name]
    names = ", ".join(map(repr, METHODS))
    message = gettext(
        "there is no copy method {name!r}. There are: {names}", name=name[:60], names=names
    )
    for close in difflib.get_close_matches(bare_name, _METHODS_BY_NAME, 1):
        message = gettext(
            "there is no copy method {name!r}. Did you mean {close!r}? There are: {names}",
            name=name[:60],
            close=_METHODS_BY_NAME[close].name,
            names=names,
        )
    raise ValueError(message)


def _strip_name(name: str) -> str:
    """Return a name without what people write or leave out around it: `y = x.clone()` is clone."""
    bare = "".join(name.lower().split())
    for prefix in ("y=", "torch.tensor.", "torch.", "tensor.", "x."):
        # `torch.tensor` is a method of its own, and not the method `tensor` of torch.
        if bare != "torch.tensor" and bare.startswith(prefix) and bare != prefix:
            bare = bare.removeprefix(prefix)
    return bare.removesuffix("()").removesuffix("(x)").lstrip(".") or bare


def _index_methods() -> dict[str, Method]:
    index = {}
    # The common methods come last, so that a name that two of them have is theirs.
    for entry in reversed(_ALL):
        last_line = entry.code.splitlines()[-1]
        for name in (entry.name, entry.code, last_line, *entry.also):
            index[_strip_name(name)] = entry
    return index


_METHODS_BY_NAME = _index_methods()
