"""Matrix products: mm, mv, dot, bmm and outer, and matmul built from them.

The graph is torch's: a product of tensors with more dimensions folds into `mm` or `bmm` between views.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..buffers import empty
from ..dtypes import cpp_name
from ..graph.history import needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..storage import contiguous_strides
from ..tensor import Tensor, fresh
from .core import broadcast_error, common_device, op, quiet, record, recording, result, takes_out, write_out
from .large import MANY
from .precedence import say_first
from .small_products import in_order
from .views import _UnsafeViewBackward0
from .views import t as turned


def product(a: np.ndarray, b: np.ndarray, name: str = "") -> np.ndarray:
    """A matrix product; float16 goes through float32, bool is refused as torch refuses it (with a kernel's `name`)."""
    if a.dtype == np.float16:
        return quiet.run(np.matmul, a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    if a.dtype == bool:
        if a.ndim > 1 and not (a.size and b.size):  # then there is nothing to do for a kernel
            return np.matmul(a, b)
        kernel = name or ("dot" if a.ndim == 1 else "addmv_impl_cpu" if b.ndim == 1 else "addmm_impl_cpu_")
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
    if a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0] == 1 and a.shape[0] > 1 < b.shape[1] and a.dtype.kind == "f":
        return quiet.run(np.multiply, a, b)  # where zeros keep their signs
    if a.ndim == b.ndim == 3 and a.dtype.kind == "f" and a.shape[1] * a.shape[2] * b.shape[2] < 400:
        return quiet.run(_few_products, a, b)
    if a.ndim < 3 and a.dtype == b.dtype == np.float32 and (made := quiet.run(in_order, a, b)) is not None:
        return made
    if a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0] and a.shape[0] * b.shape[1] >= MANY and a.dtype is b.dtype:
        return quiet.run(np.matmul, a, b, empty((a.shape[0], b.shape[1]), a.dtype))
    return quiet.run(np.matmul, a, b)


def _few_products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of a batch of small matrices, which torch adds up one by one."""
    out = np.zeros((np.broadcast_shapes(a.shape[:1], b.shape[:1])[0], a.shape[1], b.shape[2]), a.dtype)
    for k in range(a.shape[2]):
        out += a[:, :, k, None] * b[:, None, k]
    return out


def same_dtype(name: str, a: Tensor, b: Tensor) -> None:
    """RuntimeError in torch's words for factors of two dtypes."""
    if a.dtype is not b.dtype:
        if name == "bmm":
            raise RuntimeError(f"expected scalar type {a.dtype.scalar_name} but found {b.dtype.scalar_name}")
        if name == "mv":
            x, y = a.dtype.scalar_name, b.dtype.scalar_name
            raise RuntimeError(f"addmv input tensors must have the same dtype, but got {y}, {x}, and {y}")
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {cpp_name(a.dtype)} != {cpp_name(b.dtype)}"
        )


def strides_for(t: Tensor) -> tuple:
    """The strides that a product's node saves of a factor: those of one that gets a gradient."""
    return t.stride() if needs_grad(t) else ()


def _in_columns(sizes: tuple, strides: tuple) -> bool:
    return strides[:1] == (1,) and strides[1] == sizes[0]


def mat_grad_left(grad: Tensor, right: Tensor, sizes: tuple, strides: tuple) -> Tensor:
    """The gradient of a product's left factor, in the factor's own layout."""
    columns = _in_columns(sizes, strides)
    if MODES.here.grad:
        return right.mm(grad.t()).t() if columns else grad.mm(right.t())
    g, r = grad._data, right._data  # the same products, of what the forward pass has checked
    return turned(fresh(product(r, g.T), grad._device)) if columns else fresh(product(g, r.T), grad._device)


