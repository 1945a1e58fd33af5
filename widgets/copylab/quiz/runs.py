"""A program that was run in a namespace of its own, and all that a question may ask about the run.

A recorded run holds plain data only: what could be seen after each line, with the values of small
tensors. Questions that have to do something (write, call backward) get live variables from a run of
their own, so that no answer changes another one.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from tinytorch.viz import Level, collect_tensors_by_name, disable_overrides, getattr_or_none

from ..player import NameObserver, Observation, Steps, is_of_program
from ..run import Limits, RecordedRun, dedent_code
from ..tensor_facts import TensorFact

if TYPE_CHECKING:
    from tinytorch.viz import Snapshot, TensorRecord

    from ..run import Step

_LIMITS = Limits(max_steps=500, seconds=10.0)
_MAX_ELEMENTS = 1000
"""Elements of a tensor whose values are recorded after each line; nobody is asked for more."""
_MAX_STEPS_TO_REPEAT = 40
"""Steps of a run that is run again without each of its lines, for what a wrong answer leaves out."""
_PLAIN_TYPES = (bool, int, float, complex, str, type(None))


@dataclass(frozen=True)
class Moment(Observation):
    """The state after a step: a snapshot, values of tensors and variables, and gradients.

    snapshot: of the tensors, as the player takes it.
    plain: short texts of the variables that are no tensors, by name.
    values: by name, of a tensor its numbers in (nested) lists, or None if it is too large; of any
        other variable the value itself, if it is a number, a text or None.
    grads: the numbers of `.grad`, by the name of each tensor that has one.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    grads: Mapping[str, Any] = field(default_factory=dict)


class NewValue(NamedTuple):
    """A value that something had after a line, and not before it."""

    line: int
    """The number of that line, from 1."""
    source: str
    """Its text; of a statement of several lines the first one."""
    value: Any


class _MomentObserver(NameObserver):
    """Look as the player of steps does, and record the values as well."""

    def __call__(self, names: Mapping[str, Any]) -> Moment:
        observation = super().__call__(names)
        tensor_names = {name for name, _ in observation.snapshot.names}
        values: dict[str, Any] = {
            name: value for name, value in names.items() if type(value) in _PLAIN_TYPES
        }
        grads: dict[str, Any] = {}
        # No subclass or mode of torch may see that we look; PyTorch warns where `.grad` of a result
        # is read.
        with disable_overrides(), warnings.catch_warnings(action="ignore"):
            for name, tensor in collect_tensors_by_name(names, is_of_program):
                if name not in tensor_names:
                    continue
                values[name] = _read_elements(tensor)
                if observation.snapshot.tensor(name).grad is not None:
                    grads[name] = _read_elements(getattr_or_none(tensor, "grad"))
        return Moment(
            observation.snapshot, observation.plain, observation.records_graph, values, grads
        )


def _read_elements(tensor: Any) -> Any:
    """Return the values as (nested) lists; None for a tensor that is too large to be asked for."""
    try:
        return tensor.tolist() if tensor.numel() <= _MAX_ELEMENTS else None
    except Exception:  # noqa: BLE001  # a tensor on the meta device has no values
        return None


def _describe_unrecorded(name: str, numel: int) -> str:
    if numel > _MAX_ELEMENTS:
        return (
            f"{name} has {numel:,} elements, and of more than {_MAX_ELEMENTS:,} the values are not "
            "recorded: ask about a part of it, such as y = x[:3]"
        )
    return f"the values of {name} cannot be read"


