"""Calling operations: which overload the arguments of a call fit, and the plain call, made short.

A call is plain if its arguments are given by position and are of the very types that the schema names. A closure for
each kind of kernel sees that and does at once what `Op` does step by step; where tensors lie on another device, or hooks
on saved tensors or anomaly mode hold, it has `Op` do it. A call that is not plain it hands on, to the next overload and at
last to torch's own way of reading arguments. But for that nothing here is needed for an operation to be right.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.history import DEFAULT, INFERENCE, NO_GRAD, edge_of, view_of
from ..autograd.meta import needs_grad
from ..autograd.modes import MADE, MODES, InferenceCounter, bump
from ..autograd.node import next_number
from ..autograd.saved import HOOKS, NUMBER
from ..devices import CPU
from ..tensor import Tensor, as_result
from .kernels import pointwise
from .layout import broadcast_error, owner, result_layout
from .schema import REQUIRED, Signature, mismatch

_new = object.__new__
_ndarray = np.ndarray
_NUMBERS = (float, int)
_NUMBER = np.zeros(())  # for the layout of a result it matters only that there is one
_NOWHERE: Any = (None, 0)
_SAYS = {
    "view": "A view: the same memory, the same version counter.",
    "views": "Views: the same memory, the same version counter.",
    "write": "Writes into its first argument, and counts the write.",
    "turn": "Has the tensor itself look at its memory in another way.",
    "composite": "Made of other operations.",
    "fresh": "A result with memory of its own.",
}


class Overloads:
    """What one name may be called with, and how it runs."""

    def __init__(self, name: str, inplace: bool = False) -> None:
        self.name, self.inplace = name, inplace
        self.ops: list = []
        self.offered: list[tuple[Any, bool, bool]] = []  # an operation, whether it takes `out=`, whether it is a method
        self.signatures: dict[bool, list] = {}  # of methods or functions: signature, operation, how it runs

    def add(self, made: Any, out: bool = False, method: bool = False) -> None:
        """One more overload."""
        self.ops.append(made)
        self.offered.append((made, out, method and made.schema.has_self))
        self.signatures.clear()

    def called(self, method: bool) -> Callable:
        """What a user calls: finds the overload, and hands it its arguments."""

        def read(*args: Any, **named: Any) -> Any:
            return self._read(method, tuple([x for x in args if x is not REQUIRED]), named)

        call: Any = read
        ways = [(o, _closure(o, self.inplace)) for o in reversed(self.ops)]
        first = next((o for o in self.ops if o.schema.positional > 1), None)  # before the others it may look further
        for o, way in ways:
            call = _of_one(o, call, method, o is not first) if way is _of_one else _any(o, call, method, self.inplace)
        for o, way in ways:  # what takes tensors or ints alone, which no other overload would, is tried first
            call = call if way in (None, _of_one) else way(o, call, method)
        shown = self.ops[0]
        call.__name__, call.__qualname__ = self.name, f"Tensor.{self.name}" if method else self.name
        call.__module__ = "tinytorch"
        says = _SAYS["write" if self.inplace else shown.kernel.kind]
        call.__doc__ = f"{shown.schema.text}\n\n{says} Source: `torch.{shown.name}`."
        call.overloads = self.ops
        return call

    def _read(self, method: bool, args: tuple, named: dict) -> Any:
        """Call as torch's parser reads the arguments. TypeError, in its words, if they fit no overload."""
        if method and not (args and isinstance(args[0], Tensor)):
            raise TypeError(f"unbound method TensorBase.{self.name}() needs a tensor")
        for o in self.ops:  # first by types that need no further look, with names or in rows
            values = o.schema.plain(o.schema.gathered(args, int(method)), named, o.numbers)
            if values is not None:
                return o.inplace(*values) if self.inplace else o.run(*values)
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
            signature.unpack(found)
            if method:
                found["self"] = args[0]
            out, grad = found.pop("out", None), o.schema.is_factory and found.pop("requires_grad", False)
            values = tuple([p.read(found[p.name]) if p.name in found else p.default for p in o.schema.params])
            if out is not None:
                return o.into(out, values)
            made = o.inplace(*values) if self.inplace else o.run(*values)
            if grad:
                if made._data.dtype.kind != "f":
                    raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
                made.requires_grad_()
            return made
        raise mismatch(self.name, [s for s, _ in self.signatures[method]], args[method:], named)


