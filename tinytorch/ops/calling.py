"""Calling operations: which overload the arguments of a call fit, and the plain call, made short.

A call is plain if its arguments are given by position and are of the very types that the schema names. A function that is
written out for each kind of operation sees that and does at once what `Op` does step by step; where tensors lie on another
device, or hooks on saved tensors or anomaly mode hold, it has `Op` do it. A call that is not plain it hands on, to the next
overload and at last to torch's own way of reading arguments. But for that nothing here is needed for an operation to be right.
"""

# ruff: noqa: F401 - what is imported is read by the text below as well

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ..base import CPU, broadcast_error, owner, result_layout
from ..graph import (
    DEFAULT,
    IGNORED,
    INFERENCE,
    MADE,
    MODES,
    NO_GRAD,
    InferenceCounter,
    SavedNumber,
    VersionCounter,
    count_write,
    edge_of,
    get_errors,
    needs_grad,
    next_number,
    run_silenced,
    save_result,
    save_tensor,
    set_errors,
    view_of,
)
from ..tensor import Tensor, as_result
from .kernels import pointwise
from .schema import REQUIRED, Signature, mismatch

_new = object.__new__
_NUMBERS = (float, int)
_NUMBER = np.zeros(())  # for the layout of a result it matters only that there is one
_NOWHERE: Any = (None, 0)
_SAYS = {
    "view": "A view: the same memory, the same version counter.",
    "write": "Writes into its first argument, and counts the write.",
    "turn": "Has the tensor itself look at its memory in another way.",
    "composite": "Made of other operations.",
    "fresh": "A result with memory of its own.",
}


def _edge(x: Any) -> Any:
    """Where a gradient for a view flows, whose history may have to be made anew; `_NOWHERE` if its base alone requires grad."""
    return (edge_of(x) or _NOWHERE) if needs_grad(x) else None


class Overloads:
    """What one name may be called with, and how it runs."""

    def __init__(self, name: str, inplace: bool = False) -> None:
        self.name, self.inplace = name, inplace
        self.offered: list[
            tuple[Any, bool, bool]
        ] = []  # an operation, whether it takes `out=`, whether it is a method
        self.signatures: dict[bool, list] = {}  # of methods or functions, each with its operation

    def add(self, made: Any, out: bool = False, method: bool = False) -> None:
        """One more overload."""
        self.offered.append((made, out, method and made.schema.has_self))
        self.signatures.clear()

    def called(self, method: bool) -> Callable:
        """What a user calls: finds the overload, and hands it its arguments."""

        def read(*args: Any, **named: Any) -> Any:
            return self._read(method, tuple([x for x in args if x is not REQUIRED]), named)

        call: Any = read
        ops = [o for o, _, _ in self.offered]
        for o in sorted(ops, key=_is_short, reverse=True)[::-1]:  # those are tried first
            call = plain_call(o, call, method, self.inplace)
        call.__name__, call.__qualname__ = self.name, f"Tensor.{self.name}" if method else self.name
        call.__module__ = "tinytorch"
        says = _SAYS["write" if self.inplace else ops[0].kind]
        call.__doc__ = f"{ops[0].schema.text}\n\n{says} Source: `torch.{ops[0].name}`."
        call.overloads = ops
        return call

    def _read(self, method: bool, args: tuple, named: dict) -> Any:
        """Call as torch's parser reads the arguments. TypeError, in its words, if they fit no overload."""
        if method and not (args and isinstance(args[0], Tensor)):
            raise TypeError(f"unbound method TensorBase.{self.name}() needs a tensor")
        if method not in self.signatures:
            self.signatures[method] = [
                (Signature(o.schema, self.name, method, out and not method, o.numbers, o.older), o)
                for o, out, own in self.offered
                if own or not method
            ]
        for signature, o in self.signatures[method]:
            found = signature.match(args[method:], named)
            if isinstance(found, str):
                continue
            if method:
                found["self"] = args[0]
            out, grad = (
                found.pop("out", None),
                o.schema.is_factory and found.pop("requires_grad", False),
            )
            values = [
                p.read(found[p.name], self.name) if p.name in found else p.default
                for p in o.schema.params
            ]
            if out is not None:
                return o.into(out, tuple(values))
            made = o.inplace(*values) if self.inplace else o.run(*values)
            if grad:
                if made._data.dtype.kind != "f":
                    raise RuntimeError(
                        "Only Tensors of floating point and complex dtype can require gradients"
                    )
                made.requires_grad_()
            return made
        raise mismatch(self.name, [s for s, _ in self.signatures[method]], args[method:], named)


