"""The plain call, made short: one closure for each kind of kernel, which does at once what `Op` does step by step.

A call is plain if its tensors lie on the CPU, the arguments are of the very types that the schema names (sizes a tuple, of
which the caller knows that it holds ints), and neither hooks on saved tensors nor anomaly mode hold. A closure returns None for any other call, before it has done anything;
then `Op` runs it in full. Nothing here is needed for an operation to be right.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.history import DEFAULT, INFERENCE, NO_GRAD, edge_of, view_of
from ..autograd.meta import TensorBase, needs_grad
from ..autograd.modes import MADE, MODES, InferenceCounter
from ..autograd.node import next_number
from ..autograd.saved import HOOKS, NUMBER
from ..devices import CPU
from ..storage import contiguous_strides
from ..tensor import Tensor, over
from .kernels import Kernel, pointwise
from .layout import broadcast_error, owner, result_layout
from .schema import REQUIRED

ndarray = np.ndarray
_new = object.__new__
_NUMBERS = (float, int)
_NUMBER = np.zeros(())  # for the layout of a result it matters only that there is one


def quick(o: Any) -> Callable | None:
    """A closure for the plain calls of an operation that give its required arguments; None if there is none."""
    params = o.schema.params
    given = [p for p in params if p.default is REQUIRED and not p.named]
    if params[: len(given)] != given or not given or not given[0].is_tensor or o.several or o.lists:
        return None
    if any(p.named and p.default is REQUIRED for p in params) or "device" in o.schema.names:
        return None
    rest = o.schema.defaults[len(given) :]
    plain = [frozenset([tuple]) if p.kind in ("int[]", "SymInt[]") else p.plain for p in given[1:]]
    kind = o.kernel.kind
    if kind == "view" and o.tensors == [0]:
        return _view(o, plain, rest)
    if kind == "composite" and params[0].shared and not params[0].written and o.tensors == [0]:
        return _composite(o, plain, rest)
    if kind != "fresh":
        return None
    if o.tensors == [0]:
        return _copied(o) if o.kernel.copies and len(given) == 1 else _one(o, plain, rest)
    if type(o.kernel) is Kernel and o.tensors == list(range(len(given))) == o.inputs and len(given) > 2:
        return _several(o, rest)
    return _two(o, rest) if o.tensors == [0, 1] and len(given) == 2 else None


def _saver(o: Any) -> Any:
    """What a node of the operation saves of its arguments: `save(values, edges)`; None if that is nothing."""
    saves = [] if o.node is None else o.saves
    tensors = {o.schema.names[i] for i in o.tensors}
    if all(name not in tensors for name, _, _ in saves):
        reads = [(lambda v: None) if read is None else read for _, read, _ in saves]
        if not reads:
            return None
        if len(reads) == 1:
            read = reads[0]
            return lambda values, edges: (read(values), None)
        return lambda values, edges: tuple([x for read in reads for x in (read(values), None)])
    if len(saves) == 1 and saves[0][2] is None:
        at = o.schema.names.index(saves[0][0])
        return lambda values, edges: (values[at], values[at]._counter[0])
    if [s[0] for s in saves] == ["other", "self"] and [s[2] for s in saves] == [0, 1] and o.tensors == [0, 1]:
        return _save_both

    def save(values: tuple, edges: tuple) -> tuple:
        saved: list = []
        for name, read, user in saves:
            x = None if read is None else read(values)
            unread = user is not None and edges[user] is None
            if x is None or (unread and (isinstance(x, TensorBase) or name in tensors)):
                saved += (None, None)
            elif isinstance(x, TensorBase):
                saved += (x, x._counter[0])
            else:
                saved += (x, NUMBER if name in tensors else None)
        return tuple(saved)

    return save


def _save_both(values: tuple, edges: tuple) -> tuple:
    x, y = values[0], values[1]
    first, second = edges
    if first is not None:
        if second is not None:
            return (y, y._counter[0], x, x._counter[0])
        return (y, y._counter[0] if isinstance(y, TensorBase) else NUMBER, None, None)
    return (None, None, x, x._counter[0])


_NOWHERE: Any = (None, 0)  # of a view that requires grad by its base alone; `Op` records what is made of it


def _edge(x: Any) -> Any:
    """Where a gradient for a tensor flows that is a view, and so may have a history to be made anew."""
    return (edge_of(x) or _NOWHERE) if needs_grad(x) else None


def _one(o: Any, plain: list, rest: tuple) -> Callable:
    """The plain call of an operation on one tensor."""
    kernel, node, save = o.kernel, o.node, _saver(o)
    straight = kernel.straight if type(kernel) is pointwise and not plain and not rest else ()
    function = kernel.function
    whole = function if type(kernel) is Kernel else kernel
    results = bool(node is not None and node.results)
    only_result = results and node.saved_names == ("result",)
    single = len(rest) == 1

    def call(x: Any, *args: Any) -> Any:
        if not isinstance(x, Tensor):
            return None
        storage, counter = x._storage, x._counter
        if type(counter) is not list or (storage is not None and storage.device is not CPU):
            return None
        if args:
            for value, kinds in zip(args, plain):  # noqa: B905 - as many by construction
                if type(value) not in kinds:
                    return None
        here, fn, a = MODES.here, None, x._data
        if node is not None and here.grad:
            edge = x._edge
            if x._view is not None:
                edge = _edge(x)
            elif edge is None and (m := x._meta) is not None and m.requires_grad:
                edge = (x, 0)
            if edge is not None:
                if HOOKS or MADE or edge is _NOWHERE:
                    return None
                fn = _new(node)
                fn._edges = edges = (edge,)
                fn._saved = () if save is None else save((x, *args, *rest), edges)
        if a.dtype.num in straight and a.size:
            data = here.run(function, a)
            if type(data) is not ndarray or data.ndim > 1:
                data = result_layout(data, a)
        else:
            data = here.run(whole, a, *args, *rest) if args or not single else here.run(whole, a, rest[0])
            if type(data) is not ndarray:
                data = np.asarray(data)
            elif not data.size and data.base is None:  # NumPy's strides of 0
                data = ndarray(data.shape, data.dtype, data, 0, contiguous_strides(data.shape, data.itemsize))
        out = _new(Tensor)
        out._data = data
        out._counter = [0] if not here.inference else InferenceCounter()
        out._storage = out._edge = out._meta = out._view = None
        if fn is not None:
            _record(fn, out, data)
            if only_result:
                fn._saved = (out._alias(), 0)
            elif results:
                fn.keep_results((out,))
        return out

    return call


def _copied(o: Any) -> Callable:
    """The plain call of what gives a copy: of floats that are row-major and dense in memory."""
    node = o.node
    if o.saves:
        return lambda *args: None

    def call(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return None
        a, storage = x._data, x._storage
        kind = a.dtype
        if kind.kind != "f" or type(x._counter) is not list or (storage is not None and storage.device is not CPU):
            return None
        if not a.size or (a.strides != (a.itemsize,) and not (a.flags.c_contiguous and 1 not in a.shape)):
            return None
        here, fn = MODES.here, None
        if here.grad and needs_grad(x):
            if HOOKS or MADE:
                return None
            fn = _new(node)
            fn._edges = (edge_of(x),)
            fn._saved = ()
        out = _new(Tensor)
        out._data = data = a.copy()
        out._counter = [0] if not here.inference else InferenceCounter()
        out._storage = out._edge = out._meta = out._view = None
        if fn is not None:
            fn._seq = next_number()
            fn._hooks = None
            fn._expects = (data.shape, kind, CPU)
            out._edge = (fn, 0)
        return out

    return call


def _record(fn: Any, out: Any, data: ndarray) -> None:
    """Make a new tensor the output of its node."""
    kind = data.dtype
    if kind.kind != "f":
        raise RuntimeError(f"Autograd not support dtype: {out.dtype.scalar_name}")
    fn._seq = next_number()
    fn._hooks = None
    fn._expects = (data.shape, kind, CPU)
    out._edge = (fn, 0)


def _two(o: Any, rest: tuple) -> Callable:
    """The plain call of an operation on two tensors, or on a tensor and a number that stands for one."""
    kernel, node, save, numbers = o.kernel, o.node, _saver(o), o.numbers
    later, saves = o.schema.names[2:], [] if node is None else [name for name, _, _ in o.saves]
    fixed: tuple | None = None  # what is saved of every call alike
    if all(name in later for name in saves):
        fixed = tuple([x for name in saves for x in (rest[later.index(name)], None)])
    straight = kernel.straight if type(kernel) is pointwise else ()
    function, extra = kernel.function, rest
    if type(kernel) is pointwise and kernel.plain is not None:
        function, extra = kernel.plain, ()
    whole = kernel.function if type(kernel) is Kernel else kernel
    results = bool(node is not None and node.results)
    both = len(o.inputs) == 2 and hasattr(node, "rules")  # else its edges are not one for each input

    def call(x: Any, y: Any) -> Any:
        if not isinstance(x, Tensor):
            return None
        a, storage = x._data, x._storage
        kind = a.dtype
        if storage is not None and storage.device is not CPU:
            return None
        pair = isinstance(y, Tensor)
        if pair:
            b, storage = y._data, y._storage
            if storage is not None and storage.device is not CPU:
                return None
            simple = b.dtype is kind and kind.num in straight
        elif numbers and type(y) in _NUMBERS and kind.kind == "f" and kind.num in straight:
            if type(y) is int and not -1 << 53 < y < 1 << 53:
                return None
            b, simple = y, True
        else:
            return None
        here, fn = MODES.here, None
        if node is not None and here.grad:
            first, second = x._edge, None
            if x._view is not None:
                if (first := _edge(x)) is _NOWHERE:
                    return None
            elif first is None and (m := x._meta) is not None and m.requires_grad:
                first = (x, 0)
            if pair:
                second = y._edge
                if y._view is not None:
                    if (second := _edge(y)) is _NOWHERE:
                        return None
                elif second is None and (m := y._meta) is not None and m.requires_grad:
                    second = (y, 0)
            if first is not None or second is not None:
                if HOOKS or MADE or not both:
                    return None
                fn = _new(node)
                fn._edges = edges = (first, second)
                fn._saved = save((x, y, *rest) if rest else (x, y), edges) if fixed is None else fixed
        if simple:
            try:
                data = here.run(function, a, b, *extra) if extra else here.run(function, a, b)
            except ValueError:
                raise broadcast_error(a.shape, b.shape) from None
            if type(data) is not ndarray or data.ndim > 1 or not data.size:
                data = result_layout(data, a, b if pair else _NUMBER)
        else:
            data = here.run(whole, a, b, *rest)
            if type(data) is not ndarray:
                data = np.asarray(data)
            elif not data.size and data.base is None:  # NumPy's strides of 0
                data = ndarray(data.shape, data.dtype, data, 0, contiguous_strides(data.shape, data.itemsize))
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
            if results:
                fn.keep_results((out,))
        return out

    return call


def written(o: Any) -> Callable | None:
    """The plain call of `name_`: floats that one ufunc writes where the first operand lies; None if there is none."""
    kernel, numbers = o.kernel, o.numbers
    ufunc = type(kernel) is pointwise and (kernel.plain or kernel.function)
    if not isinstance(ufunc, np.ufunc) or ufunc.nargs != 3 or kernel.to == "bool" or o.tensors != [0, 1]:
        return None

    def call(x: Any, y: Any) -> Any:
        if not isinstance(x, Tensor):
            return None
        a, b, counter, storage = x._data, y, x._counter, x._storage
        kind, here = a.dtype, MODES.here
        if type(counter) is not list or kind.kind != "f" or kind.num not in kernel.straight or not a.flags.forc:
            return None
        if (storage is not None and storage.device is not CPU) or (here.grad and needs_grad(x)):
            return None
        if isinstance(y, Tensor):
            b, storage = y._data, y._storage
            if b.dtype is not kind or b.shape != a.shape or (storage is not None and storage.device is not CPU):
                return None
            if (x is not y and owner(a) is owner(b)) or (here.grad and needs_grad(y)):
                return None
        elif not numbers or type(y) not in _NUMBERS or (type(y) is int and not -1 << 53 < y < 1 << 53):
            return None
        here.run(ufunc, a, b, a)
        counter[0] += 1
        return x

    return call


def _composite(o: Any, plain: list, rest: tuple) -> Callable:
    """The plain call of what is made of views."""
    function = o.kernel.function

    def call(x: Any, *args: Any) -> Any:
        if not isinstance(x, Tensor):
            return None
        for value, kinds in zip(args, plain):  # noqa: B905 - as many by construction
            if type(value) not in kinds:
                return None
        return function(x, *args, *rest)

    return call


def view_of_all(o: Any) -> Callable:
    """The plain call of a view that gives all its arguments, also those with a default."""
    return _view(o, [p.plain for p in o.schema.params[1:]], ())


def _picker(o: Any) -> Callable | None:
    """What the node of a view saves, picked from None, the sizes and the arguments; None if it saves anything else."""
    places = {"self_sym_sizes": 1, **{name: i + 1 for i, name in enumerate(o.schema.names) if i}}
    names = () if o.node is None else o.node.saved_names
    if any(name not in places for name in names):
        return None
    return operator.itemgetter(*[i for name in names for i in (places[name], 0)]) if names else lambda values: ()


def _several(o: Any, rest: tuple) -> Callable:
    """The plain call of an operation on more than two tensors, as a layer's matrix product."""
    function, node, save = o.kernel.function, o.node, _saver(o)

    def call(*tensors: Any) -> Any:
        for t in tensors:
            if not isinstance(t, Tensor) or type(t._counter) is not list:
                return None
            if (storage := t._storage) is not None and storage.device is not CPU:
                return None
        here, fn = MODES.here, None
        if here.grad:
            edges = tuple([edge_of(t) for t in tensors])
            if any([e is not None for e in edges]):
                if HOOKS or MADE:
                    return None
                fn = _new(node)
                fn._edges = edges
                fn._saved = () if save is None else save((*tensors, *rest), edges)
        data = np.asarray(here.run(function, *[t._data for t in tensors], *rest))
        if not data.size and data.base is None:  # NumPy's strides of 0
            data = ndarray(data.shape, data.dtype, data, 0, contiguous_strides(data.shape, data.itemsize))
        out = over(data)
        if fn is not None:
            _record(fn, out, data)
            if node.results:
                fn.keep_results((out,))
        return out

    return call


