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
from typing import Any, NamedTuple

from . import program as marks
from .program import FILENAME, Program, Site, put_in_marks
from .scopes import FrameVariables
from .surroundings import OutputBuffer, Stop, Stopwatch, describe_error

Observe = Callable[[Mapping[str, Any]], Any]
"""Makes of the program's names what a step stores of them."""

# A generator or coroutine is left in the middle of a loop and resumed later, in another step: its
# loops are never folded.
_PAUSING_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True)
class Step:
    """One executed line: its place, its output, the error it ended in, and what was seen after it.

    A line that calls functions of the program has several steps: one at each call, before the line
    is done, and one when it is done. So has a loop or a `with` that is written on one line.

    kind: "ran"; "call" (it has called a function of the program, which now begins); "back" (such a
    function has returned, and the line is done); "branch" (the line decides where to go on: if,
    while, for, match, except); "return", of a line with calls, too; "error"; "stopped" (limit or
    interrupt); "syntax".
    observation: what the run's `look` made of the names; None in the step of a text that is no Python.
    calls: the functions of the program that run, the outermost first. round: which round of its
    loop begins at a line that is a loop's head, from 1. folded: how many rounds of a loop ran
    before it without a step of their own.
    """

    kind: str
    site: Site
    output: tuple[tuple[str, str], ...] = ()
    error: str | None = None
    caught: bool = False
    observation: Any = None
    calls: tuple[str, ...] = ()
    round: int = 0
    folded: int = 0


class OpenLine(NamedTuple):
    """A line that has begun and is not done: its site, the id of its frame, the calls around it."""

    site: int
    frame_id: int
    calls: tuple[str, ...]


class FoldedLoop(NamedTuple):
    """The loop whose rounds run without steps: its site and its frame."""

    site: int
    frame: FrameType


