"""Programs: a text or a call of a function, with a mark around every statement to watch it.

The marks go into the syntax tree. A line tracer (`sys.settrace`) would report different lines in
different Python versions and would push aside a debugger or a coverage run that is already at work;
marks in the tree do neither. They are constants of the compiled code, not names: nothing that the
program looks at lists them.
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

from tinytorch.viz import join_few_names

from ..wording import gettext
from .cells import name_of_file
from .scopes import Scopes, find_scopes

FILENAME = "<steps>"

# The marks: constants that are called. `put_in_marks` exchanges them for functions of the recorder.
OPEN = "\0copylab open"  # a line begins
DONE = "\0copylab done"  # it is done
TURN = "\0copylab turn"  # a round of a `for` begins
TEST = "\0copylab test"  # around the test of an `if` or `while`, or the subject of a `match`
OVER = "\0copylab over"  # a loop has ended by itself
RETURN = "\0copylab return"  # around the value of a `return`
CAUGHT = "\0copylab caught"  # an `except` begins
SHOW = "\0copylab show"  # around the value of a last line

FunctionChoice = bool | frozenset[str]
"""Which functions of the program are stepped into: all, none, or those of these names."""

# No code is compiled from these, and what they name must not be used above them.
_UNMARKED = (ast.Global, ast.Nonlocal)
_TRY_STATEMENTS = (ast.Try, ast.TryStar)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourceText:
    """Code whose lines are counted together: a program, or one function of a file.

    name: the function, such as `Net.forward`; empty for a program. file: its name for Python.
    above: the number of lines of the file above it. file_name: what readers call the file, such as
    `train.py`; empty for a program.
    """

    code: str
    name: str = ""
    file: str = FILENAME
    above: int = 0
    file_name: str = ""

    def describe(self, *, several: bool) -> str:
        """Return `Net.forward (model.py)`, if it is the only text `model.py`; empty for a program."""
        return f"{self.name} ({self.file_name})" if several and self.name else self.file_name


@dataclass(frozen=True)
class Site:
    """A place in the program that can become a step: its lines, its code, its function.

    line, end_line: in the file, from 1. text: the code that it is part of. loop: "for" or "while"
    if it begins a loop. loops: the loops of its function around it, the outermost first.
    """

    line: int
    end_line: int
    source: str
    function: str | None
    text: SourceText
    loop: str = ""
    loops: tuple[Site, ...] = ()

    def describe_place(self, *, several: bool) -> str:
        """Return `line 3`; of a function, as text `describe`s it, `model.py, line 3`."""
        function = self.text.describe(several=several)
        if function:
            return gettext("{function}, line {line}", function=function, line=self.line)
        return gettext("line {line}", line=self.line)

    def phrase_place(self, *, several: bool) -> str:
        """Return the same for a sentence: `on line 3`, `in model.py, line 3`."""
        function = self.text.describe(several=several)
        if function:
            return gettext("in {function}, line {line}", function=function, line=self.line)
        return gettext("on line {line}", line=self.line)


@dataclass
class Program:
    """Marked code: the sites that its marks name, the scopes of its names, and how to start it."""

    text: SourceText
    """What is shown."""
    sites: list[Site]
    scopes: Scopes
    functions: frozenset[str]
    """The functions that it defines, as `f` and `A.m`."""
    namespace: dict[str, Any]
    """What it runs in."""
    start: Callable[[Callable[[CodeType], CodeType]], object]
    """Runs it. The function that it is given puts the recorder's functions into marked code."""
    entry: str | None = None
    """The name of the function that is stepped, if it is a function."""
    marked_codes: Mapping[FunctionType, CodeType] = field(default_factory=dict)
    """The user's own functions that are stepped into as well, with the marked code that each has
    during the run."""
    hidden_functions: frozenset[str] = frozenset()
    """Functions beside them whose code a decorator hides, so that they cannot be stepped into."""

    @property
    def files(self) -> frozenset[str]:
        """The files of its functions."""
        return frozenset(
            {self.text.file, *(code.co_filename for code in self.marked_codes.values())}
        )

    def check_choice(self, into: FunctionChoice) -> None:
        """Raise ValueError if `into` names a function that is not defined here."""
        if not isinstance(into, bool) and (missing := sorted(into - self.functions)):
            defined = join_few_names(sorted(self.functions)) or "none"
            raise ValueError(
                f"into names {join_few_names(missing)}, but the functions that the code defines "
                f"are: {defined}"
            )


