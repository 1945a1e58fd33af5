"""Why the cell of a learner ended in an error, as the lines of the cell itself tell it.

A player says what the engine knows: which node has freed what it saved, and that a result requires no
grad, for one of several causes. What a beginner looks for is in the cell: two calls of `backward`, or
the one call without which the result has its history.
"""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

from tinytorch.viz import join_names

from ..player import NameObserver, explain_error
from ..run import RecordedRun, is_self_contained
from ..wording import gettext, join_sentences

_NO_GRAD = "RuntimeError: element 0 of tensors does not require grad"
_FREED = "RuntimeError: Trying to backward through the graph a second time"
_CUTS = frozenset({"detach", "item", "numpy", "tolist"})
"""Methods whose result has no history; without the call, there is one."""
_MAKERS = frozenset({"tensor", "as_tensor", "from_numpy"})
"""Functions that make a tensor of what one of these methods gives."""


def explain_error_of_cell(source: str, error: str, engine: ModuleType) -> str:
    """Say why a cell ended in an error, as a player of it does; empty if that is not known.

    error: its class. A cell that works with nothing but itself is run again, line by line: that
    changes nothing of the learner's.
    """
    if not is_self_contained(source):
        return ""
    run = _record(source, engine)
    # A run of another end, as after other random numbers, does not explain that of the cell.
    if run.error is None or not run.error.startswith(f"{error}:"):
        return ""
    if run.error.startswith(_NO_GRAD) and (cut := _explain_cut(source, engine)):
        return cut
    repeated = _describe_repeated_backward(run) if run.error.startswith(_FREED) else ""
    return join_sentences(filter(None, [repeated, explain_error(run)]))


def _record(source: str, engine: ModuleType) -> RecordedRun:
    return RecordedRun(source, engine, NameObserver(engine), own_session=True)


def _describe_repeated_backward(run: RecordedRun) -> str:
    """Say in which lines `backward` was called, if that was more than once."""
    steps = [
        step
        for step in run.steps
        if step.kind not in ("call", "branch") and ".backward(" in step.site.source
    ]
    lines = sorted({step.site.line for step in steps})
    named = join_names([gettext("line {line}", line=line) for line in lines])
    if len(steps) == 2:
        return gettext("your cell calls `backward` twice, in {lines}.", lines=named)
    if len(steps) > 2:
        return gettext(
            "your cell calls `backward` {number} times, in {lines}.",
            number=len(steps),
            lines=named,
        )
    return ""


def _explain_cut(source: str, engine: ModuleType) -> str:
    """Say which place in a cell left its result without a history; empty if it is not one alone.

    Each is left out in a run of its own: without the right one, `backward` begins.
    """
    found = []
    for position in range(len(_list_cuts(ast.parse(source)))):
        tree = ast.parse(source)
        cut = _list_cuts(tree)[position]
        code, line = ast.unparse(cut), _line_of(cut)
        run = _record(ast.unparse(_LeaveOut(cut).visit(tree)), engine)
        error = run.error or "RuntimeError"
        if error.startswith("RuntimeError") and not error.startswith(_NO_GRAD):
            found.append((cut, code, line))
    if len(found) != 1:
        return ""
    ((cut, code, line),) = found
    if isinstance(cut, ast.withitem):
        return gettext(
            "`backward` has no graph to go through: inside `with {code}` in line {line} nothing is recorded.",
            code=code,
            line=line,
        )
    return gettext(
        "`backward` has no graph to go through: what `{code}` in line {line} gives has no history.",
        code=code,
        line=line,
    )


_Cut = ast.Attribute | ast.Call | ast.withitem


def _list_cuts(tree: ast.AST) -> list[_Cut]:
    """Return the places of a program that may cut off a history."""
    return [
        node for node in ast.walk(tree) if isinstance(node, _Cut) and _find_uncut(node) is not None
    ]


def _line_of(cut: _Cut) -> int:
    """Return the line in which a cut ends: a chain of calls may begin above it."""
    place = cut.context_expr if isinstance(cut, ast.withitem) else cut
    return place.end_lineno or place.lineno


def _find_uncut(node: _Cut) -> ast.AST | None:
    """Return what a program has in place of a cut, without it: `x` for `x.detach()`; None for what cuts nothing."""
    if isinstance(node, ast.withitem):
        is_off = "no_grad" in ast.unparse(node)
        recorded = ast.parse("torch.enable_grad()", mode="eval").body
        return ast.withitem(recorded) if is_off else None
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "data" else None
    if not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr in _MAKERS and node.args and _list_cuts(node.args[0]):
        return node.args[0]
    return node.func.value if node.func.attr in _CUTS else None


class _LeaveOut(ast.NodeTransformer):
    """Leave out one cut, and those inside of it: `torch.tensor(x.item())` becomes `x`."""

    def __init__(self, cut: _Cut) -> None:
        self._cut = cut

    def visit(self, node: ast.AST) -> Any:
        """Return the node, or what the program has in its place without the cut."""
        if node is not self._cut:
            return self.generic_visit(node)
        without = _find_uncut(self._cut)
        if without is None:
            return node
        inside = _list_cuts(without)
        return _LeaveOut(inside[0]).visit(without) if inside else without
