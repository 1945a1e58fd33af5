"""How the cells of a notebook ended, by the names that they set.

The variables of a notebook outlive the cells that made them: after a cell with a SyntaxError, or a
program that changes nothing, they are as an earlier run left them. What judges them asks here for
the cell that set them last.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from .surroundings import describe_error, running_shell

_MAX_MESSAGE = 200
"""Characters of the message of an error that are kept."""
_FILE_OF_CELL = re.compile(r" \(\S+, line (\d+)\)\Z")

# Of a cell that is no Python, because of an error or a magic. `x == 1` sets nothing.
_SETTING = re.compile(
    r"^[ \t]*(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|(\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*[-+*/@]?=(?!=))",
    re.MULTILINE,
)


class CellOutcome(NamedTuple):
    """A cell that was run: its source, the class of the error that ended it ("" if none), and its first line."""

    source: str
    error: str
    message: str = ""

    @classmethod
    def from_description(cls, source: str, error: str) -> CellOutcome:
        """Return the outcome of a cell with its error as `describe_error` has it, "" if none."""
        kind, _, message = error.partition("\n")[0].partition(": ")
        # A cell is a file with a number for a name, which tells a learner nothing.
        said = _FILE_OF_CELL.sub(r" (line \1)", message)
        # Between two words: a word cut in two was asked about.
        return cls(source, kind, textwrap.shorten(said, _MAX_MESSAGE, placeholder=" ..."))


class KeptRun(NamedTuple):
    """The last run of a cell: how it ended, and variables as it left them."""

    outcome: CellOutcome
    variables: dict[str, Any]

    def select(self, names: Iterable[str]) -> KeptRun:
        """Return the same run with these of its variables alone."""
        return KeptRun(self.outcome, {name: self.variables[name] for name in names})


class Look(NamedTuple):
    """A cell that showed variables and set none: its call of a picture, and the cells that had set what it names."""

    call: str
    outcomes: dict[str, CellOutcome]


class CellOutcomes:
    """The last cell that set each name of the running notebook, from a first look on."""

    def __init__(self) -> None:
        self.shell: Any = None
        self.by_name: dict[str, CellOutcome] = {}
        # By the id that the front end gives a cell; one without an id has no entry.
        self.run_by_cell: dict[str, KeptRun] = {}
        self._groups: set[frozenset[str]] = set()
        # By id, too, or by the text of one without.
        self._looks: dict[str, Look] = {}

    def follow_shell(self, names: Iterable[str] = ()) -> None:
        """Note how cells end from now on; outside of a notebook there are none.

        names: of a cell that sets all of these, its variables are kept as well, whatever other
            cells set. That keeps them alive: they are few, those that a check looks at.
        """
        if group := frozenset(names):
            self._groups.add(group)
        shell = running_shell()
        if shell is not None and shell is not self.shell:
            self.shell, self.by_name, self.run_by_cell, self._looks = shell, {}, {}, {}
            # Events, as a cell that ends in an error calls nothing of ours.
            shell.events.register("pre_run_cell", self._forget_names_set_anew)
            shell.events.register("post_run_cell", self._note_cell)

    def _forget_names_set_anew(self, info: Any) -> None:
        """Forget what is known of the names that a cell is about to set.

        A check in that very cell would blame it for the error of the cell before.
        """
        for name in find_names_set(info.raw_cell):
            self.by_name.pop(name, None)
        self.run_by_cell.pop(getattr(info, "cell_id", None) or "", None)

    def _note_cell(self, result: Any) -> None:
        # Two, as IPython has them: one of the text (a SyntaxError), one of the run.
        raised = result.error_before_exec or result.error_in_exec
        error = "" if raised is None else describe_error(raised)
        outcome = CellOutcome.from_description(result.info.raw_cell, error)
        # Also of a cell with an error: it may have set some of its names, and which is not known.
        names = find_names_set(outcome.source)
        self.by_name |= dict.fromkeys(names, outcome)
        if not names and (call := _find_picture(outcome.source)):
            key = getattr(result.info, "cell_id", None) or outcome.source
            # The last one goes to the end.
            self._looks.pop(key, None)
            used = _find_names_read(call)
            shown = {name: self.by_name[name] for name in used if name in self.by_name}
            self._looks[key] = Look(call, shown)
        wanted = set[str]().union(*(group for group in self._groups if group <= names))
        if wanted and (cell := getattr(result.info, "cell_id", None)):
            now = self.shell.user_ns
            variables = {name: now[name] for name in wanted if name in now}
            self.run_by_cell[cell] = KeptRun(outcome, variables)

    def find_last(self, names: Iterable[str]) -> CellOutcome | None:
        """Return the cell that set all of these names last; None if it is not known.

        None as well where another cell has set one of them since: whose error it would be, and
        whose program, is not clear then.
        """
        # By identity: the same cell that was run twice is two outcomes.
        outcomes = {id(outcome): outcome for outcome in map(self.by_name.get, names)}
        return outcomes.popitem()[1] if len(outcomes) == 1 else None

    def join_sources(self, names: Sequence[str]) -> str:
        """Return the cells that set these names last, in the order in which they were run.

        Empty if that of one of the names is not known.
        """
        if not set(names) <= self.by_name.keys():
            return ""
        # A name that is set anew goes to the end: see `_forget_names_set_anew`.
        outcomes = {id(cell): cell for name, cell in self.by_name.items() if name in names}
        return "\n".join(cell.source for cell in outcomes.values())

    def list_runs(self, names: Sequence[str]) -> list[KeptRun]:
        """Return the last run of each cell that set all of these names, with these variables alone.

        Another group may have had more of the same cell kept: `loss` for one check, `w` for two.
        """
        return [
            run.select(names)
            for run in self.run_by_cell.values()
            if set(names) <= set(run.variables)
        ]

    def find_stale_look(self, names: Sequence[str]) -> str:
        """Return the call of the last picture of these names if they were set anew since; empty if not.

        What it shows stays below its cell, beside a verdict on what the names are now.
        """
        looks = [look for look in self._looks.values() if set(names) & look.outcomes.keys()]
        if not looks:
            return ""
        shown = looks[-1].outcomes
        is_stale = any(self.by_name.get(name) is not shown[name] for name in names if name in shown)
        return looks[-1].call if is_stale else ""

    def list_names_set_apart(self, names: Sequence[str]) -> list[str]:
        """Return those of the names that another cell set last than the first of them."""
        outcomes = {name: self.by_name[name] for name in names if name in self.by_name}
        first = next(iter(outcomes.values()), None)
        return [name for name, outcome in outcomes.items() if outcome is not first]


def find_names_set(source: str) -> set[str]:
    """Return the global names that a cell sets, as far as its text tells."""
    try:
        return set(_names_set_by(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        names: set[str] = set()
        for function, variables in _SETTING.findall(source):
            names |= set(re.findall(r"\w+", function or variables))
        return names


_PICTURES = {"memory", "graph", "explain"}


def _find_picture(source: str) -> str:
    """Return the first call in a cell that shows tensors; empty if there is none."""
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    found = [call for call in calls if ast.unparse(call.func).rpartition(".")[2] in _PICTURES]
    return ast.unparse(found[0]) if found else ""


def _find_names_read(source: str) -> set[str]:
    """Return the names that an expression reads."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def _names_set_by(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child.name  # what it sets inside is its own
        elif not isinstance(child, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                yield child.id
            yield from _names_set_by(child)


CELL_OUTCOMES = CellOutcomes()
