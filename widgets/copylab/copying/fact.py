"""What a way of copying does to a tensor: small programs are run, each of which proves one answer.

Each program makes its own `x` and `y`, so no answer depends on another.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import NamedTuple

from tinytorch.viz import summarize_text

from ..run import (
    Stop,
    Stopwatch,
    describe_error,
    engine_for,
    execute_program,
    repeatable_session,
    require_engine,
    stabilize_text,
)
from ..wording import cache_in_language, gettext, gettext_noop, ngettext
from .methods import Method, method
from .sources import Source

Answer = bool | int | str | None

# All of them, and not each: seventeen questions of a copy that hangs would be minutes.
SECONDS = 10.0
"""How long all programs about one copy may run together."""


@dataclass(frozen=True)
class Fact:
    """One question about a copy, and its answer.

    key: its name, such as "same_storage". question: the same in words.
    answer: what the proof printed, as a Python value; None if it printed None, or if the question
        makes no sense, for the reason in `why`.
    proof: the program, whole: pasted anywhere it prints the answer.
    output: what it printed, or the last line of its traceback.
    """

    key: str
    question: str
    answer: Answer
    proof: str
    output: str
    why: str = ""

    def __repr__(self) -> str:
        return summarize_text(f"Fact({self.key!r}, {self.answer!r})")

    @property
    def words(self) -> str:
        """The answer in words: "yes", "no", "CloneBackward0", "-" where there is none."""
        if isinstance(self.answer, bool):
            return gettext("yes") if self.answer else gettext("no")
        if self.answer is None:
            return (
                "-"
                if self.why or self.key not in _WORDS_FOR_NONE
                else gettext(_WORDS_FOR_NONE[self.key])
            )
        if isinstance(self.answer, int) and self.key == "copied":
            return ngettext("{number} byte", "{number} bytes", self.answer)
        answer = str(self.answer)
        return gettext(answer) if answer in _BACKWARD_GIVES else answer


_BACKWARD_GIVES = (
    gettext_noop("right"),
    gettext_noop("an error"),
    gettext_noop("wrong, and no error"),
)
_WORDS_FOR_NONE = {
    "grad_fn": gettext_noop("none"),
    "warns": gettext_noop("no"),
    "raises": gettext_noop("no"),
}


@dataclass(frozen=True)
class Facts(Mapping[str, Fact]):
    """All facts of a method on a source, by key. `answers` has the answers alone.

    source: what was copied. engine: the module's name. then: the lines that ran after the copy.
    """

    method: Method
    source: Source
    engine: str
    then: tuple[str, ...]
    all: tuple[Fact, ...]

    def __getitem__(self, key: str) -> Fact:
        return {fact.key: fact for fact in self.all}[key]

    def __iter__(self) -> Iterator[str]:
        return (fact.key for fact in self.all)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def answers(self) -> dict[str, Answer]:
        """The answers by key."""
        return {fact.key: fact.answer for fact in self.all}

    def __repr__(self) -> str:
        about = f"{self.method.name!r}, {self.source.kind} of shape {self.source.shape}"
        return summarize_text(f"Facts({about}, {len(self)} facts)")


def facts(
    how: str | Method,
    source: object = None,
    engine: ModuleType | None = None,
    then: Sequence[str] = (),
) -> Facts:
    """Run the copy method `how` on a source and find out what it does.

    source: as `Source.of` takes it; by default a leaf of shape (3,) that requires grad.
    engine: the module that is `torch` to the programs; by default the caller's global `torch`, otherwise tinytorch.
    then: lines that run after the copy; the facts are those after them.

    Each program runs once, with random numbers as after `torch.manual_seed(0)`; the same question is answered from
    memory the next time. Raises what `method` and `Source.of` raise, and TypeError for an engine that is none; what the
    copy itself raises is a fact, the one called "raises".
    """
    module = require_engine(engine) or engine_for(sys._getframe(1).f_globals)
    answers = _ask_all(method(how), Source.of(source), module, tuple(then))
    # A busy machine may have been to blame: the next time there may be more time.
    if any(fact.output == _timeout_message() for fact in answers.values()):
        _ask_all.cache_clear()
    return answers


@cache_in_language(maxsize=256)
def _ask_all(how: Method, source: Source, engine: ModuleType, then: tuple[str, ...]) -> Facts:
    """Ask every question of one copy."""
    # In parts: a part that many programs have in common is compiled once.
    setup = ("import torch\n", f"{source.code}\n")
    setup_and_copy = (*setup, f"{how.code}\n", *(f"{line}\n" for line in then))
    all_facts = []
    failure = ""
    with repeatable_session(engine), Stopwatch(SECONDS) as stopwatch:
        for question in QUESTIONS:
            # A program that asks about the copying itself makes the copy where CODE is.
            before = setup if "CODE" in question.program else setup_and_copy
            program = (*before, question.make_lines(source, how))
            reason = question.find_obstacle(source)
            if not reason and failure:
                reason = gettext("the copy was not made: {error}", error=failure)
            if reason:
                result = _ProgramResult(None, "", reason)
            else:
                result = _run_program(program, engine, stopwatch)
                if question.key == "raises":
                    result = _as_error(result)
                # No program after this one could say anything else.
                if stopwatch.reason or (question.key == "raises" and result.answer is not None):
                    failure = result.output
            all_facts.append(
                Fact(
                    key=question.key,
                    question=question.text,
                    answer=result.answer,
                    proof="".join(program),
                    output=result.output,
                    why=result.why,
                )
            )
    return Facts(how, source, engine.__name__, then, tuple(all_facts))


class _ProgramResult(NamedTuple):
    """The answer that a program prints last, what it printed, and why there is no answer."""

    answer: Answer
    output: str
    why: str


def _run_program(
    program: tuple[str, ...], engine: ModuleType, stopwatch: Stopwatch
) -> _ProgramResult:
    lines: list[str] = []

    def print_line(*things: object, **_: object) -> None:
        lines.append(" ".join(map(str, things)))

    try:
        execute_program(program, engine, {"print": print_line}, stopwatch)
    # The user's interrupt is no answer of the engine.
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever the engine raises is the answer
        message = _timeout_message() if isinstance(error, Stop) else describe_error(error)
        why = gettext("the question cannot be asked: {error}", error=message)
        return _ProgramResult(None, message, why)
    # The answer is the last line: the copy itself may print. An address differs in each run.
    printed = stabilize_text(lines[-1]) if lines else ""
    return _ProgramResult(_parse_answer(printed), printed, "")


def _as_error(result: _ProgramResult) -> _ProgramResult:
    """Return the result of the program of "raises" with what ended it as the answer.

    That program prints every Exception itself. A limit of time, SystemExit and GeneratorExit end it
    nevertheless.
    """
    if result.output.startswith((_timeout_message(), "SystemExit", "GeneratorExit")):
        return _ProgramResult(result.output, result.output, "")
    return result


def _timeout_message() -> str:
    return gettext("Stopped: it ran for more than {seconds} seconds", seconds=f"{SECONDS:.0f}")


def _parse_answer(printed: str) -> Answer:
    """Return a printed bool, int or None as that, and any other text as it is."""
    try:
        value = ast.literal_eval(printed)
    except (ValueError, SyntaxError):
        return printed
    return value if value is None or isinstance(value, bool | int) else printed


def _explain_missing_grad(source: Source, *, is_real: bool = False) -> str:
    """Say why a gradient cannot be asked for; empty if it can."""
    if is_real and source.dtype.startswith("complex"):
        return gettext("x is complex, and backward wants a real number")
    return "" if source.requires_grad else gettext("x requires no grad")


@dataclass(frozen=True)
class CopyQuestion:
    """A question about a copy, and how a program asks it.

    key: its name in Python. column: the head of its column in a table. asks: the whole question.
    program: the last lines of its program, which come after the copy, or make it where CODE is; in
        them WRITE_X and WRITE_Y are a write through x and y.
    main: True if a table shows it at first.
    find_obstacle: returns why the question makes no sense for a source; empty if it does.
    """

    key: str
    column: str
    asks: str
    program: str
    main: bool = False
    find_obstacle: Callable[[Source], str] = lambda _: ""

    @property
    def text(self) -> str:
        """The question, for the reader."""
        return gettext(self.asks)

    def make_lines(self, source: Source, how: Method) -> str:
        """Return the last lines of the program for one source and one method."""
        lines = self.program.replace("WRITE_X", _make_write("x", source))
        lines = lines.replace("WRITE_Y", _make_write("y", source))
        return lines.replace("CODE", "\n    ".join(how.code.splitlines())) + "\n"


def _make_write(name: str, source: Source) -> str:
    """Return a line that writes another number through a name."""
    # Where nothing is recorded, a leaf can be written, too; the version counter counts it.
    # Another number than is there, or the write could not be seen.
    first = source.memory[source.offset] if source.memory else 1
    other = "8" if first == 7 else "7"
    if source.dtype == "bool":
        other = str(not first)
    # PyTorch refuses fill_ where several elements are one cell: one element is written instead.
    if source.overlaps:
        return f"with torch.no_grad():\n    {name}[(0,) * {name}.dim()] = {other}"
    return f"with torch.no_grad():\n    {name}.fill_({other})"


_RAISES = """\
try:
    CODE
    print(None)
