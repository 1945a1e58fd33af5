"""The expressions that computed the tensors of a run, where the lines that ran are known."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from ..diagnose import Changes
from ..wording import shorten_text

ORIGIN_COLUMNS = 32
"""An expression is cut to so many columns."""


def find_origins(steps: Iterable[tuple[Changes, str]]) -> list[dict[str, str]]:
    """Return for each step tensor id -> the expression that computed it, as `b * 3`.

    A step is what changed, and the statement that ran. Known is what `name = expression` gave to
    a name as a new tensor, until something else becomes its history, as by a write in place.
    """
    expressions: dict[str, str] = {}
    origins = []
    for changes, source in steps:
        now = changes.now
        alive = {tensor.id for tensor in now.tensors}
        for tensor_id in list(expressions):
            is_gone = tensor_id not in alive
            if is_gone or _has_another_history(changes.attribute_changes, tensor_id):
                del expressions[tensor_id]
        name, expression = _read_assignment(source)
        tensor_id = dict(now.names).get(name, "")
        if tensor_id in changes.new_tensors:
            expressions[tensor_id] = shorten_text(expression, ORIGIN_COLUMNS)
        origins.append(dict(expressions))
    return origins


def _has_another_history(
    attribute_changes: Mapping[str, Mapping[str, object]], tensor_id: str
) -> bool:
    """Return True if a tensor has another grad_fn than before: what computed it is not all."""
    return not attribute_changes.get(tensor_id, {}).keys().isdisjoint(("grad_fn_name", "node"))


def _read_assignment(source: str) -> tuple[str, str]:
    """Return name and expression of `name = expression`; nothing of any other statement."""
    try:
        statement = ast.parse(source.strip()).body[0]
    except (SyntaxError, ValueError, IndexError):
        return "", ""  # the beginning of a block, or no Python
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return "", ""
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return "", ""
    return target.id, ast.unparse(statement.value)
