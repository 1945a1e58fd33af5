"""What can be run: a text or a call of a function, with a mark around every statement, so that it can be watched.

The marks go into the syntax tree. A line tracer (`sys.settrace`) would report different lines in different Python
versions and would push aside a debugger or a coverage run that is already at work; marks in the tree do neither. They
are constants of the compiled code, not names: nothing that the program looks at lists them.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from tinytorch.viz import gettext, join_few_names

from .scopes import Scopes, find_scopes

FILENAME = "<steps>"

OPEN, DONE, TURN, TEST, OVER, RETURN, CAUGHT, SHOW = (
    f"\0copylab {name}"
    for name in ("open", "done", "turn", "test", "over", "return", "caught", "show")
)

FunctionChoice = bool | frozenset[str]
"""Which functions of the program are stepped into: all, none, or those of these names."""

_UNMARKED = (ast.Global, ast.Nonlocal)
_TRY_STATEMENTS = (ast.Try, ast.TryStar)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourceText:
    """Code with lines of its own, from 1: a program, or one function of a file.

    name: the function, such as `Net.forward`; empty for a program. file, above: as Python knows it, and how many lines
    stand above it there.
    """

    code: str
    name: str = ""
    file: str = FILENAME
    above: int = 0


@dataclass(frozen=True)
class Site:
    """A place in the program that can become a step: its first and last line (from 1), its own code, its function.

    text: where the lines are counted. loop: "for" or "while" if it begins a loop; loops: those loops of its function in
    whose body it stands.
    """

    line: int
    end_line: int
    source: str
    function: str | None
    text: SourceText
    loop: str = ""
    loops: tuple[Site, ...] = ()

    def place(self, *, several: bool) -> str:
        """`line 3`; where there are `several` texts, `Net.forward, line 3`."""
        if several and self.text.name:
            return gettext("{function}, line {line}", function=self.text.name, line=self.line)
        return gettext("line {line}", line=self.line)

    def where(self, *, several: bool) -> str:
        """The same in a sentence: `on line 3`, `in Net.forward, line 3`."""
        if several and self.text.name:
            return gettext("in {function}, line {line}", function=self.text.name, line=self.line)
        return gettext("on line {line}", line=self.line)


@dataclass
class Program:
    """Marked code: the sites that its marks speak of, the scopes of its names, and how to start it.

    text: what is shown. functions: those it defines, as `f` and `A.m`. namespace: what it runs in. start: begins it,
    with its marks put in by the function that is given. entry: the function that is stepped, if it is one.
    """

    text: SourceText
    sites: list[Site]
    scopes: Scopes
    functions: frozenset[str]
    namespace: dict[str, Any]
    start: Callable[[Callable[[CodeType], CodeType]], object]
    entry: str | None = None
    stepped: Mapping[FunctionType, CodeType] = field(default_factory=dict)
    """The user's own functions that are stepped into as well, with the marked code that each has during the run."""
    hidden: frozenset[str] = frozenset()
    """Functions beside them whose code a decorator hides, so that they cannot be stepped into."""

    @property
    def files(self) -> frozenset[str]:
        """Where its functions stand."""
        return frozenset({self.text.file, *(code.co_filename for code in self.stepped.values())})

    def check(self, into: FunctionChoice) -> None:
        """Raise ValueError if `into` names a function that is not defined here."""
        if not isinstance(into, bool) and (missing := sorted(into - self.functions)):
            known = join_few_names(sorted(self.functions)) or "none"
            raise ValueError(
                f"into names {join_few_names(missing)}, but the functions that the code defines are: {known}"
            )


def dedent_code(code: str) -> str:
    """`code` without empty lines around it, and moved to the left: as one writes it between triple quotes."""
    text = re.sub(r"\A(?:[ \t]*\r?\n)+", "", code).rstrip()
    return textwrap.dedent(text) if text[:1] in (" ", "\t") else text


@lru_cache(maxsize=512)
def compile_program(code: str) -> CodeType:
    """The code without marks, compiled once. Raises SyntaxError or ValueError if it is no Python."""
    return compile(code, FILENAME, "exec", dont_inherit=True)


def program_from_code(source: str, names: dict[str, Any], into: FunctionChoice = True) -> Program:
    """A program given as text, to run in `names`. Raises SyntaxError, with the line and column, if it is none."""
    sites: list[Site] = []
    text = SourceText(source)
    marker = Marker(source, text, sites, into)
    compile(
        source, FILENAME, "exec", dont_inherit=True
    )  # errors such as 'return' outside function, at their line
    code = marker.program()

    def start(marked: Callable[[CodeType], CodeType]) -> None:
        exec(marked(code), names)  # running the user's code is what this package is for

    return Program(
        text, sites, find_scopes(source, FILENAME), names_of_functions(marker.tree), names, start
    )


