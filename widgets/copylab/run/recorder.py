"""The other end of the marks: turns what a running program reports into steps.

A loop can be folded: after so many rounds the rest of it runs, and no step is made of it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import get_ident
from traceback import walk_tb
from types import CodeType, FrameType
from typing import Any

from . import program as marks
from .program import FILENAME, Program, Site, put_in_marks
from .scopes import FrameVariables
from .surroundings import OutputBuffer, Stop, Stopwatch, describe_error

Observe = Callable[[Mapping[str, Any]], Any]
_PAUSING_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Functions that are left in the middle of their loops and taken up again: those loops are never folded."""


@dataclass(frozen=True)
class Step:
    """One executed line: where it stands, what it printed, the error it ended in, and what was seen after it.

    kind: "ran"; "call" (it has called a function of the program, which now begins); "back" (such a function has come
    back, and the line is done); "branch" (the line decides where to go on: if, while, for, match, except); "return";
    "error"; "stopped" (limit or interrupt); "syntax".
    calls: the functions of the program that run, the outermost first. round: which round of its loop a line that heads
    one begins, from 1. folded: how many rounds of a loop ran before it without a step of their own.
    """

    kind: str
    site: Site
    output: tuple[tuple[str, str], ...] = ()
    error: str | None = None
    caught: bool = False
    seen: Any = None
    calls: tuple[str, ...] = ()
    round: int = 0
    folded: int = 0


