"""Which place of a program cut off a history: `detach`, `.data`, `item()`, `no_grad` and the like.

The text has all places that may have done so. Which of them did is found by running the program
without each.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tinytorch.viz import join_names

from ..wording import gettext

_METHODS = frozenset({"detach", "detach_", "item", "numpy", "tolist"})
"""Methods whose result has no history; without the call, there is one."""
_MAKERS = frozenset({"tensor", "as_tensor", "from_numpy"})
"""Functions that make a tensor of numbers, and drop the history of what they are given."""
_Place = ast.Attribute | ast.Call | ast.withitem


class Cut(NamedTuple):
    """A place of a program that cut off a history.

    line: that in which it ends: a chain of calls may begin above it.
    is_block: True of `with torch.no_grad()`.
    """

    code: str
    line: int
    is_block: bool


def describe_cuts(cuts: Sequence[Cut]) -> str:
    """Return the sentence that says what the places did; empty if there is none."""
    if len(cuts) > 1:
        places = [gettext("`{code}` (line {line})", code=cut.code, line=cut.line) for cut in cuts]
        return gettext(
            "nothing that comes from {places} of your cell has a history.",
            places=join_names(places),
        )
    for cut in cuts:
        if cut.is_block:
            return gettext(
                "inside `with {code}` in line {line} of your cell nothing is recorded.",
                code=cut.code,
                line=cut.line,
            )
        return gettext(
            "what `{code}` in line {line} of your cell gives has no history.",
            code=cut.code,
            line=cut.line,
        )
    return ""


def find_cuts(source: str, is_mended: Callable[[str], bool]) -> list[Cut]:
    """Return the places of a program that cut off a history: without any one of them it would be there.

    is_mended: called with the program without one of the places, says whether the history is there.
    """
    found: dict[Cut, None] = {}
    for position in range(len(_list_places(ast.parse(source)))):
        tree = ast.parse(source)
        place = _list_places(tree)[position]
        cut = Cut(ast.unparse(place), _find_last_line(place), isinstance(place, ast.withitem))
        if is_mended(ast.unparse(_LeaveOut(place).visit(tree))):
            found[cut] = None
    return list(found)


def _list_places(tree: ast.AST) -> list[_Place]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, _Place) and _find_uncut(node) is not None
    ]


def _find_last_line(place: _Place) -> int:
    node = place.context_expr if isinstance(place, ast.withitem) else place
    return node.end_lineno or node.lineno


def _find_uncut(node: _Place) -> ast.AST | None:
    """Return what a program has in place of a cut, without it: `x` for `x.detach()`; None for what cuts nothing."""
    if isinstance(node, ast.withitem):
        is_off = "no_grad" in ast.unparse(node)
        recorded = ast.parse("torch.enable_grad()", mode="eval").body
        return ast.withitem(recorded) if is_off else None
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "data" else None
    if not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr in _MAKERS and node.args and _has_names(node.args[0]):
        return node.args[0]
    return node.func.value if node.func.attr in _METHODS else None


def _has_names(node: ast.AST) -> bool:
    """Return True if an argument is not of numbers alone: what a name stands for may have a history."""
    return any(isinstance(each, ast.Name) for each in ast.walk(node))


class _LeaveOut(ast.NodeTransformer):
    """Leave out one cut, and those inside of it: `torch.tensor(x.item())` becomes `x`."""

    def __init__(self, place: _Place) -> None:
        self._place = place

    def visit(self, node: ast.AST) -> Any:
        """Return the node, or what the program has in its place without the cut."""
        if node is not self._place:
            return self.generic_visit(node)
        without = _find_uncut(self._place)
        if without is None:
            return node
        inside = _list_places(without)
        left = _LeaveOut(inside[0]).visit(without) if inside else without
        return _stack_elements(left) if _makes_tensor(node) else left


def _makes_tensor(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _MAKERS
    )


def _stack_elements(node: ast.AST) -> ast.AST:
    """Return an expression that makes one tensor of a list of tensors, and leaves a tensor as it is."""
    code = ast.unparse(node)
    stacked = f"torch.stack([*{code}]) if isinstance({code}, list) else {code}"
    return ast.parse(stacked, mode="eval").body
