"""One run of a program, statement by statement or not, within limits, and its effects."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .effects import Effects, EffectsReport
from .functions import Steppable, add_stepped_functions
from .program import (
    FunctionChoice,
    Program,
    Site,
    SourceText,
    compile_program,
    program_from_code,
)
from .recorder import Observe, Recorder, Step
from .self_contained import is_self_contained
from .surroundings import (
    Stop,
    Stopwatch,
    capture_output,
    default_settings,
    make_builtins,
    make_builtins_after_run,
    repeatable_session,
    stabilize_text,
    truncate_text,
)


@dataclass(frozen=True)
class Limits:
    """Limits of a run: its steps and seconds.

    After `rounds` rounds the rest of a loop runs without steps.

    Raises ValueError for what is not positive.
    """

    max_steps: int = 200
    seconds: float = 10.0
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.max_steps < 1 or self.seconds <= 0 or (self.rounds is not None and self.rounds < 1):
            rounds = "" if self.rounds is None else f", rounds={self.rounds}"
            raise ValueError(
                f"the limits must be positive, not max_steps={self.max_steps}, "
                f"seconds={self.seconds}{rounds}"
            )


LIMITS = Limits()


class RecordedRun:
    """A program that was run statement by statement, `engine` as its `torch`: steps and end.

    When a limit is met or the user interrupts, the run ends, and the steps so far are its result.
    stdout, stderr, the warning filters and the SIGINT handler are put back. A text that is no
    Python is one step, at the line of the error.

    Args:
        code: a text, or a program that was made of a text or of a function.
        engine: the module that the program knows as `torch`.
        look: makes of the program's names what a step stores, before the first step and after each;
            nothing in this room knows what a tensor is.
        names: what a text runs in, and so what it leaves; a new dictionary by default.
        into: the functions of the program that are stepped into.
        things: modules, classes and functions of the user's that are stepped into besides.
        limits: where it ends.
        own_session: it runs as in a session of its own, and changes none of this session's random
            numbers and settings.

    Raises:
        ValueError: `into` names a function that the program does not define.

    """

    ended: str
    """"finished", "error", "syntax", "steps" (step limit), "time" (time limit) or "interrupted"."""

    def __init__(
        self,
        code: str | Program,
        engine: ModuleType,
        look: Observe,
        *,
        names: dict[str, Any] | None = None,
        into: FunctionChoice = True,
        things: Sequence[Steppable] = (),
        limits: Limits = LIMITS,
        own_session: bool = False,
    ) -> None:
        self.limits = limits
        self.engine = engine
        self.is_closed = isinstance(code, str) and names is None and not things
        """True for a text that works with nothing of the user's: it can be run again, or changed."""
        self._into, self._own_session = into, own_session
        self.seconds_of_work = 0.0
        """The processor time that it took: a busy machine makes no program slow."""
        self.steps: tuple[Step, ...] = ()
        self.before: Any = None
        """What was seen before the first step."""
        self._effects_report = EffectsReport({})
        self.texts: tuple[SourceText, ...] = ()
        """The code that ran: the program, or the function that was called, then each other that was
        stepped into."""
        self.hidden_functions: tuple[str, ...] = ()
        """Functions that it calls and that could not be stepped into, since a decorator hides their
        code."""
        if isinstance(code, str):
            try:
                program = program_from_code(code, {} if names is None else names, into)
            # The parser itself gives up on code that is nested too deep (100,000 minus signs), and
            # on a null byte, which is a ValueError in Python 3.11.
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                self.steps, self.ended = (_make_syntax_error_step(code, error),), "syntax"
                self.texts = (self.steps[0].site.text,)
                return
            program = add_stepped_functions(program, things) if things else program
        else:
            program = code
        program.check_choice(into)
        clock = time.thread_time()
        with repeatable_session(engine) if own_session else nullcontext():
            self._run_program(program, engine, look, reports_random=not own_session)
        self.seconds_of_work = time.thread_time() - clock

    def _run_program(
        self, program: Program, engine: ModuleType, look: Observe, *, reports_random: bool
    ) -> None:
        # The names may be a notebook's, which keeps its own builtins and `__name__`.
        names = program.namespace
        replaced: dict[str, Any] = {
            key: names[key] for key in ("__builtins__", "__name__") if key in names
        }
        builtins = make_builtins(engine, stepped=True)
        names.update(__builtins__=builtins, __name__="__main__", torch=engine)
        with Stopwatch(self.limits.seconds) as stopwatch:
            recorder = Recorder(program, look, stopwatch, self.limits.max_steps, self.limits.rounds)
            self.before = look(recorder.global_names(names))
            effects = Effects(engine, lambda: stopwatch.busy, random=reports_random)
            with capture_output(recorder.output), effects:
                # The one of `effects`, which notes what is written.
                builtins["open"] = open
                recorder.restore_functions = effects.restore_functions
                self.ended = _run_to_end(recorder, stopwatch)
                recorder.finish(names)
        # A function of the program that lives on has this dictionary as its builtins.
        builtins.update(make_builtins_after_run())
        names.update(replaced)
        self.steps, self._effects_report = tuple(recorder.steps), effects.report()
        self.texts = tuple(dict.fromkeys([program.text, *(step.site.text for step in self.steps)]))
        self.hidden_functions = tuple(sorted(_find_called(program.hidden_functions, self.texts)))

    def end_after(self, number: int) -> RecordedRun:
        """Return the run with so many of its steps, the first ones."""
        # The same object may be asked for facts of its last line.
        run = copy(self)
        run.steps = self.steps[:number]
        return run

    @property
    def effects(self) -> tuple[str, ...]:
        """Sentences on what it did to files and the like.

        On random numbers only where they are not put back.
        """
        return tuple(self._effects_report.sentences())

    @property
    def can_repeat(self) -> bool:
        """True if a second run does nothing outside of the program and computes the same.

        A function works with the arguments that it was given, and they may have been written to;
        so may what a text imports, and nothing notes a write to a tensor of another module.
        """
        if not self.is_closed or self.ended not in ("finished", "error") or self.effects:
            return False
        return is_self_contained(self.texts[0].code)

    def run_other(self, code: str, look: Observe, limits: Limits | None = None) -> RecordedRun:
        """Run another text in the way of this run, which `is_closed`.

        limits: those of this run by default. Raises ValueError if `into` names a function that only
        this program defines.
        """
        return RecordedRun(
            code,
            self.engine,
            look,
            into=self._into,
            limits=limits or self.limits,
            own_session=self._own_session,
        )

    @property
    def error(self) -> str | None:
        """The error that ended the run, as `Type: message`; None if it ran to its end."""
        return self.steps[-1].error if self.steps and self.ended == "error" else None