def dedent_code(code: str) -> str:
    """Return code without empty lines around it and without common indentation.

    Code between triple quotes has both.
    """
    text = re.sub(r"\A(?:[ \t]*\r?\n)+", "", code).rstrip()
    return textwrap.dedent(text) if text[:1] in (" ", "\t") else text


@lru_cache(maxsize=512)
def compile_program(code: str) -> CodeType:
    """Compile a program without marks, once.

    Raises SyntaxError or ValueError if it is no Python.
    """
    # Without `dont_inherit` the imports from __future__ above would hold in it.
    return compile(code, FILENAME, "exec", dont_inherit=True)


def program_from_code(source: str, names: dict[str, Any], into: FunctionChoice = True) -> Program:
    """Make a program of a text, to run in `names`.

    Raises SyntaxError, with line and column, if it is no Python.
    """
    sites: list[Site] = []
    text = SourceText(source)
    marker = Marker(source, text, sites, into)
    # The tree can be parsed although the code cannot be compiled ('return' outside function).
    # Without marks the error is at its line.
    compile(source, FILENAME, "exec", dont_inherit=True)
    code = marker.mark_program()

    def start(bind_marks: Callable[[CodeType], CodeType]) -> None:
        # Running the user's code is what this package is for.
        exec(bind_marks(code), names)

    functions = names_of_functions(marker.tree)
    return Program(text, sites, find_scopes(source, FILENAME), functions, names, start)


def put_in_marks(code: CodeType, marks: Mapping[str, Callable[..., Any]]) -> CodeType:
    """Return compiled code in which the marks are the functions to call."""

    def put_in(constant: object) -> object:
        if isinstance(constant, CodeType):
            return put_in_marks(constant, marks)
        return marks.get(constant, constant) if isinstance(constant, str) else constant

    return code.replace(co_consts=tuple(map(put_in, code.co_consts)))


