"""Matrix products, and matmul, which is built from them, between views."""

import math
from typing import Any

import numpy as np

from ..base import (
    BY_NUM,
    broadcast_shape,
    can_cast,
    check_memory,
    check_overlap,
    cpp_name,
    make_absence_error,
    refuse_operand,
)
from ..tensor import Tensor, as_array_of_torch
from .define import offer_member, op
from .kernels import cannot_cast, composite, delegating, pointwise, write
from .out_argument import OutArgument, OutRule, warn_of_resize
from .pointwise import check_factor, convert_factor, mul, scale_grad
from .sums import expand
from .views import reshape, squeeze_dim, t, transpose, unsafe_view, unsqueeze


def multiply_matrices(a: Any, b: Any, kernel: Any) -> Any:
    """Return `a @ b` of arrays that fit.

    float16 is computed in float32; bool is refused in the name of PyTorch's kernel.
    """
    if kernel == "bmm":
        if not a.size or not b.size:
            # Nothing is computed, and no dtype refused.
            return as_array_of_torch(np.zeros((*a.shape[:-1], b.shape[-1]), b.dtype))
        kernel = _choose_kernel_of_bmm(a, b)
    dtype = a.dtype
    if dtype is not b.dtype:
        raise _two_dtypes_error(a, b, kernel)
    # 23 and 0 are NumPy's numbers of float16 and bool.
    dtype_num = dtype.num
    if dtype_num == 23:
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    # PyTorch's `mm` of bools without elements does not get as far as the kernel that refuses them.
    if dtype_num == 0 and (kernel == "dot" or (a.size and b.size)):
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
    try:
        # Where matrices are small `dot` takes half of the time of `matmul`. But it takes no batches,
        # copies a factor with gaps, and makes 0 of 0 times nan where a factor is a single number.
        is_dense = a.flags.forc and b.flags.forc
        if is_dense and a.ndim < 3 and a.size > 1 and b.size > 1:
            return a.dot(b)
        product = np.matmul(a, b)
    except ValueError:
        # They fit: it is the product that NumPy finds too large.
        check_memory((*a.shape[:-1], b.shape[-1]), a.itemsize)
        raise
    # Of nothing, NumPy's has strides of 0.
    return product if product.size else as_array_of_torch(product)


# torch multiplies matrices of fewer products than this in a loop of its own.
_PRODUCTS_OF_BLAS = 400


def _choose_kernel_of_bmm(a: Any, b: Any) -> str:
    """Return the kernel that multiplies the matrices of two batches, and refuses dtypes by its name.

    NotImplementedError for bools in torch's own loop, which asks for the first dtype alone.
    """
    if a.shape[-2] * a.shape[-1] * b.shape[-1] < _PRODUCTS_OF_BLAS:
        if a.dtype.num == 0:
            raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
        return "bmm"
    return "bmm of floats" if b.dtype.kind == "f" else "addmm_impl_cpu_"


def _two_dtypes_error(a: Any, b: Any, kernel: str, target: Any = None) -> RuntimeError:
    """Make the error for factors of two dtypes, which each of PyTorch's kernels says otherwise.

    `target`: the dtype of the result, where that is not the one of `b`.
    """
    x, y = (BY_NUM[c.dtype.num] for c in (a, b))
    first, second = x.scalar_name, y.scalar_name
    words = {
        "dot": f"dot : expected both vectors to have same dtype, but found {first} and {second}",
        # its first tensor is the result, which has the dtype of the vector
        "addmv_impl_cpu": "addmv input tensors must have the same dtype, but got "
        f"{(target or y).scalar_name}, {first}, and {second}",
        "bmm": f"expected scalar type {first} but found {second}",
        "bmm of floats": f"expected scalar type {second} but found {first}",
    }
    of_matrices = (
        f"expected m1 and m2 to have the same dtype, but got: {cpp_name(x)} != {cpp_name(y)}"
    )
    return RuntimeError(words.get(kernel, of_matrices))


def _make_error_of_shapes(a: Any, b: Any) -> RuntimeError:
    """Make PyTorch's error for two matrices that cannot be multiplied."""
    (m, k), (j, n) = a.shape, b.shape
    return RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({m}x{k} and {j}x{n})")