class QuizRun:
    """The run of a program under one engine, computed when it is first asked for.

    level: how much its player and its pictures say.
    folds_rounds: whether its player goes through loops round by round at first.

    What a question calls: `read_fact`, `value`, `gradient`, `tensor`, `snapshot`, `moment`,
    `count_cells`, `read_output`, `history`, `list_moments`, `shorter_runs`; `error_line` and
    `is_endless` say how it ended, `trace` has each step, `player` shows them, `make_variables`
    makes live variables. Names are those of the program's variables. `at` is a line of it, counted
    from 1: what is returned is of the moment after that line ran last, by default of the end.
    """

    def __init__(
        self, code: str, engine: ModuleType, level: Level = "graph", *, folds_rounds: bool = False
    ) -> None:
        self.code = dedent_code(code)
        self.engine = engine
        self.level = level
        self._folds_rounds = folds_rounds
        self._variant_runs: dict[str, QuizRun] = {}

    def __repr__(self) -> str:
        return f"QuizRun({len(self.code.splitlines())} lines, {self.engine.__name__})"

    @cached_property
    def trace(self) -> RecordedRun:
        """The run, step by step.

        Raises SyntaxError if the code cannot be read, RuntimeError if it was interrupted.
        """
        # In a session of its own: it leaves the random numbers of the notebook as they are.
        run = RecordedRun(
            self.code, self.engine, _MomentObserver(self.engine), limits=_LIMITS, own_session=True
        )
        if run.ended == "interrupted":
            # Raised and not cached: half a run would answer questions wrongly from then on.
            raise RuntimeError(
                "the run was interrupted, so there is nothing to compare with: commit again"
            )
        return run

    @cached_property
    def player(self) -> Steps:
        """The run as the player shows it."""
        return Steps(self.trace, {}, level=self.level, folds_rounds=self._folds_rounds)

    @property
    def is_endless(self) -> bool:
        """True if the run was stopped at its limits, and so is taken not to end by itself."""
        return self.trace.ended in ("steps", "time")

    @property
    def error_line(self) -> int | None:
        """The line whose error ended the run."""
        return self.trace.steps[-1].site.line if self.trace.error is not None else None

    def moment(self, at: int | None = None) -> Moment:
        """Return what could be seen after line `at` ran last; None is the end.

        ValueError if it never ran.
        """
        moments: list[Moment] = [
            step.observation for step in self.trace.steps if at is None or step.site.line == at
        ]
        if not moments:
            # Two cases: nothing at all ran, or only that line did not, as in a branch that was not
            # taken.
            if at is None:
                raise ValueError("nothing of this code ran, so there is nothing to ask about")
            raise ValueError(f"line {at} of the code did not run")
        # Of a line in a loop the last time: "after line 3" is asked of when it is done with.
        return moments[-1]

    def snapshot(self, at: int | None = None) -> Snapshot:
        """Return the snapshot after line `at`, or at the end."""
        return self.moment(at).snapshot

    def tensor(self, name: str, at: int | None = None) -> TensorRecord:
        """Return the record of the tensor called `name` after line `at`.

        ValueError if there is none.
        """
        snapshot = self.snapshot(at)
        try:
            return snapshot.tensor(name)
        except KeyError:
            # Author's errors, which `verify` shows: they say what could be asked about.
            names = ", ".join(name for name, _ in snapshot.names) or "no tensor at all"
            raise ValueError(
                f"the code has no tensor called {name!r} then; it has {names}"
            ) from None

    def read_fact(
        self, find_fact: Callable[..., TensorFact], *names: str, at: int | None = None
    ) -> TensorFact:
        """Return what a function of `tensor_facts.py` finds about some tensors after line `at`.

        ValueError if one does not exist.
        """
        # For its error, which says what tensors there are.
        for name in names:
            self.tensor(name, at)
        return find_fact(self.snapshot(at), *names)

    def value(self, name: str, at: int | None = None) -> Any:
        """Return the value of the tensor (as lists) or plain variable `name` after line `at`.

        ValueError if there is no such name, and for a tensor whose numbers are not recorded.
        """
        values = self.moment(at).values
        if name not in values:
            raise ValueError(
                f"the code has no value called {name!r} then; it has {', '.join(values) or 'none'}"
            )
        if values[name] is None and name in dict(self.snapshot(at).names):
            raise ValueError(_describe_unrecorded(name, self.tensor(name, at).numel))
        return values[name]

    def gradient(self, name: str, at: int | None = None) -> Any:
        """Return the value of `name.grad` after line `at`, as lists; None if there is none.

        ValueError if there is no such tensor, or if the numbers are not recorded.
        """
        tensor = self.tensor(name, at)  # raises if there is no such tensor
        gradients = self.moment(at).grads
        if name in gradients and gradients[name] is None:
            raise ValueError(_describe_unrecorded(f"{name}.grad", tensor.numel))
        return gradients.get(name)

    def count_cells(self, name: str, at: int | None = None) -> int | None:
        """Return how many cells the storage of a tensor has; None without a storage.

        ValueError if there is no such tensor, or if several storage objects lie over its memory:
        the snapshot knows the size of all of them together.
        """
        storage = self.tensor(name, at).storage
        # Several after `torch.from_numpy` and the like, see `StorageRecord`.
        objects = 0 if storage is None else self.snapshot(at).storage(storage).objects
        if objects > 1:
            raise ValueError(
                f"{objects} storage objects lie over the memory of {name}, "
                "and it is not known where each of them ends"
            )
        return count_cells_or_none(self.snapshot(at), name)

    def read_output(self, line: int) -> str:
        """Return what `line` printed, in all its runs, without the last line break."""
        text = ""
        for step in self.trace.steps:
            if step.site.line == line:
                text += "".join(part for stream, part in step.output if stream == "out")
        return text.rstrip("\n")

    def list_steps(self, at: int | None) -> list[Step]:
        """Return the steps up to the last run of line `at`; all of them for None."""
        steps = self.trace.steps
        end = 0
        for index, step in enumerate(steps):
            if at is None or step.site.line == at:
                end = index + 1
        return list(steps[:end])

    def list_moments(self, at: int | None = None) -> list[Moment]:
        """Return what could be seen after each step, up to the last run of line `at`.

        A line with a call of the program's functions has several, of which the last alone is after
        it: see `Step`.
        """
        return [step.observation for step in self.list_steps(at)]

    def history(self, read: Callable[[Moment], Any], at: int | None = None) -> list[NewValue]:
        """Return each new value of what `read` returns for the moments up to line `at`, in time.

        `run.history(lambda moment: moment.values["x"])` has the values of `x`. As a tensor keeps its id,
        `moment.snapshot.tensor("x").id` in there gives the lines that made `x` a name of another tensor.
        Moments at which `read` raises a KeyError, because there is no such name yet, are passed over.
        """
        new_values: list[NewValue] = []
        for step in self.list_steps(at):
            try:
                value = read(step.observation)
            except KeyError:
                continue
            # As texts: nan is not equal to nan.
            if not new_values or repr(new_values[-1].value) != repr(value):
                first_line = step.site.source.partition("\n")[0]
                new_values.append(NewValue(step.site.line, first_line, value))
        return new_values

    @cached_property
    def shorter_runs(self) -> list[tuple[int, str, QuizRun]]:
        """The runs without one line: its number, its text, and the run that is made when it is asked.

        Only of lines with one statement each, outside of which nothing changes its place; none for a
        run of many steps.
        """
        if self.is_endless or len(self.trace.steps) > _MAX_STEPS_TO_REPEAT:
            return []
        return [
            (line, text, QuizRun(code, self.engine, self.level))
            for line, text, code in leave_out_lines(self.code)
        ]

    def run_variant(self, code: str) -> QuizRun:
        """Return the run of a variant of the program, made once: many answers are compared with it."""
        # To make a QuizRun runs nothing, so one that is thrown away costs nothing.
        return self._variant_runs.setdefault(code, QuizRun(code, self.engine, self.level))

    def make_variables(self, at: int | None = None) -> dict[str, Any]:
        """Return live variables of another run, up to line `at`, to write into and to call."""
        variables: dict[str, Any] = {}
        code = self.code if at is None else take_statements(self.code, at)
        # Nothing is looked at after its lines: only the variables that it leaves are wanted.
        RecordedRun(
            code, self.engine, lambda _: None, names=variables, limits=_LIMITS, own_session=True
        )
        return variables


