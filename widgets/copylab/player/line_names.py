"""Which tensor a line means by a name, in the snapshot that was taken before or after it."""

from __future__ import annotations

import ast

from tinytorch.viz import Snapshot, TensorRecord


def find_tensor_of_line(
    code: ast.expr, function: str | None, snap: Snapshot
) -> TensorRecord | None:
    """Return the tensor that `w` or `net.weight` is in a line; None if that is not known.

    `function` is the function that has the line: there a snapshot calls the variable `w` "w in f".
    """
    first = code
    while isinstance(first, ast.Attribute):
        first = first.value
    if not isinstance(first, ast.Name):
        return None
    names = dict(snap.names)
    name = ast.unparse(code)
    if function is not None:
        place = f" in {function.rpartition('.')[2]}"
        # Of two calls at work, the names do not say which has reached the line.
        if any(f"{place} (call " in other for other in names):
            return None
        name = first.id + place + name.removeprefix(first.id)
    return snap.tensor(names[name]) if name in names else None
