"""The variables of a learner's attempt: selected, compared, or made by running a solution."""

from __future__ import annotations

import ast
import contextlib
import io
import textwrap
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from tinytorch.viz import collect_tensors_by_name, snapshot

from ..run import (
    Limits,
    RecordedRun,
    describe_error,
    execute_program,
    repeatable_session,
    stabilize_text,
)
from ..wording import gettext, join_sentences

STEPS = 5000
"""Steps after which the run of a solution or a wrong answer ends."""
SECONDS = 20.0
"""Seconds after which it ends."""
_MAX_ELEMENTS = 10_000
"""Elements of a tensor whose values are compared; a larger one by what a snapshot has of it."""
_MAX_REPR = 10_000
"""Characters of the `repr` of another object that are compared."""

_MAX_SOURCE = 2000
"""Characters of a program that are compared; the time grows with their square."""


class Attempt(NamedTuple):
    """The variables after a program ran, and its error or why it was stopped ("" if it ended)."""

    variables: dict[str, Any]
    error: str


def select_variables(namespace: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the variables called `names` that exist."""
    return {name: namespace[name] for name in names if name in namespace}


def state_of_variables(variables: Mapping[str, Any]) -> Any:
    """Return plain data that is equal for equal variables; None where they cannot be looked at.

    Compared are tensors with all they share, values, and the code of functions.
    """
    try:
        tensors = dict(collect_tensors_by_name(variables))
        values = {
            name: tensor.tolist()
            for name, tensor in tensors.items()
            if tensor.numel() <= _MAX_ELEMENTS
        }
        others = {
            name: _state_of_object(value)
            for name, value in variables.items()
            if name not in tensors
        }
        return snapshot(dict(variables)) if tensors else None, values, others
    except Exception:  # noqa: BLE001  # a learner's object may raise anything
        return None


def _state_of_object(value: Any) -> Any:
    if isinstance(value, FunctionType):
        # Two definitions of the same code are two objects with different addresses.
        return value.__code__.co_code, value.__code__.co_consts, value.__code__.co_names
    return type(value).__name__, stabilize_text(repr(value)[:_MAX_REPR])


def is_same_program(source: str, other: str) -> bool:
    """Return True if two programs differ in nothing but comments and blank space."""
    try:
        return ast.dump(ast.parse(textwrap.dedent(source))) == ast.dump(
            ast.parse(textwrap.dedent(other))
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def measure_likeness(source: str, other: str) -> float:
    """Return how much of two programs is the same, from 0 to 1."""
    return SequenceMatcher(None, source[:_MAX_SOURCE], other[:_MAX_SOURCE], autojunk=False).ratio()


def add_reason(sentence: str, why: str) -> str:
    """Return a sentence on an error with the reason behind it; as it is where none is known."""
    if not why:
        return sentence
    return join_sentences([sentence, gettext("{what}: {facts}", what=gettext("Why"), facts=why)])


def run_attempt(start: str, code: str | None, engine: ModuleType) -> Attempt:
    """Run `start` plainly, then `code` with limits; an error ends only its own part."""
    variables: dict[str, Any] = {}
    error = ""
    with repeatable_session(engine):
        try:
            # What the start prints is no output of the learner's cell.
            with contextlib.redirect_stdout(io.StringIO()):
                variables = execute_program(textwrap.dedent(start), engine)
        except Exception as raised:  # noqa: BLE001  # it becomes a sentence
            error = describe_error(raised)
        if code is not None:
            run = RecordedRun(
                textwrap.dedent(code),
                engine,
                # Nothing is shown of these steps; they are there for the limits, which end an
                # endless loop.
                lambda _: None,
                names=variables,
                limits=Limits(STEPS, SECONDS),
            )
            if run.ended != "finished":
                last_error = run.steps[-1].error if run.steps else None
                if last_error and run.ended == "syntax":
                    # Above it is the line of code.
                    last_error = last_error.rpartition("\n")[2]
                error = last_error or "it does not come to its end"
    # The run has set `__builtins__` and `__name__`.
    own = {name: value for name, value in variables.items() if not name.startswith("__")}
    return Attempt(own, error)
