"""Find the expressions of a program that copy a tensor, and write it with other copies there.

What a copy looks like is read off `METHODS`: the expression behind `y = `, in which `x` stands for
whatever the program copies. Nothing is run here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ..run import list_bound_names
from ..wording import gettext
from .methods import METHODS, Method

OFFERED = ("=", "clone", "detach", "detach().clone()", ".data", "deepcopy")
"""The methods that are offered in the place of a copy, beside the one that is there.

Those of the first lessons, and the two that make a copy which shares nothing: a row of all 21 would
be read by nobody.
"""

MOST_COPIES = 20
"""Maximum number of copies that are found: each is a row of buttons in a player."""

# Another shape or dtype is asked for, and what comes back without it is another program.
_NO_COPIES = {"view", "reshape", "to(float64)"}
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@dataclass(frozen=True)
class ProgramCopy:
    """An expression of a program that copies a tensor.

    method: the one that it is. source: what it copies, as it is written. is_assigned: it is all
    that an assignment binds, as in `y = x.clone()`. first, last: where it begins and ends, as
    (line, column in bytes), both counted from 0.
    """

    method: Method
    source: str
    is_assigned: bool
    first: tuple[int, int]
    last: tuple[int, int]
    offered: tuple[str, ...]
    """The names of the methods that this program may have in its place."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods to choose from, its own included."""
        name = self.method.name
        return self.offered if name in self.offered else (name, *self.offered)

    @property
    def line(self) -> int:
        """The line where it begins, from 1."""
        return self.first[0] + 1

    def label(self, name: str) -> str:
        """Return what people call a method in this place.

        Inside of a larger expression the source alone is no assignment: nothing is called there.
        """
        return gettext("nothing") if name == "=" and not self.is_assigned else name

    def write(self, name: str) -> str:
        """Return the expression that copies the same by another method."""
        # Its last line: those before are imports.
        expression = METHODS[name].code.splitlines()[-1].removeprefix("y = ")
        # By a function: a backslash in the source would be read as one of a pattern.
        return re.sub(r"(?<![\w.])x\b", lambda _: self.source, expression)


class ChangedProgram(NamedTuple):
    """A program with other copies in the place of its own."""

    code: str
    lines: tuple[int, ...]
    """The line of each copy, in the order in which they were found."""
    added_line: int
    """The line of the import that another method needs; 0 if no line was added."""
    added_steps: int
    """The number of statements that were added; two can be on a line that was there."""
    shifts: tuple[int, ...]
    """How many lines more than before begin on each of the lines that the program had."""

    def find_original_line(self, line: int) -> int:
        """Return where a line of this program was in the one that it was made of."""
        line_without_import = line - (0 < self.added_line <= line)
        places = [number + 1 + sum(self.shifts[:number]) for number in range(len(self.shifts))]
        # Where a copy of several lines became one, places repeat: the first is its own.
        fitting = [place for place in places if place <= line_without_import]
        return places.index(max(fitting)) + 1 if fitting else 1


