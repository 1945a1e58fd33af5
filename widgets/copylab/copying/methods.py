"""The ways to copy a tensor that people use, each as the lines that make `y` out of `x`.

Below them the operations of which people ask whether they copy. Neither says anything about what it
does: `facts` and `find_sharing` run the lines and look.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tinytorch.viz import summarize_text

from ..wording import gettext, gettext_noop, join_sentences


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
        ("tensor",),
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
        _("a tensor out of anything, copied only if it must be"),
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

_CALLS_OF_OPERATIONS = """
# other shapes
x.view(x.shape); x.view_as(x); x.view(torch.int32); x.reshape(x.shape); x.reshape_as(x)
x.flatten(); x.ravel(); x.unflatten(-1, (2, 2)); torch.nn.Flatten(0)(x)
# dimensions in another order
x.t(); x.T; x.H; x.mT; x.mH; x.adjoint(); x.transpose(0, -1); x.swapaxes(0, -1); x.swapdims(0, -1)
x.permute(*range(x.dim())); x.movedim(0, -1); x.moveaxis(0, -1)
# dimensions more and fewer
x.unsqueeze(0); x.squeeze(); x.squeeze(0); x.squeeze((0, -1)); x.expand(2, *x.shape)
x.expand(x.shape); x.expand_as(x); x.broadcast_to(x.shape); torch.broadcast_tensors(x, torch.ones(2, 4))[0]
torch.broadcast_tensors(x)[0]; torch.atleast_1d(x); torch.atleast_2d(x); torch.atleast_3d(x)
torch.meshgrid(x, indexing="ij")[0]; torch.cartesian_prod(x); torch.cartesian_prod(x, x)
# parts
x[...]; x[None]; x[0]; x[:1]; x[..., 0]; x[..., ::2]; x[torch.tensor(0)]; x[torch.tensor([0])]
x[x > 1]; x[[True] * len(x)]; x.select(0, 0); x.narrow(0, 0, 1); x.narrow_copy(0, 0, 1)
x.diagonal(); x.diag(); torch.diagonal_copy(x); x.unfold(0, 1, 1); x.as_strided((2,), (1,))
x.index_select(0, torch.tensor([0])); x.take(torch.tensor([0])); x.masked_select(x > 1)
x.gather(-1, torch.zeros_like(x, dtype=torch.int64)); x.take_along_dim(torch.tensor([0]))
# several parts
x.split(1)[0]; x.split_with_sizes((1, len(x) - 1))[0]; x.chunk(2)[0]; x.unbind()[0]
x.tensor_split(2)[0]; x.hsplit(2)[0]; x.vsplit(2)[0]; x.dsplit(2)[0]
# put together and repeated
torch.cat([x]); torch.stack([x]); torch.hstack([x]); torch.vstack([x]); torch.dstack([x])
torch.column_stack([x]); torch.block_diag(x); x.repeat(*x.shape); x.tile(1); x.repeat_interleave(1)
# turned
x.flip(0); x.fliplr(); x.flipud(); x.rot90(); x.rot90(0); x.roll(0); x.tril(9); x.triu(-9)
x.diag_embed(); x.diagflat()
# changed in a copy
x.select_scatter(x[0], 0, 0); x.slice_scatter(x); x.diagonal_scatter(x.diagonal())
x.masked_fill(x > 1, 0); x.masked_scatter(x > 1, x); torch.where(x > 1, x, x)
x.scatter(-1, torch.zeros_like(x, dtype=torch.int64), x); x.put(torch.tensor([0]), x.take(torch.tensor([0])))
x.index_put((torch.tensor([0]),), x[0])
# changed in place
x.add_(1); x.t_(); x.squeeze_(); x.tril_(); x.requires_grad_(False); x.detach_()
# converted
x.float(); x.double(); x.half(); x.long(); x.int(); x.bool(); x.cpu(); x.to("cpu"); x.to(x)
x.type(x.dtype); x.type(torch.float64); x.type_as(x); x.type_as(x.double())
torch.asarray(x); torch.asarray(x, copy=True); torch.Tensor(x)
torch.as_tensor(x, dtype=torch.float64); torch.asarray(x, dtype=torch.float64)
torch.nn.Parameter(x, requires_grad=False); x.real; x.conj(); x.resolve_conj(); x.positive()
torch.from_numpy(x.numpy()); torch.tensor(x.numpy()); torch.as_tensor(x.numpy()); torch.tensor(x.tolist())
# computed
x + 0; x * 1; +x; x.relu(); x.sum_to_size(x.shape)
torch.nn.functional.dropout(x, 0.0); torch.nn.functional.dropout(x, 0.5)
torch.nn.Identity()(x)
"""
_ATTRIBUTES = {"T", "H", "mT", "mH"}
"""What has no page of its own in PyTorch's documentation."""


