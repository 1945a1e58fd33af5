"""`einsum`: products of tensors, summed, by the names of their dimensions.

As torch's `einsum` in `Linear.cpp`, so that the graph is the same: each operand gets all dimensions
in one order, those of the result first, and then two at a time are multiplied, by `bmm` where
anything is summed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..base import as_torch_error, make_absence_error
from ..tensor import Tensor
from .define import make_function_of, offer_member, op
from .kernels import composite
from .late import LaterFunction
from .linalg import bmm
from .parts import diagonal
from .pointwise import mul
from .sums import sum_dims
from .views import array_of, permute, reshape, unsqueeze, view

_ANY = "..."


class Equation(NamedTuple):
    """The names of dimensions in an equation."""

    operands: list[list[str]]  # the names of each operand's dimensions; "..." for any number
    result: list[str]


def _read_labels(
    start: int, text: str, place: str, check: Callable[[str, list], None] | None = None
) -> list[str]:
    """Return the names of dimensions in a part of the equation, which begins at `start`.

    RuntimeError in PyTorch's words, which for a misplaced "." have the operand, or `output`.
    `check`: called with each name as it is read, and with those before it.
    """
    labels, i = [], 0
    while i < len(text):
        if text[i] == ".":
            is_output = place == "output"
            if _ANY in labels:
                seen = "but an ellipsis (...) was" if is_output else "for which an ellipsis was"
                raise RuntimeError(f"einsum(): found '.' for {place} {seen} already found")
            if not text.startswith(_ANY, i):
                shown = " (...)" * is_output
                raise RuntimeError(
                    f"einsum(): found '.' for {place} that is not part of any ellipsis{shown}"
                )
            labels.append(_ANY)
            i += 3
            continue
        if text[i] != " ":
            if not (text[i].isascii() and text[i].isalpha()):
                raise RuntimeError(
                    f"einsum(): invalid subscript given at index {start + i} in the equation "
                    "string, subscripts must be in [a-zA-Z]"
                )
            if check is not None:
                check(text[i], labels)
            labels.append(text[i])
        i += 1
    return labels


def _read_operands(left: str, count: int) -> list[list[str]]:
    """Return the names of dimensions of so many operands. RuntimeError if there are not as many."""
    operands: list[list[str]] = []
    start = 0
    for text in left.split(","):
        if len(operands) == count:
            raise RuntimeError(
                "einsum(): fewer operands were provided than specified in the equation"
            )
        operands.append(_read_labels(start, text, f"operand {len(operands)}"))
        start += len(text) + 1
    if len(operands) != count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return operands


def _read_equation(equation: str, tensors: list) -> Equation:
    """Return the parts of an equation for these operands. RuntimeError in PyTorch's words."""
    # Without an arrow the result has the names that are there once, in the order of the alphabet, as in
    # NumPy; behind an arrow with nothing it has none.
    left, arrow, right = equation.partition("->")
    operands = _read_operands(left, len(tensors))
    for at, (labels, x) in enumerate(zip(operands, tensors, strict=True)):
        _check_label_count(labels, x.ndim, at)
    every = list(chain.from_iterable(operands))
    if not arrow:
        once = sorted({x for x in every if x != _ANY and every.count(x) == 1}, key=_rank_label)
        return Equation(operands, [*([_ANY] if _ANY in every else []), *once])

    def check_output_label(label: str, before: list[str]) -> None:
        if label in before:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
        if label not in every:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any "
                "input operand"
            )

    return Equation(operands, _read_labels(len(left) + 2, right, "output", check_output_label))


def _rank_label(label: str) -> tuple[bool, str]:
    """Order names as PyTorch does: capital letters first."""
    return (label.islower(), label)


def _check_label_count(labels: list[str], ndim: int, at: int) -> None:
    """Raise PyTorch's RuntimeError unless an operand has a dimension for each of its names."""
    named = len([x for x in labels if x != _ANY])
    if _ANY not in labels and named != ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) does not match the "
            f"number of dimensions ({ndim}) for operand {at} and no ellipsis was given"
        )
    if named > ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) is more than the number "
            f"of dimensions ({ndim}) for operand {at}"
        )