def _check_matrices(a: Any, b: Any) -> None:
    """Raise PyTorch's RuntimeError for what `mm` does not take."""
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError("self must be a matrix" if a.ndim != 2 else "mat2 must be a matrix")
    if a.shape[1] != b.shape[0]:
        raise _make_error_of_shapes(a, b)


def _prepare_mm(out: OutArgument, a: Any, b: Any) -> None:
    """Prepare the `out=` of `mm`."""
    _check_matrices(a, b)
    out.resize_for((a.shape[0], b.shape[1]), a.dtype)
    out.check_overlap()


def _mm(a: Any, b: Any) -> Any:
    """Multiply two matrices."""
    _check_matrices(a, b)
    return multiply_matrices(a, b, "addmm_impl_cpu_")


def _is_column_major(sizes: Any, strides: Any) -> Any:
    """Return True for sizes and strides of a matrix that is laid out column by column."""
    return len(strides) == 2 and strides[0] == 1 and strides[1] == sizes[0]


def _grad_of_left_factor(grad: Any, right: Any, sizes: Any, strides: Any) -> Any:
    """Return the gradient of a product's left factor, in the layout of that factor."""
    return t(mm(right, t(grad))) if _is_column_major(sizes, strides) else mm(grad, t(right))


def _grad_of_right_factor(grad: Any, left: Any, sizes: Any, strides: Any) -> Any:
    """Return the gradient of a product's right factor, in the layout of that factor."""
    return t(mm(t(grad), left)) if _is_column_major(sizes, strides) else mm(t(left), grad)


mm = op(
    "mm(Tensor self, Tensor mat2)",
    _mm,
    out=OutRule("exact", prepare=_prepare_mm),
    self=lambda grad, mat2, self_sym_sizes, self_sym_strides: _grad_of_left_factor(
        grad, mat2, self_sym_sizes, self_sym_strides
    ),
    mat2=lambda grad, self, mat2_sym_sizes, mat2_sym_strides: _grad_of_right_factor(
        grad, self, mat2_sym_sizes, mat2_sym_strides
    ),
)


def _check_mv(mat: Any, vec: Any) -> None:
    """Raise PyTorch's RuntimeError for what `mv` does not take."""
    if mat.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {mat.ndim}, {vec.ndim}")
    (m, k), n = mat.shape, vec.shape[0]
    if k != n:
        raise RuntimeError(f"size mismatch, got input ({m}), mat ({m}x{k}), vec ({n})")


def _prepare_mv(out: OutArgument, mat: Any, vec: Any) -> None:
    """Prepare the `out=` of `mv`."""
    _check_mv(mat, vec)
    shape = (mat.shape[0],)
    # An `out` of the right shape is what PyTorch adds the product to, times 0.
    added = out.dtype if out.tensor._data.shape == shape else BY_NUM[vec.dtype.num]
    if not mat.dtype == vec.dtype == added.np:
        raise _two_dtypes_error(mat, vec, "addmv_impl_cpu", added)
    out.resize_for(shape, vec.dtype)


def _mv(mat: Any, vec: Any) -> Any:
    """Multiply a matrix by a vector."""
    _check_mv(mat, vec)
    return multiply_matrices(mat, vec, "addmv_impl_cpu")


def _prepare_dot(out: OutArgument, a: Any, b: Any) -> None:
    """Prepare the `out=` of `dot`."""
    out.resize(())
    out.check_dtype(BY_NUM[a.dtype.num])


def _dot(a: Any, b: Any) -> Any:
    """Return the inner product of two vectors."""
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype is not b.dtype:
        raise _two_dtypes_error(a, b, "dot")
    if a.size != b.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have "
            f"the same number of elements, but got {a.size} and {b.size} elements respectively"
        )
    return multiply_matrices(a, b, "dot")


def _check_batches(a: Any, b: Any) -> None:
    """Raise PyTorch's RuntimeError for what `bmm` does not take."""
    for x, name in ((a, "batch1"), (b, "batch2")):
        if x.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if (a.shape[0], a.shape[2]) != b.shape[:2]:
        want, got = [a.shape[0], a.shape[2]], list(b.shape[:2])
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {want} but got: {got}."
        )