except Exception as error:
    print(f"{type(error).__name__}: {error}")"""
_WARNS = """\
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    CODE
print(seen[0].message if seen else None)"""
# Counts a write without making one, which PyTorch refuses for a leaf that requires grad.
_COUNTER = """\
before = x._version
torch.autograd.graph.increment_version(y)
print(x._version > before)"""
# Compared as text: of numbers with a nan, each write would seem to show.
_SEEN_IN_Y = "before = str(y.tolist())\nWRITE_X\nprint(str(y.tolist()) != before)"
_SEEN_IN_X = "before = str(x.tolist())\nWRITE_Y\nprint(str(x.tolist()) != before)"
_GRADIENT = """\
grads = [None]
if y.requires_grad:
    grads = torch.autograd.grad(y, x, torch.ones_like(y), allow_unused=True)
print(grads[0] is not None)"""
_AFTER_WRITE = """\
right = str((2 * x).tolist())  # text, since nan is not equal to nan
loss = (x * x).sum()  # saves x for backward
WRITE_Y
try:
    grad = torch.autograd.grad(loss, x)[0]
    print("right" if str(grad.tolist()) == right else "wrong, and no error")
except RuntimeError:
    print("an error")"""
# By addresses: what `from_numpy` makes has a storage of its own over the same memory, which begins
# where the array does.
FIND_STORAGE = """\
memory = x.untyped_storage()
start, end = memory.data_ptr(), memory.data_ptr() + memory.nbytes()
"""
_SHARED = f"{FIND_STORAGE}print(start <= y.data_ptr() < end)"
_COPIED = f"{FIND_STORAGE}print(0 if start <= y.data_ptr() < end else y.untyped_storage().nbytes())"
_NODE = "print(None if y.grad_fn is None else type(y.grad_fn).__name__)"
_STRIDES = "print(y.stride() == x.stride() if y.shape == x.shape else None)"

_ = gettext_noop
QUESTIONS = (
    CopyQuestion("raises", _("raises"), _("Does it raise an error?"), _RAISES),
    CopyQuestion(
        "same_tensor", _("same tensor"), _("Is y the same tensor as x?"), "print(y is x)", main=True
    ),
    CopyQuestion(
        "same_storage", _("shares memory"), _("Do x and y share memory?"), _SHARED, main=True
    ),
    CopyQuestion(
        "same_counter",
        _("shares version counter"),
        _("Do x and y share a version counter?"),
        _COUNTER,
        main=True,
    ),
    CopyQuestion(
        "y_sees_x", _("y sees a write through x"), _("Is a write through x seen in y?"), _SEEN_IN_Y
    ),
    CopyQuestion(
        "x_sees_y",
        _("x sees a write through y"),
        _("Is a write through y seen in x?"),
        _SEEN_IN_X,
        main=True,
    ),
    CopyQuestion(
        "requires_grad",
        _("requires grad"),
        _("Does y require grad?"),
        "print(y.requires_grad)",
        main=True,
    ),
    CopyQuestion("leaf", _("is a leaf"), _("Is y a leaf?"), "print(y.is_leaf)", main=True),
    CopyQuestion("grad_fn", "grad_fn", _("Which grad_fn does y have?"), _NODE, main=True),
    CopyQuestion(
        "gradient_returns",
        _("gradient flows back"),
        _("Does a gradient flow from y back to x?"),
        _GRADIENT,
        main=True,
        find_obstacle=_explain_missing_grad,
    ),
    CopyQuestion(
        "after_write",
        _("backward after a write"),
        _("After a write through y, what does backward through x give?"),
        _AFTER_WRITE,
        main=True,
        find_obstacle=partial(_explain_missing_grad, is_real=True),
    ),
    CopyQuestion("dtype", _("keeps dtype"), _("Is the dtype kept?"), "print(y.dtype == x.dtype)"),
    CopyQuestion(
        "device", _("keeps device"), _("Is the device kept?"), "print(y.device == x.device)"
    ),
    CopyQuestion("shape", _("keeps shape"), _("Is the shape kept?"), "print(y.shape == x.shape)"),
    CopyQuestion("strides", _("keeps strides"), _("Are the strides kept?"), _STRIDES),
    CopyQuestion("copied", _("new memory"), _("How much memory is new?"), _COPIED, main=True),
    CopyQuestion("warns", _("warns"), _("Does it warn?"), _WARNS),
)
"""What is asked of every copy, in this order."""