class Recorder:
    """Gathers the steps of one run of `program`.

    At most `max_steps` steps, and `max_rounds` rounds of each loop, are recorded.

    A mark calls one of the `_on_...` methods with its site, the frame and a value. Sites are
    indices of `program.sites`.
    """

    def __init__(
        self,
        program: Program,
        observe: Observe,
        stopwatch: Stopwatch,
        max_steps: int,
        max_rounds: int | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self.output = OutputBuffer()
        self.is_full = False
        self.restore_functions: Callable[[], None] = lambda: None
        """Called before each observation, which needs Python's own functions."""
        self._program = program
        self._sites = program.sites
        self._files = program.files
        self._entry = program.entry
        # Of the user's names only those that the program mentions are shown.
        self._hidden_names = program.namespace.keys() - program.scopes.mentioned
        self._variables = FrameVariables()
        self._observe, self._stopwatch = observe, stopwatch
        self._max_steps, self._max_rounds = max_steps, max_rounds
        self._thread: int | None = get_ident()
        self._open_line: OpenLine | None = None
        # By the site and the id of the frame.
        self._rounds: dict[tuple[int, int], int] = {}
        self._folded_loop: FoldedLoop | None = None
        self._folded_rounds = 0

    def run(self) -> None:
        """Run the program, its marks calling this recorder; raises what it raises."""
        handlers = {
            marks.OPEN: self._guard_handler(self._on_open),
            marks.DONE: self._guard_handler(self._on_done),
            marks.TURN: self._guard_handler(self._on_turn),
            marks.TEST: self._guard_handler(self._on_turn),
            marks.OVER: self._guard_handler(self._on_over),
            marks.RETURN: self._guard_handler(self._on_return),
            marks.CAUGHT: self._guard_handler(self._on_caught),
            marks.SHOW: self._show_value,
        }

        def bind_marks(code: CodeType) -> CodeType:
            return put_in_marks(code, handlers)

        marked_codes = self._program.marked_codes
        # A function of the user's keeps its identity, whoever else holds it: only its code is
        # another for as long as the program runs.
        original_codes = {function: function.__code__ for function in marked_codes}
        try:
            for function, code in marked_codes.items():
                function.__code__ = bind_marks(code)
            self._stopwatch.busy = False
            self._program.start(bind_marks)
        finally:
            self._stopwatch.busy = True
            for function, code in original_codes.items():
                function.__code__ = code

    def _guard_handler(self, handle: Callable[..., None]) -> Callable[..., Any]:
        """Return the handler that the program calls in the place of `handle`.

        No signal ends it half-way, it ignores other threads, and it returns the value of its mark.
        """

        def call_handler(site: int, value: Any = None) -> Any:
            # The program may be over, and a function of it live on (a hook, for example), or an
            # observation may call one: neither is a step.
            if get_ident() != self._thread or self._stopwatch.busy:
                return value
            self._stopwatch.busy = True
            self.restore_functions()
            try:
                if self.is_full:
                    raise Stop
                frame = sys._getframe(1)
                self._variables.note_shadowed(frame)
                if not self._is_folded(handle, site, frame):
                    handle(site, frame, value)
            finally:
                self._stopwatch.busy = False
            self._stopwatch.check()
            return value

        return call_handler

    # -- loops whose later rounds run without steps ------------------------------------

    def _is_folded(self, handle: Callable[..., None], site: int, frame: FrameType) -> bool:
        """Return True if a mark belongs to folded rounds, of which no step is made.

        Leaving the loop is one step.
        """
        if self._folded_loop is None:
            return False
        loop = self._folded_loop
        if frame is loop.frame and site == loop.site and handle == self._on_turn:
            self._folded_rounds += 1
            return True
        is_end = frame is loop.frame and site == loop.site and handle == self._on_over
        if not is_end and self._is_in_folded_loop(handle, site, frame):
            return True
        if is_end and self._sites[loop.site].loop == "while":
            # Its last test was counted, and began no round.
            self._folded_rounds -= 1
        self._folded_loop = None
        # With a caught error, the error is recorded first, with the rounds.
        if handle != self._on_caught:
            self._require_room()
            self._record_step("branch", loop.site, frame)
        return is_end

    def _is_in_folded_loop(self, handle: Callable[..., None], site: int, frame: FrameType) -> bool:
        assert self._folded_loop is not None
        loop_site, loop_frame = self._folded_loop
        if frame is not loop_frame:
            # In a function that the loop calls, or after the loop's function.
            caller = frame.f_back
            while caller is not None and caller is not loop_frame:
                caller = caller.f_back
            return caller is loop_frame
        # A `return` leaves the loop, and is a step of its own.
        if handle == self._on_return:
            return False
        loop = self._sites[loop_site]
        return site == loop_site or any(outer is loop for outer in self._sites[site].loops)

    # -- what the marks report ---------------------------------------------------------

    def _on_open(self, site: int, frame: FrameType, _: object) -> None:
        """A line begins."""
        if self._sites[site].loop:
            self._rounds[site, id(frame)] = 0
        self._begin_line(site, frame)

    def _begin_line(self, site: int, frame: FrameType) -> None:
        self._leave_open_line(frame)
        self._require_room()
        self._open_line = OpenLine(site, id(frame), self._names_of_calls(frame))

    def _is_open(self, site: int, frame: FrameType) -> bool:
        line = self._open_line
        return line is not None and (line.site, line.frame_id) == (site, id(frame))

    def _require_room(self) -> None:
        """Raise Stop if there is no room for another step."""
        if len(self.steps) >= self._max_steps:
            self.is_full = True
            raise Stop

    def _on_done(self, site: int, frame: FrameType, _: object) -> None:
        """A line is done: directly, or after functions that it called."""
        is_open = self._is_open(site, frame)
        if not is_open:
            self._leave_open_line(frame)
        self._record_step("ran" if is_open else "back", site, frame)

    def _on_turn(self, site: int, frame: FrameType, _: object) -> None:
        """A round of a loop begins, or a test decides where to go on."""
        number = 0
        if self._sites[site].loop:
            number = self._rounds.get((site, id(frame)), 0) + 1
            self._rounds[site, id(frame)] = number
            is_late = self._max_rounds is not None and number > self._max_rounds
            if is_late and not frame.f_code.co_flags & _PAUSING_FLAGS:
                self._folded_loop = FoldedLoop(site, frame)
                self._folded_rounds, self._open_line = 1, None
                return
        self._record_branch(site, frame, number)

    def _record_branch(self, site: int, frame: FrameType, number: int = 0) -> None:
        if not self._is_open(site, frame):
            self._begin_line(site, frame)
        self._record_step("branch", site, frame, number=number)

    def _on_over(self, site: int, frame: FrameType, _: object) -> None:
        """A loop has ended by itself: a step of a `for`; the step of a `while` is its last test."""
        if self._sites[site].loop != "while":
            self._record_branch(site, frame)
        elif self.steps and self.steps[-1].site is self._sites[site]:
            # Its last test failed, and began no round.
            self.steps[-1] = replace(self.steps[-1], round=0)

    def _on_return(self, site: int, frame: FrameType, value: object) -> None:
        """A function of the program returns a value."""
        if not self._is_open(site, frame):
            self._leave_open_line(frame)
        # What `steps(f, x)` returns is shown as the value of a last line is.
        if self._entry and not any(outer is not frame for outer in self._frames_of_program(frame)):
            self._show_value(value)
        returned = {f"{self._sites[site].function}()": value}
        self._record_step("return", site, frame, extra=returned)

    def _on_caught(self, site: int, frame: FrameType, _: object) -> None:
        """An `except` begins: a step for the error, and one for the line of the `except`."""
        error = sys.exc_info()[1]
        self.record_failure(error, error, frame, caught=True)
        self._begin_line(site, frame)
        self._record_step("branch", site, frame)

    def _show_value(self, value: Any) -> Any:
        """Show the value of a last line, as a notebook does; None shows nothing."""
        if value is not None and get_ident() == self._thread:
            # A picture's repr is one line, for lists; a notebook shows all of its words.
            is_rich = hasattr(type(value), "_repr_mimebundle_")
            self.output.add("value", str(value) if is_rich else repr(value))
        return value

    def _leave_open_line(self, frame: FrameType) -> None:
        """Record the open line: the program goes on in a function that it called, or below it."""
        if self._open_line is None:
            return
        site, frame_id, calls = self._open_line
        frames = self._frames_of_program(frame, with_modules=True)
        home = next((outer for outer in frames if id(outer) == frame_id), None)
        # Its frame is further out: the line has called the function of `frame`. Otherwise the
        # program has gone on in the same frame, or left that of the line.
        kind = "branch" if home in (None, frame) else "call"
        self._record_step(kind, site, frame, calls=calls)

    # -- errors and the end ------------------------------------------------------------

    def record_failure(
        self,
        error: BaseException | None,
        raised: BaseException | None,
        frame: FrameType | None = None,
        *,
        caught: bool = False,
    ) -> None:
        """Record that the program ended in `raised`, or has caught it.

        error: the same, or None if the program was stopped from outside.
        """
        trace = walk_tb(raised.__traceback__ if raised is not None else None)
        places = [(at, line) for at, line in trace if at.f_code.co_filename in self._files]
        site: int | None = 0
        if places:
            frame, site = self._find_innermost_site(places)
        elif self._open_line is not None:
            site = self._open_line.site
        elif self.steps:
            # Raised between two lines: it belongs to the last that ran.
            site = self._sites.index(self.steps[-1].site)
        if site is None or frame is None or not self._sites:
            return
        self._folded_loop = None
        text = describe_error(error) if error is not None else None
        kind = "error" if error is not None else "stopped"
        self._record_step(kind, site, frame, error=text, caught=caught)

    def _find_innermost_site(
        self, places: Sequence[tuple[FrameType, int]]
    ) -> tuple[FrameType, int | None]:
        """Return the innermost place of a traceback that is a site, as its frame and site."""
        for frame, line in reversed(places):
            open_line = self._open_line
            if open_line and open_line.frame_id == id(frame):
                return frame, open_line.site
            site = self._find_site(frame.f_code.co_filename, line)
            if site is not None:
                return frame, site
        return places[-1][0], None

    def _find_site(self, file: str, line: int) -> int | None:
        """Return the smallest site that contains a line of a file."""
        candidates = []
        for number, site in enumerate(self._sites):
            if site.text.file == file and site.line <= line <= site.end_line:
                candidates.append((site.end_line - site.line, number))
        return min(candidates)[1] if candidates else None

    def finish(self, names: Mapping[str, Any]) -> None:
        """End the recording; functions of the program that live on run unwatched from here."""
        output = self.output.end_step()
        line = self._open_line or self._folded_loop
        if line is not None and not self.is_full:
            site, observation = self._sites[line.site], self._observe(self.global_names(names))
            self.steps.append(
                Step("branch", site, output, observation=observation, folded=self._folded_rounds)
            )
        elif output and self.steps:
            # Printed after the last line was done: on leaving a `with`, for example.
            last = self.steps[-1]
            self.steps[-1] = replace(last, output=last.output + output)
        self._thread = self._folded_loop = None

    def _record_step(
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
        """Make a step of what can be seen from `frame`; `calls` if its line is in another frame."""
        self._open_line = None
        # Before the output is read: an object of the program's may print while it is looked at.
        observation = self._observe({**self._names_seen_from(frame), **(extra or {})})
        step = Step(
            kind,
            self._sites[site],
            self.output.end_step(),
            error,
            caught,
            observation,
            self._names_of_calls(frame) if calls is None else calls,
            number,
            self._folded_rounds,
        )
        self._folded_rounds = 0
        self.steps.append(step)

    # -- frames and their names --------------------------------------------------------

    def _frames_of_program(
        self, frame: FrameType, *, with_modules: bool = False
    ) -> Iterator[FrameType]:
        """Yield `frame` and those that called it, as far as they are functions of the program."""
        at: FrameType | None = frame
        while at is not None and at.f_code is not _RUN_CODE:
            code = at.f_code
            # No module, no class body, no comprehension.
            is_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<"
            if code.co_filename in self._files and (with_modules or is_function):
                yield at
            at = at.f_back

    def _running_functions(self, frame: FrameType) -> list[FrameType]:
        return list(self._frames_of_program(frame))[::-1]

    def _names_of_calls(self, frame: FrameType) -> tuple[str, ...]:
        """Return the functions that run, the outermost first, without the one given to `steps`."""
        names = [
            function.f_code.co_qualname.rpartition("<locals>.")[2]
            for function in self._running_functions(frame)
        ]
        has_entry = self._entry and names[:1] == [self._entry.rpartition(".")[2]]
        return tuple(names[1:] if has_entry else names)

    def global_names(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """Return the program's own global names, and of the user's those that it mentions.

        A name that the stepped function has as a variable is the variable's; the global is called
        `x (global)`.
        """
        local = self._program.scopes.variables
        found: dict[str, Any] = {}
        for name, value in names.items():
            if name not in self._hidden_names and not _is_private(name):
                found[f"{name} (global)" if name in local else name] = value
        return found

    def _names_seen_from(self, frame: FrameType) -> dict[str, Any]:
        """Return the globals, then the variables of the functions that run, the outermost first."""
        names = self.global_names(self._program.namespace)
        counts: dict[str, int] = {}
        running = self._running_functions(frame)
        self._variables.forget_ended(running)
        outer_functions: list[tuple[str, dict[str, Any]]] = []
        for depth, function in enumerate(running):
            code = function.f_code
            counts[code.co_name] = counts.get(code.co_name, 0) + 1
            is_entry = depth == 0 and code.co_name == self._entry
            suffix = "" if is_entry else f" in {code.co_name}"
            if counts[code.co_name] > 1:
                suffix += f" (call {counts[code.co_name]})"
            variables = self._variables.read_variables(function)
            for name, value in variables.items():
                if _is_private(name):
                    continue
                if _is_of_enclosing_function(code, name, value, outer_functions):
                    continue
                # A module of the user's is there already, as `net` or `net.block`: the caller's
                # name.
                if name == "self" and not is_entry and code.co_filename != FILENAME:
                    continue
                names[name + suffix] = value
            outer_functions.append((code.co_qualname, variables))
        return names


_RUN_CODE = Recorder.run.__code__
"""The code below which every frame of the program is."""


def _is_of_enclosing_function(
    code: CodeType,
    name: str,
    value: object,
    outer_functions: Iterable[tuple[str, Mapping[str, Any]]],
) -> bool:
    """Return True if a variable is that of an enclosing function that runs, which shows it already.

    outer_functions: the qualified names of the functions that run around this one, and their
        variables.
    """
    if name not in code.co_freevars:
        return False
    return any(
        code.co_qualname.startswith(f"{function}.<locals>.")
        and name in local
        and local[name] is value
        for function, local in outer_functions
    )


def _is_private(name: str) -> bool:
    return type(name) is not str or name == "_" or name.startswith((".", "__"))