class Marker:
    """Marks the tree of one file, and appends the site of each marked statement to `sites`.

    into: which functions are marked. `mark_program` and `mark_function` change the tree, `compile`
        makes code of it.
    """

    def __init__(
        self, source: str, text: SourceText, sites: list[Site], into: FunctionChoice
    ) -> None:
        self._text, self._sites, self._into = text, sites, into
        self._loops: tuple[Site, ...] = ()
        self._marked: set[FunctionNode] = set()
        # What Python takes for lines: str.splitlines() also splits at \f and others.
        self._lines = re.split(r"\r\n|\r|\n", source)
        # The tree counts columns in bytes.
        self._bytes = [line.encode("utf-8", "replace") for line in self._lines]
        self.tree = ast.parse(source, text.file)
        self._names = {node: display_name(key) for key, node in find_functions(self.tree)}

    def compile_tree(self) -> CodeType:
        """Compile the marked tree. Its marks are still constants, see `put_in_marks`."""
        with warnings.catch_warnings():
            # "'str' object is not callable": a mark is a string until it is put in.
            warnings.simplefilter("ignore")
            return compile(
                ast.fix_missing_locations(self.tree), self._text.file, "exec", dont_inherit=True
            )

    def mark_program(self) -> CodeType:
        """Mark the whole tree, the last line as one whose value is shown, and compile it."""
        self._mark_last_value()
        self.tree.body = self._mark_module(self.tree.body)
        return self.compile_tree()

    def mark_function(self, node: FunctionNode, *, whole: bool) -> SourceText:
        """Mark a function; `whole`: whatever `into` says.

        Returns its text.
        """
        if node in self._marked:
            return self._text
        above, name = find_first_line(node) - 1, self._names[node]
        lines = "\n".join(self._lines[above : node.end_lineno])
        file = self._text.file
        self._text = SourceText(
            textwrap.dedent(lines) + "\n", name, file, above, name_of_file(file)
        )
        self._loops = ()
        if whole:
            self._marked.add(node)
            node.body = self._mark_block(node.body, name, docstring=True)
        else:
            self._mark_body(node)
        return self._text

    def _mark_last_value(self) -> None:
        """Let a last line that is an expression show its value, as in a notebook cell.

        A `;` after it prevents that.
        """
        last = self.tree.body[-1] if self.tree.body else None
        if not isinstance(last, ast.Expr) or last.end_lineno is None or last.end_col_offset is None:
            return
        rest = self._lines[last.end_lineno - 1].encode()[last.end_col_offset :].decode()
        if not re.match(r"\s*;", rest):
            last.value = ast.copy_location(_make_call(SHOW, last.value), last.value)

    def _mark_module(self, body: list[ast.stmt]) -> list[ast.stmt]:
        # It is the value to show, and no docstring.
        if len(body) == 1 and _is_string(body[0]):
            return self._mark_block(body, None)
        # A docstring and imports from __future__ must stay first.
        head = 1 if body and _is_string(body[0]) else 0
        while head < len(body) and _is_future_import(body[head]):
            head += 1
        return body[:head] + self._mark_block(body[head:], None)

    def _mark_block(
        self, body: list[ast.stmt], function: str | None, *, docstring: bool = False
    ) -> list[ast.stmt]:
        marked: list[ast.stmt] = []
        for position, stmt in enumerate(body):
            if isinstance(stmt, _UNMARKED) or (docstring and position == 0 and _is_string(stmt)):
                marked.append(stmt)
            else:
                marked += self._mark_statement(stmt, function)
        return marked

    def _mark_statement(self, stmt: ast.stmt, function: str | None) -> list[ast.stmt]:
        # `try:` itself does nothing that could be shown.
        if isinstance(stmt, _TRY_STATEMENTS):
            self._mark_inner_blocks(stmt, function)
            return [stmt]
        site = self._add_site(stmt, function)
        start = self._make_mark(OPEN, site, stmt)
        done = self._make_mark(DONE, site, stmt)
        match stmt:
            case ast.Raise():
                # Its step is that of the error: see `Recorder.record_failure`.
                return [start, stmt]
            # A bare return stays bare: an async generator allows no other.
            case ast.Break() | ast.Continue() | ast.Return(value=None):
                return [start, done, stmt]
            case ast.Return(value=ast.expr() as value):
                stmt.value = _wrap_value(RETURN, site, value)
                return [start, stmt]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._mark_body(stmt)
            case ast.ClassDef():
                # One step; its methods are stepped into when they are called.
                self._mark_functions_in(stmt)
            case ast.If():
                stmt.test = _wrap_value(TEST, site, stmt.test)
                return [start, self._mark_inner_blocks(stmt, function)]
            case ast.Match():
                stmt.subject = _wrap_value(TEST, site, stmt.subject)
                return [start, self._mark_inner_blocks(stmt, function)]
            case ast.While() | ast.For() | ast.AsyncFor():
                self._mark_inner_blocks(stmt, function, self._sites[site])
                if isinstance(stmt, ast.While):
                    stmt.test = _wrap_value(TEST, site, stmt.test)
                else:
                    stmt.body.insert(0, self._make_mark(TURN, site, stmt))
                # `else` runs once: when no item is left, or the test fails.
                stmt.orelse.insert(0, self._make_mark(OVER, site, stmt))
                return [start, stmt]
            case ast.With() | ast.AsyncWith():
                self._mark_inner_blocks(stmt, function)
                stmt.body.insert(0, done)
                return [start, stmt]
        return [start, stmt, done]

    def _mark_body(self, stmt: FunctionNode) -> None:
        if stmt in self._marked:
            return
        name = self._names[stmt]
        self._marked.add(stmt)
        if self._into is True or (self._into and not self._into.isdisjoint((name, stmt.name))):
            outer_loops, self._loops = self._loops, ()
            stmt.body = self._mark_block(stmt.body, name, docstring=True)
            self._loops = outer_loops
        elif self._into:
            self._mark_functions_in(stmt)

    def _mark_functions_in(self, node: ast.AST) -> None:
        """Mark the chosen functions in a class, or in a function that is not stepped into."""
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, _FUNCTIONS):
                self._mark_body(inner)
            else:
                self._mark_functions_in(inner)

    def _mark_inner_blocks(
        self, stmt: ast.stmt, function: str | None, loop: Site | None = None
    ) -> ast.stmt:
        outer_loops = self._loops
        for part in ("body", "orelse", "finalbody"):
            # The `else` of a loop is no round of it.
            self._loops = (*outer_loops, loop) if loop and part == "body" else outer_loops
            if getattr(stmt, part, None):
                setattr(stmt, part, self._mark_block(getattr(stmt, part), function))
        for case in getattr(stmt, "cases", ()):
            case.body = self._mark_block(case.body, function)
        for handler in getattr(stmt, "handlers", ()):
            site = self._add_site(handler, function)
            handler.body = [
                self._make_mark(CAUGHT, site, handler),
                *self._mark_block(handler.body, function),
            ]
        return stmt

    def _add_site(self, node: ast.stmt | ast.ExceptHandler, function: str | None) -> int:
        """Append the site of a statement, without the statements in it, and return its index."""
        line = find_first_line(node)
        first_inner = _find_first_inner_line(node)
        end = (node.end_lineno or line) if first_inner is None else max(first_inner - 1, line)
        # Of several statements on a line, each shows its own part.
        if first_inner is None and end == line:
            source = self._bytes[line - 1][node.col_offset : node.end_col_offset].decode()
        else:
            source = _clean_statement(self._lines[line - 1 : end])
        loop = ""
        if isinstance(node, ast.For | ast.AsyncFor):
            loop = "for"
        elif isinstance(node, ast.While):
            loop = "while"
        self._sites.append(Site(line, end, source, function, self._text, loop, self._loops))
        return len(self._sites) - 1

    @staticmethod
    def _make_mark(name: str, site: int, at: ast.stmt | ast.ExceptHandler) -> ast.stmt:
        mark = ast.copy_location(ast.Expr(_make_call(name, ast.Constant(site))), at)
        return ast.fix_missing_locations(mark)


