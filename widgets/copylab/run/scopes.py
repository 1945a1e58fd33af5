"""What a name means: which names of a program are globals, and what the variables of a running function hold."""

from __future__ import annotations

import dis
import symtable
import sys
import warnings
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

_SHARES_FRAME: bool = sys.version_info >= (3, 12)
"""A comprehension runs in the frame of its function (PEP 709)."""


class Scopes(NamedTuple):
    """Names by the scope that they belong to.

    mentioned: the globals that the code reads or binds; those of a text are the names of its top level, too.
    variables: those of the function that was asked for, its parameters included; none of a text.
    """

    mentioned: frozenset[str]
    variables: frozenset[str] = frozenset()


def find_scopes(source: str, file: str, function: tuple[str, int] | None = None) -> Scopes:
    """The scopes of names in a text, or in its function of that name whose `def` is on that line.

    Raises SyntaxError or ValueError if the text is no program, LookupError if it has no such function.
    """
    with warnings.catch_warnings(
        action="ignore"
    ):  # what parsing warns of, Marker has heard already
        module = symtable.symtable(source, file, "exec")
    if function is None:
        return Scopes(frozenset([*module.get_identifiers(), *_find_globals(module)]))
    bodies = (
        one for one in _walk_tables(module) if isinstance(one, symtable.Function)
    )  # and no type parameters
    table = next((one for one in bodies if (one.get_name(), one.get_lineno()) == function), None)
    if table is None:
        raise LookupError(f"{file} has no function {function[0]}() on line {function[1]}")
    own = (symbol.get_name() for symbol in table.get_symbols() if not symbol.is_global())
    return Scopes(frozenset(_find_globals(table)), frozenset(own))


def _find_globals(table: symtable.SymbolTable) -> Iterator[str]:
    for one in _walk_tables(table):
        yield from (symbol.get_name() for symbol in one.get_symbols() if symbol.is_global())


def _walk_tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for inner in table.get_children():
        yield from _walk_tables(inner)


class ShadowedVariable(NamedTuple):
    """A variable of a function that a comprehension in it has, too.

    start: where the bytecode puts the function's own aside. places: the lines and columns of the comprehension.
    """

    name: str
    start: int
    places: dis.Positions


class FrameVariables:
    """The variables of running functions, as the functions themselves have them.

    From Python 3.12 on a comprehension runs in the frame of its function. Until it is done, `f_locals` has its
    variables in the place of the function's own, which are on the frame's stack, where nothing can read them.
    So these are noted at each mark: one comes before every statement, and none inside of a comprehension.
    """

    def __init__(self) -> None:
        self._shadows: dict[CodeType, tuple[ShadowedVariable, ...]] = {}
        self._noted: dict[int, dict[str, Any]] = {}  # by the id of the frame

    def note(self, frame: FrameType) -> None:
        """Note what a comprehension may hide in the next statement of `frame`."""
        if shadows := self._shadows_in(frame.f_code):
            local = frame.f_locals
            self._noted[id(frame)] = {
                shadow.name: local[shadow.name] for shadow in shadows if shadow.name in local
            }

    def forget(self, running: Iterable[FrameType]) -> None:
        """Keep what was noted of these frames alone: their ids are used again, and tensors must not live longer."""
        if self._noted:
            self._noted = {
                id(one): self._noted[id(one)] for one in running if id(one) in self._noted
            }

    def of(self, frame: FrameType) -> dict[str, Any]:
        """The variables of the function that `frame` runs, without those of comprehensions."""
        local = dict(frame.f_locals)
        noted = self._noted.get(id(frame), {})
        for shadow in self._shadows_in(frame.f_code):
            if frame.f_lasti > shadow.start and _is_in_comprehension(frame, shadow.places):
                local.pop(shadow.name, None)
                if shadow.name in noted:
                    local[shadow.name] = noted[shadow.name]
        return local

    def _shadows_in(self, code: CodeType) -> tuple[ShadowedVariable, ...]:
        if not _SHARES_FRAME:
            return ()
        if code not in self._shadows:
            marked = (
                one for one in dis.get_instructions(code) if one.opname == "LOAD_FAST_AND_CLEAR"
            )
            self._shadows[code] = tuple(
                ShadowedVariable(one.argval, one.offset, one.positions)
                for one in marked
                if one.positions
            )
        return self._shadows[code]


def _is_in_comprehension(frame: FrameType, places: dis.Positions) -> bool:
    """Return True if the call that `frame` is in is written inside of `places`."""
    here = dis.Positions(*[*frame.f_code.co_positions()][frame.f_lasti // 2])
    if None in here or None in places:  # Python was started without positions
        return False
    return (places.lineno, places.col_offset) <= (here.lineno, here.col_offset) and (
        (here.end_lineno, here.end_col_offset) <= (places.end_lineno, places.end_col_offset)
    )