def put_in_marks(code: CodeType, marks: Mapping[str, Callable[..., Any]]) -> CodeType:
    """The compiled code with the functions that its marks call."""

    def put(one: object) -> object:
        if isinstance(one, CodeType):
            return put_in_marks(one, marks)
        return marks.get(one, one) if isinstance(one, str) else one

    return code.replace(co_consts=tuple(map(put, code.co_consts)))


class Marker:
    """Marks the tree of one file, and notes the site that each mark speaks of."""

    def __init__(
        self, source: str, text: SourceText, sites: list[Site], into: FunctionChoice
    ) -> None:
        self._text, self._sites, self._into = text, sites, into
        self._loops: tuple[Site, ...] = ()
        self._marked: set[FunctionNode] = set()
        self._lines = re.split(r"\r\n|\r|\n", source)  # what Python takes for lines
        self._bytes = [
            line.encode("utf-8", "replace") for line in self._lines
        ]  # the tree counts columns in bytes
        self.tree = ast.parse(source, text.file)
        self._names = {node: display_name(key) for key, node in find_functions(self.tree)}

    def code(self) -> CodeType:
        """The marked tree, compiled; the marks are yet to be put in."""
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # that a text cannot be called: it is one only until the marks are put in
            return compile(
                ast.fix_missing_locations(self.tree), self._text.file, "exec", dont_inherit=True
            )

    def program(self) -> CodeType:
        """Mark all, the last line as one whose value is shown."""
        self._show_last()
        self.tree.body = self._module(self.tree.body)
        return self.code()

    def function(self, node: FunctionNode, *, whole: bool) -> SourceText:
        """Mark a function, whose lines are counted from its own first; `whole`: whatever `into` says."""
        if node in self._marked:
            return self._text
        above, name = find_first_line(node) - 1, self._names[node]
        lines = "\n".join(self._lines[above : node.end_lineno])
        self._text = SourceText(textwrap.dedent(lines) + "\n", name, self._text.file, above)
        self._loops = ()
        if whole:
            self._marked.add(node)
            node.body = self._block(node.body, name, docstring=True)
        else:
            self._body(node)
        return self._text

    def _show_last(self) -> None:
        """A last line that is an expression shows its value, as in a notebook cell; a `;` after it says not to."""
        last = self.tree.body[-1] if self.tree.body else None
        if not isinstance(last, ast.Expr) or last.end_lineno is None or last.end_col_offset is None:
            return
        rest = self._lines[last.end_lineno - 1].encode()[last.end_col_offset :].decode()
        if not re.match(r"\s*;", rest):
            last.value = ast.copy_location(_make_call(SHOW, last.value), last.value)

    def _module(self, body: list[ast.stmt]) -> list[ast.stmt]:
        head = 0
        while head < len(body) and (
            (_is_string(body[head]) and head == 0) or _is_future(body[head])
        ):
            head += 1  # these must stay first
        shown = body[:head]
        if len(body) == head == 1 and _is_string(body[0]):
            shown, head = [], 0  # a lone string is the value to show, no docstring
        return shown + self._block(body[head:], None)

    def _block(
        self, body: list[ast.stmt], function: str | None, *, docstring: bool = False
    ) -> list[ast.stmt]:
        marked: list[ast.stmt] = []
        for position, stmt in enumerate(body):
            if isinstance(stmt, _UNMARKED) or (docstring and position == 0 and _is_string(stmt)):
                marked.append(stmt)
            else:
                marked += self._step(stmt, function)
        return marked

    def _step(self, stmt: ast.stmt, function: str | None) -> list[ast.stmt]:
        if isinstance(stmt, _TRY_STATEMENTS):  # `try:` itself does nothing that could be shown
            self._inside(stmt, function)
            return [stmt]
        site = self._site(stmt, function)
        start = self._mark(OPEN, site, stmt)
        done = self._mark(DONE, site, stmt)
        match stmt:
            case ast.Raise():
                return [start, stmt]
            case (
                ast.Break() | ast.Continue() | ast.Return(value=None)
            ):  # a bare return stays bare: async generators
                return [start, done, stmt]  # allow no other
            case ast.Return(value=ast.expr() as value):
                stmt.value = _wrap_value(RETURN, site, value)
                return [start, stmt]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._body(stmt)
            case ast.ClassDef():  # one step; its methods are stepped through when they are called
                self._seek(stmt)
            case ast.If():
                stmt.test = _wrap_value(TEST, site, stmt.test)
                return [start, self._inside(stmt, function)]
            case ast.Match():
                stmt.subject = _wrap_value(TEST, site, stmt.subject)
                return [start, self._inside(stmt, function)]
            case ast.While() | ast.For() | ast.AsyncFor():
                self._inside(stmt, function, self._sites[site])
                if isinstance(stmt, ast.While):
                    stmt.test = _wrap_value(TEST, site, stmt.test)
                else:
                    stmt.body.insert(0, self._mark(TURN, site, stmt))
                stmt.orelse.insert(
                    0, self._mark(OVER, site, stmt)
                )  # runs once: no item is left, or the test fails
                return [start, stmt]
            case ast.With() | ast.AsyncWith():
                self._inside(stmt, function)
                stmt.body.insert(0, done)
                return [start, stmt]
        return [start, stmt, done]

    def _body(self, stmt: FunctionNode) -> None:
        if stmt in self._marked:
            return
        name = self._names[stmt]
        self._marked.add(stmt)
        if self._into is True or (self._into and not self._into.isdisjoint((name, stmt.name))):
            outside, self._loops = self._loops, ()
            stmt.body = self._block(stmt.body, name, docstring=True)
            self._loops = outside
        elif self._into:
            self._seek(stmt)

    def _seek(self, node: ast.AST) -> None:
        """Mark the wanted functions in a class, or in a function that is itself not stepped into."""
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, _FUNCTIONS):
                self._body(inner)
            else:
                self._seek(inner)

    def _inside(self, stmt: ast.stmt, function: str | None, loop: Site | None = None) -> ast.stmt:
        outside = self._loops
        for part in ("body", "orelse", "finalbody"):
            self._loops = (*outside, loop) if loop and part == "body" else outside
            if getattr(stmt, part, None):
                setattr(stmt, part, self._block(getattr(stmt, part), function))
        for case in getattr(stmt, "cases", ()):
            case.body = self._block(case.body, function)
        for handler in getattr(stmt, "handlers", ()):
            site = self._site(handler, function)
            handler.body = [self._mark(CAUGHT, site, handler), *self._block(handler.body, function)]
        return stmt

    def _site(self, node: ast.stmt | ast.ExceptHandler, function: str | None) -> int:
        line = find_first_line(node)
        above = self._text.above
        inner = [*(getattr(node, "body", None) or []), *getattr(node, "cases", [])]
        first = min(
            (
                c.pattern.lineno if isinstance(c, ast.match_case) else find_first_line(c)
                for c in inner
            ),
            default=None,
        )
        end = (node.end_lineno or line) if first is None else max(first - 1, line)
        if first is None and end == line:
            text = self._bytes[line - 1][
                node.col_offset : node.end_col_offset
            ].decode()  # one of several on its line
        else:
            text = _clean_statement(self._lines[line - 1 : end])
        loop = (
            "for"
            if isinstance(node, ast.For | ast.AsyncFor)
            else "while"
            if isinstance(node, ast.While)
            else ""
        )
        self._sites.append(
            Site(line - above, end - above, text, function, self._text, loop, self._loops)
        )
        return len(self._sites) - 1

    @staticmethod
    def _mark(name: str, site: int, at: ast.stmt | ast.ExceptHandler) -> ast.stmt:
        mark = ast.copy_location(ast.Expr(_make_call(name, ast.Constant(site))), at)
        return ast.fix_missing_locations(mark)


