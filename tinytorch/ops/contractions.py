"""Sums over products along named dimensions: einsum, tensordot, inner, kron.

Each is built from views and one matrix product, in torch's order, so that the graph is torch's.
"""

from __future__ import annotations

import string
from collections import Counter
from typing import Any

from ..naming import type_name
from ..tensor import Tensor
from .arguments import unfit
from .core import op, takes_out, write_out

_LETTERS = string.ascii_uppercase + string.ascii_lowercase
_DOTS = "."  # stands for the ellipsis among the labels


def _paired(left: Tensor, right: Tensor, summed: list[int]) -> Tensor:
    """The sum of products over some dimensions, which stay with size 1: both tensors have all dimensions."""
    if not summed:
        return left * right
    both: list[int] = []
    only_left: list[int] = []
    only_right: list[int] = []
    for d in range(left.dim()):
        in_left, in_right = left.size(d) != 1, right.size(d) != 1
        if d in summed:
            if in_left and not in_right:
                left = left.sum(d, True)
            elif in_right and not in_left:
                right = right.sum(d, True)
        else:
            (both if in_left and in_right else only_left if in_left else only_right).append(d)

    def count(t: Tensor, dims: list[int]) -> int:
        n = 1
        for d in dims:
            n *= t.size(d)
        return n

    if only_left and only_right and only_right[-1] < only_left[0]:  # then the result lies in order
        left, right, only_left, only_right = right, left, only_right, only_left
    batch, rows, inner, columns = (
        count(left, both),
        count(left, only_left),
        count(left, summed),
        count(right, only_right),
    )
    a = left.permute(both + only_left + summed + only_right).reshape(batch, rows, inner)
    b = right.permute(both + summed + only_right + only_left).reshape(batch, inner, columns)
    order = both + only_left + summed + only_right
    sizes = [left.size(d) for d in both + only_left] + [1] * len(summed) + [right.size(d) for d in only_right]
    return a.bmm(b).view(sizes).permute([order.index(d) for d in range(len(order))])


def _labels(text: str, operand: int | None) -> list[str]:
    """The letters and the ellipsis of one operand. RuntimeError for anything else."""
    where = "the output" if operand is None else f"operand {operand}"
    out, i = [], 0
    while i < len(text):
        c = text[i]
        if c == ".":
            if text[i : i + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for {where} that is not part of any ellipsis")
            if _DOTS in out:
                raise RuntimeError(f"einsum(): found '.' for {where} for which an ellipsis was already found")
            out.append(_DOTS)
            i += 2
        elif c in _LETTERS:
            out.append(c)
        elif c != " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {i} in the equation string, subscripts must be in [a-zA-Z]"
            )
        i += 1
    return out


def _from_lists(operands: tuple) -> tuple[str, list[Tensor]]:
    """The other way of calling: tensors and lists of numbers in turn, with the output's list last."""

    def text(labels: Any) -> str:
        return "".join("..." if x is Ellipsis else _LETTERS[x] for x in labels)

    equation = ",".join(text(s) for s in operands[1::2])
    if len(operands) % 2:
        equation += "->" + text(operands[-1])
    return equation, list(operands[: len(operands) - len(operands) % 2 : 2])