def _prepare_bmm(out: OutArgument, a: Any, b: Any) -> None:
    """Prepare the `out=` of `bmm`, which is to have the dtype of the second batch."""
    _check_batches(a, b)
    out.resize_for((*a.shape[:2], b.shape[2]), b.dtype)


def _bmm(a: Any, b: Any) -> Any:
    """Multiply matrices pairwise: two batches of them, in three dimensions."""
    _check_batches(a, b)
    return multiply_matrices(a, b, "bmm")


def _as_factors(self: Any, vec2: Any) -> tuple[Any, Any]:
    """Return two vectors whose product has each element of one times each of the other."""
    for x, name in ((self, "self"), (vec2, "vec2")):
        if x.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.ndim}-D")
    return reshape(self, (self.shape[0], 1)), vec2


mv = op(
    "mv(Tensor self, Tensor vec)",
    _mv,
    out=OutRule("exact", prepare=_prepare_mv),
    self=lambda grad, vec: outer(grad, vec),
    vec=lambda grad, self: mv(t(self), grad),
)
dot = op(
    "dot(Tensor self, Tensor tensor)",
    _dot,
    out=OutRule("result dtype {1} does not match input dtype {0}", prepare=_prepare_dot),
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)
bmm = op(
    "bmm(Tensor self, Tensor mat2)",
    _bmm,
    out=OutRule("exact", prepare=_prepare_bmm),
    self=lambda grad, mat2: bmm(grad, transpose(mat2, 1, 2)),
    mat2=lambda grad, self: bmm(transpose(self, 1, 2), grad),
)
outer = op("outer(Tensor self, Tensor vec2)", delegating(mul, _as_factors), out=True)


def _check_addmm(self: Any, a: Any, b: Any) -> None:
    """Raise PyTorch's RuntimeError for dtypes and shapes that `addmm` does not take."""
    if not self.dtype is a.dtype is b.dtype:
        name, other = ("self", self) if self.dtype is not b.dtype else ("mat1", a)
        x, y = (BY_NUM[c.dtype.num].scalar_name for c in (other, b))
        raise RuntimeError(f"{name} and mat2 must have the same dtype, but got {x} and {y}")
    for x, name in ((a, "mat1"), (b, "mat2")):
        if x.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {x.ndim}-D tensor")
    if a.shape[1] != b.shape[0]:
        raise _make_error_of_shapes(a, b)


def _prepare_addmm(out: OutArgument, self: Any, a: Any, b: Any, *_: Any) -> None:
    """Prepare the `out=` of `addmm`."""
    _check_addmm(self, a, b)
    shape = (a.shape[0], b.shape[1])
    addend = expand(self, shape)
    out.resize_for(shape, a.dtype)
    # PyTorch copies `self` into it before it multiplies.
    out.check_overlap(self if addend.shape == self.shape else addend)


def _scale_by_number(a: Any, factor: Any) -> Any:
    """Return an array times a number; float16, as the number, in float32."""
    if a.dtype.num == 23:
        return _scale_by_number(a.astype(np.float32), factor).astype(np.float16)
    return a * convert_factor(factor, a.dtype)


def _addmm(self: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    """Return `beta * self + alpha * (a @ b)`; `self` is not read for a `beta` of 0."""
    _check_addmm(self, a, b)
    product = multiply_matrices(a, b, "addmm_impl_cpu_")
    if alpha != 1:
        product = _scale_by_number(product, alpha)
    # A bias, one row, is broadcast by NumPy itself.
    shape = product.shape
    if self.shape not in (shape, shape[1:]):
        self = expand(self, shape)
    if not beta:
        return product
    if not a.size and product.size:
        # Nothing is added: PyTorch multiplies by `beta`, and a bool times 1 is a whole number.
        scaled, target = (BY_NUM[c.dtype.num] for c in (mul(self, beta), self))
        if not can_cast(scaled, target):
            raise cannot_cast(scaled, target)
    addend = self if beta == 1 else _scale_by_number(self, beta)
    # Written into the product, which nobody else has.
    return np.add(addend, product, product)


_ADDMM_FORMULAS: dict[str, Any] = {
    "self": lambda grad, beta: scale_grad(grad, beta),
    "mat1": lambda grad, alpha, mat2, mat1_sym_sizes, mat1_sym_strides: scale_grad(
        _grad_of_left_factor(grad, mat2, mat1_sym_sizes, mat1_sym_strides), alpha
    ),
    "mat2": lambda grad, alpha, mat1, mat2_sym_sizes, mat2_sym_strides: scale_grad(
        _grad_of_right_factor(grad, mat1, mat2_sym_sizes, mat2_sym_strides), alpha
    ),
}
addmm = op(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1)",
    _addmm,
    out=OutRule("exact", prepare=_prepare_addmm),
    **_ADDMM_FORMULAS,
)