def _spell_out(labels: list[str], ndim: int) -> list[str]:
    """Return the names of an operand's dimensions, those of "..." as numbers, counted from the end."""
    named = len(labels) - labels.count(_ANY)
    out: list[str] = []
    for label in labels:
        if label == _ANY:
            # Broadcasting aligns shapes at their ends, so equal numbers are dimensions that meet.
            out += map(str, range(ndim - named, 0, -1))
        else:
            out.append(label)
    return out


def _align_operand(operand: Any, labels: list[str], order: list[str]) -> Any:
    """Give an operand all dimensions in one order: a diagonal for a name that is there twice."""
    places: dict[str, int] = {}
    for label in labels:
        if label in places:
            at, operand = places[label], diagonal(operand, 0, places[label], len(places))
            dims = [*range(operand.ndim - 1)]
            # a diagonal is the last dimension
            operand = permute(operand, (*dims[:at], operand.ndim - 1, *dims[at:]))
        else:
            places[label] = len(places)
    count = len(places)
    permutation = []
    for label in order:
        if label not in places:
            operand = unsqueeze(operand, -1)
            count += 1
        # a name that it lacks is the dimension of size 1 that was just put behind the others
        permutation.append(places.get(label, count - 1))
    return permute(operand, tuple(permutation))


def _multiply_pair(left: Any, right: Any, summed: list[int]) -> Any:
    """Multiply two operands element by element, and sum over dimensions, which stay with size 1."""
    if not summed:
        return mul(left, right)
    both: list[int] = []
    lefts: list[int] = []
    rights: list[int] = []
    for d in range(left.ndim):
        if d in summed:
            continue
        if left.shape[d] == 1:
            rights.append(d)
        elif right.shape[d] == 1:
            lefts.append(d)
        else:
            both.append(d)

    def count(x: Any, dims: list[int]) -> int:
        return math.prod([x.shape[d] for d in dims])

    sizes = count(left, both), count(left, lefts), count(left, summed), count(right, rights)
    a = reshape(permute(left, (*both, *lefts, *summed, *rights)), (sizes[0], sizes[1], sizes[2]))
    b = reshape(permute(right, (*both, *summed, *rights, *lefts)), (sizes[0], sizes[2], sizes[3]))
    for factor in (a, b):
        _check_memory_for_copy(array_of(factor))
    order = (*both, *lefts, *summed, *rights)
    shape = [left.shape[d] for d in (*both, *lefts)] + [1] * len(summed)
    product = view(bmm(a, b), (*shape, *[right.shape[d] for d in rights]))
    return permute(product, tuple([order.index(d) for d in range(left.ndim)]))


# So many elements are checked: fewer are multiplied in an instant.
_MANY_ELEMENTS = 1 << 32


def _check_memory_for_copy(factor: np.ndarray) -> None:
    """Raise PyTorch's error if there is no memory for a copy of a factor, as its `bmm` makes one.

    Elements that share cells (`expand`) need none in NumPy, which would multiply 2**40 of them for hours.
    """
    if factor.size > _MANY_ELEMENTS and not factor.flags.forc:
        try:
            np.empty(factor.shape, factor.dtype)
        except MemoryError as error:
            raise as_torch_error(error) from None


def _check_sizes(operands: list, labels: list[list[str]]) -> None:
    """Raise PyTorch's RuntimeError for a name with two sizes."""
    seen: dict[str, int] = {}
    for at, (operand, names) in enumerate(zip(operands, labels, strict=True)):
        own: dict[str, int] = {}
        for label, n in zip(names, operand.shape, strict=True):
            # Only the first size of a name in an operand is compared with those of other operands.
            if label in own:
                if own[label] != n:
                    raise RuntimeError(
                        f"einsum(): subscript {label} is repeated for operand {at} but the sizes "
                        f"don't match, {n} != {own[label]}"
                    )
                continue
            own[label] = n
            if seen.get(label, 1) == 1:
                seen[label] = n
            elif n not in (1, seen[label]):
                if label.isdigit():
                    # Counted without repeated dimensions, of which PyTorch has taken the diagonal by then.
                    dim = len(own) - 1
                    raise RuntimeError(
                        f"einsum(): dimension {dim} covered by ellipsis in operand {at}has size {n} "
                        "which does not broadcast with previously seen ellipsis with size "
                        f"{seen[label]} for the respective dimension"
                    )
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {n} for operand {at} which does not "
                    f"broadcast with previously seen size {seen[label]}"
                )