def _make_call(mark: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Constant(mark), list(args), [])


def _wrap_value(name: str, site: int, value: ast.expr) -> ast.expr:
    return ast.copy_location(_make_call(name, ast.Constant(site), value), value)


def _find_first_inner_line(node: ast.stmt | ast.ExceptHandler) -> int | None:
    """Return the line of the first statement or case inside of a statement, if there is one."""
    statements: list[ast.stmt] = getattr(node, "body", None) or []
    cases: list[ast.match_case] = getattr(node, "cases", [])
    lines = [find_first_line(inner) for inner in statements]
    lines += [case.pattern.lineno for case in cases]
    return min(lines, default=None)


def find_first_line(stmt: ast.stmt | ast.ExceptHandler) -> int:
    """Return the line on which a statement begins, decorators included, as in `co_firstlineno`."""
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min([stmt.lineno, *(decorator.lineno for decorator in decorators)])


def _is_string(stmt: ast.stmt) -> bool:
    return (
        isinstance(stmt, ast.Expr)
        and isinstance(stmt.value, ast.Constant)
        and isinstance(stmt.value.value, str)
    )


def _is_future_import(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"


FunctionKey = tuple[str, int]
"""Identifies a function of a file: its qualified name and first line."""


def find_functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[FunctionKey, FunctionNode]]:
    """Yield the functions of a tree with their keys, an outer function before those in it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _FUNCTIONS):
            yield (prefix + node.name, find_first_line(node)), node
            yield from find_functions(node, f"{prefix}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from find_functions(node, f"{prefix}{node.name}.")
        else:
            yield from find_functions(node, prefix)


def display_name(key: FunctionKey) -> str:
    """Return the name of a function as it is shown: `f`, `A.m`."""
    return key[0].rpartition("<locals>.")[2]


def names_of_functions(tree: ast.AST) -> frozenset[str]:
    """Return the names by which the functions of a program can be chosen: `f`, `A.m`, `m`."""
    names: set[str] = set()
    for key, node in find_functions(tree):
        # By its last name, too: `into="forward"` means that of each class.
        names |= {display_name(key), node.name}
    return frozenset(names)


def _clean_statement(lines: list[str]) -> str:
    """Return the lines of a step without common indentation.

    Blank lines and comments at their end are left out.
    """
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines = lines[:-1]
    return textwrap.dedent("\n".join(lines)).strip()