def _make_error_in_place(a: Any, shape: tuple) -> RuntimeError:
    """Make PyTorch's error for a product that has not the shape of the tensor it is written into."""
    return RuntimeError(
        f"Bad in-place call: input tensor size {list(a.shape)} and output tensor size "
        f"{list(shape)} should match"
    )


def _refuse_own_factors(name: str, a: Any, *factors: Any) -> None:
    """Raise NotImplementedError for a factor whose memory the product is written into."""
    if any(np.may_share_memory(a, factor) for factor in factors):
        raise make_absence_error(
            f"{name} of a tensor that shares memory with a factor",
            "PyTorch reads what it has just written; please clone() the factor first",
        )


def _add_product(a: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    """Return what `addmm_` writes. RuntimeError unless the product has the shape of the target."""
    check_overlap(a)
    _check_addmm(a, mat1, mat2)
    shape = (mat1.shape[0], mat2.shape[1])
    if a.shape != shape:
        raise _make_error_in_place(a, shape)
    _refuse_own_factors("addmm_", a, mat1, mat2)
    return _addmm(a, mat1, mat2, beta, alpha)


op(
    "addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1)",
    write(_add_product),
    function=False,
    **_ADDMM_FORMULAS,
)


def _check_addmv(self: Any, mat: Any, vec: Any) -> None:
    """Raise PyTorch's RuntimeError or IndexError for shapes that `addmv` does not take."""
    if self.ndim > 1 or mat.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}"
        )
    (m, k), n = mat.shape, vec.shape[0]
    if k != n or self.size not in (m, 1):
        if not self.ndim:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(f"size mismatch, got input ({self.shape[0]}), mat ({m}x{k}), vec ({n})")


def _prepare_addmv(out: OutArgument, self: Any, mat: Any, vec: Any, *_: Any) -> None:
    """Prepare the `out=` of `addmv`."""
    _check_addmv(self, mat, vec)
    out.resize_for((mat.shape[0],), vec.dtype)
    # PyTorch copies `self` into it before it multiplies.
    out.check_overlap(expand(self, (mat.shape[0],)))


def _addmv(self: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> Any:
    """Return `beta * self + alpha * (mat @ vec)`; `self` is not read for a `beta` of 0."""
    _check_addmv(self, mat, vec)
    if not self.dtype == mat.dtype == vec.dtype:
        raise _two_dtypes_error(mat, vec, "addmv_impl_cpu", BY_NUM[self.dtype.num])
    if not mat.size and beta:
        # Nothing is added: PyTorch multiplies by `beta`, into a result that takes the shape of `self`.
        if mat.shape[0] and self.shape != mat.shape[:1]:
            warn_of_resize(mat.shape[:1], self.shape)
        return self * convert_factor(beta, self.dtype)
    product = multiply_matrices(mat, vec, "addmv_impl_cpu")
    if alpha != 1:
        product = product * convert_factor(alpha, product.dtype)
    if not beta:
        return product
    addend = self if beta == 1 else self * convert_factor(beta, self.dtype)
    # Written into the product, which nobody else has.
    return np.add(addend, product, product)


_ADDMV_FORMULAS: dict[str, Any] = {
    "self": lambda grad, beta: scale_grad(grad, beta),
    "mat": lambda grad, alpha, vec: scale_grad(outer(grad, vec), alpha),
    "vec": lambda grad, alpha, mat: scale_grad(mv(t(mat), grad), alpha),
}
op(
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1)",
    _addmv,
    out=OutRule("exact", prepare=_prepare_addmv),
    **_ADDMV_FORMULAS,
)