def _contract(operands: list, kept: int) -> Any:
    """Multiply all operands, two at a time, and sum over the dimensions from number `kept` on."""
    dims = range(kept, operands[0].ndim)
    # In how many of the operands that are still to come each dimension is. A dimension is summed as
    # soon as it is in one alone: earlier the others would lack it, later products would be larger. A
    # size of 1 counts as absent, and is summed by the `view` at the end.
    left = dict.fromkeys(dims, 0)
    for x in operands:
        for d in dims:
            left[d] += x.shape[d] != 1
    a = operands[0]
    for b in operands[1:]:
        alone: tuple[list[int], list[int]] = ([], [])
        summed = []
        for d in dims:
            is_left, is_right = a.shape[d] != 1, b.shape[d] != 1
            if is_left and is_right:
                left[d] -= 1
                if left[d] == 1:
                    summed.append(d)
                    left[d] = 0
            elif left[d] == 1 and (is_left or is_right):
                alone[is_right].append(d)
                left[d] = 0
        if alone[0]:
            a = sum_dims(a, tuple(alone[0]), True)
        if alone[1]:
            b = sum_dims(b, tuple(alone[1]), True)  # noqa: PLW2901
        a = _multiply_pair(a, b, summed)
    if not dims:
        return a
    # Of several operands all have been summed by now, and sizes of 1 are left.
    return view(a, tuple(a.shape[:kept])) if len(operands) > 1 else sum_dims(a, tuple(dims))


def _sum_products(equation: str, tensors: list, path: Any) -> Any:
    """Multiply tensors and sum, as an equation says. RuntimeError if they do not fit it.

    `path`, an order in which to multiply, is PyTorch's for its optimizer; here it is as given.
    """
    read = _read_equation(equation, tensors)
    labels = [_spell_out(names, x.ndim) for names, x in zip(read.operands, tensors, strict=True)]
    # The dimensions of "..." are called by numbers, all others by letters.
    ellipsis_dims: list[str] = []
    letters: list[str] = []
    for label in dict.fromkeys(chain.from_iterable(labels)):
        if label.isdigit():
            ellipsis_dims.append(label)
        else:
            letters.append(label)
    ellipsis_dims.sort(key=int, reverse=True)
    letters.sort(key=_rank_label)
    result: list[str] = []
    for label in read.result:
        result += ellipsis_dims if label == _ANY else [label]
    # What is not in the result is summed: "..." first, then by name.
    summed = [label for label in (*ellipsis_dims, *letters) if label not in result]
    order = [*result, *summed]
    _check_sizes(tensors, labels)
    aligned = [_align_operand(x, names, order) for x, names in zip(tensors, labels, strict=True)]
    return _contract(aligned, len(result))


_einsum_op = op(
    "einsum(str equation, Tensor[] tensors, *, int[]? path=None)",
    composite(_sum_products),
    method=False,
    function=False,
)
_later_einsum = LaterFunction(lambda: make_function_of(_einsum_op))


def einsum(*args: Any) -> Any:
    """Multiply tensors and sum, by the names of their dimensions: `einsum("ij,jk->ik", x, y)`.

    RuntimeError for an equation that does not fit the operands, ValueError without any, TypeError
    for what is no tensor. Source: `torch.einsum`.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    equation, *operands = args
    if isinstance(equation, Tensor):
        raise make_absence_error("einsum(operand, sublist, ...)", "use a string")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return einsum(equation, *operands[0])
    return _later_einsum.function(equation, operands)


offer_member("einsum", einsum, method=False)