def _find_called(functions: frozenset[str], texts: Sequence[SourceText]) -> list[str]:
    """Return those of the functions that the texts call by their last name."""
    calls = set(re.findall(r"(\w+)\(", "\n".join(text.code for text in texts)))
    return [name for name in functions if name.rpartition(".")[2] in calls]


def _run_to_end(recorder: Recorder, stopwatch: Stopwatch) -> str:
    """Run the program and return how it ended, as in `RecordedRun.ended`."""
    try:
        recorder.run()
        return "finished"
    # SystemExit and KeyboardInterrupt of the program end the program, not the session.
    except BaseException as error:  # noqa: BLE001
        # First: an interrupt must not come while the failure is recorded.
        stopwatch.busy = True
        recorder.restore_functions()
        ended = _find_reason(error, recorder, stopwatch)
        if ended != "steps":
            recorder.record_failure(error if ended == "error" else None, error)
        # Or the frames of the traceback would keep the program's tensors alive.
        traceback.clear_frames(error.__traceback__)
        return ended
    finally:
        stopwatch.busy = True


def _find_reason(error: BaseException, recorder: Recorder, stopwatch: Stopwatch) -> str:
    """Return why a run ended in `error`: "steps", "time" or "interrupted", else "error"."""
    if not isinstance(error, (Stop, KeyboardInterrupt)):
        return "error"
    if recorder.is_full:
        return "steps"
    # Without a reason the program raised the KeyboardInterrupt itself.
    return {"time": "time", "interrupt": "interrupted", None: "error"}[stopwatch.reason]


def _make_syntax_error_step(source: str, error: Exception) -> Step:
    """Return the step of a text that is no Python: the line of the error, a caret below it."""
    lines = source.splitlines() or [""]
    line = min(max(getattr(error, "lineno", None) or 1, 1), len(lines))
    text = lines[line - 1]
    message = f"{type(error).__name__}: {getattr(error, 'msg', None) or error}"
    column = getattr(error, "offset", None)
    if column:
        is_one_line = getattr(error, "end_lineno", line) in (line, None)
        end = (getattr(error, "end_offset", None) or 0) if is_one_line else 0
        caret = " " * (column - 1) + "^" * max(1, min(end, len(text) + 1) - column)
        # Python counts a tab as one column, and so must the line above the caret.
        message = f"{truncate_text(text.expandtabs(1), 500)}\n{caret}\n{message}"
    site = Site(line, line, text.strip(), None, SourceText(source))
    return Step("syntax", site, error=stabilize_text(message))


def execute_program(
    code: str | Sequence[str],
    engine: ModuleType,
    names: Mapping[str, Any] | None = None,
    watch: Stopwatch | None = None,
) -> dict[str, Any]:
    """Run `code` without steps, with default settings, and return its names; raises what it raises.

    Args:
        code: a program, or its parts: each is compiled once, however many programs it is a part of.
        engine: the module that the program knows as `torch`.
        names: what it may use.
        watch: ends it when the time is up, or when the user interrupts.

    """
    namespace = {
        "__name__": "__main__",
        "torch": engine,
        "__builtins__": make_builtins(engine, stepped=False),
        **(names or {}),
    }
    with default_settings(engine):
        try:
            if watch is not None:
                watch.busy = False
                # What came while `busy` was set takes effect here.
                watch.check()
            for part in (code,) if isinstance(code, str) else code:
                exec(compile_program(part), namespace)
        finally:
            if watch is not None:
                watch.busy = True
    return namespace