# plain calls, written out ------------------------------------------------------------------------------------------------

# A line holds for plain calls of the form that stands before it, see `_forms`.
_TEXT = """
        |def call({head}*more, **named):
        |    if {unfit}:
        |        return otherwise({given}, **named)
some    |    {names} = *more, *defaults[len(more) : {count}]
sizes   |    {row} = more[0] if len(more) == 1 and type(more[0]) is tuple else more
pair    |    pair = isinstance(y, Tensor)
        |    if {unlike}:
        |        return otherwise({given}, **named)
single  |    if type({row}) is int:
single  |        {row} = ({row},)
row     |    for n in {row} or ():
row     |        if {not_in_row}:
row     |            return otherwise({given}, **named)
full    |    return run({values})
short   |    here = MODES.here
short   |    a = x._data
made    |    fn = None
one     |    storage = x._storage
view    |    counter, source, creation = x._counter, x._view, DEFAULT
view    |    if counter.is_inference:
one     |    if x._counter.is_inference or (storage is not None and storage.device is not CPU):
pair    |    b = y._data if pair else y
pair    |    if ((storage := x._storage) is not None and storage.device is not CPU) or (
pair    |        pair and (storage := y._storage) is not None and storage.device is not CPU
pair    |    ):
short   |        return run({values})
into    |    kind = a.dtype
into    |    alike = b.dtype is kind and b.shape == a.shape if pair else type(b) is float or -1 << 53 < b < 1 << 53
into    |    if not alike or kind.kind != "f" or kind.num not in straight or not a.flags.forc or x._counter.is_inference:
into    |        return run({values})
into    |    if (pair and x is not y and owner(a) is owner(b)) or (here.grad and (needs_grad(x) or (pair and needs_grad(y)))):
into    |        return run({values})
into    |    here.run_ufunc(function, a, b, a)
into    |    count_write(x)
into    |    return x
node    |    if here.grad:
node    |        edge = x._edge
node    |        if x._view is not None:
node    |            edge = _edge(x)
node    |        elif edge is None and (m := x._meta) is not None and m.requires_grad:
node    |            edge = (x, 0)
both    |        second = None
both    |        if pair:
both    |            second = y._edge
both    |            if y._view is not None:
both    |                second = _edge(y)
both    |            elif second is None and (m := y._meta) is not None and m.requires_grad:
both    |                second = (y, 0)
node    |        if {wanted}:
node    |            if {unusual}:
node    |                return run({values})
node    |            fn = _new(node)
node    |            fn._edges = {edges}
node    |            fn._saved = {saved}
view    |    else:
view    |        creation = INFERENCE if here.inference else NO_GRAD
quick   |    data = function(a{rest})
alone   |    if a.dtype.num in straight:
alone   |        data = {quiet}(function, a)
twice   |    kind = a.dtype
twice   |    if kind.num in straight and (b.dtype is kind if pair else kind.kind == "f" and (type(b) is float or -1 << 53 < b < 1 << 53)):
twice   |        try:
twice   |            data = {quiet}(function, a, b)
twice   |        except ValueError:
twice   |            raise broadcast_error(a.shape, b.shape) from None
straight|        if data.ndim != 1 or not data.size:
straight|            data = result_layout(data, {operands})
straight|    else:
straight|        data = as_result(run_silenced(compute, {arrays}{rest}))
general |    errors = get_errors()
general |    try:
general |        set_errors(IGNORED)
general |        data = as_result(compute({arrays}{rest}))
general |    finally:
general |        set_errors(errors)
made    |    out = _new(Tensor)
made    |    out._data = data
made    |    out._edge = out._meta = None
view    |    storage = x._storage
view    |    out._storage = storage = x._own_storage() if storage is None else storage
view    |    out._counter = counter
view    |    if source is None:
view    |        out._view = (x, counter.version, creation)
view    |    else:
view    |        view_of(out, x)
fresh   |    out._storage = out._view = None
fresh   |    if here.inference:
fresh   |        out._counter = InferenceCounter()
fresh   |    else:
fresh   |        out._counter = counter = _new(VersionCounter)
fresh   |        counter.version = 0
node    |    if fn is not None:
node    |        fn._seq = next_number()
node    |        fn._hooks = None
node    |        fn._expects = ((data.shape, data.dtype, {device}),)
node    |        out._edge = (fn, 0)
result  |        fn._saved = (save_result(out),)
results |        fn.keep_results((out,))
made    |    return out
"""