def plain_call(o: Any, otherwise: Callable) -> Callable:
    """The plain call of one operation, as formulas, other operations and Python's operators make it."""
    way = _closure(o, False)
    return otherwise if way is None else way(o, otherwise, False)


@functools.cache
def _closure(o: Any, inplace: bool) -> Callable | None:
    """What makes the closure for plain calls of an operation, by the kind of its kernel; None for most of them."""
    schema, kernel = o.schema, o.kernel
    if o.several or o.lists or schema.is_factory or REQUIRED in schema.defaults[schema.positional :]:
        return None
    two = o.tensors == [0, 1] and schema.least == 2
    if inplace:
        ufunc = type(kernel) is pointwise and kernel.to != "bool" and (kernel.plain or kernel.function)
        return functools.partial(_of_two, inplace=True) if two and type(ufunc) is np.ufunc else None
    if kernel.kind == "view" and o.node is not None:
        return _looking
    if kernel.kind != "fresh" or o.tensors == [0]:
        return _of_one if kernel.kind == "fresh" else None
    return _of_two if two and (o.node is None or (o.inputs == [0, 1] and hasattr(o.node, "rules"))) else None


def _any(o: Any, otherwise: Callable, method: bool, inplace: bool) -> Callable:
    """The plain call of any operation by position, run in full."""
    run, defaults, kinds = o.inplace if inplace else o.run, o.schema.defaults, o.schema.kinds
    least, most, lead = o.schema.least, o.schema.positional, int(method)
    sizes = most == lead + 1 == least and o.schema.params[lead].is_sizes

    def call(*args: Any, **named: Any) -> Any:
        n = len(args)
        if sizes and not named and n > lead and not (method and not isinstance(args[0], Tensor)):
            for k in args[lead:]:  # sizes one by one
                if type(k) is not int:
                    break
            else:
                return run(*args[:lead], args[lead:], *defaults[lead + 1 :])
        if not named and least <= n <= most:
            for x, plain in zip(args, kinds):  # noqa: B905 - as many by construction
                if type(x) not in plain:
                    break
            else:
                return run(*args, *defaults[n:])
        return otherwise(*args, **named)

    return call


def _keeper(o: Any) -> tuple[tuple, Callable | None]:
    """What the node of a plain call saves: what is always the same, or else `save(values, edges)`."""
    if o.node is None:
        return (), None
    names = o.node.saved_names
    same = {p.name: p.default for p in o.schema.params if p.named} | dict.fromkeys(o.node.results)  # which come later
    if same.keys() >= {*names}:
        return tuple([x for n in names for x in (same[n], None)]), None
    if names == ("self_sym_sizes",):
        return (), lambda values, edges: (values[0]._data.shape, None)
    if names == ("other", "self") and o.node.users == (0, 1):
        return (), _save_both
    return (), o.save


def _save_both(values: tuple, edges: tuple) -> tuple:
    """What a product saves: each operand only where the other one needs a gradient."""
    x, y = values[0], values[1]
    first, second = edges
    if first is not None:
        if second is not None:
            return (y, y._counter[0], x, x._counter[0])
        return (y, y._counter[0] if isinstance(y, Tensor) else NUMBER, None, None)
    return (None, None, x, x._counter[0])


def _edge(x: Any) -> Any:
    """Where a gradient for a view flows, whose history may have to be made anew; `_NOWHERE` if its base alone requires grad."""
    return (edge_of(x) or _NOWHERE) if needs_grad(x) else None


