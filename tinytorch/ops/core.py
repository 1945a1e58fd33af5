"""What all operations share: operands brought together, results recorded, writes in place made once and rightly."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..devices import CPU, device
from ..graph.history import Geometry, check_inplace, edge_of, grad_fn_of, rebase_history
from ..graph.modes import MODES
from ..graph.node import SavedResult, SavedTensor, keep
from ..graph.saved import FREED, HOOKS, kept_tensor
from ..storage import contiguous_strides
from ..tensor import Tensor, fresh, of_array
from ..warn import warn_in_torch
from .arguments import guarded, type_name
from .layouts import dense_strides, laid_out, torch_layout
from .outputs import APART, LATE, OWN_CHECKS, UNCHECKED, WITHOUT_OUT, check_out_dtype
from .precedence import check_out
from .recording import node_for, record, recording  # noqa: F401 - the operations find them here

ndarray = np.ndarray


class _Quiet(threading.local):
    """Runs NumPy without its floating point warnings, as torch gives inf and nan in silence."""

    def __init__(self) -> None:
        self.run = MODES.here.run


quiet = _Quiet()


def tensor_type(t: Tensor) -> str:
    """The legacy type name of a tensor, as torch's messages say it: `torch.FloatTensor`."""
    return f"torch.{'cuda.' if t._device is not CPU else ''}{t.dtype.tensor_type}"


def expect_tensor(x: Any, function: str, argument: str = "input", position: int = 1) -> Tensor:
    """`x` if it is a tensor, else torch's TypeError."""
    if isinstance(x, Tensor):
        return x
    raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {type_name(x)}")


# the registry -------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable] = {}
BOOL = np.dtype(bool)


def op(
    *names: str,
    method: bool = True,
    function: bool = True,
    guard: bool = True,
    view: bool = False,
    strict: bool = False,
) -> Callable:
    """Offer a function under torch's names: as `torch.name`, as a method of Tensor, or both.

    Without `guard`, it looks itself for calls that do not fit: an operation on small tensors is faster by that. `view`
    and `strict` are for the guard, see `arguments.guarded`.
    """

    def offer(f: Callable) -> Callable:
        for name in names or (f.__name__,):
            if function:
                FUNCTIONS[name] = guarded(f, name, False, view, strict) if guard else f
            if method:
                setattr(Tensor, name, as_method_of(guarded(f, name, True, view, strict) if guard else f, name))
        return f

    return offer


def as_method_of(f: Callable, name: str) -> Callable:
    """The same function under the method's qualified name, by which error messages tell the two calls apart."""
    code = f.__code__.replace(co_qualname=f"Tensor.{name}")
    method = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    method.__kwdefaults__, method.__doc__, method.__qualname__ = f.__kwdefaults__, f.__doc__, f"Tensor.{name}"
    if f.__kwdefaults__ and "_as_method" in f.__kwdefaults__:  # which alone may be called with sizes one by one
        method.__kwdefaults__ = f.__kwdefaults__ | {"_as_method": True}
    return method


def takes_out(function: str) -> Callable:
    """Give an operation that returns one tensor an `out=`; `function` is its name in messages about that."""

    def declare(f: Callable) -> Callable:
        def call(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
            made = f(*args, **kwargs)
            return made if out is None else write_out(out, made._data, function, *args)

        call.__name__, call.__qualname__, call.__doc__ = f.__name__, f.__qualname__, f.__doc__
        return call

    return declare


# operands ----------------------------------------------------------------------------------------------------------


def common_device(function: str, *tensors: Tensor, names: tuple[str, ...] = ()) -> device:
    """The one device of the operands; RuntimeError in torch's words if there are two.

    0-d CPU tensors go along with any, except in kernels that torch calls by the `names` of their arguments.
    """
    first = tensors[0]._device if tensors else CPU
    for t in tensors:
        if t._device is not first:
            break
    else:
        return first
    if names:
        name, t = next((n, t) for n, t in zip(names, tensors, strict=True) if t._device is not first)
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but got {name} is on {t._device}, different from other tensors "
            f"on {first} (when checking argument in method wrapper_CUDA_{function})"
        )
    common = next(t._device for t in tensors if t._device is not CPU)
    for t in tensors:
        if t._device is not common and t._data.ndim:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {common} and {t._device}!"
            )
    return common


