"""Sums of products along named dimensions, built from views and one product as torch builds them."""

import math
import string
from typing import Any

from ..errors import type_name
from ..tensor import Tensor
from .define import python
from .linalg import bmm
from .parts import diagonal
from .reductions import sum_dims
from .views import permute, reshape, unsqueeze

_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _labels(text: str) -> list[str]:
    """The labels of one operand: its letters, and a dot for an ellipsis. RuntimeError for anything else."""
    labels = [c for c in text.replace("...", ".") if c != " "]
    for c in labels:
        if c not in _LETTERS + ".":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {text.index(c)} in the equation string, subscripts must be "
                "in [a-zA-Z]"
            )
    return labels


def _read(equation: str, operands: Any) -> tuple[list[list], list]:
    """The labels of the operands' dimensions and of the result's; those under an ellipsis are numbers."""
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(operands):
        word = "more" if len(texts) < len(operands) else "fewer"
        raise RuntimeError(f"einsum(): {word} operands were provided than specified in the equation")
    inputs, dots = [_labels(text) for text in texts], 0
    for i, (labels, x) in enumerate(zip(inputs, operands, strict=True)):
        n, free = len(labels) - ("." in labels), "." in labels
        if n > x.ndim or (n != x.ndim and not free):
            wrong = f"does not match the number of dimensions ({x.ndim}) for operand {i} and no ellipsis was given"
            wrong = f"is more than the number of dimensions ({x.ndim}) for operand {i}" if free else wrong
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({n}) {wrong}")
        dots = max(dots, x.ndim - n)
    known = [c for labels in inputs for c in labels]
    output = _labels(right) if arrow else ["."] * ("." in known) + [c for c in _LETTERS if known.count(c) == 1]
    for i, c in enumerate(output):
        if c != "." and c in output[:i]:
            raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
        if c != "." and c not in known:
            raise RuntimeError(f"einsum(): output subscript {c} does not appear in the equation for any input operand")

    def numbered(labels: list[str], ndim: int) -> list:
        return [d for c in labels for d in (range(dots - ndim + len(labels) - 1, dots) if c == "." else c)]

    inputs = [numbered(labels, x.ndim) for labels, x in zip(inputs, operands, strict=True)]
    return inputs, numbered(output, dots + len(output) - 1)


def _arranged(x: Tensor, labels: list, order: list) -> Tensor:
    """An operand with one dimension for each label in order; a repeated label becomes its diagonal."""
    at: dict[Any, int] = {}
    dim = 0
    for label in labels:
        if label in at:
            x = diagonal(x, 0, at[label], dim).movedim(-1, at[label])
        else:
            at[label] = dim
            dim += 1
    for label in order:
        if label not in at:
            x = unsqueeze(x, dim)
            at[label] = dim
            dim += 1
    return permute(x, tuple([at[label] for label in order]))


def _paired(left: Tensor, right: Tensor, summed: list[int]) -> Tensor:
    """The sum of products over some dimensions, which stay with size 1: both tensors have all dimensions."""
    if not summed:
        return left * right
    both: list[int] = []
    only_left: list[int] = []
    only_right: list[int] = []
    for d, (m, n) in enumerate(zip(left.shape, right.shape, strict=True)):
        if d not in summed:
            (both if m != 1 != n else only_left if m != 1 else only_right).append(d)
    if only_left and only_right and only_right[-1] < only_left[0]:  # then the result lies in order
        left, right, only_left, only_right = right, left, only_right, only_left

    def grouped(x: Tensor, *groups: list[int]) -> Tensor:
        count = tuple([math.prod([x.shape[d] for d in dims]) for dims in groups[:3]])
        return reshape(permute(x, tuple([d for dims in groups for d in dims])), count)

    made = bmm(grouped(left, both, only_left, summed, only_right), grouped(right, both, summed, only_right, only_left))
    order = both + only_left + summed + only_right
    sizes = [left.shape[d] for d in both + only_left] + [1] * len(summed) + [right.shape[d] for d in only_right]
    return permute(made.view(sizes), tuple([order.index(d) for d in range(len(order))]))


def _contracted(ops: list[Tensor], kept: int, uses: list[int]) -> Tensor:
    """The operands multiplied one after another, each dimension after `kept` summed where its last two users meet."""
    if len(ops) == 1:
        return sum_dims(ops[0], tuple(range(kept, len(uses)))) if len(uses) > kept else ops[0]
    while len(ops) > 1:
        a, b, *rest = ops
        summed: list[int] = []
        alone: dict[int, list[int]] = {id(a): [], id(b): []}
        for d in range(kept, len(uses)):
            m, n = a.shape[d], b.shape[d]
            uses[d] -= m != 1 != n
            if uses[d] == 1 and (m != 1 or n != 1):
                (summed if m != 1 != n else alone[id(a if m != 1 else b)]).append(d)
                uses[d] = 0
        a, b = (sum_dims(x, tuple(alone[id(x)]), True) if alone[id(x)] else x for x in (a, b))
        ops = [_paired(a, b, summed), *rest]
    return ops[0].view(ops[0].shape[:kept]) if len(uses) > kept else ops[0]


def einsum(*args: Any) -> Tensor:
    """Einstein's summation: `einsum("ij,jk->ik", a, b)`; letters that the output lacks are summed over.

    RuntimeError for an equation that does not fit the operands.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(args[0], Tensor):  # tensors and lists of numbers in turn, with the output's list last
        pairs = len(args) // 2
        texts = [
            "".join("..." if i is ... else _LETTERS[i] for i in x)
            for x in (*args[1 : 2 * pairs : 2], *args[2 * pairs :])
        ]
        equation, operands = ",".join(texts[:pairs]) + "".join(f"->{x}" for x in texts[pairs:]), args[: 2 * pairs : 2]
    elif isinstance(args[1], (list, tuple)):
        return einsum(args[0], *args[1])
    else:
        equation, *operands = args
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}")
    for i, x in enumerate(operands):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type_name(x)}")
    inputs, output = _read(equation, operands)
    used = {label for labels in inputs for label in labels}
    order = output + [label for label in (*range(64), *_LETTERS) if label in used and label not in output]
    sizes: dict[Any, int] = {}
    uses = [0] * len(order)
    for i, (labels, x) in enumerate(zip(inputs, operands, strict=True)):
        large = {label: n for label, n in zip(labels, x.shape, strict=True) if n != 1}
        for label, n in large.items():
            uses[order.index(label)] += 1
            if sizes.setdefault(label, n) != n:
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {n} for operand {i} which does not broadcast with previously "
                    f"seen size {sizes[label]}"
                )
    return _contracted(
        [_arranged(x, labels, order) for x, labels in zip(operands, inputs, strict=True)], len(output), uses
    )


python("einsum", einsum, method=False)
