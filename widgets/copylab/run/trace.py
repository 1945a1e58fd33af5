"""Run a program statement by statement and record, after each, what it printed and what could be seen.

What is "seen" is up to the caller: a function of the program's names, called after every step. Nothing here knows
what a tensor is.
"""

from __future__ import annotations

import builtins
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .capture import capturing, cut, steady
from .effects import Effects
from .instrument import Site
from .limits import Stop, Watch
from .recorder import Look, Recorder, Step
from .source import FILENAME, Program


@dataclass(frozen=True)
class Trace:
    """A run: the program, its steps, what was seen before the first, and how it ended.

    ended: "finished", "error", "syntax", "steps" (step limit), "time" (time limit) or "interrupted".
    effects: sentences on what the program did to files, random numbers and the like.
    """

    source: str
    steps: tuple[Step, ...]
    before: Any
    ended: str
    effects: tuple[str, ...] = ()


def run(
    program: Program,
    look: Look,
    *,
    engine: ModuleType,
    max_steps: int,
    seconds: float,
    rounds: int | None = None,
) -> Trace:
    """Run `program` with `engine` as its `torch`; `look` is called before the first step and after each.

    At most `max_steps` steps and about `seconds` seconds; then, or when the user interrupts, the run ends and the
    steps so far are its result. After `rounds` rounds the rest of a loop runs without steps of its own. stdout, stderr,
    the warning filters and the SIGINT handler are put back.
    """
    names = program.namespace
    mine: dict[str, Any] = {name: names[name] for name in ("__builtins__", "__name__") if name in names}
    names["__builtins__"] = tools = dict(vars(builtins))
    names["__name__"] = "__main__"
    names["torch"] = engine
    with Watch(seconds) as watch:
        recorder = Recorder(program, look, watch, max_steps, rounds)
        tools.update(recorder.marks(), input=_no_input, breakpoint=_no_breakpoint, __import__=_importer(engine))
        code = compile(program.marked.tree, FILENAME, "exec", dont_inherit=True)
        before = look(recorder.globals(names))
        effects = Effects(engine, lambda: watch.busy)
        with capturing(recorder.output), effects:
            ended = _run(program, code, recorder, watch)
            recorder.finish(names)
    # What lives on of the program (a function, say) runs unwatched, as if it had never been stepped.
    tools.update(dict.fromkeys(recorder.marks(), _pass_on))
    tools.update({name: _later(name) for name in ("input", "breakpoint", "__import__")})
    names.update(mine)
    return Trace(program.marked.source, tuple(recorder.steps), before, ended, tuple(effects.sentences()))


def _later(name: str) -> Callable[..., Any]:
    """Python's own `input` and the like, as it is when it is called: a notebook exchanges them for each cell."""

    def call(*args: Any, **named: Any) -> Any:
        return getattr(builtins, name)(*args, **named)

    return call


def _pass_on(_site: object, value: Any = None) -> Any:
    return value


def _run(program: Program, code: Any, recorder: Recorder, watch: Watch) -> str:
    try:
        watch.busy = False
        program.start(code, program.namespace)
        return "finished"
    except BaseException as error:  # noqa: BLE001  # SystemExit or KeyboardInterrupt of the program end it, not the session
        watch.busy = True
        if isinstance(error, (Stop, KeyboardInterrupt)) and (recorder.full or watch.reason):
            ended = "steps" if recorder.full else {"time": "time", "interrupt": "interrupted"}[str(watch.reason)]
            if ended != "steps":
                recorder.fail(None, error)
        else:
            ended = "error"
            recorder.fail(error, error)
        traceback.clear_frames(error.__traceback__)  # or they would keep the program's tensors alive
        return ended
    finally:
        watch.busy = True


def syntax_error(source: str, error: Exception) -> Trace:
    """The trace of a program that cannot be read: one step, at the line of the error, with a caret below it."""
    lines = source.splitlines() or [""]
    line = min(max(getattr(error, "lineno", None) or 1, 1), len(lines))
    text = lines[line - 1]
    message = f"{type(error).__name__}: {getattr(error, 'msg', None) or error}"
    column = getattr(error, "offset", None)
    if column:
        one_line = getattr(error, "end_lineno", line) in (line, None)
        end = min((getattr(error, "end_offset", None) or 0) if one_line else 0, len(text) + 1)
        message = f"{cut(text.expandtabs(1), 500)}\n{' ' * (column - 1)}{'^' * max(1, end - column)}\n{message}"
    step = Step("syntax", Site(line, line, text.strip(), None), error=steady(message))
    return Trace(source, (step,), None, "syntax")


def _no_input(_prompt: object = "", /) -> str:
    raise RuntimeError("input() cannot be answered while the code is stepped: write the answer into the code instead")


def _no_breakpoint(*_: object, **__: object) -> None:
    raise RuntimeError("breakpoint() cannot stop code that is stepped: every line is a stop already")


def _importer(engine: ModuleType) -> Callable[..., Any]:
    """An `import` to which `torch` is `engine`, so that the same program runs under both."""

    def import_(name: str, *rest: Any, **named: Any) -> Any:
        relative = named.get("level", rest[3] if len(rest) > 3 else 0)
        if name.partition(".")[0] == "torch" and not relative and engine.__name__ != "torch":
            name = engine.__name__ + name[len("torch") :]
            if name == engine.__name__:
                return engine
        return builtins.__import__(name, *rest, **named)

    return import_