def _of_one(o: Any, otherwise: Callable, method: bool, exact: bool = False) -> Callable:
    """The plain call of an operation on one tensor; `exact`: by position and types alone, as other overloads come first."""
    schema, kernel, node, run, rest = o.schema, o.kernel, o.node, o.run, o.schema.defaults[1:]
    needed, function, compute = REQUIRED in rest, kernel.function, o.compute
    straight = kernel.straight if type(kernel) is pointwise and not rest else ()
    fixed, save = _keeper(o)
    result_alone = node is not None and node.saved_names == ("result",)

    def call(x: Any = REQUIRED, /, *args: Any, **named: Any) -> Any:
        given = rest
        if args or named or needed or not isinstance(x, Tensor):
            given = schema.plain((x, *args), named, False, exact) if isinstance(x, Tensor) else None
            if given is None:
                return otherwise(x, *args, **named)
            given = given[1:]
            if named:
                return run(x, *given)
        here, storage, fn, a = MODES.here, x._storage, None, x._data
        if type(x._counter) is not list or (storage is not None and storage.device is not CPU):
            return run(x, *given)
        if here.grad and node is not None:
            edge = x._edge
            if x._view is not None:
                edge = _edge(x)
            elif edge is None and (m := x._meta) is not None and m.requires_grad:
                edge = (x, 0)
            if edge is not None:
                if HOOKS or MADE or edge is _NOWHERE:
                    return run(x, *given)
                fn = _new(node)
                fn._edges = edges = (edge,)
                fn._saved = fixed if save is None else save((x, *given), edges)
        if kernel.copies and not args:
            data = function(a)
        elif a.dtype.num in straight and a.size:
            data = here.run(function, a)
            if data.ndim != 1:
                data = result_layout(data, a)
        else:
            data = here.run(compute, a, *given)
            if type(data) is not _ndarray or not data.size:
                data = as_result(data)
        out = _new(Tensor)
        out._data = data
        out._counter = [0] if not here.inference else InferenceCounter()
        out._storage = out._edge = out._meta = out._view = None
        if fn is not None:
            kind = data.dtype
            if kind.kind != "f":
                raise RuntimeError(f"Autograd not support dtype: {out.dtype.scalar_name}")
            fn._seq = next_number()
            fn._hooks = None
            fn._expects = (data.shape, kind, CPU)
            out._edge = (fn, 0)
            if result_alone:
                fn._saved = (out._alias(), 0)
            elif node.results:
                fn.keep_results((out,))
        return out

    return call


def _of_two(o: Any, otherwise: Callable, method: bool, inplace: bool = False) -> Callable:
    """The plain call of an operation on two tensors, or on a tensor and a number that stands for one."""
    kernel, node, numbers, rest = o.kernel, o.node, o.numbers, o.schema.defaults[2:]
    run = o.inplace if inplace else o.run
    simply = type(kernel) is pointwise and (
        kernel.plain or not rest
    )  # for which dtypes a ufunc alone is all there is to do
    straight, ufunc = (kernel.straight, kernel.plain or kernel.function) if simply else ((), None)
    compute = o.compute
    fixed, save = _keeper(o)

    def call(x: Any = REQUIRED, y: Any = REQUIRED, /, *more: Any, **named: Any) -> Any:
        pair = isinstance(y, Tensor)
        if more or named or not isinstance(x, Tensor) or not (pair or (numbers and type(y) in _NUMBERS)):
            return otherwise(x, y, *more, **named)
        a, b, storage, here, fn = x._data, y, x._storage, MODES.here, None
        kind, second = a.dtype, None
        if storage is not None and storage.device is not CPU:
            return run(x, y, *rest)
        if pair:
            b, storage = y._data, y._storage
            simple = b.dtype is kind and kind.num in straight
            if storage is not None and storage.device is not CPU:
                return run(x, y, *rest)
        else:
            simple = kind.kind == "f" and kind.num in straight and (type(y) is float or -1 << 53 < y < 1 << 53)
        if here.grad and node is not None:
            if inplace and needs_grad(x):
                return run(x, y, *rest)
            first = x._edge
            if x._view is not None:
                if (first := _edge(x)) is _NOWHERE:
                    return run(x, y, *rest)
            elif first is None and (m := x._meta) is not None and m.requires_grad:
                first = (x, 0)
            if pair:
                second = y._edge
                if y._view is not None:
                    if (second := _edge(y)) is _NOWHERE:
                        return run(x, y, *rest)
                elif second is None and (m := y._meta) is not None and m.requires_grad:
                    second = (y, 0)
            if first is not None or second is not None:
                if inplace or HOOKS or MADE:
                    return run(x, y, *rest)
                fn = _new(node)
                fn._edges = edges = (first, second)
                fn._saved = fixed if save is None else save((x, y, *rest) if rest else (x, y), edges)
        if inplace:
            apart = not pair or (b.shape == a.shape and (x is y or owner(a) is not owner(b)))
            if not simple or not apart or kind.kind != "f" or type(x._counter) is not list or not a.flags.forc:
                return run(x, y, *rest)
            here.run(ufunc, a, b, a)
            bump(x)
            return x
        if simple:
            try:
                data = here.run(ufunc, a, b)
            except ValueError:
                raise broadcast_error(a.shape, b.shape) from None
            if data.ndim != 1 or not data.size:
                data = result_layout(data, a, b if pair else _NUMBER)
        else:
            data = here.run(compute, a, b, *rest)
            if type(data) is not _ndarray or not data.size:
                data = as_result(data)
        out = _new(Tensor)
        out._data = data
        out._counter = [0] if not here.inference else InferenceCounter()
        out._storage = out._edge = out._meta = out._view = None
        if fn is not None:
            kind = data.dtype
            if kind.kind != "f":
                raise RuntimeError(f"Autograd not support dtype: {out.dtype.scalar_name}")
            fn._seq = next_number()
            fn._hooks = None
            fn._expects = (data.shape, kind, CPU)
            out._edge = (fn, 0)
            if node.results:
                fn.keep_results((out,))
        return out

    return call