def find_word(code: str) -> str:
    """Return the word for what the last line of a method calls, as "nn.Flatten"; empty if none."""
    found = re.search(r"(?:\bx|\btorch)\.((?:nn\.functional\.|nn\.)?\w+)", code.splitlines()[-1])
    return found[1] if found else ""


def _read_operations() -> Iterator[Method]:
    """Yield the operations in order, each under a name of its own.

    That is the word that people say, as "unfold"; where several have it, all but the first are
    called as they are written.
    """
    names: set[str] = set()
    for entry in _ALL:
        names |= {entry.name, *entry.also}
    for line in _CALLS_OF_OPERATIONS.strip().splitlines():
        for call in () if line.startswith("#") else line.split("; "):
            name, page = call, _torch_page("tensor_view")
            if word := call.startswith(("x.", "torch.")) and find_word(call):
                name = word.rpartition(".")[2]
                owner = "torch.Tensor" if call.startswith("x.") else "torch"
                page = _torch_page(f"generated/{owner}.{word}")
            if name in _ATTRIBUTES:
                page = _torch_page("tensors")
            name = call if {name, f"torch.{name}"} & names else name
            names.add(name)
            yield Method(name, f"y = {call}", docs=page)


OPERATIONS: Mapping[str, Method] = MappingProxyType(
    {entry.name: entry for entry in _read_operations()}
)
"""By name what else gives a tensor of x's numbers: `compare` and `facts` know it, too."""


def method(name: str | Method) -> Method:
    """Return the method of that name, however it is written: "clone", "x.clone()", "torch.Tensor.clone".

    One of METHODS or of OPERATIONS; a Method is returned as it is. Raises ValueError, with the names of METHODS and the
    closest name, for an unknown one, and TypeError for what is no name.
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
    # Before cases are made equal: `T` and `t` are two operations.
    if name.strip() in _METHODS_AS_WRITTEN:
        return _METHODS_AS_WRITTEN[name.strip()]
    bare_name = _strip_name(name)
    if bare_name in _METHODS_BY_NAME:
        return _METHODS_BY_NAME[bare_name]
    problem = gettext("there is no copy method {name!r}.", name=name[:60])
    for close in difflib.get_close_matches(bare_name, _METHODS_BY_NAME, 1):
        problem = gettext(
            "there is no copy method {name!r}. Did you mean {close!r}?",
            name=name[:60],
            close=_METHODS_BY_NAME[close].name,
        )
    raise UnknownMethodError(problem)


class UnknownMethodError(ValueError):
    """A name that no method has: `problem` says so in a sentence, the error with all names."""

    def __init__(self, problem: str) -> None:
        names = ", ".join(map(repr, METHODS))
        listing = gettext("There are: {names}", names=names)
        super().__init__(join_sentences([problem, listing]))
        self.problem = problem


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
    for entry in reversed((*_ALL, *OPERATIONS.values())):
        last_line = entry.code.splitlines()[-1]
        for name in (entry.name, entry.code, last_line, *entry.also):
            index[_strip_name(name)] = entry
    return index


_METHODS_BY_NAME = _index_methods()


def _index_methods_as_written() -> dict[str, Method]:
    index: dict[str, Method] = {}
    for entry in (*OPERATIONS.values(), *_ALL):
        index |= dict.fromkeys((entry.code, entry.code.removeprefix("y = "), entry.name), entry)
    return index


_METHODS_AS_WRITTEN = _index_methods_as_written()
