"""Functions of layers, and losses, with the nodes that PyTorch records.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import (
    BY_NUM,
    broadcast_shape,
    contiguous_strides,
    dtype,
    lay_out_result,
    make_absence_error,
    make_module_getattr,
    refuse_keywords,
    warn_user,
)
from ..ops import (
    addmm,
    array_of,
    as_array,
    check_kernel,
    clone,
    composite,
    contiguous_format,
    divide,
    expand,
    make_function_of,
    matmul,
    mul,
    op,
    reshape,
    result_dtype,
    sub,
    t,
    times,
    view,
    zeros_like,
)
from ..ops import filling as _filling
from ..ops import log_softmax as _log_softmax
from ..ops import pointwise as _pointwise
from ..ops import sigmoid as _sigmoid
from ..tensor import Tensor, device_of, make_tensor

_HIDDEN = {"function": False, "method": False, "out": False}

# layers -------------------------------------------------------------------------------------------


def _compute_linear(input: Any, weight: Any, bias: Any) -> Any:
    """Compose `input @ weight.T + bias` of the operations that PyTorch records for it."""
    n, n_of_weight = input._data.ndim, weight._data.ndim
    if not (n and n_of_weight):
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {n}D and {n_of_weight}D"
        )
    if bias is None:
        return matmul(input, t(weight))
    # Which nodes there are depends on the input: one `addmm` for a matrix, and for more dimensions
    # only if they can be folded into one without a copy.
    if n == 2:
        return addmm(bias, input, t(weight))
    if not input.is_contiguous():
        return matmul(input, t(weight)).add_(bias)
    sizes = input.shape
    # Not -1, which is ambiguous where there is no feature.
    rows = reshape(input, (math.prod(sizes[:-1]), sizes[-1]))
    return view(addmm(bias, rows, t(weight)), (*sizes[:-1], weight.shape[0]))


_linear_op = op(
    "linear(Tensor input, Tensor weight, Tensor? bias=None)", composite(_compute_linear), **_HIDDEN
)
_relu = make_function_of(_pointwise.relu)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x where positive, else 0."""
    return (relu_ if inplace else _relu)(input)


def sigmoid(input: Tensor) -> Tensor:
    """Return 1 / (1 + exp(-x))."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return input.tanh()


if TYPE_CHECKING:  # their signatures, for type checkers; at run time they follow their schemas

    def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """`input @ weight.T + bias`."""

    def relu_(input: Tensor) -> Tensor:
        """x where positive, else 0, in place."""

else:
    linear = make_function_of(_linear_op)
    relu_ = make_function_of(_pointwise.relu, in_place=True)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """exp(x) scaled to sum to 1 along a dimension.

    Warn if it is not given: PyTorch then takes the first or the second one.
    Source: `torch.nn.functional.softmax`.
    """
    if dim is None:
        dim = _choose_dim("softmax", input)
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """The logarithm of softmax along a dimension.

    Warn if it is not given, as `softmax` does. Source: `torch.nn.functional.log_softmax`.
    """
    if dim is None:
        dim = _choose_dim("log_softmax", input)
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def _choose_dim(name: str, input: Tensor) -> int:
    """Return the dimension that PyTorch takes if none is given, with its warning."""
    warn_user(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument."
    )
    return 0 if input.dim() in (0, 1, 3) else 1


_dropout, _dropout_ = make_function_of(_filling.dropout), make_function_of(_filling.dropout_)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, set elements to zero with probability p and scale the others by 1 / (1 - p).

    ValueError for p outside [0, 1].
    """
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return (_dropout_ if inplace else _dropout)(input, p, training)


# losses -------------------------------------------------------------------------------------------

# Reductions are numbers in PyTorch's schemas, and `grad_fn._saved_reduction` shows them.
_NONE, _MEAN, _SUM = range(3)
_REDUCTIONS = ("none", "mean", "sum")


def _number_of_reduction(reduction: str) -> int:
    # Compared, not looked up: what cannot be hashed is PyTorch's ValueError, too.
    for number, name in enumerate(_REDUCTIONS):
        if reduction == name:
            return number
    raise ValueError(f"{reduction} is not a valid value for reduction")


def _reduce_losses(losses: np.ndarray, reduction: int) -> np.ndarray:
    if reduction == _NONE:
        return losses
    # Divided by a number of the same dtype, so that the mean keeps it.
    total = np.add.reduce(losses, None)
    return total / losses.dtype.type(losses.size) if reduction == _MEAN else total


def _compute_mse(a: np.ndarray, b: np.ndarray, reduction: int) -> np.ndarray:
    dtype = result_dtype(a, b)
    check_kernel(dtype.np, "f", "mse_cpu")
    a, b = as_array(a, dtype), as_array(b, dtype)
    difference = lay_out_result(np.subtract(a, b), a, b)
    # `np.multiply` cannot write into the scalar that NumPy gives for 0-d arrays.
    squares = np.multiply(difference, difference, difference if difference.ndim else None)
    return _reduce_losses(squares, reduction)