def find_program_copies(code: str, tensors: Collection[str]) -> tuple[ProgramCopy, ...]:
    """Return the copies in a program, in the order of their lines; none if it is no Python.

    tensors: the names that were tensors when it ran, "net.weight" among them. `y = x`, `x.data` and
        `torch.tensor(x)` count only for those; what `.clone()` is called on is taken for a tensor.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    lines = _split_into_lines(code)
    # `copy = 3` in the program, and `copy.deepcopy` would be an attribute of a number.
    has_own_copy = _binds_otherwise(tree, "copy")
    offered = [name for name in OFFERED if not (has_own_copy and _imports_of(METHODS[name]))]
    found = []
    for node, (method, source, is_assigned) in _walk_copies(tree, tensors):
        first = node.lineno - 1, node.col_offset
        last = _end_line(node) - 1, node.end_col_offset or 0
        # As it is written, comments and spaces included: `ast.unparse` would write it anew.
        text = _read_source(lines, source)
        found.append(ProgramCopy(method, text, is_assigned, first, last, tuple(offered)))
    return tuple(sorted(found, key=lambda copy: copy.first)[:MOST_COPIES])


def exchange_copies(
    code: str, copies: Sequence[ProgramCopy], choices: Mapping[int, str]
) -> ChangedProgram:
    """Return a program with other methods in the place of some of its copies.

    copies: as `find_program_copies` found them in `code`. choices: the index of a copy -> the name
        of the method to put there.
    """
    lines = _split_into_lines(code)
    shifts = [0] * len(lines)
    # From the end: what is before an exchange keeps its place.
    for index in sorted(choices, reverse=True):
        (first, start), (last, end) = copies[index].first, copies[index].last
        expression = copies[index].write(choices[index]).encode()
        text = lines[first][:start] + expression + lines[last][end:]
        # What a copy took in more lines than its new text does is gone from below it.
        lines[first : last + 1] = text.split(b"\n")
        shifts[first] = text.count(b"\n") - (last - first)
    copy_lines = [copy.line + sum(shifts[: copy.line - 1]) for copy in copies]
    added_line = 0
    # The first place of each is what an import must be above of.
    places: dict[str, tuple[int, int]] = {}
    for index in sorted(choices):
        for line in _imports_of(METHODS[choices[index]]):
            places.setdefault(line, copies[index].first)
    missing = [line for line, place in places.items() if not _has_statement(code, line, place)]
    if missing:
        imports = "; ".join(missing).encode()
        number, column = _find_place_for_import(code)
        if column:
            # `"""A docstring."""; x = 1` on one line: the import goes between the two.
            line_there = lines[number - 1]
            lines[number - 1] = line_there[:column] + imports + b"; " + line_there[column:]
        else:
            added_line = number
            lines.insert(added_line - 1, imports)
            copy_lines = [number + (number >= added_line) for number in copy_lines]
    changed = b"\n".join(lines).decode()
    return ChangedProgram(changed, tuple(copy_lines), added_line, len(missing), tuple(shifts))


# -- what a copy looks like --------------------------------------------------------


class _Template(NamedTuple):
    """The expression of a method, in which the name `x` stands for what is copied."""

    method: Method
    expression: ast.expr
    is_called_on_x: bool
    """True for `x.clone()`: whatever that is called on is a tensor, or the call fails."""


@cache
def _make_templates() -> tuple[_Template, ...]:
    """Return the templates of the methods that are one expression, the largest first.

    `x.detach().clone()` is that, and no clone of `x.detach()`.
    """
    found = []
    for method in METHODS.values():
        tree = ast.parse(method.code)
        *prelude, last = tree.body
        is_alone = all(isinstance(statement, ast.Import) for statement in prelude)
        if is_alone and isinstance(last, ast.Assign) and method.name not in _NO_COPIES:
            is_called_on_x = _root_of(last.value) == "x" and not isinstance(last.value, ast.Name)
            found.append(_Template(method, last.value, is_called_on_x))
    # Size is the number of nodes: what is inside of another expression has fewer.
    return tuple(sorted(found, key=lambda each: -sum(1 for _ in ast.walk(each.expression))))


def _root_of(node: ast.AST) -> str:
    """Return the name at which a chain of calls and attributes begins; empty for other nodes."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _walk_copies(
    tree: ast.Module, tensors: Collection[str]
) -> Iterator[tuple[ast.expr, _FoundMethod]]:
    """Yield the expressions that copy a tensor, without those inside of another one."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, is_assigned = waiting.pop()
        found = None
        if isinstance(node, ast.expr):
            found = _find_method(node, tensors, is_assigned=is_assigned)
        if isinstance(node, ast.expr) and found is not None:
            yield node, found
            continue
        bound = _value_bound_by(node)
        waiting += [(inner, inner is bound) for inner in ast.iter_child_nodes(node)]


def _value_bound_by(node: ast.AST) -> ast.expr | None:
    """Return what a statement binds to names or attributes: `x[0] = y` writes, and binds nothing."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return None
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return (
        node.value if all(isinstance(each, ast.Name | ast.Attribute) for each in targets) else None
    )


class _FoundMethod(NamedTuple):
    """The method of an expression, what it copies, and whether an assignment binds the copy."""

    method: Method
    source: ast.expr
    is_assigned: bool


