"""Which lines of a program lead to what a line uses, as its source says: names that are assigned and used.

Nothing here is certain. It puts lines of which more is likely before others.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from .places import Place

_INNER_CODES = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})
"""Code that has no statements of its own: its caller is in the same statement, or near."""
_FILLING_METHODS = frozenset({"append", "appendleft", "add", "extend", "insert", "put", "update"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_RETURNS = (ast.Return, ast.Yield, ast.YieldFrom)


class Likelihood(IntEnum):
    """Whether what a line reads goes on to another one."""

    NAMED = 0
    """It assigns a name that leads there."""
    UNKNOWN = 1
    """The source does not say."""
    ELSEWHERE = 2
    """It assigns other names, or none, as a line that prints does."""


class _Statement(NamedTuple):
    """What a statement does with names, without the statements inside of it."""

    node: Any
    """The statement."""
    targets: frozenset[str]
    """The names that it assigns, with attributes: `self.h`."""
    sources: frozenset[str]
    """The names that it reads."""

    @property
    def is_return(self) -> bool:
        """True if it gives something to the caller."""
        return any(isinstance(node, _RETURNS) for node in _walk_own(self.node))

    @property
    def fills_object(self) -> bool:
        """True if it changes an object that may be known elsewhere."""
        is_entry = any(
            isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
            for node in _walk_own(self.node)
        )
        is_call = isinstance(self.node, ast.Expr) and bool(self.targets)
        return is_entry or is_call or any("." in target for target in self.targets)


class NameFlow:
    """How names lead to the line at which a function and its callers are."""

    def __init__(self, callers: Sequence[Place], name: str = "") -> None:
        """callers: the line, and those that called it, the innermost first.

        name: what the line uses of which it is asked how it came about; all that it uses if it names no such.
        """
        self._name = name
        self._trees: dict[str, ast.Module | None] = {}
        self._callers: dict[tuple[str, str], Place] = {}
        for place in callers:
            self._callers.setdefault(_code_key(place), place)

    def judge(self, places: Sequence[Place]) -> Likelihood:
        """Say whether what a line reads goes on to the callers. places: the line, and those that called it."""
        try:
            return self._judge_way(places)
        except RecursionError:  # an expression of a thousand terms
            return Likelihood.UNKNOWN

    def _judge_way(self, places: Sequence[Place]) -> Likelihood:
        is_known = True
        for place in places:
            if place.function in _INNER_CODES:
                continue
            statements = self._list_statements(place)
            statement = _find_statement(statements, place.line)
            # Its source is not there, or was edited since; its callers may still tell.
            if statement is None:
                is_known = False
                continue
            caller = self._callers.get(_code_key(place))
            if caller is not None:
                if not self._leads_to_caller(statement, statements, caller):
                    return Likelihood.ELSEWHERE
                return Likelihood.NAMED if is_known else Likelihood.UNKNOWN
            # A function that has returned: what goes on is what it returns, or an object that it fills.
            returns = [each for each in statements if each.is_return]
            needed = _find_needed(_join_sources(returns), statements)
            if statement.is_return or _assigns_any(statement, needed):
                continue
            if returns and not statement.fills_object:
                return Likelihood.ELSEWHERE
            is_known = False
        return Likelihood.UNKNOWN

    def _leads_to_caller(
        self, statement: _Statement, statements: list[_Statement], caller: Place
    ) -> bool:
        statements_of_caller = self._list_statements(caller)
        last = _find_statement(statements_of_caller, caller.line)
        if last is None or last.node is statement.node:
            return True
        # Of cells, each has a file of its own, and all have the same names.
        all_statements = [*statements_of_caller, *statements]
        is_named = self._name in last.sources
        sources = frozenset([self._name]) if is_named else last.sources
        return _assigns_any(statement, _find_needed(sources, all_statements))

    def find_assignment(self) -> Place | None:
        """Return the last line above the callers' own that assigns the name; None where none is known."""
        for caller in self._callers.values():
            lines = [
                statement.node.lineno
                for statement in self._list_statements(caller)
                if self._name in statement.targets and statement.node.lineno < caller.line
            ]
            if lines:
                return caller._replace(line=max(lines))
        return None

    def _list_statements(self, place: Place) -> list[_Statement]:
        """Return the statements of the function that a line is part of."""
        if place.file not in self._trees:
            self._trees[place.file] = _parse(place.file)
        tree = self._trees[place.file]
        scope = None if tree is None else _find_scope(tree, place)
        return [] if scope is None else [_read_statement(each) for each in _walk_statements(scope)]