def _mse_gradient(grad: Any, a: Any, b: Any, reduction: int) -> Any:
    factor = divide(grad, math.prod(a.shape) / 2) if reduction == _MEAN else times(grad, 2)
    if array_of(b).dtype == bool:
        b = times(b, 1)  # `-` takes no flags
    product = (a - b) * factor
    # PyTorch computes it into a tensor that it made row by row, whatever the input's strides are.
    array = array_of(product)
    is_row_major = array.strides == contiguous_strides(array.shape, array.itemsize)
    return product if is_row_major else clone(product, contiguous_format)


_mse_loss = op("mse_loss(Tensor self, Tensor target, int reduction=1)", _compute_mse, **_HIDDEN,
               self=lambda grad, self, target, reduction: _mse_gradient(grad, self, target, reduction),
               target=lambda grad, self, target, reduction: _mse_gradient(grad, target, self, reduction))  # fmt: skip


def _broadcast_target(input: Tensor, target: Tensor) -> tuple:
    """Return input and target in one shape, with PyTorch's warning if they differ."""
    if target.size() == input.size():
        return input, target
    warn_user(
        f"Using a target size ({target.size()}) that is different to the input size "
        f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size."
    )
    shape = broadcast_shape(input.shape, target.shape)
    return tuple([x if x.shape == shape else expand(x, shape) for x in (input, target)])


@refuse_keywords("size_average", "reduce", "weight")
def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Return the squared differences: their mean, their sum, or each."""
    return _mse_loss(*_broadcast_target(input, target), _number_of_reduction(reduction))


def _divide_if_mean(product: Any, reduction: int) -> Any:
    """Divide a gradient in place by the number of its elements, if the loss is their mean."""
    count = math.prod(product.shape)
    return divide.run_in_place(product, count) if reduction == _MEAN else product


def _logits_gradient(grad: Any, self: Any, target: Any, reduction: int) -> Any:
    """Return the gradient of the logits. In place, as in PyTorch, where no graph of it is made."""
    if isinstance(grad, Tensor):
        return _divide_if_mean((_sigmoid(self) - target) * grad, reduction)
    slope = sub.run_in_place(_sigmoid(self), target)
    return _divide_if_mean(mul.run_in_place(slope, grad), reduction)


def _compute_bce_with_logits(
    x: np.ndarray, y: np.ndarray, weight: None, pos_weight: None, reduction: int
) -> np.ndarray:
    # log(1 + exp(-x)) without overflow for large negative x
    softplus = np.log1p(np.exp(-np.abs(x))) - np.minimum(x, 0)
    return _reduce_losses(((1 - y) * x + softplus).astype(y.dtype, copy=False), reduction)


_logits_loss = op(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1)",
    _compute_bce_with_logits, **_HIDDEN, also_saved=("weight", "pos_weight"),
    self=_logits_gradient,
    target=lambda grad, self, reduction: _divide_if_mean(-self * grad, reduction))  # fmt: skip


@refuse_keywords("weight", "size_average", "reduce", "pos_weight")
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, *, reduction: str = "mean"
) -> Tensor:
    """Return the cross entropy of sigmoid(input) with targets in [0, 1].

    ValueError for shapes that differ.
    """
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return _logits_loss(input, target, None, None, _number_of_reduction(reduction))


_IGNORED = -100  # PyTorch's `ignore_index`, where none is given


def _check_classes(a: np.ndarray, y: np.ndarray) -> None:
    """Raise PyTorch's errors for what are no log-probabilities and classes."""
    ndim, ndim_of_target = a.ndim, y.ndim
    if not ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    batch = y.shape[0] if ndim_of_target else 0
    if ndim > 1 and a.shape[0] != batch:
        raise ValueError(
            f"Expected input batch_size ({a.shape[0]}) to match target batch_size ({batch})."
        )
    if ndim > 2:
        raise make_absence_error(
            "a loss of classes in more than two dimensions",
            "use input.movedim(1, -1).flatten(0, -2) and target.flatten()",
        )
    if ndim_of_target > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if y.dtype.char not in "lqB":
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {BY_NUM[y.dtype.num].scalar_name}"
        )
    if ndim > 1 and not ndim_of_target:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if ndim == 1 and ndim_of_target and batch != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {batch}")


