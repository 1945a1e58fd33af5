"""A learner's variables, looked at: their values, and plain data by which two states of them can be compared."""

from __future__ import annotations

import contextlib
import io
import textwrap
from collections.abc import Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from tinytorch.viz import collect_tensors, snapshot

from ..run import (
    Limits,
    RecordedRun,
    describe_error,
    execute_program,
    repeatable_session,
    stabilize_text,
)

STEPS = 5000
SECONDS = 20.0


def look(found: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The variables called `names`, as far as they are there."""
    return {name: found[name] for name in names if name in found}


def state(values: Mapping[str, Any]) -> Any:
    """Plain data that is equal for equal states: tensors with all they share, plain values, code of functions.

    None where there can be none.
    """
    try:
        tensors = dict(collect_tensors((dict(values),), {}, None))
        shapes = {
            name: tensor.tolist() for name, tensor in tensors.items() if tensor.numel() <= 10_000
        }
        rest = {name: _plain(value) for name, value in values.items() if name not in tensors}
        return snapshot(dict(values)) if tensors else None, shapes, rest
    except Exception:  # noqa: BLE001  # objects that will not be looked at are never "as at the start"
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, FunctionType):
        return value.__code__.co_code, value.__code__.co_consts, value.__code__.co_names
    return type(value).__name__, stabilize_text(repr(value)[:10_000])


def play(start: str, code: str | None, engine: ModuleType) -> tuple[dict[str, Any], str]:
    """The variables after `start`, run plainly, and then `code`, run with limits; an error ends that part alone.

    Comes with what the last of the two that ran raised, or why it was stopped; empty if it came to its end.
    """
    names: dict[str, Any] = {}
    error = ""
    with repeatable_session(engine):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                names = execute_program(textwrap.dedent(start), engine)
        except Exception as raised:  # noqa: BLE001  # it is said
            error = describe_error(raised)
        if code is not None:
            made = RecordedRun(
                textwrap.dedent(code),
                engine,
                lambda _: None,
                names=names,
                limits=Limits(STEPS, SECONDS),
            )
            last = made.steps[-1].error if made.steps else None
            error = error if made.ended == "finished" else last or "it does not come to its end"
    return {name: value for name, value in names.items() if not name.startswith("__")}, error