def _code_key(place: Place) -> tuple[str, str]:
    """Return what two lines of one function have in common."""
    # Each cell of a notebook is a file of its own, and all of them have the same names.
    return "" if place.function == "<module>" else place.file, place.function


def _parse(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):  # a file that was edited since, a cell with magics
        return None


def _find_scope(tree: ast.Module, place: Place) -> Any:
    """Return the function that a line is part of, or the whole file; None if it is not found."""
    if place.function == "<module>":
        return tree
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS)
        and node.name == place.function
        and node.lineno <= place.line <= (node.end_lineno or 0)
    ]
    # Of functions inside of each other, the innermost begins last.
    return max(found, key=lambda node: node.lineno, default=None)


def _walk_statements(scope: Any) -> Iterator[Any]:
    """Yield the statements of a function or a file, without those of functions inside of it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, (*_DEFINITIONS, ast.expr)):
            yield from _walk_statements(child)


def _walk_own(node: Any, *, stops_at_names: bool = False) -> Iterator[Any]:
    """Yield the parts of a statement, without the statements inside of it.

    stops_at_names: leave out what a name with attributes is made of.
    """
    yield node
    if stops_at_names and _path_of(node):
        return
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield from _walk_own(child, stops_at_names=stops_at_names)


def _read_statement(statement: Any) -> _Statement:
    """Read which names a statement assigns, and which it reads."""
    # What a function reads when it is called counts as read where it is defined.
    if isinstance(statement, _DEFINITIONS):
        names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        return _Statement(statement, frozenset([statement.name]), frozenset(names))
    targets: set[str] = set()
    sources: set[str] = set()
    for node in _walk_own(statement, stops_at_names=True):
        path = _path_of(node)
        if isinstance(getattr(node, "ctx", None), ast.Store):
            # `losses["a"] = ...` fills what `losses` is.
            targets.add(path or _path_of(getattr(node, "value", None)))
        elif path:
            sources.add(path)
    match statement:
        # `losses.append(h)`, `total.add_(h)`: these, too, assign something.
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=name))):
            if name in _FILLING_METHODS or name.endswith("_"):
                targets.add(_path_of(owner))
        case ast.Import() | ast.ImportFrom():
            targets |= {alias.asname or alias.name for alias in statement.names}
    return _Statement(statement, frozenset(targets - {""}), frozenset(sources))


def _path_of(node: Any) -> str:
    """Return `self.net.h` for a name with its attributes; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _path_of(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def _find_statement(statements: Iterable[_Statement], line: int) -> _Statement | None:
    """Return the innermost statement that a line is part of; of several on one line, all of them as one."""
    found = [each for each in statements if each.node.lineno <= line <= each.node.end_lineno]
    simple = [each for each in found if not hasattr(each.node, "body")]
    if len(simple) < 2:
        return found[-1] if found else None
    targets = frozenset().union(*(each.targets for each in simple))
    return _Statement(simple[-1].node, targets, _join_sources(simple))


def _join_sources(statements: Iterable[_Statement]) -> frozenset[str]:
    return frozenset().union(*(each.sources for each in statements))


class _NeededNames:
    """Names that lead somewhere, with all that they begin with."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._starts: set[str] = set()

    def add(self, paths: Iterable[str]) -> None:
        """Add names."""
        for path in paths:
            self._paths.add(path)
            self._starts.update(_list_starts(path))

    def includes(self, target: str) -> bool:
        """Return True if an assignment to a target changes what one of the names gives."""
        return target in self._starts or any(start in self._paths for start in _list_starts(target))


def _list_starts(path: str) -> list[str]:
    """Return `a`, `a.b` and `a.b.c` for the last of these."""
    parts = path.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def _find_needed(sources: Iterable[str], statements: Sequence[_Statement]) -> _NeededNames:
    """Return the names that lead to some, through all that statements assign."""
    needed = _NeededNames()
    needed.add(sources)
    left = list(statements)
    # As long as any is added: in a loop, a later line may lead to an earlier one.
    while True:
        used = [each for each in left if _assigns_any(each, needed)]
        if not used:
            return needed
        left = [each for each in left if not _assigns_any(each, needed)]
        needed.add(_join_sources(used))


def _assigns_any(statement: _Statement, needed: _NeededNames) -> bool:
    return any(needed.includes(target) for target in statement.targets)