@op(method=False)
def einsum(*args: Any) -> Tensor:
    """Einstein's summation: `einsum("ij,jk->ik", a, b)`; letters that the output lacks are summed over.

    RuntimeError for an equation that does not fit the operands. Source: `torch.einsum`.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(args[0], Tensor):
        equation, operands = _from_lists(args)
    elif len(args) == 2 and isinstance(args[1], (list, tuple)):
        return einsum(args[0], *args[1])
    else:
        equation, operands = args[0], list(args[1:])
        if not isinstance(equation, str):
            raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}")
        for i, t in enumerate(operands):
            if not isinstance(t, Tensor):
                raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type_name(t)}")
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) < len(operands):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    if len(texts) > len(operands):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    inputs = [_labels(t, i) for i, t in enumerate(texts)]
    dots = _check_dims(inputs, operands)
    output = _labels(right, None) if arrow else _implied(inputs)
    _check_output(output, inputs)
    order: list[str] = [x for label in output for x in (_spread(dots) if label == _DOTS else [label])]
    kept = len(order)
    used = {label for labels in inputs for label in labels}
    order += [
        n
        for n in [*(_spread(dots) if _DOTS in used else ()), *_LETTERS]
        if n not in order and (n in used or n[0] == _DOTS)
    ]
    return _contract(
        [_arranged(t, ls, order, dots) for t, ls in zip(operands, inputs, strict=True)],
        kept,
        len(order),
        sizes_of(inputs, operands, dots, order),
    )


def _spread(n: int) -> list[str]:
    return [f".{i}" for i in range(n)]


def _check_dims(inputs: list[list[str]], operands: list[Tensor]) -> int:
    dots = 0
    for i, (labels, t) in enumerate(zip(inputs, operands, strict=True)):
        n = len(labels) - (_DOTS in labels)
        if n > t.dim() or (n != t.dim() and _DOTS not in labels):
            wrong = f"does not match the number of dimensions ({t.dim()}) for operand {i} and no ellipsis was given"
            if _DOTS in labels:
                wrong = f"is more than the number of dimensions ({t.dim()}) for operand {i}"
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({n}) {wrong}")
        dots = max(dots, t.dim() - n)
    return dots


def _implied(inputs: list[list[str]]) -> list[str]:
    """Without an arrow the output has the ellipsis and the letters that occur once, in alphabetical order."""
    counts = Counter(x for labels in inputs for x in labels if x != _DOTS)
    found = [x for x in _LETTERS if counts[x] == 1]
    return [_DOTS, *found] if any(_DOTS in labels for labels in inputs) else found


def _check_output(output: list[str], inputs: list[list[str]]) -> None:
    known = {x for labels in inputs for x in labels}
    for i, x in enumerate(output):
        if x in output[:i] and x != _DOTS:
            raise RuntimeError(f"einsum(): output subscript {x} appears more than once in the output")
        if x not in known and x != _DOTS:
            raise RuntimeError(f"einsum(): output subscript {x} does not appear in the equation for any input operand")


def _arranged(t: Tensor, labels: list[str], order: list[str], dots: int) -> Tensor:
    """The operand with one dimension for each label in order; a repeated label becomes its diagonal."""
    at: dict[str, int] = {}
    dim = 0
    for label in labels:
        if label == _DOTS:
            own = t.dim() - (dim + sum(1 for x in labels[labels.index(_DOTS) + 1 :]))
            for i in range(dots - own, dots):
                at[f".{i}"] = dim
                dim += 1
        elif label in at:
            n, m = t.size(at[label]), t.size(dim)
            if n != m:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand 0 but the sizes don't match, {m} != {n}"
                )
            t = t.diagonal(0, at[label], dim).movedim(-1, at[label])
        else:
            at[label] = dim
            dim += 1
    for label in order:
        if label not in at:
            t = t.unsqueeze(dim)
            at[label] = dim
            dim += 1
    return t.permute([at[label] for label in order])


def sizes_of(inputs: list[list[str]], operands: list[Tensor], dots: int, order: list[str]) -> Counter:
    """How many operands have a size other than 1 along each label. RuntimeError for sizes that do not broadcast."""
    seen: dict[str, tuple[int, int]] = {}
    uses: Counter = Counter()
    for i, (labels, t) in enumerate(zip(inputs, operands, strict=True)):
        flat: list[str] = []
        for label in labels:
            own = t.dim() - len(labels) + 1
            flat += [f".{k}" for k in range(dots - own, dots)] if label == _DOTS else [label]
        for d, label in enumerate(flat):
            n = t.size(d)
            if n != 1:
                if label in seen and seen[label][0] != n:
                    raise RuntimeError(
                        f"einsum(): subscript {label} has size {n} for operand {i} which does not broadcast with previously "
                        f"seen size {seen[label][0]}"
                    )
                seen.setdefault(label, (n, i))
        uses.update({label for d, label in enumerate(flat) if t.size(d) != 1})
    return Counter({order.index(label): n for label, n in uses.items()})


def _contract(ops: list[Tensor], kept: int, total: int, uses: Counter) -> Tensor:
    alone = len(ops) == 1
    while len(ops) > 1:
        a, b = ops.pop(0), ops.pop(0)
        summed, from_a, from_b = [], [], []
        for d in range(kept, total):
            if a.size(d) != 1 and b.size(d) != 1:
                uses[d] -= 1
                if uses[d] == 1:
                    summed.append(d)
                    uses[d] = 0
            elif uses[d] == 1:
                if a.size(d) != 1:
                    from_a.append(d)
                    uses[d] = 0
                elif b.size(d) != 1:
                    from_b.append(d)
                    uses[d] = 0
        a = a.sum(from_a, True) if from_a else a
        b = b.sum(from_b, True) if from_b else b
        ops.insert(0, _paired(a, b, summed))
    if total == kept:
        return ops[0]
    return ops[0].sum(list(range(kept, total))) if alone else ops[0].view(ops[0].shape[:kept])


# tensordot and its kin -------------------------------------------------------------------------------------------------------


def contracted(a: Tensor, b: Tensor, dims_a: list[int], dims_b: list[int]) -> Tensor:
    """The sum of products over pairs of dimensions."""
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if len(dims_a) != len(dims_b):
        raise RuntimeError("both dimension lists should have same length")
    inner = 1
    for i, j in zip(dims_a, dims_b, strict=True):
        m, n = a.size(i), b.size(j)
        if n == 1:
            a = a.sum(i, True, dtype=a.dtype)
        elif m == 1:
            b = b.sum(j, True, dtype=a.dtype)
        elif m != n:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim {i} and second has size {n} in dim {j}"
            )
        else:
            inner *= m
    free_a = [d for d in range(a.dim()) if d not in [i % a.dim() for i in dims_a]]
    free_b = [d for d in range(b.dim()) if d not in [i % b.dim() for i in dims_b]]
    sizes = [a.size(d) for d in free_a] + [b.size(d) for d in free_b]
    left, right = a.permute(free_a + dims_a), b.permute(dims_b + free_b)
    if not sizes:
        left, right = (t if t.dim() == 1 else t.reshape(inner) for t in (left, right))
        return left.dot(right).reshape(sizes)
    rows = 1
    for d in free_a:
        rows *= a.size(d)
    columns = 1
    for d in free_b:
        columns *= b.size(d)
    return left.reshape(rows, inner).mm(right.reshape(inner, columns)).reshape(sizes)


@op(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """The sum of products over the last dimensions of `a` and the first of `b`, or over pairs given as two lists.

    RuntimeError for sizes that differ. Source: `torch.tensordot`.
    """
    if isinstance(dims, (tuple, list)):
        first, second = (list(d) if isinstance(d, (tuple, list)) else [d] for d in dims)
    else:
        if isinstance(dims, Tensor) and dims.numel() > 1:
            return tensordot(a, b, dims.tolist(), out)
        n = dims.item() if isinstance(dims, Tensor) else dims
        if n < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={n}")
        if n > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={n}")
        first, second = list(range(-n, 0)), list(range(n))
    made = contracted(a, b, first, second)
    return made if out is None else write_out(out, made._data, "tensordot", a, b)


@op()
@takes_out("tensordot")
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sum of products over the last dimensions; a 0-d tensor multiplies.

    RuntimeError for sizes that differ. Source: `torch.inner`.
    """
    if not isinstance(other, Tensor):
        raise unfit("inner")
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    if input.size(-1) != other.size(-1):
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(input.shape)} and "
            f"{list(other.shape)}"
        )
    return contracted(input, other, [-1], [-1])
