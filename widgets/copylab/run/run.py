"""One run of a program: each statement marked or none, recorded, within limits, and what it did besides."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .effects import Effects
from .functions import Steppable, add_stepped_functions
from .program import FunctionChoice, Program, Site, SourceText, compile_program, program_from_code
from .recorder import Observe, Recorder, Step
from .surroundings import (
    Stop,
    Stopwatch,
    capture_output,
    default_settings,
    make_builtins,
    make_builtins_after_run,
    stabilize_text,
    truncate_text,
)
from .surroundings import repeatable_session as apart_from_all


@dataclass(frozen=True)
class Limits:
    """Where a run ends: after so many steps or seconds. After `rounds` rounds the rest of a loop runs without steps.

    Raises ValueError for what is not positive.
    """

    max_steps: int = 200
    seconds: float = 10.0
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.max_steps < 1 or self.seconds <= 0 or (self.rounds is not None and self.rounds < 1):
            more = "" if self.rounds is None else f", rounds={self.rounds}"
            raise ValueError(
                f"the limits must be positive, not max_steps={self.max_steps}, seconds={self.seconds}{more}"
            )


LIMITS = Limits()


class RecordedRun:
    """A program that was run with `engine` as its `torch`, statement by statement: its steps, and how it ended.

    code: a text, or a program that was made of one or of a function. look: what is seen of the program's names, before
    the first step and after each; nothing here knows what a tensor is. names: what a text runs in, and so what it
    leaves; a new dictionary by default. into: which of its functions are stepped into; things: and which modules,
    classes and functions of the user's beside. apart: it runs as in a session of its own, and leaves no trace in this
    one's random numbers and settings.

    When a limit is met or the user interrupts, the run ends, and the steps so far are its result. stdout, stderr, the
    warning filters and the SIGINT handler are put back. A text that cannot be read is one step, at the line of the
    error. Raises ValueError if `into` names a function that the program does not define.
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
        apart: bool = False,
    ) -> None:
        self.limits = limits
        self.steps: tuple[Step, ...] = ()
        self.before: Any = None
        """What was seen before the first step."""
        self.effects: tuple[str, ...] = ()
        """Sentences on what it did to files and the like; to random numbers only where they are not put back."""
        self.texts: tuple[SourceText, ...] = ()
        """The code that ran: the program, or the function that was called, then each other that was stepped into."""
        self.hidden: tuple[str, ...] = ()
        """Functions that it calls and that could not be stepped into, for a decorator hides their code."""
        if isinstance(code, str):
            try:
                program = program_from_code(code, {} if names is None else names, into)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                self.steps, self.ended = (_make_syntax_error_step(code, error),), "syntax"
                self.texts = (self.steps[0].site.text,)
                return
            program = add_stepped_functions(program, things) if things else program
        else:
            program = code
        program.check(into)
        with apart_from_all(engine) if apart else nullcontext():
            self._run(program, engine, look, random=not apart)

    def _run(
        self,
        program: Program,
        engine: ModuleType,
        look: Observe,
        *,
        random: bool,
    ) -> None:
        names = program.namespace
        mine: dict[str, Any] = {
            name: names[name] for name in ("__builtins__", "__name__") if name in names
        }
        given = make_builtins(engine, stepped=True)
        names.update(__builtins__=given, __name__="__main__", torch=engine)
        with Stopwatch(self.limits.seconds) as watch:
            recorder = Recorder(program, look, watch, self.limits.max_steps, self.limits.rounds)
            self.before = look(recorder.globals(names))
            effects = Effects(engine, lambda: watch.busy, random=random)
            with capture_output(recorder.output), effects:
                given["open"] = open  # which takes note of what is written
                recorder.mend = effects.mend
                self.ended = _run_to_end(recorder, watch)
                recorder.finish(names)
        given.update(make_builtins_after_run())
        names.update(mine)
        self.steps, self.effects = tuple(recorder.steps), tuple(effects.sentences())
        self.texts = tuple(dict.fromkeys([program.text, *(step.site.text for step in self.steps)]))
        calls = re.findall(r"(\w+)\(", "\n".join(text.code for text in self.texts))
        self.hidden = tuple(
            sorted(name for name in program.hidden if name.rpartition(".")[2] in calls)
        )

    @property
    def error(self) -> str | None:
        """The error that ended the run, as `Type: message`; None if it came to its end."""
        return self.steps[-1].error if self.steps and self.ended == "error" else None


def _run_to_end(recorder: Recorder, watch: Stopwatch) -> str:
    """Run the program, and say how that ended."""
    try:
        recorder.run()
        return "finished"
    except BaseException as error:  # noqa: BLE001  # SystemExit or KeyboardInterrupt of the program end it, not the session
        watch.busy = True
        recorder.mend()
        if isinstance(error, (Stop, KeyboardInterrupt)) and (recorder.full or watch.reason):
            ended = (
                "steps"
                if recorder.full
                else {"time": "time", "interrupt": "interrupted"}[str(watch.reason)]
            )
            if ended != "steps":
                recorder.fail(None, error)
        else:
            ended = "error"
            recorder.fail(error, error)
        traceback.clear_frames(
            error.__traceback__
        )  # or they would keep the program's tensors alive
        return ended
    finally:
        watch.busy = True


def _make_syntax_error_step(source: str, error: Exception) -> Step:
    """The step of a program that cannot be read: at the line of the error, with a caret below it."""
    lines = source.splitlines() or [""]
    line = min(max(getattr(error, "lineno", None) or 1, 1), len(lines))
    text = lines[line - 1]
    message = f"{type(error).__name__}: {getattr(error, 'msg', None) or error}"
    column = getattr(error, "offset", None)
    if column:
        one_line = getattr(error, "end_lineno", line) in (line, None)
        end = min((getattr(error, "end_offset", None) or 0) if one_line else 0, len(text) + 1)
        caret = " " * (column - 1) + "^" * max(1, end - column)
        message = f"{truncate_text(text.expandtabs(1), 500)}\n{caret}\n{message}"
    return Step(
        "syntax",
        Site(line, line, text.strip(), None, SourceText(source)),
        error=stabilize_text(message),
    )


def execute_program(
    code: str | Sequence[str],
    engine: ModuleType,
    names: Mapping[str, Any] | None = None,
    watch: Stopwatch | None = None,
) -> dict[str, Any]:
    """Run `code` without steps, in a `fresh` context, and return its names; raises what it raises.

    A program may come in parts: each is compiled once, however many programs it is a part of. names: what it may use.
    watch: ends it when the time is up, or when the user interrupts.
    """
    found = {
        "__name__": "__main__",
        "torch": engine,
        "__builtins__": make_builtins(engine, stepped=False),
        **(names or {}),
    }
    with default_settings(engine):
        try:
            if watch is not None:
                watch.busy = False
                watch.check()
            for part in (code,) if isinstance(code, str) else code:
                exec(compile_program(part), found)
        finally:
            if watch is not None:
                watch.busy = True
    return found