def _looking(o: Any, otherwise: Callable, method: bool) -> Callable:
    """The plain call of a view by ints, all of them given, or by sizes or dimensions, which methods take one by one."""
    function, node, run, params = o.kernel.function, o.node, o.run, [p for p in o.schema.params[1:] if not p.named]
    sized = len(params) == 1 and params[0].is_sizes
    count, names, defaults = len(params), ("self_sym_sizes", *[p.name for p in params]), o.schema.defaults[1:]
    least = sum(p.default is REQUIRED for p in params)
    if not {*names}.issuperset(node.saved_names) or not (sized or all(p.type.shown == "int" for p in params)):
        return otherwise
    bare, by_size = not node.saved_names, node.saved_names == ("self_sym_sizes",)
    pick = bare or operator.itemgetter(*[i for name in node.saved_names for i in (names.index(name), -1)])

    def call(x: Any = REQUIRED, /, *args: Any, **named: Any) -> Any:
        ints, given = args, args
        if sized:
            if args and type(args[0]) is tuple:
                ints = args[0]
            else:
                given = (args,) if args and method else ()
        for n in ints:
            if type(n) is not int:
                return otherwise(x, *args, **named)
        if named or not isinstance(x, Tensor):
            return otherwise(x, *args, **named)
        if len(given) != count:
            if not least <= len(given) < count:
                return otherwise(x, *args, **named)
            given += defaults[len(given) :]
        here, fn, a, source, counter = MODES.here, None, x._data, x._view, x._counter
        creation = DEFAULT
        if type(counter) is not list:
            return run(x, *given)
        if here.grad:
            edge = x._edge
            if source is not None:
                edge = _edge(x)
            elif edge is None and (m := x._meta) is not None and m.requires_grad:
                edge = (x, 0)
            if edge is not None:
                if MADE or edge is _NOWHERE:
                    return run(x, *given)
                fn = _new(node)
                fn._edges = (edge,)
                fn._saved = () if bare else (a.shape, None) if by_size else pick((a.shape, *given, None))
        else:
            creation = INFERENCE if here.inference else NO_GRAD
        data = function(a, *given)
        storage = x._storage
        out = _new(Tensor)
        out._data = data
        out._storage = storage = x._own_storage() if storage is None else storage
        out._counter = counter
        out._edge = out._meta = None
        if source is None:
            out._view = (x, counter[0], creation)
        else:
            view_of(out, x)
        if fn is not None:
            fn._seq = next_number()
            fn._hooks = None
            fn._expects = (data.shape, data.dtype, storage.device)
            out._edge = (fn, 0)
        return out

    return call