class Recorder:
    """Gathers the steps of one run of `program`, at most `max_steps`, and of each loop at most `rounds` rounds."""

    def __init__(
        self,
        program: Program,
        look: Observe,
        watch: Stopwatch,
        max_steps: int,
        rounds: int | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self.output = OutputBuffer()
        self.full = False
        self._program = program
        self._sites = program.sites
        self._files = program.files
        self._entry = program.entry
        self._known = (
            program.namespace.keys() - program.scopes.mentioned
        )  # the user's other names: not shown
        self._variables = FrameVariables()
        self._look, self._watch, self._max = look, watch, max_steps
        self._open_at: tuple[int, int] | None = (
            None  # site and id of the frame of a line that has begun
        )
        self._open_calls: tuple[str, ...] = ()
        self._thread: int | None = get_ident()
        self._rounds = rounds
        self._counts: dict[
            tuple[int, int], int
        ] = {}  # the rounds of each loop, by its site and the id of its frame
        self._folded: tuple[int, FrameType] | None = (
            None  # the loop whose rounds run unseen: its site and frame
        )
        self._unseen = 0
        self.mend: Callable[[], None] = lambda: None
        """Called before each look, for the look needs Python's own functions."""

    def run(self) -> None:
        """Run the program, its marks calling this recorder; raises what it raises."""
        called = {
            marks.OPEN: self._guarded(self._begin),
            marks.DONE: self._guarded(self._done),
            marks.TURN: self._guarded(self._turn),
            marks.TEST: self._guarded(self._turn),
            marks.OVER: self._guarded(self._over),
            marks.RETURN: self._guarded(self._return),
            marks.CAUGHT: self._guarded(self._caught),
            marks.SHOW: self._show,
        }

        def marked(code: CodeType) -> CodeType:
            return put_in_marks(code, called)

        stepped = self._program.stepped
        own = {function: function.__code__ for function in stepped}
        try:
            for function, code in stepped.items():
                function.__code__ = marked(code)
            self._watch.busy = False
            self._program.start(marked)
        finally:
            self._watch.busy = True
            for function, code in own.items():
                function.__code__ = code

    def _guarded(self, mark: Callable[..., None]) -> Callable[..., Any]:
        """A mark as the program calls it: not torn by a signal, deaf to other threads, passing on a value."""

        def call(site: int, value: Any = None) -> Any:
            # Or the program is over, and a function of it lives on (a hook, say); or a look calls one.
            if get_ident() != self._thread or self._watch.busy:
                return value
            self._watch.busy = True
            self.mend()
            try:
                if self.full:
                    raise Stop
                frame = sys._getframe(1)
                self._variables.note(frame)
                if not self._folds(mark, site, frame):
                    mark(site, frame, value)
            finally:
                self._watch.busy = False
            self._watch.check()
            return value

        return call

    def _folds(self, mark: Callable[..., None], site: int, frame: FrameType) -> bool:
        """Whether this is part of a folded round, of which no step is made. Leaving the loop is one step."""
        if self._folded is None:
            return False
        loop, home = self._folded
        ends = False
        if frame is home:
            if site == loop and mark == self._turn:
                self._unseen += 1
                return True
            ends = site == loop and mark == self._over
            inside = site == loop or any(
                outer is self._sites[loop] for outer in self._sites[site].loops
            )
            inside = inside and not ends and mark != self._return
        else:
            at = frame.f_back
            while at is not None and at is not home:
                at = at.f_back
            inside = at is home
        if inside:
            return True
        if ends and self._sites[loop].loop == "while":  # its last test was no round
            self._unseen -= 1
        self._folded = None
        if mark != self._caught:  # there the error comes first, and tells of the rounds
            self._room()
            self._record("branch", loop, frame)
        return ends

    def _begin(self, site: int, frame: FrameType, _: object) -> None:
        if self._sites[site].loop:
            self._counts[site, id(frame)] = 0
        self._open(site, frame)

    def _open(self, site: int, frame: FrameType, _: object = None) -> None:
        self._leave(frame)
        self._room()
        self._open_at = (site, id(frame))
        self._open_calls = self._calls(frame)

    def _room(self) -> None:
        if len(self.steps) >= self._max:
            self.full = True
            raise Stop

    def _done(self, site: int, frame: FrameType, _: object) -> None:
        here = self._open_at == (site, id(frame))
        if not here:
            self._leave(frame)
        self._record("ran" if here else "back", site, frame)

    def _turn(self, site: int, frame: FrameType, _: object) -> None:
        number = 0
        if self._sites[site].loop:
            number = self._counts[site, id(frame)] = self._counts.get((site, id(frame)), 0) + 1
            if (
                self._rounds is not None
                and number > self._rounds
                and not frame.f_code.co_flags & _PAUSING_FLAGS
            ):
                self._folded, self._unseen, self._open_at = (site, frame), 1, None
                return
        self._branch(site, frame, number)

    def _branch(self, site: int, frame: FrameType, number: int = 0) -> None:
        if self._open_at != (site, id(frame)):
            self._open(site, frame)
        self._record("branch", site, frame, number=number)

    def _over(self, site: int, frame: FrameType, _: object) -> None:
        """A loop has ended by itself: a step of a `for`; of a `while`, its last test was that step."""
        if self._sites[site].loop == "while":
            if self.steps and self.steps[-1].site is self._sites[site]:
                self.steps[-1] = replace(self.steps[-1], round=0)
        else:
            self._branch(site, frame)

    def _return(self, site: int, frame: FrameType, value: object) -> None:
        if self._open_at != (site, id(frame)):
            self._leave(frame)
        if self._entry and not any(f is not frame for f in self._frames(frame)):
            self._show(value)
        self._record(
            "return", site, frame, extra={f"{self._sites[site].function}() returns": value}
        )

    def _caught(self, site: int, frame: FrameType, _: object) -> None:
        error = sys.exc_info()[1]
        self.fail(error, error, frame, caught=True)
        self._open(site, frame)
        self._record("branch", site, frame)

    def _show(self, value: Any) -> Any:
        """Show the value of a last line, as a notebook does; None shows nothing."""
        if value is not None and get_ident() == self._thread:
            # A picture's repr is one line, for lists; a notebook shows all of its words.
            is_rich = hasattr(type(value), "_repr_mimebundle_")
            self.output.add("value", str(value) if is_rich else repr(value))
        return value

    def _leave(self, frame: FrameType) -> None:
        """The line that had begun goes on elsewhere: record where it is now."""
        if self._open_at is None:
            return
        site, begun = self._open_at
        home = next((f for f in self._frames(frame, modules=True) if id(f) == begun), None)
        self._record(
            "branch" if home in (None, frame) else "call", site, frame, calls=self._open_calls
        )

    def fail(
        self,
        error: BaseException | None,
        raised: BaseException | None,
        frame: FrameType | None = None,
        *,
        caught: bool = False,
    ) -> None:
        """The program ended in `raised`, or has caught it; without an `error` it was stopped from outside."""
        trace = walk_tb(raised.__traceback__ if raised is not None else None)
        places = [(at, line) for at, line in trace if at.f_code.co_filename in self._files]
        if places:
            frame, site = self._place(places)
        elif self._open_at is not None:
            site = self._open_at[0]
        else:  # raised between two lines: it belongs to the last that ran
            site = self._sites.index(self.steps[-1].site) if self.steps else 0
        if site is None or frame is None or not self._sites:
            return
        self._folded = None
        text = describe_error(error) if error is not None else None
        self._record(
            "error" if error is not None else "stopped", site, frame, error=text, caught=caught
        )

    def _place(self, places: Sequence[tuple[FrameType, int]]) -> tuple[FrameType, int | None]:
        """The innermost of the places of a traceback that is stepped."""
        for frame, line in reversed(places):
            open_at = self._open_at
            site = (
                open_at[0]
                if open_at and open_at[1] == id(frame)
                else self._site_at(frame.f_code.co_filename, line)
            )
            if site is not None:
                return frame, site
        return places[-1][0], None

    def _site_at(self, file: str, line: int) -> int | None:
        near = [
            n
            for n, s in enumerate(self._sites)
            if s.text.file == file and s.line <= line - s.text.above <= s.end_line
        ]
        return min(near, key=lambda n: self._sites[n].end_line - self._sites[n].line, default=None)

    def finish(self, names: Mapping[str, Any]) -> None:
        """The program is over; functions of it that live on run unwatched from here."""
        output = self.output.take()
        at = self._open_at or self._folded
        if at is not None and not self.full:
            site, seen = self._sites[at[0]], self._look(self.globals(names))
            self.steps.append(Step("branch", site, output, seen=seen, folded=self._unseen))
        elif (
            output and self.steps
        ):  # printed after the last line was done, on leaving a `with` for example
            last = self.steps[-1]
            self.steps[-1] = replace(last, output=last.output + output)
        self._thread = self._folded = None

    def _record(
        self,
        kind: str,
        site: int,
        frame: FrameType,
        *,
        extra: Mapping[str, Any] | None = None,
        error: str | None = None,
        caught: bool = False,
        number: int = 0,
        calls: tuple[str, ...] | None = None,
    ) -> None:
        """Make a step of what can be seen from `frame`; `calls` if its line stands elsewhere."""
        self._open_at = None
        seen = self._look({**self._names(frame), **(extra or {})})
        output, calls = self.output.take(), self._calls(frame) if calls is None else calls
        step = Step(
            kind, self._sites[site], output, error, caught, seen, calls, number, self._unseen
        )
        self._unseen = 0
        self.steps.append(step)

    def _frames(self, frame: FrameType, *, modules: bool = False) -> Iterator[FrameType]:
        """`frame` and those that called it, as far as they are functions of the program."""
        at: FrameType | None = frame
        while at is not None and at.f_code is not _RUN_CODE:
            code = at.f_code
            function = (
                code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<"
            )  # no module, no class body
            if code.co_filename in self._files and (modules or function):
                yield at
            at = at.f_back

    def _running(self, frame: FrameType) -> list[FrameType]:
        return list(self._frames(frame))[::-1]

    def _calls(self, frame: FrameType) -> tuple[str, ...]:
        """The functions that run, the outermost first; without the one that `steps` was called with."""
        names = [f.f_code.co_qualname.rpartition("<locals>.")[2] for f in self._running(frame)]
        return tuple(
            names[1:] if self._entry and names[:1] == [self._entry.rpartition(".")[2]] else names
        )

    def globals(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """The program's own global names, and of the user's those that it mentions.

        A name that the stepped function has as a variable is the variable's; the global is called `x (global)`.
        """
        local = self._program.scopes.variables
        found = {k: v for k, v in names.items() if k not in self._known and not _is_private(k)}
        return {f"{k} (global)" if k in local else k: v for k, v in found.items()}

    def _names(self, frame: FrameType) -> dict[str, Any]:
        """What can be seen from `frame`: globals, then the variables of the functions that run, the outermost first."""
        names = self.globals(self._program.namespace)
        counts: dict[str, int] = {}
        running = self._running(frame)
        self._variables.forget(running)
        outside: list[tuple[str, dict[str, Any]]] = []
        for depth, function in enumerate(running):
            name = function.f_code.co_name
            counts[name] = counts.get(name, 0) + 1
            place = "" if depth == 0 and name == self._entry else f" in {name}"
            again = f" (call {counts[name]})" if counts[name] > 1 else ""
            own = self._variables.of(function)
            local = {
                k: v
                for k, v in own.items()
                if not (_is_private(k) or _is_of_enclosing_function(function.f_code, k, v, outside))
            }
            outside.append((function.f_code.co_qualname, own))
            if place and function.f_code.co_filename != FILENAME:
                local.pop(
                    "self", None
                )  # it is there already, as `net` or `net.block`: the caller's name for it
            names.update({f"{k}{place}{again}": v for k, v in local.items()})
        return names


_RUN_CODE = Recorder.run.__code__


def _is_of_enclosing_function(
    code: CodeType, name: str, value: object, outside: Iterable[tuple[str, Mapping[str, Any]]]
) -> bool:
    """Return True if a variable is that of an enclosing function that runs, where it has its name.

    outside: the qualified names of the functions that run around this one, and their variables.
    """
    return name in code.co_freevars and any(
        code.co_qualname.startswith(f"{function}.<locals>.")
        and name in local
        and local[name] is value
        for function, local in outside
    )


def _is_private(name: str) -> bool:
    return type(name) is not str or name == "_" or name.startswith((".", "__"))