def count_cells_or_none(snapshot: Snapshot, name: str) -> int | None:
    """Return how many cells the storage of a tensor has; None without one.

    None, too, where it is not known: there `QuizRun.count_cells` raises a ValueError.
    """
    tensor = snapshot.tensor(name)
    if tensor.storage is None:
        return None
    storage = snapshot.storage(tensor.storage)
    if storage.objects > 1:
        return None
    # Not `storage.cells`: these have the size of its first tensor, whose dtype may be another.
    return storage.nbytes // tensor.itemsize


def leave_out_lines(code: str) -> list[tuple[int, str, str]]:
    """Return each line that is one whole statement, as its number, its text, and the code without it."""
    statements = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    lines = code.splitlines()
    without = []
    for statement in sorted(statements, key=lambda node: node.lineno):
        is_alone = [node.lineno for node in statements].count(statement.lineno) == 1
        if not is_alone or hasattr(statement, "body") or statement.end_lineno != statement.lineno:
            continue
        text = lines[statement.lineno - 1]
        # A line stays, so that those after it keep their numbers.
        shorter = [*lines]
        shorter[statement.lineno - 1] = text[: len(text) - len(text.lstrip())] + "pass"
        without.append((statement.lineno, text.strip(), "\n".join(shorter)))
    return without


def add_after_lines(code: str, statements: Mapping[int, str]) -> str | None:
    """Return the code with statements after those on some lines; None if nothing can be after one.

    On the same line, so that all lines keep their numbers.
    """
    simple = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.stmt) and not hasattr(node, "body")
    ]
    # As bytes: in these `ast` counts.
    lines = code.encode().splitlines()
    for line, added in statements.items():
        ends = [
            (node.end_lineno or line, node.end_col_offset or 0)
            for node in simple
            if node.lineno == line
        ]
        if not ends:
            return None
        end_line, column = max(ends)
        text = lines[end_line - 1]
        lines[end_line - 1] = text[:column] + f"; {added}".encode() + text[column:]
    return b"\n".join(lines).decode()


def take_statements(code: str, line: int) -> str:
    """Return the statements of `code` that begin at or before `line`."""
    body = [statement for statement in ast.parse(code).body if statement.lineno <= line]
    # To the end of the last one, which may have several lines.
    return "\n".join(code.splitlines()[: body[-1].end_lineno if body else 0])
