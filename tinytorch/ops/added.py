"""A matrix product added to a tensor: addmm, addmv, addr, addbmm, baddbmm and their in-place forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import cpp_name
from ..fused import multiply_add
from ..graph.history import needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..tensor import Tensor, fresh, wrap_dim
from .arguments import guarded
from .core import common_device, op, quiet, record, recording, result, result_dtype, write_in_place, write_out
from .linalg import check_bmm, check_mm, mat_grad_left, mat_grad_right, product, same_dtype, strides_for
from .scalars import times
from .views import expand
from .views import t as turned


def _times(x: Tensor, number: Any) -> Tensor:
    return x if number == 1 else times(x, number)


def _blend(a: np.ndarray, made: np.ndarray, beta: Any, alpha: Any) -> np.ndarray:
    scaled = made if alpha == 1 else made * made.dtype.type(alpha)
    if beta == 0:
        return scaled
    return (a if beta == 1 else a * a.dtype.type(beta)) + scaled


# what fits, and what the error says ------------------------------------------------------------------------------------


def _check_addmm(input: Tensor, x: Tensor, y: Tensor) -> None:
    _check_dtypes(input, x, y)
    for t, n in ((x, "mat1"), (y, "mat2")):
        if t._data.ndim != 2:
            raise RuntimeError(f"{n} must be a matrix, got {t._data.ndim}-D tensor")
    check_mm(x, y)


def _check_dtypes(input: Tensor, x: Tensor, y: Tensor) -> None:
    if input.dtype is not y.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {input.dtype.scalar_name} and {y.dtype.scalar_name}"
        )
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {x.dtype.scalar_name} and {y.dtype.scalar_name}"
        )


def _check_addmv(input: Tensor, mat: Tensor, vec: Tensor) -> None:
    if mat._data.ndim != 2 or vec._data.ndim != 1 or input._data.ndim > 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {input._data.ndim}, {mat._data.ndim}, {vec._data.ndim}"
        )
    (m, k), n = mat._data.shape, vec._data.shape[0]
    size = input._data.shape[0] if input._data.ndim else 1
    if k != n or size not in (1, m):
        raise RuntimeError(f"size mismatch, got input ({size}), mat ({m}x{k}), vec ({n})")
    if not input.dtype is mat.dtype is vec.dtype:
        names = (t.dtype.scalar_name for t in (input, mat, vec))
        raise RuntimeError("addmv input tensors must have the same dtype, but got {}, {}, and {}".format(*names))


def _check_addr(input: Tensor, x: Tensor, y: Tensor) -> None:
    for t, n in ((x, "vec1"), (y, "vec2")):
        if t._data.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {n}, but got {t._data.ndim}-D")


def _check_factors(kind: np.dtype, beta: Any, alpha: Any) -> None:
    """What `addr` says of factors of another category than its result's."""
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if isinstance(factor, bool) and kind.kind != "b":
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
        if isinstance(factor, float) and kind.kind != "f":
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")


def _check_expands(input: Tensor, x: Tensor, y: Tensor, batched: bool) -> None:
    """torch expands the input to the sizes of the result before it counts dimensions and compares sizes."""
    for t, d in ((x, 1), (y, 2)):
        wrap_dim(d, t._data.ndim)
    size = (x.size(0), x.size(1), y.size(2))[not batched :]
    if input._data.shape != size:
        expand(input, size)


def _check_baddbmm(input: Tensor, x: Tensor, y: Tensor) -> None:
    _check_expands(input, x, y, True)
    if input.dtype is not x.dtype:
        names = (cpp_name(t.dtype) for t in (input, x, y))
        raise RuntimeError("Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}".format(*names))
    check_bmm(x, y)
    same_dtype("bmm", x, y)


def _check_addbmm(input: Tensor, x: Tensor, y: Tensor) -> None:
    _check_expands(input, x, y, False)
    for t, n in ((x, "batch1"), (y, "batch2")):
        if t._data.ndim != 3:
            raise RuntimeError(f"{n} must be a 3D tensor")
    (b, n, k), (c, m, p) = x._data.shape, y._data.shape
    if b != c:
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {b} and {c}")
    if k != m:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({n}x{k} and {m}x{p})")
    _check_dtypes(input, x, y)