def _add_product_with_vector(a: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> Any:
    """Return what `addmv_` writes. RuntimeError unless the product has the shape of the target."""
    _check_addmv(a, mat, vec)
    if a.shape != mat.shape[:1]:
        raise _make_error_in_place(a, mat.shape[:1])
    _refuse_own_factors("addmv_", a, mat, vec)
    return _addmv(a, mat, vec, beta, alpha)


op(
    "addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1)",
    write(_add_product_with_vector),
    function=False,
    **_ADDMV_FORMULAS,
)


class _OuterProductKernel(pointwise):
    """The product of each element of one vector with each of another, added to a matrix."""

    def _spread_operands(self, values: tuple, target: Any = None) -> tuple:
        """Return the matrix in the shape of the product, the first vector as a column, and the rest."""
        a, vec1, vec2, *factors = values
        for x, name in ((vec1, "vec1"), (vec2, "vec2")):
            if x.ndim != 1:
                raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {x.ndim}-D")
        if target is None:
            a = expand(a, (vec1.shape[0], vec2.shape[0]))
        elif a.ndim != 2:
            raise RuntimeError(f"2D tensor expected, got {a.ndim}D tensor for input")
        elif a.shape != (*vec1.shape, *vec2.shape):
            raise RuntimeError(
                f"size mismatch, input: {list(a.shape)}, v1: {list(vec1.shape)}, v2: "
                f"{list(vec2.shape)}"
            )
        return a, vec1.reshape(-1, 1), vec2, *factors

    def prepare_out(self, out: Any, *values: Any) -> None:  # type: ignore[override]
        """Prepare the `out=` as of any operation on operands that broadcast."""
        super().prepare_out(out, *self._spread_operands(values))

    def convert_operands(self, values: tuple, target: Any = None) -> list:
        """Convert the operands to the dtype they meet in. RuntimeError for those that do not fit."""
        arrays = super().convert_operands(self._spread_operands(values, target), target)
        dtype = arrays[0].dtype
        for factor, name in zip(values[self.operand_count :], ("beta", "alpha"), strict=True):
            # A complex one is for PyTorch no whole number, or else one that does not fit the dtype.
            check_factor(factor.real if isinstance(factor, complex) else factor, dtype, name)
            convert_factor(factor, dtype)  # for its error
        return arrays


def _add_outer_product(a: Any, column: Any, row: Any, beta: Any, alpha: Any) -> Any:
    """Return `beta * a + alpha * column * row`; `a` is not read for a `beta` of 0."""
    product = convert_factor(alpha, a.dtype) * column * row
    return convert_factor(beta, a.dtype) * a + product if beta else product + np.zeros_like(a)


op(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1)",
    _OuterProductKernel(_add_outer_product),
    self=lambda grad, beta: scale_grad(grad, beta),
    vec1=lambda grad, alpha, vec2: scale_grad(mv(grad, vec2), alpha),
    vec2=lambda grad, alpha, vec1: scale_grad(mv(t(grad), vec1), alpha),
)

# matmul -------------------------------------------------------------------------------------------


def _has_even_rows(batch: Any) -> bool:
    """Return True if the rows of several matrices are at even steps, as those of one do."""
    steps, shape = batch.stride(), batch.shape
    if not batch.numel():
        return True
    return all(steps[i] == steps[i + 1] * shape[i + 1] for i in range(batch.ndim - 2))


def _multiply_as_rows(batch: Any, other: Any) -> Any:
    """Multiply several matrices, as the rows of one, by a matrix or vector."""
    rows = reshape(batch, (math.prod(batch.shape[:-1]), batch.shape[-1]))
    return unsafe_view(
        (mm if other.ndim == 2 else mv)(rows, other), (*batch.shape[:-1], *other.shape[1:])
    )