def _make_call(mark: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Constant(mark), list(args), [])


def _wrap_value(name: str, site: int, value: ast.expr) -> ast.expr:
    return ast.copy_location(_make_call(name, ast.Constant(site), value), value)


def find_first_line(stmt: ast.stmt | ast.ExceptHandler) -> int:
    """The line on which a statement begins, with its decorators: what Python takes for a function's first."""
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min([stmt.lineno, *(d.lineno for d in decorators)])


def _is_string(stmt: ast.stmt) -> bool:
    return (
        isinstance(stmt, ast.Expr)
        and isinstance(stmt.value, ast.Constant)
        and isinstance(stmt.value.value, str)
    )


def _is_future(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"


FunctionKey = tuple[str, int]
"""By what a function is found again in its file: its qualified name and first line."""


def find_functions(tree: ast.AST, within: str = "") -> Iterator[tuple[FunctionKey, FunctionNode]]:
    """The functions of a tree, the outer ones before those that stand in them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _FUNCTIONS):
            yield (within + node.name, find_first_line(node)), node
            yield from find_functions(node, f"{within}{node.name}.<locals>.")
        else:
            yield from find_functions(
                node, f"{within}{node.name}." if isinstance(node, ast.ClassDef) else within
            )


def display_name(key: FunctionKey) -> str:
    """The name that is shown of a function: `f`, `A.m`."""
    return key[0].rpartition("<locals>.")[2]


def names_of_functions(tree: ast.AST) -> frozenset[str]:
    """By which names the functions of a program can be asked for: `f`, `A.m`, `m`."""
    return frozenset(
        name for key, node in find_functions(tree) for name in (display_name(key), node.name)
    )


def _clean_statement(lines: list[str]) -> str:
    """The lines of a step, moved to the left, without the blank lines and comments that end them."""
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines = lines[:-1]
    return textwrap.dedent("\n".join(lines)).strip()
