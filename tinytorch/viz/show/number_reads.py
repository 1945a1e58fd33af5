"""What lines of a run made of a tensor's numbers alone, as `n = a.item()` and `b = torch.tensor(a)`.

Nothing in memory or graph tells where a copy came from. The line that ran does, and it is believed
only where the values say the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..diagnose import Changes
from ..read import Snapshot, TensorRecord

_METHODS = {"detach", "clone", "item", "tolist", "numpy", "cpu", "requires_grad_", "contiguous"}
_FUNCTIONS = {"float", "int", "tensor", "as_tensor", "from_numpy", "array", "deepcopy"}
"""Of these, all that an expression gives is the numbers of the tensor that it begins with."""
_COPYING_METHODS = {"new_tensor"}
"""Methods of one tensor that take the numbers of another."""
_MOST_VALUES = 64
"""Tensors with more elements are not compared, and nothing is said of them."""


class NumberRead(NamedTuple):
    """Something that has the numbers of a tensor on the graph, and not its history."""

    name: str
    """The name that a line gave it."""
    source: str
    """The id of the tensor that was read."""
    tensor: str
    """The id of the tensor that has its numbers; empty for a number of Python's."""
    text: str
    """That number; empty for a tensor."""
    step: int
    """The step that read it, counted from 0: a number is known again by it."""
    is_new: bool
    """True at that step."""


class ReadStep(NamedTuple):
    """A step of a run: what changed, its statement, and its plain variables."""

    changes: Changes
    """What changed."""
    source: str
    """The statement that ran; empty if it is not known."""
    plain: Mapping[str, str]
    """The variables that are no tensors, with their texts."""


def find_number_reads(
    steps: Iterable[ReadStep],
) -> list[tuple[NumberRead, ...]]:
    """Return for each step what has the numbers of a tensor that requires grad, and no history."""
    valid_reads: list[NumberRead] = []
    found = []
    for step, (changes, source, plain) in enumerate(steps):
        # What a line binds anew has no longer what it was given before, even if it looks the same.
        rebound = _list_names(source)
        earlier_reads, valid_reads = valid_reads, []
        for read in earlier_reads:
            earlier = read._replace(is_new=False)
            if earlier.name not in rebound and _still_holds(earlier, changes.now, plain):
                valid_reads.append(earlier)
        new_read = _find_read(changes, source, plain, step)
        if new_read is not None:
            valid_reads.append(new_read)
        found.append(tuple(valid_reads))
    return found


def _list_names(source: str) -> set[str]:
    """Return the names that a statement may bind; of the beginning of a block all that it has."""
    try:
        statement = ast.parse(source.strip())
    except (SyntaxError, ValueError):
        return set(source.replace(",", " ").replace(":", " ").split())
    names = (part for part in ast.walk(statement) if isinstance(part, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store | ast.Del)}


def _still_holds(read: NumberRead, now: Snapshot, plain: Mapping[str, str]) -> bool:
    alive = {tensor.id for tensor in now.tensors}
    if read.source not in alive or not now.tensor(read.source).requires_grad:
        return False
    # A number is no object that could be known again. A tensor is, and what was recorded into it by
    # a write gives it a history.
    if not read.tensor:
        return plain.get(read.name) == read.text
    return read.tensor in alive and bool(now.tensor(read.tensor).is_leaf)


def _find_read(
    changes: Changes, source: str, plain: Mapping[str, str], step: int
) -> NumberRead | None:
    try:
        statement = ast.parse(source.strip()).body[0]
    except (SyntaxError, ValueError, IndexError):
        return None  # the beginning of a block
    match statement:
        # `b = a` gives a second name, and `b = a + 1` other numbers.
        case ast.Assign([ast.Name(name)], ast.Call() | ast.Attribute() as expression):
            read_name = _find_read_name(expression)
        case _:
            return None
    if changes.since is None or not read_name:
        return None
    now, source_id = changes.now, changes.earlier_names.get(read_name, "")
    # A tensor that has become another since, or is gone, is not what can be seen now.
    if source_id not in changes.earlier_tensors:
        return None
    tensor = now.tensor(source_id)
    if not tensor.requires_grad:
        return None
    made = dict(now.names).get(name, "")
    if made in changes.new_tensors:
        # `float`, say, may be a function of the program's own: the values decide.
        if not _has_numbers_of(now, now.tensor(made), tensor):
            return None
        return NumberRead(name, source_id, made, "", step, is_new=True)
    if made or not _is_number_of(now, plain.get(name, ""), tensor):
        return None
    return NumberRead(name, source_id, "", plain[name], step, is_new=True)


def _find_read_name(expression: ast.expr) -> str:
    """Return the variable whose numbers are all that an expression gives; empty if not known."""
    match expression:
        case ast.Name(name):
            return name
        case ast.List([single]):
            return _find_read_name(single)
        case ast.Attribute(inner, "data"):
            return _find_read_name(inner)
        case ast.Call(ast.Attribute(inner, method), []) if method in _METHODS:
            return _find_read_name(inner)
        # of the methods above the only one that may have an argument and change no number
        case ast.Call(ast.Attribute(inner, "requires_grad_"), [ast.Constant()]):
            return _find_read_name(inner)
        # `torch.tensor(a)`, `np.array(a)`, `y.new_tensor(a)`: by the last name alone, whatever is before it.
        # A function of another's with such a name is found out by the values.
        case ast.Call(ast.Attribute(_, method), [single]) if method in (
            _FUNCTIONS | _COPYING_METHODS
        ):
            return _find_read_name(single)
        case ast.Call(ast.Name(function), [single]) if function in _FUNCTIONS:
            return _find_read_name(single)
    return ""


def _has_numbers_of(snap: Snapshot, tensor: TensorRecord, source: TensorRecord) -> bool:
    """Return True if a new leaf has the values of a tensor in cells of its own."""
    if not tensor.is_leaf or tensor.storage is None or tensor.storage == source.storage:
        return False
    values = snap.values(tensor, _MOST_VALUES)
    return values is not None and values == snap.values(source, _MOST_VALUES)


def _is_number_of(snap: Snapshot, text: str, source: TensorRecord) -> bool:
    values = snap.values(source, 1)
    try:
        return values is not None and [float(text)] == [*map(float, values)]
    except (TypeError, ValueError):
        return False  # a text, or no number at all
