"""Matrix products: mm, mv, dot, bmm and their sums with a third tensor; matmul, linear and einsum built from them.

The graph is torch's: a product of tensors with more dimensions folds into `mm` or `bmm` between views.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.node import node
from ..storage import contiguous_strides
from ..tensor import Tensor
from .core import common_device, expect_tensor, op, quiet, record, recording, result, write_out
from .views import _UnsafeViewBackward0


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A matrix product; integers and float16 go the exact way round."""
    if a.dtype == np.float16:
        return quiet.run(np.matmul, a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    return quiet.run(np.matmul, a, b)


def _check(name: str, a: Tensor, b: Tensor, first: str = "m1", second: str = "m2") -> None:
    expect_tensor(a, name)
    expect_tensor(b, name, "mat2", 2)
    if a.dtype is not b.dtype:
        x, y = (t.dtype.aliases[-1] if t.dtype.aliases else t.dtype.name for t in (a, b))
        raise RuntimeError(f"expected {first} and {second} to have the same dtype, but got: {x} != {y}")


def _mat_grad_left(grad: Tensor, right: Tensor, size: tuple, stride: tuple) -> Tensor:
    """The gradient of the left factor, laid out as the factor is (torch's `mm_mat1_backward`)."""
    if stride[0] == 1 and stride[1] == size[0]:
        return right.mm(grad.t()).t()
    return grad.mm(right.t())


def _mat_grad_right(grad: Tensor, left: Tensor, size: tuple, stride: tuple) -> Tensor:
    """The gradient of the right factor, laid out as the factor is (torch's `mm_mat2_backward`)."""
    if stride[0] == 1 and stride[1] == size[0]:
        return grad.t().mm(left).t()
    return left.t().mm(grad)


_MmBackward0 = node(
    "MmBackward0",
    lambda grad, mat2, self_sym_sizes, self_sym_strides: _mat_grad_left(grad, mat2, self_sym_sizes, self_sym_strides),
    lambda grad, self, mat2_sym_sizes, mat2_sym_strides: _mat_grad_right(grad, self, mat2_sym_sizes, mat2_sym_strides),
)


def _check_mm(a: Tensor, b: Tensor, label: str = "mat1 and mat2") -> None:
    (m, k), (k2, n) = a._data.shape, b._data.shape
    if k != k2:
        raise RuntimeError(f"{label} shapes cannot be multiplied ({m}x{k} and {k2}x{n})")


@op()
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices.

    RuntimeError for other dimensions, shapes that do not fit, or two dtypes. Source: `torch.mm`.
    """
    if input._data.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2._data.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    _check_mm(input, mat2)
    _check("mm", input, mat2)
    data = _product(input._data, mat2._data)
    if out is not None:
        return write_out(out, data, "mm", input, mat2)
    made = result(data, common_device("mm", input, mat2))
    if recording(input, mat2):
        record(
            made, _MmBackward0, (input, mat2), self=input, mat2=mat2, mat2_sym_sizes=tuple(mat2._data.shape),
            mat2_sym_strides=mat2.stride(), self_sym_sizes=tuple(input._data.shape), self_sym_strides=input.stride(),
        )  # fmt: skip
    return made


_MvBackward0 = node("MvBackward0", lambda grad, vec: grad.ger(vec), lambda grad, self: self.t().mv(grad))


@op()
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector.

    Source: `torch.mv`.
    """
    if input._data.ndim != 2 or vec._data.ndim != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {1}, {input._data.ndim}, {vec._data.ndim}"
        )
    if input._data.shape[1] != vec._data.shape[0]:
        m, k = input._data.shape
        raise RuntimeError(f"size mismatch, got input ({m}), mat ({m}x{k}), vec ({vec._data.shape[0]})")
    _check("mv", input, vec, "self", "vec")
    made = result(_product(input._data, vec._data), common_device("mv", input, vec))
    return record(made, _MvBackward0, (input, vec), self=input, vec=vec) if recording(input, vec) else made


_DotBackward0 = node("DotBackward0", lambda grad, tensor: grad * tensor, lambda grad, self: grad * self)