def _outer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.multiply.outer(a, b)


def _summed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return product(a, b, "addmm_impl_cpu_").sum(axis=0, dtype=a.dtype)


def _batches(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return product(a, b, "baddbmm")


def _shape(name: str, a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    """The shape of the result."""
    return (
        (*a.shape, *b.shape)
        if name == "addr"
        else (*a.shape[name == "addbmm" : -1], *b.shape[2 if b.ndim == 3 else 1 :])
    )


def _sum(a: np.ndarray, input: Tensor, made: np.ndarray, beta: Any, alpha: Any) -> np.ndarray:
    if a.shape not in (made.shape, made.shape[1:]):
        expand(input, made.shape)
    return quiet.run(_blend, a, made, beta, alpha)


# the operations ----------------------------------------------------------------------------------------------------------


def _added(name: str, x_name: str, y_name: str, kernel: Callable, check: Callable, kind: type, what: str) -> Any:
    """Declare `beta * input + alpha * kernel(x, y)` and its in-place form."""

    def saved(x: Tensor, y: Tensor, beta: Any, alpha: Any) -> dict[str, Any]:
        values = {"beta": beta, "alpha": alpha, x_name: x, y_name: y}
        for n, t in ((x_name, x), (y_name, y)):
            values[f"{n}_sym_sizes"], values[f"{n}_sym_strides"] = tuple(t._data.shape), strides_for(t)
        if name == "addbmm":
            values |= {"batch1_sym_argsize_0": x._data.shape[0], "batch1_sym_argsize_1": x._data.shape[1],
                       "batch2_sym_argsize_2": y._data.shape[2]}  # fmt: skip
        return values

    def computed(input: Tensor, x: Tensor, y: Tensor, beta: Any, alpha: Any) -> np.ndarray:
        check(input, x, y)
        common_device(name, input, x, y, names=("self", x_name, y_name))
        made = kernel(x._data, y._data)
        if name == "addr":
            made = made.astype(result_dtype(input, x, y).np, copy=False)
            _check_factors(made.dtype, beta, alpha)
            return _sum(input._data.astype(made.dtype, copy=False), input, made, beta, alpha)
        return _sum(input._data, input, made, beta, alpha)

    def function(
        input: Tensor, x: Tensor, y: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
    ) -> Tensor:
        data = computed(input, x, y, beta, alpha)
        if out is not None:
            return write_out(out, data, name, input, x, y)
        made = result(data, input._device)
        return record(made, kind, (input, x, y), **saved(x, y, beta, alpha)) if recording(input, x, y) else made

    def in_place(self: Tensor, x: Tensor, y: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        check(self, x, y)
        shape = _shape(name, x._data, y._data)
        if name == "addr" and self._data.ndim != 2:
            raise RuntimeError(f"2D tensor expected, got {self._data.ndim}D tensor for input")
        if shape != self._data.shape and name != "addbmm":
            raise RuntimeError(
                f"size mismatch, input: {list(self.shape)}, v1: {list(x.shape)}, v2: {list(y.shape)}"
                if name == "addr"
                else f"Bad in-place call: input tensor size {list(self.shape)} and output tensor size {list(shape)} "
                "should match"
            )
        data = computed(self, x, y, beta, alpha)
        if data.shape != self._data.shape:  # addbmm_ gives its target another shape; the write alone counts
            version = self._own_counter().version
            self._resized(data.shape)  # type: ignore[attr-defined]
            self._own_counter().version = version
        return write_in_place(self, (self, x, y), kind, saved(x, y, beta, alpha), lambda: data)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`beta * input + alpha * {what}`.\n\nSource: `torch.{name}`."
    in_place.__name__ = in_place.__qualname__ = f"{name}_"
    in_place.__doc__ = f"`beta * self + alpha * {what}`, in place.\n\nSource: `torch.Tensor.{name}_`."
    op(f"{name}_", function=False)(in_place)
    return op(name)(function)


_over_beta = lambda grad, beta: _times(grad, beta)  # noqa: E731
_AddmmBackward0 = node(
    "AddmmBackward0",
    _over_beta,
    lambda grad, alpha, mat2, mat1_sym_sizes, mat1_sym_strides: _times(mat_grad_left(grad, mat2, mat1_sym_sizes, mat1_sym_strides), alpha),
    lambda grad, alpha, mat1, mat2_sym_sizes, mat2_sym_strides: _times(mat_grad_right(grad, mat1, mat2_sym_sizes, mat2_sym_strides), alpha),
)  # fmt: skip
_AddmvBackward0 = node(
    "AddmvBackward0",
    _over_beta,
    lambda grad, alpha, vec: _times(grad.ger(vec), alpha),
    lambda grad, alpha, mat: _times(mat.t().mv(grad), alpha),
)
_AddrBackward0 = node(
    "AddrBackward0",
    _over_beta,
    lambda grad, alpha, vec2: _times(grad.mv(vec2), alpha),
    lambda grad, alpha, vec1: _times(grad.t().mv(vec1), alpha),
)
_BaddbmmBackward0 = node(
    "BaddbmmBackward0",
    _over_beta,
    lambda grad, alpha, batch2: _times(grad.bmm(batch2.transpose(1, 2)), alpha),
    lambda grad, alpha, batch1: _times(batch1.transpose(1, 2).bmm(grad), alpha),
)
_AddbmmBackward0 = node(
    "AddbmmBackward0",
    _over_beta,
    lambda grad, alpha, batch2, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2: _times(
        grad.unsqueeze(0).expand(batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2).bmm(batch2.transpose(1, 2)), alpha
    ),
    lambda grad, alpha, batch1, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2: _times(
        batch1.transpose(1, 2).bmm(grad.unsqueeze(0).expand(batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2)), alpha
    ),
)  # fmt: skip
addmm = _added("addmm", "mat1", "mat2", product, _check_addmm, _AddmmBackward0, "(mat1 @ mat2)")
_added("addmv", "mat", "vec", product, _check_addmv, _AddmvBackward0, "(mat @ vec)")
_added("addr", "vec1", "vec2", _outer, _check_addr, _AddrBackward0, "the outer product of vec1 and vec2")
_added("baddbmm", "batch1", "batch2", _batches, _check_baddbmm, _BaddbmmBackward0, "(batch1 @ batch2)")
_added(
    "addbmm", "batch1", "batch2", _summed, _check_addbmm, _AddbmmBackward0, "the sum of the products batch1 @ batch2"
)


def _added_row(row: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """`addmm(row, x, y)`, the shortest way where all fits together as it does in a layer."""
    a, b, c = row._data, x._data, y._data
    kind, where = a.dtype, row._device
    if (
        kind.char not in "fd" or b.dtype is not kind or c.dtype is not kind or b.ndim != 2 or c.ndim != 2
        or b.shape[1] != c.shape[0] or a.shape != c.shape[1:] or x._device is not where or y._device is not where
    ):  # fmt: skip
        return addmm(row, x, y)
    here = MODES.here
    if b.shape[1] == 1 and b.shape[0] > 1 < c.shape[1] and kind.char == "f":
        data = here.run(multiply_add, b, c, a)  # a single product is added to with one rounding
    else:
        data = product(b, c)
        data = here.run(np.add, a, data, data)
    made = fresh(data, where, here.inference)
    if here.grad:
        to_x, to_y = needs_grad(x), needs_grad(y)
        if to_x or to_y or needs_grad(row):
            _AddmmBackward0.record(
                made, (row, x, y), alpha=1, beta=1, mat1=x, mat2=y, mat1_sym_sizes=b.shape, mat2_sym_sizes=c.shape,
                mat1_sym_strides=x.stride() if to_x else (), mat2_sym_strides=y.stride() if to_y else (),
            )  # fmt: skip
    return made


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`: input (..., in), weight (out, in), bias (out).

    Source: `torch.nn.functional.linear`.
    """
    a = input._data
    if not (a.ndim and weight._data.ndim):
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {a.ndim}D and {weight._data.ndim}D"
        )
    if bias is None:
        return input.matmul(weight.t())
    if a.ndim == 2:
        return _added_row(bias, input, turned(weight))
    flat = addmm(bias, input.reshape(-1, a.shape[-1]), weight.t())
    return flat.view(*a.shape[:-1], weight._data.shape[0])


_linear.__name__ = _linear.__qualname__ = "linear"
linear = guarded(_linear, "linear", False)
