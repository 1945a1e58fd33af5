"""How the arguments of a call are written, read from the source of the call."""

from __future__ import annotations

import ast
import dis
import linecache
from types import CodeType, FrameType
from typing import Any


def argument_names(frame: FrameType, args: tuple[Any, ...]) -> list[str] | None:
    """Return what the caller wrote for its positional arguments; None where it cannot be known."""
    return _names_in_source(frame, len(args)) or _names_of_globals(frame, args)


def _names_in_source(frame: FrameType, count: int) -> list[str] | None:
    """Return the source text of the positional arguments of the call that `frame` is in.

    Local variables are not looked at: reading a function's `f_locals` makes Python 3.11 and 3.12
    keep a second reference to each of them.
    """
    position: Any = [*frame.f_code.co_positions()][frame.f_lasti // 2]
    if None in position:
        return None
    first_line, last_line, start, end = position
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    # Columns are counted in bytes of UTF-8.
    call_lines = [line.encode() for line in lines[first_line - 1 : last_line]]
    try:
        # The end first: the call may begin and end on one line.
        call_lines[-1] = call_lines[-1][:end]
        call_lines[0] = call_lines[0][start:]
        source = b"".join(call_lines).decode()
        # In parentheses, so that a call over several lines is one expression.
        call = ast.parse(f"({source})", mode="eval").body
    except (IndexError, SyntaxError, ValueError):
        # The file has changed since it was run, or there is none.
        return None
    if not isinstance(call, ast.Call) or len(call.args) != count:
        return None
    if not _is_source_of(call, frame.f_code, first_line, start):
        return None
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return list(map(_write_argument, call.args))


def _write_argument(argument: ast.expr) -> str:
    """Return the source of an argument as a name; of `(loss := f(x))` the name that it has then."""
    if isinstance(argument, ast.NamedExpr):
        return argument.target.id
    source = ast.unparse(argument)
    # Among the words of a sentence those of Python would be words: `a and b and c share a storage`.
    has_words = isinstance(argument, ast.IfExp | ast.BoolOp | ast.Await | ast.Lambda) or (
        isinstance(argument, ast.UnaryOp) and isinstance(argument.op, ast.Not)
    )
    if has_words:
        return f"({source})"
    return source


def _is_source_of(call: ast.Call, code: CodeType, first_line: int, start: int) -> bool:
    """Return True if the names among a call's arguments are those that its code reads there.

    A file may have been edited since it was imported, and then its lines say something else.
    """
    names_at: dict[tuple[int, int], str] = {}
    for instruction in dis.get_instructions(code):
        at = instruction.positions
        if at is None or at.lineno is None or at.col_offset is None:
            continue
        if instruction.opname.startswith("LOAD_"):
            # One instruction of Python 3.13 loads two names: the position is that of the first.
            names_at.setdefault((at.lineno, at.col_offset), instruction.argrepr)
    for argument in call.args:
        if not isinstance(argument, ast.Name):
            continue
        column = argument.col_offset
        if argument.lineno == 1:
            column += start - len("(")
        loaded_names = names_at.get((first_line + argument.lineno - 1, column))
        any_name = " ".join(names_at.values()).replace(",", " ")
        possible = any_name if loaded_names is None else loaded_names.partition(",")[0]
        if argument.id not in possible.split():
            return False
    return True


def _names_of_globals(frame: FrameType, args: tuple[Any, ...]) -> list[str] | None:
    """Return the global variables that refer to the arguments, where there is no source.

    That is so in the plain interactive Python and with `python -c`. Only for a call from the top
    level: inside of a function they would be other names than the caller's.
    """
    if frame.f_code.co_name != "<module>":
        return None
    # Reversed, so that of two names the one that was assigned first is taken.
    name_by_object = {id(value): name for name, value in reversed(list(frame.f_globals.items()))}
    return [name_by_object.get(id(argument), "") for argument in args]