def _index_of_classes(a: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows of `a` count, and the right class in each.

    IndexError for a class that does not exist.
    """
    _check_classes(a, y)
    classes = y.reshape(-1)
    # Without their sign those below 0 are too large, too.
    unsigned = classes if classes.dtype.kind == "u" else classes.view(np.uint64)
    (outside,) = (unsigned >= a.shape[-1]).nonzero()
    if not outside.size:
        return np.arange(classes.size), classes
    # Those to be ignored are outside, too.
    wrong = classes[outside]
    wrong = wrong[wrong != _IGNORED]
    if wrong.size:
        raise IndexError(f"Target {int(wrong[0])} is out of bounds.")
    (rows,) = (classes != _IGNORED).nonzero()
    return rows, classes[rows]


def _nll_gradient(
    grad: Any, a: Any, y: Any, weight: None, reduction: int, ignore_index: int, total: Any
) -> np.ndarray:
    index = rows, _ = _index_of_classes(a, y)
    if a.ndim == y.ndim == 1 and a.shape != y.shape:
        raise RuntimeError(f"size mismatch (got input: {list(a.shape)}, target: {list(y.shape)})")
    out = np.zeros(a.shape, a.dtype)
    # The gradient of a mean or sum is one number for all rows.
    slopes = -grad.reshape(-1) / (total if reduction == _MEAN else 1)
    matrix = out if a.ndim == 2 else out[None]
    matrix[index] = slopes if slopes.size == 1 else slopes[rows]
    return out


def _compute_nll(
    a: np.ndarray, y: np.ndarray, weight: None, reduction: int, ignore_index: int
) -> np.ndarray:
    index = rows, _ = _index_of_classes(a, y)
    matrix = a if a.ndim == 2 else a[None]
    losses = counted = -matrix[index]
    if rows.size < len(matrix):
        losses = np.zeros(len(matrix), a.dtype)
        losses[rows] = counted
    if reduction == _NONE:
        return losses.reshape(a.shape[:-1])
    total = np.add.reduce(losses, None)
    return total / rows.size if reduction == _MEAN else total


def _total_weight(values: tuple) -> Tensor:
    """Return the number of targets that count, or 0 where PyTorch does not count them."""
    a, y, _, reduction, _ = values
    is_counted = reduction != _NONE or a._data.ndim == 1
    count = np.count_nonzero(y._data != _IGNORED) if is_counted else 0
    return make_tensor(np.asarray(count, a._data.dtype), device_of(a))


# PyTorch saves these, too, and shows them: `ignore_index` through an unsigned type, and the number
# of targets (their total weight) as a tensor.
_EXTRA_SAVED = {
    "ignore_index": lambda values: _IGNORED % (1 << 64),
    "total_weight": _total_weight,
}
_nll_backward = op(
    "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight)",
    _nll_gradient, **_HIDDEN, backward="NllLossBackwardBackward0", readers={"ignore_index": _EXTRA_SAVED["ignore_index"]},
    self=lambda grad: zeros_like(grad),
    grad_output=lambda grad, target, weight, reduction, ignore_index: (
        _nll_loss(grad, target, weight, reduction, ignore_index)))  # fmt: skip
_nll_loss = op(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100)",
    _compute_nll, **_HIDDEN,
    readers=_EXTRA_SAVED, self=lambda grad, self, target, weight, reduction, ignore_index, total_weight: _nll_backward(
        grad, self, target, weight, reduction, ignore_index, total_weight))  # fmt: skip


def _compute_cross_entropy(
    input: Tensor, target: Tensor, weight: None, reduction: int, *rest: Any
) -> Tensor:
    """Compose the cross entropy of the operations that PyTorch records for it."""
    shape = input._data.shape
    if target._data.shape == shape:
        if not target.is_floating_point():
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                f"{target.dtype.scalar_name}"
            )
        raise make_absence_error(
            "cross_entropy of class probabilities",
            "use -(target * input.log_softmax(1)).sum(1).mean()",
        )
    return _nll_loss(_log_softmax(input, 0 if len(shape) == 1 else 1), target, None, reduction)


# As PyTorch calls them, with its own names of them in errors.
_OPTIONS_OF_CLASSES = "Tensor? weight=None, int reduction=1, SymInt ignore_index=-100"
_nll_loss_nd = make_function_of(
    op(
        f"nll_loss_nd(Tensor self, Tensor target, {_OPTIONS_OF_CLASSES})",
        composite(_nll_loss),
        **_HIDDEN,
    )
)
_cross_entropy_loss = make_function_of(
    op(
        f"cross_entropy_loss(Tensor self, Tensor target, {_OPTIONS_OF_CLASSES}, "
        "float label_smoothing=0.)",
        composite(_compute_cross_entropy),
        **_HIDDEN,
    )
)


@refuse_keywords("weight", "size_average", "ignore_index", "reduce")
def nll_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Return minus the log-probability of the right class.

    Shapes: input (N, C) or (C), target (N) or () of int64 class numbers.
    """
    return _nll_loss_nd(input, target, None, _number_of_reduction(reduction))


@refuse_keywords("weight", "size_average", "ignore_index", "reduce", "label_smoothing")
def cross_entropy(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Return the cross entropy of softmax(input).

    Shapes: input (N, C) or (C), target (N) or () of int64 class numbers.
    """
    return _cross_entropy_loss(input, target, None, _number_of_reduction(reduction))


__all__ = [
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "dropout",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "relu",
    "relu_",
    "sigmoid",
    "softmax",
    "tanh",
]
if not TYPE_CHECKING:  # type checkers report a missing name themselves
    __getattr__ = make_module_getattr("torch.nn.functional")
