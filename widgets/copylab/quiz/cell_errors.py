"""Why the cell of a learner ended in an error, as the lines of the cell itself tell it.

A player says what the engine knows: which node has freed what it saved, and that a result requires no
grad, for one of several causes. What a beginner looks for is in the cell: two calls of `backward`, or
the one call without which the result has its history.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import ModuleType

from tinytorch.viz import join_names

from ..player import NameObserver, explain_error
from ..run import RecordedRun, Step, is_self_contained
from ..wording import gettext, gettext_noop, join_sentences
from .cuts import describe_cuts, find_cuts

_NO_GRAD = "RuntimeError: element 0 of tensors does not require grad"
_FREED = "RuntimeError: Trying to backward through the graph a second time"
_NOT_KEPT = "RuntimeError: can't retain_grad on Tensor that has requires_grad=False"
_LEAF_WRITE = "a leaf Variable that requires grad is being used in an in-place operation"
_VIEW_WRITE = "a view of a leaf Variable that requires grad is being used"
_METHODS = frozenset(
    [
        "backward",
        "clone",
        "contiguous",
        "detach",
        "item",
        "mean",
        "numpy",
        "requires_grad_",
        "retain_grad",
        "sum",
        "t",
        "tolist",
    ]
)
"""Methods that are of no use without a call."""
_NONE_HAS_NOT = re.compile(r"AttributeError: 'NoneType' object has no attribute '(\w+)'")


def explain_error_of_cell(source: str, error: str, engine: ModuleType) -> str:
    """Say why a cell ended in an error, as a player of it does; empty if that is not known.

    error: its class. A cell that works with nothing but itself is run again, line by line: that
    changes nothing of the learner's.
    """
    if not is_self_contained(source):
        return ""
    run = _record_program(source, engine)
    # A run of another end, as after other random numbers, does not explain that of the cell.
    if run.error is None or not run.error.startswith(f"{error}:"):
        return ""
    own = [*_describe_own_lines(run, source, engine)]
    if run.error.startswith((_NO_GRAD, _NOT_KEPT)) and own:
        return join_sentences(own)
    return join_sentences(filter(None, [*own, explain_error(run)]))


def _describe_own_lines(run: RecordedRun, source: str, engine: ModuleType) -> Iterator[str]:
    """Yield what the lines of a cell did before an error; what the engine knows of it comes after that."""
    error = run.error or ""
    if error.startswith((_NO_GRAD, _NOT_KEPT)):
        cuts = find_cuts(
            source, lambda program: _has_history(_record_program(program, engine), run)
        )
        if cuts:
            yield describe_cuts(cuts)
            if error.startswith(_NOT_KEPT):
                yield gettext("So there is no gradient that `retain_grad` could keep.")
            else:
                yield gettext("So `backward` has no graph to go through.")
        elif name := _find_root_without_source(run, source):
            yield gettext(
                "`{name}` was computed from no tensor that requires grad, so `backward` has no graph to go through.",
                name=name,
            )
    elif error.startswith(_FREED):
        yield _describe_repeated_backward(run)
    elif error.startswith("TypeError") and "method" in error:
        yield _describe_uncalled_method(source)
    elif lacking := _NONE_HAS_NOT.match(error):
        yield _describe_none(run.steps[-1], lacking[1])
    elif _LEAF_WRITE in error or _VIEW_WRITE in error:
        yield _describe_leaf_write(run.steps[-1], is_view=_VIEW_WRITE in error)


def _record_program(source: str, engine: ModuleType) -> RecordedRun:
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
    if len(lines) == 1 and len(steps) > 1:
        return gettext(
            "line {line} of your cell calls `backward` again, and comes to what an earlier call has freed.",
            line=lines[0],
        )
    if len(steps) == 2:
        return gettext("your cell calls `backward` twice, in {lines}.", lines=named)
    if len(steps) > 2:
        return gettext(
            "your cell calls `backward` {number} times, in {lines}.",
            number=len(steps),
            lines=named,
        )
    return ""


def _has_history(run: RecordedRun, run_of_cell: RecordedRun) -> bool:
    """Return True if a program with one cut less does not end in the error of the cell: it may end in another.

    One that is none of the engine's may come before there was anything to go through.
    """
    first, first_of_cell = ((each.error or "").partition("\n")[0] for each in (run, run_of_cell))
    if first == first_of_cell:
        return False
    is_of_engine = not first or first.startswith("RuntimeError")
    return is_of_engine or len(run.steps) > len(run_of_cell.steps)


def _find_root_without_source(run: RecordedRun, source: str) -> str:
    """Return the name before `.backward()` in the last line if nothing that it was computed from requires grad.

    Empty where that is not known: a name may stand for something that has tensors in it.
    """
    call = re.search(r"(?<![\w.])([A-Za-z_]\w*)\.backward\(", run.steps[-1].site.source)
    before = [step.observation for step in run.steps if step.observation is not None]
    if call is None or not before:
        return ""
    snap = before[-1].snapshot
    tensors = {name for name, _ in snap.names}
    used = _find_names_used(source, call[1])
    if call[1] not in tensors or not used <= tensors | {"torch"}:
        return ""
    needs_grad = any(snap.tensor(name).requires_grad for name in used & tensors)
    return "" if needs_grad else call[1]


def _find_names_used(source: str, name: str) -> set[str]:
    """Return a name and all that the lines of a program compute it from."""
    sources: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
            names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
            targets = {each.id for each in names if isinstance(each.ctx, ast.Store)}
            for target in targets:
                sources.setdefault(target, set()).update(each.id for each in names)
    used, waiting = {name}, [name]
    for each in waiting:  # it grows while we go on
        new = sources.get(each, set()) - used
        used |= new
        waiting += new
    return used


def _describe_none(step: Step, attribute: str) -> str:
    """Say what in a line is None, as `x.grad` is in `x.grad.zero_()`; empty if it is not one thing alone."""
    try:
        nodes = list(ast.walk(ast.parse(step.site.source.strip())))
    except (SyntaxError, ValueError):
        return ""
    owners = {
        ast.unparse(node.value)
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == attribute
    }
    if len(owners) != 1:
        return ""
    (owner,) = owners
    sentence = gettext_noop("in line {line} of your cell `{code}` is None, which has no `{name}`.")
    if owner.endswith(".grad"):
        sentence = gettext_noop(
            "in line {line} of your cell `{code}` is None, which has no `{name}`: no gradient has arrived there."
        )
    return gettext(sentence, line=step.site.line, code=owner, name=attribute)


def _describe_uncalled_method(source: str) -> str:
    """Say which method a program names and does not call, as `loss.item`; empty if it is not one alone."""
    nodes = list(ast.walk(ast.parse(source)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    found = {
        ast.unparse(node)
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in _METHODS and id(node) not in called
    }
    if len(found) != 1:
        return ""
    return gettext("`{code}` without `()` calls nothing.", code=found.pop())


def _describe_leaf_write(step: Step, *, is_view: bool) -> str:
    """Say which line writes into a leaf, or a view of one, where that would be recorded."""
    written = _find_written_name(step.site.source, is_view=is_view)
    if not written:
        return ""
    sentence = gettext_noop(
        "line {line} of your cell writes into `{name}`, a leaf that requires grad."
    )
    if is_view:
        sentence = gettext_noop(
            "line {line} of your cell writes into `{name}`, a view of a leaf that requires grad."
        )
    return gettext(sentence, line=step.site.line, name=written)


def _find_written_name(source: str, *, is_view: bool) -> str:
    """Return what a line writes into: `w` of `w -= 1`, `w[0]` of `w[0].fill_(1)`; empty if it is not known.

    is_view: it is a view. Of `w[0] = 1` that is `w[0]`; of `w[mask] = 1` there is none.
    """
    try:
        (statement,) = ast.parse(source.strip()).body
    except (SyntaxError, ValueError):
        return ""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as place]):
            return ast.unparse(place if is_view else place.value)
        case ast.AugAssign(target=place):
            return ast.unparse(place)
        case ast.Expr(ast.Call(ast.Attribute(place, method))) if method.endswith("_"):
            return ast.unparse(place)
    return ""