def mat_grad_right(grad: Tensor, left: Tensor, sizes: tuple, strides: tuple) -> Tensor:
    """The gradient of a product's right factor, in the factor's own layout."""
    columns = _in_columns(sizes, strides)
    if MODES.here.grad:
        return grad.t().mm(left).t() if columns else left.t().mm(grad)
    g, a = grad._data, left._data
    return turned(fresh(product(g.T, a), grad._device)) if columns else fresh(product(a.T, g), grad._device)


_MmBackward0 = node(
    "MmBackward0",
    lambda grad, mat2, self_sym_sizes, self_sym_strides: mat_grad_left(grad, mat2, self_sym_sizes, self_sym_strides),
    lambda grad, self, mat2_sym_sizes, mat2_sym_strides: mat_grad_right(grad, self, mat2_sym_sizes, mat2_sym_strides),
)


def check_mm(a: Tensor, b: Tensor, label: str = "mat1 and mat2") -> None:
    """Raise RuntimeError unless two matrices fit together."""
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
    check_mm(input, mat2)
    same_dtype("mm", input, mat2)
    data = product(input._data, mat2._data)
    if out is not None:
        return write_out(out, data, "mm", input, mat2)
    made = result(data, common_device("mm", input, mat2, names=("self", "mat2")))
    if recording(input, mat2):
        record(
            made, _MmBackward0, (input, mat2), self=input, mat2=mat2, mat2_sym_sizes=tuple(mat2._data.shape),
            mat2_sym_strides=strides_for(mat2), self_sym_sizes=tuple(input._data.shape), self_sym_strides=strides_for(input),
        )  # fmt: skip
    return made


_MvBackward0 = node("MvBackward0", lambda grad, vec: grad.ger(vec), lambda grad, self: self.t().mv(grad))


@op()
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A matrix times a vector.

    Source: `torch.mv`.
    """
    if input._data.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if input._data.ndim != 2 or vec._data.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {1}, {input._data.ndim}, {vec._data.ndim}")
    if input._data.shape[1] != vec._data.shape[0]:
        m, k = input._data.shape
        raise RuntimeError(f"size mismatch, got input ({m}), mat ({m}x{k}), vec ({vec._data.shape[0]})")
    same_dtype("mv", input, vec)
    data = product(input._data, vec._data)
    if out is not None:
        return write_out(out, data, "mv", input, vec)
    made = result(data, common_device("_mv", input, vec, names=("self", "vec")))
    return record(made, _MvBackward0, (input, vec), self=input, vec=vec) if recording(input, vec) else made


_DotBackward0 = node("DotBackward0", lambda grad, tensor: grad * tensor, lambda grad, self: grad * self)


@op()
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
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
    data = product(a, b)
    if out is not None:
        return write_out(out, data, "dot", input, tensor)
    made = result(data, common_device("_dot", input, tensor, names=("self", "tensor")))
    return record(made, _DotBackward0, (input, tensor), self=input, tensor=tensor) if recording(input, tensor) else made


_VdotBackward0 = node("VdotBackward0", lambda grad, other: grad * other, lambda grad, self: grad * self)


@op()
@takes_out("vdot")
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The inner product of two vectors (for complex ones it would conjugate the first).

    Source: `torch.vdot`.
    """
    made = dot(input.detach(), other.detach())
    return record(made, _VdotBackward0, (input, other), self=input, other=other) if recording(input, other) else made


_BmmBackward0 = node(
    "BmmBackward0", lambda grad, mat2: grad.bmm(mat2.transpose(1, 2)), lambda grad, self: self.transpose(1, 2).bmm(grad)
)


def check_bmm(a: Tensor, b: Tensor, first: str = "batch1", second: str = "batch2") -> None:
    """Raise RuntimeError unless two batches of matrices fit together."""
    for t, name in ((a, first), (b, second)):
        if t._data.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    (n, _, k), want = a._data.shape, b._data.shape
    if (n, k) != want[:2]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {k}] but got: [{want[0]}, {want[1]}]."
        )


