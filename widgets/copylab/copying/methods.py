"""The ways to copy a tensor that people use, each as the lines that make `y` out of `x`.

A method says nothing about what it does: `facts` runs its lines and looks.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tinytorch.viz import gettext, gettext_noop, summarize_text


@dataclass(frozen=True)
class Method:
    """A way to make `y` from `x`. Own ones can be made and are taken wherever a method's name is.

    name: as people write it: "clone", ".data", "clone().detach()".
    code: Python lines that use the names `torch` and `x`, and set `y`.
    note: what it is there for, in a sentence.
    docs: where its documentation stands; it is shown, never fetched.
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


_page = "https://docs.pytorch.org/docs/stable/{}.html".format
_tensor = "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.{}.html".format
_python = "https://docs.python.org/3/{}.html".format
_ = gettext_noop
_ALL = (
    Method(
        "=",
        "y = x",
        _("a second name for the same tensor"),
        _python("reference/simple_stmts"),
        ("assignment",),
    ),
    Method("clone", "y = x.clone()", _("a copy that gradients flow through"), _tensor("clone")),
    Method("detach", "y = x.detach()", _("the same memory, off the graph"), _tensor("detach")),
    Method(
        ".data",
        "y = x.data",
        _("the same memory, out of autograd's sight"),
        _page("notes/autograd"),
    ),
    Method(
        "detach().clone()",
        "y = x.detach().clone()",
        _("a copy of the values alone"),
        _tensor("detach"),
    ),
    Method(
        "clone().detach()",
        "y = x.clone().detach()",
        _("the same in the other order"),
        _tensor("clone"),
    ),
    Method(
        "copy_",
        "y = torch.empty_like(x)\ny.copy_(x)",
        _("the values written into a tensor that is already there"),
        _tensor("copy_"),
        ("empty_like().copy_()", "empty_like(x).copy_(x)"),
    ),
    Method(
        "torch.tensor",
        "y = torch.tensor(x)",
        _("a new leaf from data, made for numbers and lists"),
        _page("generated/torch.tensor"),
    ),
    Method(
        "new_tensor",
        "y = x.new_tensor(x)",
        _("a new leaf of x's dtype and device"),
        _tensor("new_tensor"),
    ),
    Method("view", "y = x.view(-1)", _("the same memory in another shape"), _tensor("view")),
    Method(
        "reshape",
        "y = x.reshape(-1)",
        _("another shape: a view if it can be, else a copy"),
        _tensor("reshape"),
    ),
    Method("to", "y = x.to(x.dtype)", _("a conversion, here to what x is already"), _tensor("to")),
    Method(
        "to(float64)",
        "y = x.to(torch.float64)",
        _("a conversion to another dtype"),
        _tensor("to"),
        ("to(dtype)", "double"),
    ),
    Method(
        "to(copy=True)",
        "y = x.to(x.dtype, copy=True)",
        _("a conversion that always copies"),
        _tensor("to"),
    ),
    Method(
        "as_tensor",
        "y = torch.as_tensor(x)",
        _("a tensor out of anything, copied only if need be"),
        _page("generated/torch.as_tensor"),
    ),
    Method(
        "from_numpy",
        "y = torch.from_numpy(x.detach().numpy())",
        _("by way of NumPy and back"),
        _page("generated/torch.from_numpy"),
        ("numpy",),
    ),
    Method(
        "deepcopy",
        "import copy\ny = copy.deepcopy(x)",
        _("what Python copies when it copies all there is"),
        _python("library/copy"),
    ),
    Method(
        "copy.copy",
        "import copy\ny = copy.copy(x)",
        _("Python's shallow copy"),
        _python("library/copy"),
        ("copy", "shallow copy"),
    ),
    Method(
        "contiguous",
        "y = x.contiguous()",
        _("rows in order, copied only if they are not"),
        _tensor("contiguous"),
    ),
    Method(
        "x[:]",
        "y = x[:]",
        _("a slice of everything"),
        _page("tensor_view"),
        ("[:]", "slice", "slicing"),
    ),
    Method(
        "x[[...]]",
        "rows = list(range(len(x)))\ny = x[rows]",
        _("every row, chosen by a list"),
        _page("tensor_view"),
        ("[[...]]", "x[[0, 1]]", "list index", "fancy indexing"),
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({one.name: one for one in _ALL})
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
    found = _KNOWN.get(_plain(name))
    if found is not None:
        return found
    names = ", ".join(repr(one) for one in METHODS)
    said = gettext(
        "there is no copy method {name!r}. There are: {names}", name=name[:60], names=names
    )
    for close in difflib.get_close_matches(_plain(name), _KNOWN, 1):
        said = gettext(
            "there is no copy method {name!r}. Did you mean {close!r}? There are: {names}",
            name=name[:60],
            close=_KNOWN[close].name,
            names=names,
        )
    raise ValueError(said)


def _plain(name: str) -> str:
    """A name without what people write or leave out around it."""
    bare = "".join(name.lower().split())
    for before in ("y=", "torch.tensor.", "torch.", "tensor.", "x."):
        if bare != "torch.tensor" and bare.startswith(before) and bare != before:
            bare = bare.removeprefix(before)
    return bare.removesuffix("()").removesuffix("(x)").lstrip(".") or bare


_KNOWN = {
    _plain(one): entry
    for entry in reversed(_ALL)
    for one in (entry.name, entry.code, entry.code.splitlines()[-1], *entry.also)
}