def _view(o: Any, plain: list, rest: tuple) -> Callable:
    """The plain call of a view; sizes come as a tuple of ints."""
    function, node, save = o.kernel.function, o.node, _picker(o)
    if node is None or save is None:
        return lambda *args: None
    first, others = (plain[0], plain[1:]) if plain else (frozenset(), [])
    bare, sized = node.saved_names == (), node.saved_names == ("self_sym_sizes",)

    def call(x: Any, *args: Any) -> Any:
        if not isinstance(x, Tensor) or type(counter := x._counter) is not list:
            return None
        if args:
            if type(args[0]) not in first:
                return None
            if others:
                for value, kinds in zip(args[1:], others):  # noqa: B905 - as many by construction
                    if type(value) not in kinds:
                        return None
        here, fn, source, a = MODES.here, None, x._view, x._data
        creation = DEFAULT
        if here.grad:
            edge = x._edge
            if source is not None:
                if (edge := _edge(x)) is _NOWHERE:
                    return None
            elif edge is None and (m := x._meta) is not None and m.requires_grad:
                edge = (x, 0)
            if edge is not None:
                if HOOKS or MADE:
                    return None
                fn = _new(node)
                fn._edges = (edge,)
                fn._saved = () if bare else (a.shape, None) if sized else save((None, a.shape, *args, *rest))
        else:
            creation = INFERENCE if here.inference else NO_GRAD
        storage = x._storage
        data = function(a, *args, *rest) if rest else function(a, *args)
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
            kind = data.dtype
            if kind.kind == "f":
                fn._seq = next_number()
                fn._hooks = None
                fn._expects = (data.shape, kind, storage.device)
                out._edge = (fn, 0)
        return out

    return call
