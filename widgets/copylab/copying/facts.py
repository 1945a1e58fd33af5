"""What a way of copying does to a tensor: found by running small programs, each of which proves one answer.

Nothing is known beforehand. Each program makes its own `x` and `y`, so no answer depends on another.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

from ..run.capture import describe_error, steady
from ..run.engines import apart, checked, engine_for
from ..run.limits import Stop, Watch
from ..run.run import execute
from .methods import Method, method
from .sources import Source

Answer = bool | int | str | None

SECONDS = 10.0
"""How long all programs about one copy may run together."""
LATE = f"Stopped: it ran for more than {SECONDS:.0f} seconds"
_UNCAUGHT = (LATE, "SystemExit", "GeneratorExit")  # what ends a program that catches every Exception


@dataclass(frozen=True)
class Fact:
    """One question about a copy, and its answer.

    key: its name, such as "same_storage". question: the same in words.
    answer: what the proof printed, as a Python value; None where it printed None, or where the question makes no
        sense, and then `why` says so.
    proof: the program, whole: pasted anywhere it prints the answer.
    printed: what it printed, or the last line of its traceback.
    """

    key: str
    question: str
    answer: Answer
    proof: str
    printed: str
    why: str = ""

    @property
    def said(self) -> str:
        """The answer in words: "yes", "no", "CloneBackward0", "-" where there is none."""
        if isinstance(self.answer, bool):
            return "yes" if self.answer else "no"
        if self.answer is None:
            return "-" if self.why or self.key not in _NONE else _NONE[self.key]
        return f"{self.answer:,} bytes" if self.key == "copied" else str(self.answer)


_NONE = {"grad_fn": "none", "warns": "no", "raises": "no"}


@dataclass(frozen=True)
class Facts(Mapping[str, Fact]):
    """All facts of a method on a source, by key. `answers` has the answers alone.

    source and then: what the copy was made of, and the lines that ran after it; engine: the module's name.
    """

    method: Method
    source: Source
    engine: str
    then: tuple[str, ...]
    all: tuple[Fact, ...]

    def __getitem__(self, key: str) -> Fact:
        for fact in self.all:
            if fact.key == key:
                return fact
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (fact.key for fact in self.all)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def answers(self) -> dict[str, Answer]:
        """The answers by key."""
        return {fact.key: fact.answer for fact in self.all}

    def __repr__(self) -> str:
        return f"Facts({self.method.name!r}, {self.source.kind} of shape {self.source.shape}, {len(self)} facts)"


def facts(
    how: str | Method, source: object = None, engine: ModuleType | None = None, then: Sequence[str] = ()
) -> Facts:
    """Run the copy method `how` on a source and find out what it does.

    source: as `Source.of` takes it; by default a leaf of shape (3,) that requires grad.
    engine: the module that is `torch` to the programs; by default the caller's global `torch`, otherwise tinytorch.
    then: lines that run after the copy, for the facts as they are then.

    Each program runs once, with random numbers as after `torch.manual_seed(0)`; the same question is answered from
    memory the next time. Raises what `method` and `Source.of` raise, and TypeError for an engine that is none; what the
    copy itself raises is a fact, the one called "raises".
    """
    module = checked(engine) or engine_for(sys._getframe(1).f_globals)
    found = _facts(method(how), Source.of(source), module, tuple(then))
    if any(fact.printed == LATE for fact in found.values()):  # the next time there may be more time
        _facts.cache_clear()
    return found


@lru_cache(maxsize=256)
def _facts(how: Method, source: Source, engine: ModuleType, then: tuple[str, ...]) -> Facts:
    before = ("import torch\n", f"{source.code}\n")
    after = (*before, f"{how.code}\n", *(f"{line}\n" for line in then))
    found = []
    failed = ""
    with apart(engine), Watch(SECONDS) as watch:
        for question in QUESTIONS:
            program = (*(before if question.early else after), question.body(source, how))
            why = question.needs(source) or (f"the copy was not made: {failed}" if failed else "")
            answer, printed, error = (None, "", why) if why else _run(program, engine, watch)
            if question.key == "raises" and printed.startswith(_UNCAUGHT):
                answer, error = printed, ""
            if not why and (watch.reason or (question.key == "raises" and answer is not None)):
                failed = printed
            found.append(Fact(question.key, question.text, answer, "".join(program), printed, error))
    return Facts(how, source, engine.__name__, then, tuple(found))


def _run(program: tuple[str, ...], engine: ModuleType, watch: Watch) -> tuple[Answer, str, str]:
    """The answer that a program prints last, what it printed, and why there is no answer."""
    lines: list[str] = []

    def say(*things: object, **_: object) -> None:
        lines.append(" ".join(map(str, things)))

    try:
        execute(program, engine, {"print": say}, watch)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever the engine raises is the answer
        raised = LATE if isinstance(error, Stop) else describe_error(error)
        return None, raised, f"the question cannot be asked: {raised}"
    printed = steady(lines[-1]) if lines else ""
    return _value(printed), printed, ""


def _value(printed: str) -> Answer:
    try:
        value = ast.literal_eval(printed)
    except (ValueError, SyntaxError):
        return printed
    return value if value is None or isinstance(value, bool | int) else printed


@dataclass(frozen=True)
class Question:
    """A question, and how a program asks it. `early`: it asks while the copy is being made.

    needs: why the question makes no sense for a source; empty where it does.
    """

    key: str
    text: str
    body: Callable[[Source, Method], str]
    early: bool = False
    needs: Callable[[Source], str] = lambda _: ""


def _says(code: str) -> Callable[[Source, Method], str]:
    return lambda _source, _how: code + "\n"


def _write(name: str, source: Source) -> str:
    """The line that writes through a name, past the rules for leaves, but counted."""
    first = "True" if source.dtype == "bool" and _first(source) is False else "7"
    first = "False" if source.dtype == "bool" and first == "7" else first
    if first == "7" and _first(source) == 7:
        first = "8"
    if source.overlaps:  # a tensor whose elements share places is written one element at a time
        return f"{name}.detach()[(0,) * {name}.dim()] = {first}"
    return f"{name}.detach().fill_({first})"


def _first(source: Source) -> object:
    """The value of the first element of x, as far as the lines that make x say."""
    if isinstance(source.memory, tuple) and len(source.memory) > source.offset:
        return source.memory[source.offset]
    return True if source.dtype == "bool" else 2 if source.kind == "result" else 1


def _sees(writer: str, reader: str) -> Callable[[Source, Method], str]:
    return lambda source, _: (
        f"before = str({reader}.tolist())\n{_write(writer, source)}\nprint(str({reader}.tolist()) != before)\n"
    )


def _after_write(source: Source, _: Method) -> str:
    return (
        "right = 2 * x.detach().clone()\n"
        "loss = (x * x).sum()  # saves x for backward\n"
        f"{_write('y', source)}\n"
        "try:\n"
        "    grad, = torch.autograd.grad(loss, x)\n"
        '    print("right" if str(grad.tolist()) == str(right.tolist()) else "wrong, and no error")\n'
        "except RuntimeError:\n"
        '    print("an error")\n'
    )


def _raises(_: Source, how: Method) -> str:
    body = "".join(f"    {line}\n" for line in how.code.splitlines())
    return (
        f'try:\n{body}    print(None)\nexcept Exception as error:\n    print(f"{{type(error).__name__}}: {{error}}")\n'
    )


def _warns(_: Source, how: Method) -> str:
    body = "".join(f"    {line}\n" for line in how.code.splitlines())
    return (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        f'    warnings.simplefilter("always")\n{body}'
        "print(seen[0].message if seen else None)\n"
    )


def _grad_needed(source: Source) -> str:
    return "" if source.requires_grad else "x requires no grad"


def _real_grad_needed(source: Source) -> str:
    return "x is complex, and backward wants a real number" if source.dtype[:7] == "complex" else _grad_needed(source)


_STORAGE = "memory = x.untyped_storage()\nstart, end = memory.data_ptr(), memory.data_ptr() + memory.nbytes()\n"

QUESTIONS = (
    Question("raises", "Does it raise an error?", _raises, early=True),
    Question("same_tensor", "Is y the same tensor as x?", _says("print(y is x)")),
    Question("same_storage", "Do x and y share memory?", _says(f"{_STORAGE}print(start <= y.data_ptr() < end)")),
    Question(
        "same_counter",
        "Do x and y share a version counter?",
        _says("before = x._version\ntorch.autograd.graph.increment_version(y)\nprint(x._version > before)"),
    ),
    Question("y_sees_x", "Is a write through x seen in y?", _sees("x", "y")),
    Question("x_sees_y", "Is a write through y seen in x?", _sees("y", "x")),
    Question("requires_grad", "Does y require grad?", _says("print(y.requires_grad)")),
    Question("leaf", "Is y a leaf?", _says("print(y.is_leaf)")),
    Question(
        "grad_fn",
        "Which grad_fn does y have?",
        _says("print(None if y.grad_fn is None else type(y.grad_fn).__name__)"),
    ),
    Question(
        "gradient_returns",
        "Does a gradient flow from y back to x?",
        _says(
            "grads = [None]\n"
            "if y.requires_grad:\n"
            "    grads = torch.autograd.grad(y, x, torch.ones_like(y), allow_unused=True)\n"
            "print(grads[0] is not None)"
        ),
        needs=_grad_needed,
    ),
    Question(
        "after_write",
        "After a write through y, what does backward through x give?",
        _after_write,
        needs=_real_grad_needed,
    ),
    Question("dtype", "Is the dtype kept?", _says("print(y.dtype == x.dtype)")),
    Question("device", "Is the device kept?", _says("print(y.device == x.device)")),
    Question("shape", "Is the shape kept?", _says("print(y.shape == x.shape)")),
    Question(
        "strides",
        "Are the strides kept?",
        _says("print(y.stride() == x.stride() if y.shape == x.shape else None)"),
    ),
    Question(
        "copied",
        "How much memory is new?",
        _says(f"{_STORAGE}print(0 if start <= y.data_ptr() < end else y.untyped_storage().nbytes())"),
    ),
    Question("warns", "Does it warn?", _warns, early=True),
)
"""What is asked of every copy, in the order in which it is shown."""