def _matmul(self: Any, other: Any) -> Any:
    """Multiply as `@` does: by `dot`, `mv`, `mm` or `bmm`, as PyTorch chooses and `grad_fn` shows."""
    n, m = self.ndim, other.ndim
    if n == 2 and m == 2:
        return mm(self, other)
    if not n or not m:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D"
        )
    if m == 1 and n <= 2:
        return dot(self, other) if n == 1 else mv(self, other)
    if n == 1 and m == 2:
        # In place, as in PyTorch: the node is SqueezeBackward4, and not SqueezeBackward1.
        return mm(unsqueeze(self, 0), other).squeeze_(0)
    # Of a batch of one matrix that requires grad PyTorch takes the matrix alone.
    if n == m == 3 and self.shape[0] == 1 != other.shape[0] and self.requires_grad:
        return _matmul(squeeze_dim(self, 0), other)
    if n == m == 3 and other.shape[0] == 1 != self.shape[0] and other.requires_grad:
        return _matmul(self, squeeze_dim(other, 0))
    if m <= 2 and (other.requires_grad or _has_even_rows(self)):
        return _multiply_as_rows(self, other)
    if n <= 2 and (self.requires_grad or (n == 1 and _has_even_rows(transpose(other, -2, -1)))):
        out = _multiply_as_rows(transpose(other, -2, -1), t(self) if n == 2 else self)
        return out if n == 1 else transpose(out, -2, -1).contiguous()
    left, right = self, other
    if n == 1:
        left = unsqueeze(self, 0)
    if m == 1:
        right = unsqueeze(other, 1)
    (height, inner), (wanted, width) = left.shape[-2:], right.shape[-2:]
    batch = broadcast_shape(left.shape[:-2], right.shape[:-2])
    a = reshape(expand(left, (*batch, height, inner)), (math.prod(batch), height, inner))
    b = reshape(expand(right, (*batch, wanted, width)), (math.prod(batch), wanted, width))
    out = bmm(a, b)
    if m == 1:
        out = squeeze_dim(out, -1)
    return unsafe_view(out, (*batch, *[height] * (n > 1), *[width] * (m > 1)))


def _multiply_into(out: Any, self: Any, other: Any) -> Any:
    """Multiply as `@` does, with the result written into `out`."""
    n, m = self.ndim, other.ndim
    if not n or not m:
        return _matmul(self, other)  # for its error
    if n > 2 or m > 2:
        return matmul.write_into_out(out, (self, other))
    matmul.begin_recording_out((out,), [self, other])
    if (n, m) == (1, 2):
        # As in PyTorch, which warns of an `out` of the right shape: it makes that a matrix of one row.
        return mm.run_into_out(out, (unsqueeze(self, 0), other)).squeeze_(0)
    product = {(1, 1): dot, (2, 1): mv, (2, 2): mm}[n, m]
    return product.run_into_out(out, (self, other))


def _prepare_product(out: OutArgument, a: Any, b: Any) -> None:
    """Prepare the `out=` of a product of several matrices, which PyTorch multiplies as rows."""
    if a.ndim > 2 == b.ndim and a.shape[-1] == b.shape[0]:
        out.resize((*a.shape[:-1], b.shape[1]))
        out.check_dtype(BY_NUM[a.dtype.num])
        out.check_overlap()


matmul = op(
    "matmul(Tensor self, Tensor other)",
    composite(_matmul, into_out=_multiply_into),
    out=OutRule("exact", prepare=_prepare_product),
)


def _matmul_operator(self: Any, other: Any = None, *surplus: Any) -> Any:
    """Multiply by what is on the right of `@`; as of other operators, what does not fit is no error."""
    if surplus:
        return NotImplemented
    return _matmul(self, other) if isinstance(other, Tensor) else refuse_operand(self, other)


def _reflected_matmul_operator(self: Any, other: Any = None, *surplus: Any) -> Any:
    """Multiply by what is on the left of `@`, in the same way.

    Python calls it where that is no tensor; by its name it takes one.
    """
    if surplus:
        return NotImplemented
    return _matmul(other, self) if isinstance(other, Tensor) else refuse_operand(self, other)


offer_member("__matmul__", _matmul_operator, function=False)
offer_member("__rmatmul__", _reflected_matmul_operator, function=False)
