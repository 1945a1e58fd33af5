"""Put a mark around every statement of a program, so that it can be watched while it runs.

The marks go into the syntax tree. A line tracer (`sys.settrace`) would report different lines in different Python
versions and would push aside a debugger or a coverage run that is already at work; marks in the tree do neither.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

# The marks live among the builtins of the program, where `globals()`, `locals()` and `dir()` do not list them.
OPEN, DONE, TURN, TEST, OVER, RETURN, CAUGHT, SHOW = (
    f"__copylab_{name}__" for name in ("open", "done", "turn", "test", "over", "return", "caught", "show")
)

Into = bool | frozenset[str]
"""Which functions of the program are stepped into: all, none, or those of these names."""

_QUIET = (ast.Global, ast.Nonlocal)
_TRIES = (ast.Try, ast.TryStar)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Site:
    """A place in the program that can become a step: its first and last line (from 1), its text, its function.

    loop: "for" or "while" if it begins a loop; loops: those loops of its function in whose body it stands.
    """

    line: int
    end_line: int
    source: str
    function: str | None
    loop: str = ""
    loops: tuple[Site, ...] = ()


class Instrumented:
    """The marked tree of a program, the sites its marks speak of, and the names that the program mentions."""

    def __init__(self, source: str, filename: str, into: Into = True) -> None:
        """Parse `source` and mark it.

        Raises:
            SyntaxError: `source` is no Python program; the error carries the line and column.

        """
        tree = self._parse(source, filename, into)
        compile(source, filename, "exec", dont_inherit=True)  # errors such as 'return' outside function, at their line
        self._show_last(tree)
        tree.body = self._module(tree.body)
        self.tree = ast.fix_missing_locations(tree)

    @classmethod
    def function(cls, source: str, filename: str, free: tuple[str, ...], into: Into = True) -> Instrumented:
        """Mark the body of the one function in `source`, whatever `into` says; its decorators are left out.

        With `free` names, the tree defines a function of them that gives back the marked one: its closure.
        """
        self = cls.__new__(cls)
        tree = self._parse(source, filename, into)
        made = tree.body[0]
        assert isinstance(made, ast.FunctionDef)
        made.decorator_list = []
        _without_expressions(made)
        made.body = self._block(made.body, made.name, docstring=True)
        if free:
            arguments = ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, [])
            back = ast.Return(ast.Name(made.name, ast.Load()))
            tree.body = [ast.copy_location(_function(made.name, arguments, [made, back]), made)]
        self.tree = ast.fix_missing_locations(tree)
        return self

    def _parse(self, source: str, filename: str, into: Into) -> ast.Module:
        self.source = source
        self.sites: list[Site] = []
        self._into = into
        self._loops: tuple[Site, ...] = ()
        self._lines = re.split(r"\r\n|\r|\n", source)  # what Python takes for lines
        self._bytes = [line.encode("utf-8", "replace") for line in self._lines]  # the tree counts columns in bytes
        tree = ast.parse(source, filename)
        self.functions = frozenset(_defined(tree))
        self.mentioned = _mentioned(tree)
        return tree

    def _show_last(self, tree: ast.Module) -> None:
        """A last line that is an expression shows its value, as in a notebook cell; a `;` after it says not to."""
        last = tree.body[-1] if tree.body else None
        if not isinstance(last, ast.Expr) or last.end_lineno is None or last.end_col_offset is None:
            return
        rest = self._lines[last.end_lineno - 1].encode()[last.end_col_offset :].decode()
        if not re.match(r"\s*;", rest):
            last.value = ast.copy_location(_call(SHOW, last.value), last.value)

    def _module(self, body: list[ast.stmt]) -> list[ast.stmt]:
        head = 0
        while head < len(body) and ((_is_text(body[head]) and head == 0) or _is_future(body[head])):
            head += 1  # these must stay first
        shown = body[:head]
        if len(body) == head == 1 and _is_text(body[0]):
            shown, head = [], 0  # a lone string is the value to show, no docstring
        return shown + self._block(body[head:], None)

    def _block(self, body: list[ast.stmt], function: str | None, *, docstring: bool = False) -> list[ast.stmt]:
        marked: list[ast.stmt] = []
        for position, stmt in enumerate(body):
            if isinstance(stmt, _QUIET) or (docstring and position == 0 and _is_text(stmt)):
                marked.append(stmt)
            else:
                marked += self._step(stmt, function)
        return marked

    def _step(self, stmt: ast.stmt, function: str | None) -> list[ast.stmt]:
        if isinstance(stmt, _TRIES):  # `try:` itself does nothing that could be shown
            self._inside(stmt, function)
            return [stmt]
        site = self._site(stmt, function)
        start = self._mark(OPEN, site, stmt)
        done = self._mark(DONE, site, stmt)
        match stmt:
            case ast.Raise():
                return [start, stmt]
            case ast.Break() | ast.Continue() | ast.Return(value=None):  # a bare return stays bare: async generators
                return [start, done, stmt]  # allow no other
            case ast.Return(value=ast.expr() as value):
                stmt.value = _around(RETURN, site, value)
                return [start, stmt]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._body(stmt, stmt.name)
            case ast.ClassDef():
                self._methods(stmt)
            case ast.If():
                stmt.test = _around(TEST, site, stmt.test)
                return [start, self._inside(stmt, function)]
            case ast.While():
                stmt.test = _around(TEST, site, stmt.test)
                self._inside(stmt, function, self.sites[site])
                stmt.orelse.insert(0, self._mark(OVER, site, stmt))
                return [start, stmt]
            case ast.Match():
                stmt.subject = _around(TEST, site, stmt.subject)
                return [start, self._inside(stmt, function)]
            case ast.For() | ast.AsyncFor():
                self._inside(stmt, function, self.sites[site])
                stmt.body.insert(0, self._mark(TURN, site, stmt))
                stmt.orelse.insert(0, self._mark(OVER, site, stmt))  # runs once, when no item is left
                return [start, stmt]
            case ast.With() | ast.AsyncWith():
                self._inside(stmt, function)
                stmt.body.insert(0, done)
                return [start, stmt]
        return [start, stmt, done]

    def _body(self, stmt: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> None:
        if self._into is True or (self._into and not self._into.isdisjoint((name, stmt.name))):
            outside, self._loops = self._loops, ()
            stmt.body = self._block(stmt.body, name, docstring=True)
            self._loops = outside
        elif self._into:
            self._seek(stmt)

    def _seek(self, node: ast.AST) -> None:
        """Mark the wanted functions in a function that is itself not stepped into."""
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, _FUNCTIONS):
                self._body(inner, inner.name)
            elif isinstance(inner, ast.ClassDef):
                self._methods(inner)
            else:
                self._seek(inner)

    def _inside(self, stmt: ast.stmt, function: str | None, loop: Site | None = None) -> ast.stmt:
        outside = self._loops
        for field in ("body", "orelse", "finalbody"):
            self._loops = (*outside, loop) if loop and field == "body" else outside
            if getattr(stmt, field, None):
                setattr(stmt, field, self._block(getattr(stmt, field), function))
        for case in getattr(stmt, "cases", ()):
            case.body = self._block(case.body, function)
        for handler in getattr(stmt, "handlers", ()):
            site = self._site(handler, function)
            handler.body = [self._mark(CAUGHT, site, handler), *self._block(handler.body, function)]
        return stmt

    def _methods(self, stmt: ast.ClassDef) -> None:
        """A class body is one step; its methods are stepped through when they are called."""
        for inner in stmt.body:
            if isinstance(inner, _FUNCTIONS):
                self._body(inner, f"{stmt.name}.{inner.name}")
            elif isinstance(inner, ast.ClassDef):
                self._methods(inner)

    def _site(self, node: ast.stmt | ast.ExceptHandler, function: str | None) -> int:
        line = _start(node)
        inner = [*(getattr(node, "body", None) or []), *getattr(node, "cases", [])]
        first = min((c.pattern.lineno if isinstance(c, ast.match_case) else _start(c) for c in inner), default=None)
        end = (node.end_lineno or line) if first is None else max(first - 1, line)
        if first is None and end == line:
            text = self._bytes[line - 1][node.col_offset : node.end_col_offset].decode()  # one of several on its line
        else:
            text = _tidy(self._lines[line - 1 : end])
        loop = "for" if isinstance(node, ast.For | ast.AsyncFor) else "while" if isinstance(node, ast.While) else ""
        self.sites.append(Site(line, end, text, function, loop, self._loops))
        return len(self.sites) - 1

    @staticmethod
    def _mark(name: str, site: int, at: ast.stmt | ast.ExceptHandler) -> ast.stmt:
        mark = ast.copy_location(ast.Expr(_call(name, ast.Constant(site))), at)
        return ast.fix_missing_locations(mark)


def _without_expressions(made: ast.FunctionDef) -> None:
    """Take away what `def` would compute again: annotations and defaults, which the caller puts back."""
    arguments = made.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    for argument in filter(None, every):
        argument.annotation = None
    made.returns = None
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [default and ast.Constant(None) for default in arguments.kw_defaults]


def _function(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.FunctionDef(name, arguments, body, [])
    if "type_params" in ast.FunctionDef._fields:  # since Python 3.12
        setattr(made, "type_params", [])  # noqa: B010  # older Pythons know of none
    return made


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def _around(name: str, site: int, value: ast.expr) -> ast.expr:
    return ast.copy_location(_call(name, ast.Constant(site), value), value)


def _start(stmt: ast.stmt | ast.ExceptHandler) -> int:
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min([stmt.lineno, *(d.lineno for d in decorators)])


def _is_text(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant) and isinstance(stmt.value.value, str)


def _is_future(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"


def _defined(tree: ast.AST) -> Iterator[str]:
    """The functions and methods of a program, as `f` and `A.m`."""
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, _FUNCTIONS))


def _mentioned(tree: ast.AST) -> frozenset[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return frozenset(names | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)})


def _tidy(lines: list[str]) -> str:
    """The lines of a step, moved to the left, without the blank lines and comments that end them."""
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines = lines[:-1]
    return textwrap.dedent("\n".join(lines)).strip()
