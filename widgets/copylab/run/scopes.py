"""Scopes: the names of a program that are globals, and the variables of a running function."""

from __future__ import annotations

import dis
import symtable
import sys
import warnings
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

# A comprehension runs in the frame of its function from Python 3.12 on (PEP 709).
_SHARES_FRAME: bool = sys.version_info >= (3, 12)


class Scopes(NamedTuple):
    """The names of a text, or of one function of it."""

    mentioned: frozenset[str]
    """The globals that the code reads or binds; for a text the names of its top level, too."""
    variables: frozenset[str] = frozenset()
    """The variables of the function, parameters included; none for a text."""


def find_scopes(source: str, file: str, function: tuple[str, int] | None = None) -> Scopes:
    """Find the scopes of names in a text, or in its function of this name and line of `def`.

    Raises SyntaxError or ValueError if the text is no program, LookupError if it has no such
    function.
    """
    # Marker has parsed the same text, so the user has had these warnings.
    with warnings.catch_warnings(action="ignore"):
        module = symtable.symtable(source, file, "exec")
    if function is None:
        return Scopes(frozenset([*module.get_identifiers(), *_find_globals(module)]))
    table = _find_table(module, function)
    if table is None:
        raise LookupError(f"{file} has no function {function[0]}() on line {function[1]}")
    variables = (symbol.get_name() for symbol in table.get_symbols() if not symbol.is_global())
    return Scopes(frozenset(_find_globals(table)), frozenset(variables))


def _find_table(module: symtable.SymbolTable, key: tuple[str, int]) -> symtable.SymbolTable | None:
    for table in _walk_tables(module):
        # A function with type parameters has a table of another kind and the same name for these.
        is_function = isinstance(table, symtable.Function)
        if is_function and (table.get_name(), table.get_lineno()) == key:
            return table
    return None


def _find_globals(table: symtable.SymbolTable) -> Iterator[str]:
    for inner in _walk_tables(table):
        yield from (symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global())


def _walk_tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for inner in table.get_children():
        yield from _walk_tables(inner)


class ShadowedVariable(NamedTuple):
    """A variable of a function that a comprehension in it has, too."""

    name: str
    start: int
    """The offset of the bytecode that puts the function's own value aside."""
    places: dis.Positions
    """The lines and columns of the comprehension."""


class FrameVariables:
    """The variables of running functions, as the functions themselves have them.

    From Python 3.12 on a comprehension runs in the frame of its function. Until it is done,
    `f_locals` has its variables in the place of the function's own, which are on the frame's stack,
    where nothing can read them. So their values are noted at each mark: one comes before every
    statement, and none inside of a comprehension.
    """

    def __init__(self) -> None:
        self._shadows: dict[CodeType, tuple[ShadowedVariable, ...]] = {}
        # By the id of the frame.
        self._values_by_frame: dict[int, dict[str, Any]] = {}

    def note_shadowed(self, frame: FrameType) -> None:
        """Note what a comprehension may hide in the next statement of `frame`."""
        if shadows := self._shadows_in(frame.f_code):
            local = frame.f_locals
            self._values_by_frame[id(frame)] = {
                shadow.name: local[shadow.name] for shadow in shadows if shadow.name in local
            }

    def forget_ended(self, running: Iterable[FrameType]) -> None:
        """Drop what was noted of frames that are done.

        Their ids are used again, and their tensors must not live longer.
        """
        if self._values_by_frame:
            ids = {id(frame) for frame in running}
            self._values_by_frame = {
                key: values for key, values in self._values_by_frame.items() if key in ids
            }

    def read_variables(self, frame: FrameType) -> dict[str, Any]:
        """Return the variables of the function in `frame`, without those of comprehensions."""
        local = dict(frame.f_locals)
        values = self._values_by_frame.get(id(frame), {})
        for shadow in self._shadows_in(frame.f_code):
            if frame.f_lasti > shadow.start and _is_in_comprehension(frame, shadow.places):
                local.pop(shadow.name, None)
                if shadow.name in values:
                    local[shadow.name] = values[shadow.name]
        return local

    def _shadows_in(self, code: CodeType) -> tuple[ShadowedVariable, ...]:
        if not _SHARES_FRAME:
            return ()
        if code not in self._shadows:
            shadows = []
            for instruction in dis.get_instructions(code):
                if instruction.opname == "LOAD_FAST_AND_CLEAR" and instruction.positions:
                    name, start = instruction.argval, instruction.offset
                    shadows.append(ShadowedVariable(name, start, instruction.positions))
            self._shadows[code] = tuple(shadows)
        return self._shadows[code]


def _is_in_comprehension(frame: FrameType, places: dis.Positions) -> bool:
    """Return True if the call that `frame` is in is written inside of `places`."""
    # There is an entry for each instruction, and an instruction takes two bytes.
    here = dis.Positions(*[*frame.f_code.co_positions()][frame.f_lasti // 2])
    # Python was started with -X no_debug_ranges.
    if None in here or None in places:
        return False
    return (places.lineno, places.col_offset) <= (here.lineno, here.col_offset) and (
        (here.end_lineno, here.end_col_offset) <= (places.end_lineno, places.end_col_offset)
    )
