"""One program, run in a namespace of its own, and everything a question may ask about that run.

A run keeps plain data only: what could be seen after each line, with the values of small tensors. Questions that have
to do something (write, call backward) get fresh names of a run of their own, so no answer disturbs another.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tinytorch.viz import collect_tensors, disable_overrides, getattr_or_none

from ..player import NameObserver, Observation
from ..run import Limits, RecordedRun, dedent_code

if TYPE_CHECKING:
    from tinytorch.viz import Snapshot, Tensor

    from ..player import Steps

_LIMITS = Limits(max_steps=500, seconds=10.0)
_MOST_VALUES = 1000
_PLAIN = (bool, int, float, complex, str, type(None))


@dataclass(frozen=True)
class Moment(Observation):
    """What a line left behind: a snapshot, the values of tensors and plain variables, and gradients, by name."""

    values: Mapping[str, Any] = field(default_factory=dict)
    grads: Mapping[str, Any] = field(default_factory=dict)


class _Reader(NameObserver):
    """Looks as the player of steps does, and notes the values as well."""

    def __call__(self, names: Mapping[str, Any]) -> Moment:
        seen = super().__call__(names)
        known = {name for name, _ in seen.snapshot.names}
        values: dict[str, Any] = {
            name: value for name, value in names.items() if type(value) in _PLAIN
        }
        grads: dict[str, Any] = {}
        with disable_overrides(), warnings.catch_warnings(action="ignore"):
            for name, tensor in collect_tensors((names,), {}, None):
                if name not in known:
                    continue
                values[name] = _listed(tensor)
                if seen.snapshot.tensor(name).grad is not None:
                    grads[name] = _listed(getattr_or_none(tensor, "grad"))
        return Moment(seen.snapshot, seen.plain, values, grads)


def _listed(tensor: Any) -> Any:
    """The values as (nested) lists; None for what is too large to be asked for."""
    try:
        return tensor.tolist() if tensor.numel() <= _MOST_VALUES else None
    except Exception:  # noqa: BLE001  # a tensor that will not tell its values can still be looked at
        return None


class Run:
    """A program and what came of it, under one engine. Everything is computed when it is first asked for."""

    def __init__(self, code: str, engine: ModuleType) -> None:
        self.code = dedent_code(code)
        self.engine = engine

    def __repr__(self) -> str:
        return f"Run({len(self.code.splitlines())} lines, {self.engine.__name__})"

    @cached_property
    def trace(self) -> RecordedRun:
        """The run, step by step. Raises SyntaxError if the code cannot be read, RuntimeError if it was interrupted."""
        made = RecordedRun(self.code, self.engine, _Reader(), limits=_LIMITS, apart=True)
        if made.ended == "interrupted":  # half a run says nothing, and is not kept
            raise RuntimeError(
                "the run was interrupted, so there is nothing to compare with: commit again"
            )
        return made

    @cached_property
    def steps(self) -> Steps:
        """The run as the player shows it."""
        from ..player import Steps

        return Steps(self.trace, {})

    @property
    def endless(self) -> bool:
        """Whether the run was stopped at its limits, and so is taken not to end by itself."""
        return self.trace.ended in ("steps", "time")

    @property
    def error_line(self) -> int | None:
        """The line whose error ended the run."""
        return self.trace.steps[-1].site.line if self.trace.error is not None else None

    def at(self, line: int | None = None) -> Moment:
        """What could be seen after `line` ran (for the last time); None is the end. ValueError if it never ran."""
        seen: list[Moment] = [
            step.seen for step in self.trace.steps if line is None or step.site.line == line
        ]
        if not seen:
            if line is None:
                raise ValueError("nothing of this code ran, so there is nothing to ask about")
            raise ValueError(f"line {line} of the code did not run")
        return seen[-1]

    def snapshot(self, at: int | None = None) -> Snapshot:
        """The snapshot after line `at`, or at the end."""
        return self.at(at).snapshot

    def tensor(self, name: str, at: int | None = None) -> Tensor:
        """The record of the tensor called `name` after line `at`. ValueError if there is none."""
        snapshot = self.snapshot(at)
        try:
            return snapshot.tensor(name)
        except KeyError:
            there = ", ".join(name for name, _ in snapshot.names) or "no tensor at all"
            raise ValueError(
                f"the code has no tensor called {name!r} then; it has {there}"
            ) from None

    def value(self, name: str, at: int | None = None) -> Any:
        """The value of the tensor (as lists) or plain variable `name` after line `at`. ValueError if there is none."""
        values = self.at(at).values
        if name not in values:
            raise ValueError(
                f"the code has no value called {name!r} then; it has {', '.join(values) or 'none'}"
            )
        return values[name]

    def gradient(self, name: str, at: int | None = None) -> Any:
        """The value of `name.grad` after line `at`, as lists; None if there is none."""
        self.tensor(name, at)
        return self.at(at).grads.get(name)

    def printed(self, line: int) -> str:
        """What `line` printed, in all its runs, without the last line break."""
        outputs = (step.output for step in self.trace.steps if step.site.line == line)
        return "".join(text for output in outputs for kind, text in output if kind == "out").rstrip(
            "\n"
        )

    def history(
        self, ask: Callable[[Moment], Any], at: int | None = None
    ) -> list[tuple[int, str, Any]]:
        """Each step, up to line `at`, at which what `ask` tells changed: (line, its text, the new value).

        Moments at which `ask` raises a KeyError, for there is no such name yet, are passed over.
        """
        told: list[tuple[int, str, Any]] = []
        last = max(
            (n for n, step in enumerate(self.trace.steps) if at in (None, step.site.line)),
            default=-1,
        )
        for step in self.trace.steps[: last + 1]:
            try:
                now = ask(step.seen)
            except KeyError:
                continue
            if not told or told[-1][2] != now:
                told.append((step.site.line, step.site.source.partition("\n")[0], now))
        return told

    def fresh(self, at: int | None = None) -> dict[str, Any]:
        """The names of another run of the same code, up to line `at`: live objects, to write into and to call."""
        names: dict[str, Any] = {}
        code = self.code if at is None else head(self.code, at)
        RecordedRun(code, self.engine, lambda _: None, names=names, limits=_LIMITS, apart=True)
        return names


def head(code: str, line: int) -> str:
    """The statements of `code` that begin at or before `line`."""
    body = [statement for statement in ast.parse(code).body if statement.lineno <= line]
    return "\n".join(code.splitlines()[: body[-1].end_lineno if body else 0])