@functools.cache
def _compiled(text: str) -> Any:
    """The function of a text; tracebacks show its lines."""
    file, found = f"{__file__}:{_compiled.cache_info().currsize}", {}  # type: tuple[str, dict[str, Any]]
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), globals(), found)
    return found["call"]


def _first(*given: Any, **named: Any) -> Any:
    """Stands where a call is written out when it is first made: to do it for all of them would take long to load."""
    write(call)  # type: ignore[name-defined] # noqa: F821 - in the dictionary that the function has for itself
    return call(*given, **named)  # type: ignore[name-defined] # noqa: F821


def _is_short(o: Any) -> bool:
    """Whether a plain call of an operation does at once what `Op` does step by step: of many that make a tensor of one or two."""
    schema, node, pair = o.schema, o.node, o.tensors == [0, 1] and o.schema.least == 2
    if o.several or o.lists or schema.is_factory or not (o.tensors == [0] or pair):
        return False
    if o.kind == "view":
        return node is not None
    return o.kind == "fresh" and (
        node is None or not pair or (o.inputs == [0, 1] and hasattr(node, "rules"))
    )


def plain_call(
    o: Any, otherwise: Callable, method: bool | None = None, inplace: bool = False
) -> Callable:
    """The plain call of one operation; without `method`, as formulas, other operations and Python's operators make it."""
    schema, kernel = o.schema, o.kernel
    if (
        REQUIRED in schema.defaults[schema.positional :]
        or not schema.params
        or (method is None and not _is_short(o))
    ):
        return otherwise

    def write(call: Any) -> None:
        forms = _forms(o, bool(method), inplace)
        names = {
            "otherwise": otherwise, "run": o.inplace if inplace else o.run, "node": o.node, "compute": o.compute,
            "function": (forms["simply"] and kernel.plain) or kernel.function, "save": o.save, "kinds": schema.kinds,
            "straight": kernel.straight if forms["simply"] else (), "defaults": schema.defaults,
        }  # fmt: skip
        lines = [line.partition("|") for line in _TEXT.splitlines()[1:]]
        text = "\n".join([code for form, _, code in lines if forms[form.strip()]])
        written = _compiled(text.format(**_parts(o, forms)))
        call.__globals__.update(globals() | names)
        call.__defaults__ = (
            written.__defaults__
        )  # before the code, as other threads may call it meanwhile
        call.__code__ = written.__code__

    own: dict[str, Any] = {"write": write}
    own["call"] = FunctionType(_first.__code__, own)
    return own["call"]


def _forms(o: Any, method: bool, inplace: bool) -> dict[str, Any]:
    """Of which forms the plain call of an operation is. Operations of the same forms have one text."""
    schema, kernel, lead = o.schema, o.kernel, int(method)
    rows = [p for p in schema.params[: schema.positional] if p.type.many or p.is_list]
    short, pair = _is_short(o), len(o.tensors) == 2
    simply = (
        short
        and type(kernel) is pointwise
        and (len(schema.params) == 1 + pair or (pair and kernel.plain))
    )
    ufunc = simply and type(kernel.plain or kernel.function) is np.ufunc
    into = inplace and pair and simply and kernel.to != "bool" and ufunc
    short = short and (into or not inplace)
    made = short and not into
    view, node = made and kernel.kind == "view", made and o.node is not None
    result = node and o.node.saved_names == ("result",)
    return {
        "": True, "some": schema.least < schema.positional, "row": rows, "single": len(rows) == 1 and rows[0].one,
        "sizes": schema.positional == schema.least == lead + 1 and schema.params[lead].is_sizes,
        "full": not short, "short": short, "pair": short and pair, "one": short and not pair and not view, "into": into,
        "made": made, "view": view, "fresh": made and not view, "node": node, "both": node and pair, "result": result,
        "results": node and o.node._results and not result, "simply": simply, "straight": made and simply,
        "ufunc": ufunc, "alone": made and simply and not pair, "twice": made and simply and pair,
        "quick": made and (view or kernel.copies), "general": made and not (simply or view or kernel.copies),
    }  # fmt: skip