def result_dtype(*operands: Any) -> dtypes.dtype:
    """The dtype that operands meet in: tensors with dimensions, then 0-d tensors, then numbers, by category.

    Source: torch's `result_type`.
    """
    best: list[dtypes.dtype | None] = [None, None, None]
    for x in operands:
        if isinstance(x, Tensor):
            level, d = (0 if x._data.ndim else 1), x.dtype
        else:
            level, d = 2, dtypes.of_number(x)
        known = best[level]
        best[level] = d if known is None else dtypes.promote_types(known, d)
    out: dtypes.dtype | None = None
    for d in best:
        if d is not None:
            if out is None:
                out = d
            elif not out.is_floating_point and (d.is_floating_point or out is dtypes.bool_):
                out = dtypes.promote_types(out, d)
    assert out is not None
    return out


def as_array(x: Any, d: dtypes.dtype) -> np.ndarray:
    """An operand as an array of dtype `d`; a number is wrapped the way torch wraps one."""
    if isinstance(x, Tensor):
        a = x._data
        if a.dtype == d.np:
            return a
        if a.ndim > 1 and (not a.flags.c_contiguous or 1 in a.shape or not a.size):
            return laid_out(quiet.run(a.astype, d.np), tuple(s // a.itemsize for s in dense_strides(a)))
        return quiet.run(a.astype, d.np)
    if isinstance(x, int) and not -(1 << 63) <= x < 1 << 64:
        raise OverflowError("int too big to convert")
    if d.np.kind in "iu":
        x = int(x)
        bits = d.itemsize * 8
        return np.array(x & ((1 << bits) - 1), f"u{d.itemsize}").view(d.np) if not _fits(x, d) else np.array(x, d.np)
    return quiet.run(np.array, x, d.np)


def _fits(x: int, d: dtypes.dtype) -> bool:
    info = np.iinfo(d.np)
    return info.min <= x <= info.max


def broadcast_error(a: tuple, b: tuple) -> RuntimeError:
    """torch's words for two shapes that do not broadcast."""
    n = max(len(a), len(b))
    for i in range(n - 1, -1, -1):
        x = a[i - n + len(a)] if i - n + len(a) >= 0 else 1
        y = b[i - n + len(b)] if i - n + len(b) >= 0 else 1
        if x not in (y, 1) and y != 1:
            return RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {i}"
            )
    return RuntimeError("shapes do not broadcast")


def result(data: Any, device: device, *operands: np.ndarray) -> Tensor:
    """A fresh tensor from a kernel's result, in torch's layout."""
    if type(data) is not ndarray:
        data = np.asarray(data)
    if data.ndim > 1:
        for a in operands:
            if not a.flags.c_contiguous or 1 in a.shape or not data.size:
                data = torch_layout(data, operands)
                break
        else:
            if not data.size or not data.flags.c_contiguous or 1 in data.shape:
                data = laid_out(data, contiguous_strides(data.shape))
    made = fresh(data, device)
    if not data.size and data.ndim > 1:
        made._data = data
    return made


def result_like(data: np.ndarray, input: Tensor) -> Tensor:
    """A fresh tensor from a kernel's result, laid out as `empty_like(input)` is, an empty one too."""
    a = input._data
    data = laid_out(data, tuple([s // a.itemsize for s in dense_strides(a)]))
    return of_array(data, input._device, MODES.here.inference)


# recording -----------------------------------------------------------------------------------------------------------


class SavedNumber(SavedTensor):
    """A Python number where torch saves a wrapped 0-d tensor: reads as that tensor, computes as the number."""

    __slots__ = ("number",)

    def __init__(self, number: Any) -> None:
        self.number = number

    def for_formula(self, node: Any = None) -> Any:
        """The number. RuntimeError once it was freed."""
        if self.number is None:
            raise RuntimeError(FREED)
        return self.number

    def unpack(self, node: Any = None) -> Any:
        """The number as a 0-d tensor."""
        number = self.for_formula()
        return fresh(np.array(number, dtypes.of_number(number).np if not isinstance(number, float) else np.float64))

    data = property(lambda self: None if self.number is None else self.unpack(), doc="The 0-d tensor, None once freed.")

    def release(self) -> None:
        """Let go of the number."""
        self.number = None


SavedNumber.__name__, SavedNumber.__module__ = "SavedTensor", "torch._C._autograd"


# writing in place --------------------------------------------------------------------------------------------------------


_SHARED = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)


def check_overlap(target: Tensor, *sources: Any, histories: bool = True) -> None:
    """Raise torch's error if elements of `target` share memory, with each other or partly with a source.

    What its history forbids is said first, unless that was looked at before (`histories` is False).
    """
    if 0 in target._data.strides and is_internally_overlapping(target):
        if histories:
            _check_inplace_first(target, sources)
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    for s in sources:
        if isinstance(s, Tensor) and s is not target and shared_memory(target, s) == "partial":
            if histories:
                _check_inplace_first(target, sources)
            raise RuntimeError(_SHARED)


def _check_inplace_first(target: Tensor, sources: tuple) -> None:
    recorded = target._data.dtype.kind == "f" and recording(target, *sources)
    check_inplace(target, recorded)
    for t in (target, *sources) if recorded else ():
        if isinstance(t, Tensor):
            grad_fn_of(t)


def check_no_overlap(target: Tensor, *sources: Tensor) -> None:
    """Raise torch's error if `target` shares memory with a source, partly or fully."""
    for s in sources:
        if s is target or shared_memory(target, s):
            raise RuntimeError(_SHARED)


def is_internally_overlapping(t: Tensor) -> bool:
    """Whether torch sees that elements of `t` share memory: strides of 0 alone, any other overlap is "too hard"."""
    a = t._data
    return a.size > 0 and any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True))


def shared_memory(a: Tensor, b: Tensor) -> str:
    """Whether two tensors cover the same memory: "full", "partial", or "" if not (or if it is too hard to say)."""
    if a._storage is None or b._storage is None or a._storage.buffer is not b._storage.buffer:
        return ""
    if not (a._data.size and b._data.size and _dense(Geometry.of(a)) and _dense(Geometry.of(b))):
        return ""
    a0, b0 = a._offset, b._offset
    a1, b1 = a0 + a.nbytes, b0 + b.nbytes
    if a0 == b0 and a1 == b1:
        return "full" if a._data.strides == b._data.strides else "partial"
    return "partial" if a0 < b1 and b0 < a1 else ""


def _dense(g: Geometry) -> bool:
    n = 1
    for k in g.shape:
        n *= k
    return not g.overlaps() and g.reach() == n


def number_array(value: Any, d: dtypes.dtype) -> ndarray:
    """A Python number as a 0-d array of dtype `d`, for filling. RuntimeError in torch's words if it does not fit."""
    dtypes.check_range(value, d, in_c=True)
    if d.np.kind in "bf":
        return np.array(value, d.np)
    return np.array(int(value) % (1 << 8 * d.itemsize) if d.np.kind == "u" else int(value), d.np)


def store(target: Tensor, data: Any) -> None:
    """Put values into the tensor's memory, converted to its dtype as torch converts."""
    a = target._data
    if type(data) is ndarray and data.dtype is a.dtype:
        a[...] = data if data.dtype is not BOOL else data.view(np.uint8) != 0  # memory read as bools may hold any byte
        return
    if isinstance(data, ndarray) and data.dtype.kind == "f" and a.dtype.kind in "iu":
        data = float_to_int(data, a.dtype)
    quiet.run(np.copyto, a, data, "unsafe")


def float_to_int(data: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Floats cut to integers; through int64 for unsigned ones, so that negative values wrap as torch's do."""
    if kind.kind == "u":
        data = quiet.run(data.astype, np.int64)
    return quiet.run(data.astype, kind)


def _store_in_turn(target: Tensor, data: Any, kernel: Callable[[], Any]) -> None:
    """Write into overlapping windows as torch does, element after element: each sees what the ones before it wrote."""
    a = target._data
    g = Geometry.of(target)
    cells = np.lib.stride_tricks.as_strided(np.arange(g.reach()), g.shape, tuple(8 * s for s in g.stride)).reshape(-1)
    turn = np.empty(cells.size, np.int64)
    seen: dict[int, int] = {}
    for i, cell in enumerate(cells.tolist()):
        turn[i] = seen[cell] = seen.get(cell, -1) + 1
    for i in range(max(seen.values(), default=-1) + 1):
        now = data if i == 0 else kernel()
        np.copyto(a, now, "unsafe", where=(turn == i).reshape(a.shape))


def write_in_place(
    target: Tensor, inputs: tuple, kind: type | None, values: dict[str, Any], kernel: Callable[[], Any]
) -> Tensor:
    """One in-place operation: checks, saves, writes what `kernel()` returns, counts the version, rewrites history.

    `inputs` are the tensors that gradients flow to, the target's old value first if at all. `kernel` returns the new
    values, or None if it wrote them itself. Without a `kind` there is nothing to record, and torch checks nothing then.
    """
    fn = None
    if kind is not None and MODES.here.grad and recording(target, *inputs):
        check_inplace(target, True)
        names = kind.saved_names  # type: ignore[attr-defined]
        edges = tuple([edge_of(t) if isinstance(t, Tensor) else None for t in inputs])
        if "self" in names and values.get("self") is target:
            by = kind.users["self"]  # type: ignore[attr-defined]
            values["self"] = target.clone() if len(by) != 1 or edges[by[0]] is not None else None
        fn = kind(edges, keep(kind, edges, {k: v for k, v in values.items() if k != "result"} | ({"result": target} if "result" in names else {})))  # fmt: skip
    data = kernel()
    if data is not None:
        if target._data.flags.forc or not Geometry.of(target).overlaps():
            store(target, data)
        else:
            _store_in_turn(target, data, kernel)
    target._own_counter().version += 1
    if fn is not None:
        fn.describe(target)
        rebase_history(target, fn)
        if "result" in kind.saved_names:  # type: ignore[union-attr]
            if target._inference:
                kept_tensor(target)  # for its error
            at = kind.saved_names.index("result")  # type: ignore[union-attr]
            fn._saved = (*fn._saved[:at], SavedResult(target), *fn._saved[at + 1 :])  # type: ignore[index]
            if HOOKS:
                fn.pack_results(target)
    return target


def write_out(out: Tensor, data: np.ndarray, function: str, *inputs: Any, layout: tuple = ()) -> Tensor:
    """Give a result through `out=`: resized if need be (with torch's warning), converted if torch may, counted.

    `layout`: the operands whose order of dimensions a resized `out` takes.
    """
    if function in WITHOUT_OUT:
        raise TypeError(f"{function}() got an unexpected keyword argument 'out'")
    if not isinstance(out, Tensor):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type_name(out)}")
    data = np.asarray(data)
    check_out(function, out, *inputs)
    early, d = function not in LATE and function not in UNCHECKED, dtypes.BY_NUM[data.dtype.num]
    if not early or function in OWN_CHECKS:
        check_out_dtype(function, d, out.dtype)
    if early:
        _check_out_memory(out, function, inputs)
        check_out_dtype(function, d, out.dtype)
    if out._data.shape != data.shape:
        if out._data.size:
            warn_in_torch(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not "
                f"match the required output shape {list(data.shape)}. This behavior is deprecated, and in a future "
                "PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse "
                "an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
                "aten/src/ATen/native/Resize.cpp:30",
            )
        version = out._vc.version
        out._resized(data.shape)
        out._vc.version = version  # the write alone counts
        if data.ndim > 1 and layout:
            steps = torch_layout(data, layout).strides
            room, n = out._own_storage().buffer, out._data.itemsize
            out._data = np.ndarray(data.shape, out._data.dtype, room, out._offset, tuple(s // data.itemsize * n for s in steps))  # fmt: skip
    if function in LATE:
        _check_out_memory(out, function, inputs)
    store(out, data)
    out._vc.version += 1
    return out


def _check_out_memory(out: Tensor, function: str, inputs: tuple) -> None:
    check_overlap(out, histories=False)
    for t in inputs:
        if isinstance(t, Tensor) and (t is out or shared_memory(out, t)) in APART.get(function, ("partial",)):
            raise RuntimeError(_SHARED)