@op()
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of two batches of matrices.

    Source: `torch.bmm`.
    """
    check_bmm(input, mat2)
    if input._data.dtype.kind != "b":
        same_dtype("bmm", input, mat2)
    data = product(input._data, mat2._data, "bmm")
    if out is not None:
        return write_out(out, data, "bmm", input, mat2)
    made = result(data, common_device("bmm", input, mat2, names=("self", "mat2")))
    return record(made, _BmmBackward0, (input, mat2), self=input, mat2=mat2) if recording(input, mat2) else made


@op("outer", "ger")
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The outer product of two vectors.

    RuntimeError for other dimensions. Source: `torch.outer`.
    """
    for t, name in ((input, "self"), (vec2, "vec2")):
        if t._data.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {t._data.ndim}-D")
    made = input.reshape(input._data.shape[0], 1) * vec2
    return made if out is None else write_out(out, made._data, "mul", input, vec2)


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
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    made = _matmul(input, other)
    return made if out is None else write_out(out, made._data, "matmul" if a.ndim + b.ndim > 2 else "dot", input, other)


def _matmul(x: Tensor, y: Tensor) -> Tensor:
    n, m = x._data.ndim, y._data.ndim
    if n == 1 and m == 1:
        return dot(x, y)
    if n == 2 and m == 1:
        return mv(x, y)
    if n == 1 and m == 2:
        out = _squeeze_product(mm(x.unsqueeze(0), y), 0)
        out._own_counter().version = 1  # torch takes the dimension away in place
        return out
    if n == 2 and m == 2:
        return mm(x, y)
    if (n >= 3 and m <= 2) or (m >= 3 and n <= 2):
        folded = _fold(x, y)
        if folded is not None:
            return folded
    return _batched(x, y)


def _fold(x: Tensor, y: Tensor) -> Tensor | None:
    """A product with one matrix or vector: the batch becomes rows of one matrix.

    Only where that copies nothing, or where the matrix wants a gradient, which would have to be summed over the batch.
    """
    flip = y._data.ndim > x._data.ndim
    big, small = (y, x) if flip else (x, y)
    free = x._data.ndim != 2 and (big._data.size == 0 or _rows_lie_dense(y.mT if flip else x))
    if not (free or small.requires_grad):
        return None
    big, small = y.mT if flip else x, x.t() if flip and x._data.ndim == 2 else small
    shape = big._data.shape
    rows = big.reshape(math.prod(shape[:-1]), shape[-1])
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
    batch_x = x._data.shape[:-2] if n > 2 else ()
    batch_y = y._data.shape[:-2] if m > 2 else ()
    if n == m == 3 and batch_x != batch_y:  # as in `_fold`
        if batch_x[0] == 1 and x.requires_grad:
            return matmul(x.squeeze(0), y)
        if batch_y[0] == 1 and y.requires_grad:
            return matmul(x, y.squeeze(0))
    try:
        batch = np.broadcast_shapes(batch_x, batch_y)
    except ValueError:
        raise broadcast_error(batch_x, batch_y) from None
    count = math.prod(batch)
    left = x.expand(*batch, rows, inner).reshape(count, rows, inner)
    shape = (*batch, rows) if n > 1 else batch
    if m == 1:
        k = y._data.shape[0]
        right = y.expand(*batch, k).reshape(count, k).unsqueeze(2)
        return unsafe_view(bmm(left, right).squeeze(-1), shape)
    k, cols = y._data.shape[-2:]
    right = y.expand(*batch, k, cols).reshape(count, k, cols)
    return unsafe_view(bmm(left, right), (*shape, cols))


def _matmul_operator(self: Tensor, other: Any) -> Any:
    if not isinstance(other, Tensor):
        return NotImplemented
    try:
        return matmul(self, other)
    except RuntimeError:
        say_first("matmul", False, (self, other), {})
        raise


def _matmul_from_the_right(self: Tensor, other: Any) -> Any:
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


Tensor.__matmul__ = _matmul_operator  # type: ignore[attr-defined]
Tensor.__rmatmul__ = _matmul_from_the_right  # type: ignore[attr-defined]