def _parts(o: Any, forms: dict) -> dict[str, str]:
    """What stands between braces in the text: of the arguments, and what the node saves of them."""
    schema, pair, view = o.schema, forms["pair"], forms["view"]
    count, first = schema.positional, 1 + pair
    names = [*"xyzuvwst"[:count]]
    read = [f"[*{n}]" if p.is_list else n for n, p in zip(names, schema.params, strict=False)]
    every = [*read, *[f"defaults[{i}]" for i in range(count, len(schema.params))]]
    head, given, unfit = (
        " = REQUIRED, ".join([*names, "/, "]),
        ", ".join([*names, "*more"]),
        "more or named",
    )
    if forms["sizes"]:
        head, given, unfit = (
            "x = REQUIRED, /, " * (count - 1),
            "x, " * (count - 1) + "*more",
            "named or not more",
        )
    elif forms["some"]:
        head, given, unfit = "", "*more", f"named or not {schema.least} <= len(more) <= {count}"
    unlike, rows = [], []
    for i, (name, p) in enumerate(zip(names, schema.params, strict=False)):
        number = " or type(y) in _NUMBERS" * (o.numbers and i == 1)
        if p.type.many or p.is_list:
            rows.append(name)
            kinds = [
                "tuple",
                *["int"] * forms["single"],
                *["list"] * p.is_list,
                *["type(None)"] * p.none,
            ]
            unlike.append(" and ".join([f"type({name}) is not {kind}" for kind in kinds]))
        elif p.is_tensor and not p.none:
            unlike.append(
                f"not ({'pair' if pair and i == 1 else f'isinstance({name}, Tensor)'}{number})"
            )
        elif p.is_tensor:  # by class: a parameter is one, too
            unlike.append(f"not ({name} is None or isinstance({name}, Tensor))")
        elif p.kind == "PyObject":
            unlike.append(f"{name} is REQUIRED")
        else:
            unlike.append(
                f"type({name}) is not int"
                if p.plain == {int}
                else f"type({name}) not in kinds[{i}]"
            )
    return {
        "head": head, "given": given, "unfit": unfit, "names": ", ".join(names), "count": str(count),
        "row": rows[0] if len(rows) == 1 else f"({', '.join([f'*{row}' for row in rows])})",
        "not_in_row": "not isinstance(n, Tensor)" if o.lists else "type(n) is not int",
        "unlike": " or ".join(unlike), "values": ", ".join(every), "rest": "".join([f", {v}" for v in every[first:]]),
        "wanted": "edge is not None" + " or second is not None" * pair,
        "unusual": "MADE or edge is _NOWHERE" + " or second is _NOWHERE" * pair,
        "edges": "edge, second" if pair else "edge,", "saved": _saved(o, every) if forms["node"] else "",
        "operands": "a, b if pair else _NUMBER" if pair else "a", "arrays": "a, b" if pair else "a",
        "device": "storage.device" if view else "CPU", "quiet": "here.run_ufunc" if forms["ufunc"] else "run_silenced",
    }  # fmt: skip


def _saved(o: Any, values: list[str]) -> str:
    """What the node of a plain call saves, as `Op.save` finds it."""
    entries = []
    for name, read, user, holds in o.saves:
        at = o.schema.names.index(name) if name in o.schema.names else None
        if name == "self_sym_sizes":
            entries.append("a.shape")
        elif read is None:  # a result, which comes later
            entries.append("None")
        elif at is None:
            return f"save(({', '.join(values)},), fn._edges)"
        elif not holds:
            entries.append(values[at])
        else:
            entry = f"save_tensor({values[at]})"
            if at == 1 and o.numbers:
                entry += f" if pair else SavedNumber({values[at]})"
            if user is not None:
                entry = f"({entry}) if {('edge', 'second')[user]} is not None else None"
            entries.append(entry)
    return f"{', '.join(entries)}," if entries else "()"


__all__ = ["Overloads", "plain_call"]