@op()
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The inner product of two vectors.

    RuntimeError for other dimensions, lengths or dtypes. Source: `torch.dot`.
    """
    a, b = input._data, tensor._data
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if input.dtype is not tensor.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {input.dtype.scalar_name} and "
            f"{tensor.dtype.scalar_name}"
        )
    if a.size != b.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the same number of "
            f"elements, but got {a.size} and {b.size} elements respectively"
        )
    made = result(_product(a, b), common_device("dot", input, tensor))
    return record(made, _DotBackward0, (input, tensor), self=input, tensor=tensor) if recording(input, tensor) else made


op("vdot")(dot)

_BmmBackward0 = node(
    "BmmBackward0", lambda grad, mat2: grad.bmm(mat2.transpose(1, 2)), lambda grad, self: self.transpose(1, 2).bmm(grad)
)


def _check_bmm(a: Tensor, b: Tensor, first: str = "batch1", second: str = "batch2") -> None:
    for t, name in ((a, first), (b, second)):
        if t._data.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    (n, _, k), want = a._data.shape, b._data.shape
    if (n, k) != want[:2]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {k}] but got: [{want[0]}, {want[1]}]."
        )


@op()
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices.

    Source: `torch.bmm`.
    """
    _check_bmm(input, mat2)
    _check("bmm", input, mat2, "self", "mat2")
    made = result(_product(input._data, mat2._data), common_device("bmm", input, mat2))
    return record(made, _BmmBackward0, (input, mat2), self=input, mat2=mat2) if recording(input, mat2) else made


@op("outer", "ger")
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """The outer product of two vectors.

    RuntimeError for other dimensions. Source: `torch.outer`.
    """
    for t, name in ((input, "self"), (vec2, "vec2")):
        if t._data.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {t._data.ndim}-D")
    return input.reshape(input._data.shape[0], 1) * vec2


# sums with a product ---------------------------------------------------------------------------------------------------


def _times(x: Tensor, number: Any) -> Tensor:
    return x if number == 1 else x * number


def _blend(name: str, a: np.ndarray, product: np.ndarray, beta: Any, alpha: Any) -> np.ndarray:
    scaled = product if alpha == 1 else product * product.dtype.type(alpha)
    if beta == 0:
        return scaled
    return (a if beta == 1 else a * a.dtype.type(beta)) + scaled