def _find_method(
    node: ast.expr, tensors: Collection[str], *, is_assigned: bool
) -> _FoundMethod | None:
    """Return the method of an expression; None if it is none, or what it copies may be no tensor."""
    # What is written to, as `w.data -= step`, is no copy.
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return None
    for template in _make_templates():
        # `y = x` is a copy that people ask about, `f(x)` is not.
        if isinstance(template.expression, ast.Name) and not is_assigned:
            continue
        sources: list[ast.expr] = []
        if not _matches_template(template.expression, node, sources):
            continue
        # `x.to(x.dtype)` has x twice.
        if len({*map(ast.dump, sources)}) > 1:
            continue
        is_method_call = template.is_called_on_x and isinstance(node, ast.Call)
        if is_method_call or _is_tensor(sources[0], tensors):
            return _FoundMethod(template.method, sources[0], is_assigned)
    return None


def _is_tensor(source: ast.expr, tensors: Collection[str]) -> bool:
    """Return True for a name that was a tensor, and for the gradient of such a name."""
    if not isinstance(source, ast.Name | ast.Attribute):
        return False
    name = ast.unparse(source)
    return name in tensors or (name.endswith(".grad") and name.removesuffix(".grad") in tensors)


def _matches_template(template: ast.AST, node: ast.AST, sources: list[ast.expr]) -> bool:
    """Compare trees; what is in the places of `x` is added to `sources`."""
    if isinstance(template, ast.Name) and template.id == "x":
        if isinstance(node, (*_ATOMS, ast.BinOp, ast.UnaryOp)):
            sources.append(node)
            return True
        return False
    if type(template) is not type(node):
        return False
    for name, value in ast.iter_fields(template):
        parts = value if isinstance(value, list) else [value]
        other = getattr(node, name)
        other_parts = other if isinstance(other, list) else [other]
        if len(parts) != len(other_parts):
            return False
        for part, other_part in zip(parts, other_parts, strict=True):
            is_tree = isinstance(part, ast.AST) and isinstance(other_part, ast.AST)
            if not (
                _matches_template(part, other_part, sources) if is_tree else part == other_part
            ):
                return False
    return True


# -- the text ----------------------------------------------------------------------


def _split_into_lines(code: str) -> list[bytes]:
    """Return the lines that Python counts, in the bytes in which it counts columns."""
    return [line.encode("utf-8", "replace") for line in re.split(r"\r\n|\r|\n", code)]


def _read_source(lines: Sequence[bytes], node: ast.expr) -> str:
    """Return an expression as it is written, in brackets if a call could not follow it."""
    first, last = node.lineno - 1, _end_line(node) - 1
    parts = list(lines[first : last + 1])
    parts[-1] = parts[-1][: node.end_col_offset]
    parts[0] = parts[0][node.col_offset :]
    text = b"\n".join(parts).decode()
    return text if isinstance(node, _ATOMS) else f"({text})"


def _end_line(node: ast.expr) -> int:
    # The parser sets it for every node; typeshed allows None.
    return node.end_lineno or node.lineno


def _imports_of(method: Method) -> list[str]:
    """Return the lines of a method before the one that copies: its imports."""
    return method.code.splitlines()[:-1]


def _binds_otherwise(tree: ast.Module, module: str) -> bool:
    """Return True if a name is anywhere in a program something else than the module of that name."""
    for node in ast.walk(tree):
        if module in list_bound_names(node):
            return True
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for alias in node.names:
            is_module = isinstance(node, ast.Import) and alias.name == module
            if alias.name == "*" or (not is_module and (alias.asname or alias.name) == module):
                return True
    return False


def _has_statement(code: str, line: str, place: tuple[int, int]) -> bool:
    """Return True if a program has an import at its top level, before a (line from 0, column)."""
    # As trees: other spaces are the same import.
    wanted = ast.dump(ast.parse(line).body[0])
    return any(
        ast.dump(statement) == wanted
        for statement in ast.parse(code).body
        if (statement.lineno - 1, statement.col_offset) < place
    )


def _find_place_for_import(code: str) -> tuple[int, int]:
    """Return before which line an import goes: behind what must stay first.

    With it the column, in bytes, if what must stay first is on that line, too.
    """
    end_of_head = 0
    for statement in ast.parse(code).body:
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not is_docstring and not is_future:
            decorators = getattr(statement, "decorator_list", ())
            lines: list[int] = [node.lineno for node in decorators]
            is_behind = statement.lineno == end_of_head
            return min([statement.lineno, *lines]), statement.col_offset if is_behind else 0
        end_of_head = statement.end_lineno or statement.lineno
    return 1, 0
