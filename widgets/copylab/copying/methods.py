"""The ways to copy a tensor that people use, each as the lines that make `y` out of `x`.

A method says nothing about what it does: `facts` runs its lines and looks.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_DOCS = "https://docs.pytorch.org/docs/stable/"
_PYTHON = "https://docs.python.org/3/"


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


def _tensor(name: str) -> str:
    return f"{_DOCS}generated/torch.Tensor.{name}.html"


def _function(name: str) -> str:
    return f"{_DOCS}generated/torch.{name}.html"


_ALL = (
    Method("=", "y = x", "a second name for the same tensor", f"{_PYTHON}reference/simple_stmts.html", ("assignment",)),
    Method("clone", "y = x.clone()", "a copy that gradients flow through", _tensor("clone")),
    Method("detach", "y = x.detach()", "the same memory, off the graph", f"{_DOCS}generated/torch.Tensor.detach.html"),
    Method(".data", "y = x.data", "the same memory, out of autograd's sight", f"{_DOCS}notes/autograd.html"),
    Method("detach().clone()", "y = x.detach().clone()", "a copy of the values alone", _tensor("detach")),
    Method("clone().detach()", "y = x.clone().detach()", "the same in the other order", _tensor("clone")),
    Method(
        "copy_",
        "y = torch.empty_like(x)\ny.copy_(x)",
        "the values written into a tensor that is already there",
        _tensor("copy_"),
        ("empty_like().copy_()", "empty_like(x).copy_(x)"),
    ),
    Method(
        "torch.tensor", "y = torch.tensor(x)", "a new leaf from data, made for numbers and lists", _function("tensor")
    ),
    Method("new_tensor", "y = x.new_tensor(x)", "a new leaf of x's dtype and device", _tensor("new_tensor")),
    Method("view", "y = x.view(-1)", "the same memory in another shape", _tensor("view"), ("view(-1)",)),
    Method(
        "reshape",
        "y = x.reshape(-1)",
        "another shape: a view if it can be, else a copy",
        _tensor("reshape"),
        ("reshape(-1)",),
    ),
    Method("to", "y = x.to(x.dtype)", "a conversion, here to what x is already", _tensor("to"), ("to(x.dtype)",)),
    Method(
        "to(float64)",
        "y = x.to(torch.float64)",
        "a conversion to another dtype",
        _tensor("to"),
        ("to(dtype)", "to(torch.float64)", "double"),
    ),
    Method(
        "to(copy=True)",
        "y = x.to(x.dtype, copy=True)",
        "a conversion that always copies",
        _tensor("to"),
        ("to(x.dtype, copy=True)",),
    ),
    Method(
        "as_tensor",
        "y = torch.as_tensor(x)",
        "a tensor out of anything, copied only if need be",
        _function("as_tensor"),
    ),
    Method(
        "from_numpy",
        "y = torch.from_numpy(x.detach().numpy())",
        "by way of NumPy and back",
        _function("from_numpy"),
        ("numpy", "from_numpy(x.detach().numpy())"),
    ),
    Method(
        "deepcopy",
        "import copy\ny = copy.deepcopy(x)",
        "what Python copies when it copies all there is",
        f"{_PYTHON}library/copy.html",
        ("copy.deepcopy",),
    ),
    Method(
        "copy.copy",
        "import copy\ny = copy.copy(x)",
        "Python's shallow copy",
        f"{_PYTHON}library/copy.html",
        ("copy", "shallow copy"),
    ),
    Method("contiguous", "y = x.contiguous()", "rows in order, copied only if they are not", _tensor("contiguous")),
    Method("x[:]", "y = x[:]", "a slice of everything", f"{_DOCS}tensor_view.html", ("[:]", "slice", "slicing")),
    Method(
        "x[[...]]",
        "rows = list(range(len(x)))\ny = x[rows]",
        "every row, chosen by a list",
        f"{_DOCS}tensor_view.html",
        ("[[...]]", "x[rows]", "x[[0, 1]]", "list index", "fancy indexing"),
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
        raise TypeError(f"a method is named by a string such as 'clone', not by {type(name).__name__}")
    found = _KNOWN.get(_plain(name))
    if found is not None:
        return found
    close = difflib.get_close_matches(_plain(name), _KNOWN, 1)
    hint = f" Did you mean {_KNOWN[close[0]].name!r}?" if close else ""
    names = ", ".join(repr(one) for one in METHODS)
    raise ValueError(f"there is no copy method {name[:60]!r}.{hint} There are: {names}")


def _plain(name: str) -> str:
    """A name without what people write or leave out around it."""
    bare = "".join(name.lower().split())
    for before in ("y=", "torch.tensor.", "torch.", "tensor.", "x."):
        if bare != "torch.tensor" and bare.startswith(before) and bare != before:
            bare = bare.removeprefix(before)
    return bare.removesuffix("()").removesuffix("(x)").lstrip(".") or bare


_KNOWN = {_plain(one): entry for entry in reversed(_ALL) for one in (entry.name, entry.code, *entry.also)}