def _added(name: str, kind: type, saved: tuple[str, str]) -> Any:
    """Declare `beta * input + alpha * (x @ y)` for one shape of product."""
    x_name, y_name = saved

    def function(input: Tensor, x: Tensor, y: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:  # fmt: skip
        if name == "addmm":
            for t, n in ((x, "mat1"), (y, "mat2")):
                if t._data.ndim != 2:
                    raise RuntimeError(f"{n} must be a matrix, got {t._data.ndim}-D tensor")
            _check_mm(x, y)
        elif name == "baddbmm":
            _check_bmm(x, y)
        elif x._data.shape[1] != y._data.shape[0]:
            m, k = x._data.shape
            raise RuntimeError(f"size mismatch, got input ({input._data.shape[0]}), mat ({m}x{k}), vec ({y._data.shape[0]})")  # fmt: skip
        _check(name, x, y, "mat1" if name == "addmm" else "m1", "mat2" if name == "addmm" else "m2")
        product = _product(x._data, y._data)
        try:
            fits = np.broadcast_shapes(input._data.shape, product.shape) == product.shape
        except ValueError:
            fits = False
        if not fits:
            from .views import expand

            expand(input, product.shape)
        data = quiet.run(_blend, name, input._data, product, beta, alpha)
        if out is not None:
            return write_out(out, data, name, input, x, y)
        made = result(data, common_device(name, input, x, y))
        if recording(input, x, y):
            record(
                made, kind, (input, x, y), beta=beta, alpha=alpha, **{x_name: x, y_name: y},
                **{f"{x_name}_sym_sizes": tuple(x._data.shape), f"{x_name}_sym_strides": x.stride()},
                **{f"{y_name}_sym_sizes": tuple(y._data.shape), f"{y_name}_sym_strides": y.stride()},
            )  # fmt: skip
        return made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`beta * input + alpha * ({x_name} @ {y_name})`.\n\nSource: `torch.{name}`."
    return op(name)(function)


_AddmmBackward0 = node(
    "AddmmBackward0",
    lambda grad, beta: _times(grad, beta),
    lambda grad, alpha, mat2, mat1_sym_sizes, mat1_sym_strides: _times(
        _mat_grad_left(grad, mat2, mat1_sym_sizes, mat1_sym_strides), alpha
    ),
    lambda grad, alpha, mat1, mat2_sym_sizes, mat2_sym_strides: _times(
        _mat_grad_right(grad, mat1, mat2_sym_sizes, mat2_sym_strides), alpha
    ),
)
_AddmvBackward0 = node(
    "AddmvBackward0",
    lambda grad, beta: _times(grad, beta),
    lambda grad, alpha, vec: _times(grad.ger(vec), alpha),
    lambda grad, alpha, mat: _times(mat.t().mv(grad), alpha),
)
_BaddbmmBackward0 = node(
    "BaddbmmBackward0",
    lambda grad, beta: _times(grad, beta),
    lambda grad, alpha, batch2: _times(grad.bmm(batch2.transpose(1, 2)), alpha),
    lambda grad, alpha, batch1: _times(batch1.transpose(1, 2).bmm(grad), alpha),
)
addmm = _added("addmm", _AddmmBackward0, ("mat1", "mat2"))
addmv = _added("addmv", _AddmvBackward0, ("mat", "vec"))
baddbmm = _added("baddbmm", _BaddbmmBackward0, ("batch1", "batch2"))


def unsafe_view(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A result's memory in another shape, not tracked as a view: nobody else sees the tensor it was made from."""
    out = t._strided(shape, contiguous_strides(shape, t._data.itemsize), t._offset)
    if recording(t):
        record(out, _UnsafeViewBackward0, (t,), self_sym_sizes=tuple(t._data.shape))
    return out


_SqueezeBackward4 = node("SqueezeBackward4", lambda grad, dim: grad.unsqueeze(dim), also=("self_sym_sizes",))


def _squeeze_product(t: Tensor, dim: int) -> Tensor:
    shape = t._data.shape[:dim] + t._data.shape[dim + 1 :]
    out = t._strided(shape, t._data.strides[:dim] + t._data.strides[dim + 1 :], t._offset)
    if recording(t):
        record(out, _SqueezeBackward4, (t,), dim=dim, self_sym_sizes=tuple(t._data.shape))
    return out


# matmul and what is built from it --------------------------------------------------------------------------------------


@op()
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix product, with vectors as rows or columns and leading dimensions as batches that broadcast.

    Source: `torch.matmul`.
    """
    a, b = input._data, other._data
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
    made = _matmul(input, other)
    return made if out is None else write_out(out, made._data, "matmul", input, other)


def _matmul(x: Tensor, y: Tensor) -> Tensor:
    n, m = x._data.ndim, y._data.ndim
    if n == 1 and m == 1:
        return dot(x, y)
    if n == 2 and m == 1:
        return mv(x, y)
    if n == 1 and m == 2:
        return _squeeze_product(mm(x.unsqueeze(0), y), 0)
    if n == 2 and m == 2:
        return mm(x, y)
    if (n >= 3 and m <= 2) or (m >= 3 and n <= 2):
        folded = _fold(x, y)
        if folded is not None:
            return folded
    return _batched(x, y)


def _fold(x: Tensor, y: Tensor) -> Tensor | None:
    """A product with one matrix or vector: the batch becomes rows of one matrix, where that copies nothing."""
    flip = y._data.ndim > x._data.ndim
    big = y.mT if flip else x
    small = y if not flip else x.t() if x._data.ndim == 2 else x
    if not (recording(x, y) or small._data.ndim == 1 or _rows_lie_dense(big)):
        return None
    shape = big._data.shape
    rows = big.reshape(-1, shape[-1])
    if small._data.ndim == 1:
        return unsafe_view(rows.mv(small), shape[:-1])
    out = unsafe_view(mm(rows, small), (*shape[:-1], small._data.shape[1]))
    return out.mT.contiguous() if flip else out


def _rows_lie_dense(t: Tensor) -> bool:
    shape, steps = t._data.shape, t._data.strides
    return all(steps[i] == steps[i + 1] * shape[i + 1] for i in range(len(shape) - 2))


def _batched(x: Tensor, y: Tensor) -> Tensor:
    n, m = x._data.ndim, y._data.ndim
    rows = x._data.shape[-2] if n > 1 else 1
    inner = x._data.shape[-1]
    cols = y._data.shape[-1] if m > 1 else 1
    batch_x = x._data.shape[:-2] if n > 2 else ()
    batch_y = y._data.shape[:-2] if m > 2 else ()
    try:
        batch = np.broadcast_shapes(batch_x, batch_y)
    except ValueError:
        from .core import broadcast_error

        raise broadcast_error(batch_x, batch_y) from None
    left = x.expand(*batch, *((rows,) if n > 1 else (1,)), inner).reshape(-1, rows, inner)
    depth = y._data.shape[-2] if m > 1 else y._data.shape[0]
    right = (y if m > 1 else y.unsqueeze(1)).expand(*batch, depth, cols).reshape(-1, depth, cols)
    shape = (*batch, *((rows,) if n > 1 else ()), *((cols,) if m > 1 else ()))
    return unsafe_view(bmm(left, right), shape)


def _matmul_operator(self: Tensor, other: Any) -> Any:
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


Tensor.__matmul__ = _matmul_operator  # type: ignore[attr-defined]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`: input (..., in), weight (out, in), bias (out).

    Source: `torch.nn.functional.linear`.
    """
    if bias is None:
        return matmul(input, weight.t())
    a = input._data
    if a.ndim == 2:
        return addmm(bias, input, weight.t())
    if a.ndim == 1:
        return addmm(bias, input.unsqueeze(0), weight.t()).view(weight._data.shape[0])
    flat = addmm(bias, input.reshape(-1, a.shape[-1]), weight.t())
    return flat.view(*a.shape[:-1], weight._data.shape[0])


__all__ = ["addmm", "bmm", "dot", "linear", "matmul", "mm", "mv", "outer"]
