r"""`exercise(...)`: a task that the learner solves in a cell, and a check that says how it went and never raises.

For teachers. The check is a function of the values that the learner's cell leaves behind; it returns None if they are
right, or a sentence that says what is not:

    from copylab import exercise
    from copylab import Wrong
    from copylab.looks import same_storage, values

    def check(x, t):
        if same_storage(x, t):
            return "t still looks at the storage of x."
        if values(t) != [2, 3]:
            return f"t shows {values(t)}."

    part = exercise(
        "my-course/part",
        "`t` shall show `[2, 3]` and have a storage of its own.",
        names=("x", "t"),
        check=check,
        start="x = torch.arange(6)\nt = None",
        hints=["A slice picks a part.", "A slice is a view. What copies a view?"],
        solution="t = x[2:4].clone()",
        wrong=[Wrong("t = x[2:4]", says="storage of x"), Wrong("t = x[2:5].clone()", says="shows [2, 3, 4]")],
    )
    part             # in a notebook: the task, and the hints folded
    part.check()     # in a cell below the learner's own: Not attempted, Not yet, or Right
    part.hint()      # the next hint;  part.solution() shows the code
    part.live()      # the same with buttons
    part.verify()    # is the start not attempted, does each wrong answer get its own words, does the solution pass?

`start` is what stands in the learner's cell at first; `solution` and the wrong answers run after it, so that they need
only say what is different. A check may also take `torch`, the engine in use, call `wrong("...")` from anywhere, and
fail on what learners make: an error in it becomes a sentence. It looks and never changes (copylab.looks helps).
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from ..run.capture import describe_error, steady
from ..run.ending import count
from ..run.engines import checked, engine_for, named
from ..run.program import compiled
from ..ui.markup import block, inline, plain
from .attempts import Attempt, look, play
from .mutations import mutations
from .progress import note, recall
from .verify import Verification

if TYPE_CHECKING:
    from .exercise_view import ExerciseView

STATES = {"not attempted": "Not attempted", "wrong": "Not yet", "right": "Right"}


@dataclass(frozen=True)
class Wrong:
    """An answer that is wrong, and words that have to stand in what the check says to it.

    code: what the learner's cell holds, or what of it differs from `start`.
    says: a part of the verdict that no other listed answer gets.
    """

    code: str
    says: str


@dataclass(frozen=True)
class Verdict:
    """What a check found. state: "not attempted", "wrong" or "right"; says: why, in a sentence. Prints as both."""

    state: str
    says: str

    def __repr__(self) -> str:
        return f"{STATES[self.state]}: {self.says}"

    @property
    def is_right(self) -> bool:
        """Whether the exercise is solved."""
        return self.state == "right"


class _ObjectionError(Exception):
    """Raised by `wrong()` to end a check."""


def wrong(says: str) -> NoReturn:
    """End the check that calls this: the answer is not right, for the reason `says`."""
    raise _ObjectionError(says)


def exercise(
    key: str,
    task: str,
    names: Sequence[str],
    check: Callable[..., str | bool | None],
    *,
    hints: Sequence[str] = (),
    solution: str,
    also: Sequence[str] = (),
    wrong: Sequence[Wrong] = (),
    start: str = "",
    right: str = "",
    engine: ModuleType | None = None,
    title: str | None = None,
) -> Exercise:
    """Set a task that is solved in a cell of the learner's own.

    key: what it is called in the progress file, such as "clone/readings".
    task: what to do; `code` between backticks, paragraphs between blank lines.
    names: the variables that the check looks at.
    check: called with their values as keyword arguments (and with `torch`, if it takes that). None or True is right; a
        sentence says what is not, and so do `wrong(sentence)` and `assert ..., sentence`.
    hints: from the gentlest to the plainest.
    solution, also, wrong: code that solves it, other code that does, and `Wrong(code, says)` for answers to expect. All
        of it runs after `start`.
    start: what stands in the learner's cell at first. Variables that are as they were then are not attempted yet, and
        so are variables that are missing, None or `...`.
    right: a sentence for who has solved it.
    engine: the module that the code knows as `torch`; by default the caller's global `torch`, otherwise tinytorch.

    Returns an Exercise: `.check()`, `.hint()`, `.solution()`, `.verify()`.

    Raises:
        TypeError: the check cannot be called with these names.
        SyntaxError: start, solution or a wrong answer is no Python program.

    """
    caller = named(sys._getframe(1).f_globals)
    return Exercise(
        key, task, names, check, hints=hints, solution=solution, also=also, wrong=wrong, start=start, right=right,
        engine=checked(engine) or caller, title=title,
    )  # fmt: skip


class Exercise:
    """A task with its check, hints and solution; see `exercise`."""

    def __init__(
        self,
        key: str,
        task: str,
        names: Sequence[str],
        check: Callable[..., str | bool | None],
        *,
        solution: str,
        hints: Sequence[str] = (),
        also: Sequence[str] = (),
        wrong: Sequence[Wrong] = (),
        start: str = "",
        right: str = "",
        engine: ModuleType | None = None,
        title: str | None = None,
    ) -> None:
        if isinstance(names, str) or not names:
            raise TypeError("names must be a list of variables that the check looks at, such as ('x', 'y')")
        self.key, self.task, self.title = key, textwrap.dedent(task).strip(), title or "Exercise"
        self.names, self.wrong = tuple(names), tuple(wrong)
        self.hints, self.also = ((one,) if isinstance(one, str) else tuple(one) for one in (hints, also))
        if not all(isinstance(one, Wrong) for one in self.wrong):
            raise TypeError("wrong must be a list of Wrong(code, says), such as [Wrong('t = x[2:4]', says='storage')]")
        self.start, self.code = textwrap.dedent(start).strip("\n"), textwrap.dedent(solution).strip("\n")
        self.right = right or "that is what was asked for."
        self._check, self._engine, self._hinted = check, engine, 0
        self._wants = _arguments(check, self.names)
        for code in (self.start, self.code, *self.also, *(one.code for one in self.wrong)):
            compiled(textwrap.dedent(code))

    def __repr__(self) -> str:
        return f"Exercise({self.key!r}, {len(self.hints)} hints)"

    # -- for the learner

    def check(self, names: Mapping[str, Any] | None = None) -> Verdict:
        """Look at the learner's variables and say how it stands. Never raises, and changes nothing of the learner's.

        names: where to look; by default the global variables of the code that calls this.
        """
        found = sys._getframe(1).f_globals if names is None else names
        return self._checked(found)

    def _checked(self, found: Mapping[str, Any]) -> Verdict:
        engine = self._engine or engine_for(found)
        try:
            verdict = self._judge(look(found, self.names), engine)
        except KeyboardInterrupt:
            return Verdict("not attempted", "the check was interrupted before it had an answer.")
        if verdict.state != "not attempted":
            note("exercises", self.key, {"state": self._best(verdict)})
        return verdict

    def _judge(self, attempt: Attempt, engine: ModuleType) -> Verdict:
        return self._missing(attempt) or self._unchanged(attempt, engine) or self._judged(attempt, engine)

    def _best(self, verdict: Verdict) -> str:
        """Solved once is solved."""
        return "right" if recall("exercises", self.key).get("state") == "right" else verdict.state

    def _missing(self, attempt: Attempt) -> Verdict | None:
        absent = [name for name in self.names if name not in attempt.values]
        if absent:
            return Verdict("not attempted", f"there is no variable {absent[0]} yet. Run your cell first.")
        blank = [name for name in self.names if attempt.values[name] is None or attempt.values[name] is ...]
        if blank:
            return Verdict(
                "not attempted", f"{blank[0]} is still {'None.' if attempt.values[blank[0]] is None else '...'}"
            )
        return None

    def _unchanged(self, attempt: Attempt, engine: ModuleType) -> Verdict | None:
        if not self.start:
            return None
        begun = look(play(self.start, None, engine)[0], self.names)
        if begun.print == attempt.print and begun.print is not None:
            return Verdict("not attempted", "everything is as it was at the start.")
        return None

    def _judged(self, attempt: Attempt, engine: ModuleType) -> Verdict:
        given = {name: attempt.values[name] for name in self.names}
        if "torch" in self._wants:
            given["torch"] = engine
        try:
            with attempt.quiet():
                said: Any = self._check(**given)
                said = said.item() if hasattr(said, "item") else said  # a tensor or a NumPy number that is True
        except _ObjectionError as objection:
            said = str(objection)
        except KeyboardInterrupt:
            raise
        except AssertionError as failed:  # many who write tests write checks so
            said = describe_error(failed).partition("AssertionError: ")[2].partition("\n")[0] or False
        except BaseException as error:  # noqa: BLE001  # learners make anything, and even SystemExit is no crash
            return Verdict("wrong", f"looking at it raises {describe_error(error).partition(chr(10))[0]}")
        if said is None or said is True:
            return Verdict("right", self.right)
        return Verdict("wrong", steady(said) if isinstance(said, str) and said else "this is not what was asked for.")

    def hint(self, number: int | None = None) -> Text:
        """Show the next hint, or hint `number` (from 1). ValueError if there is no hint of that number."""
        if not self.hints:
            raise ValueError("this exercise has no hints")
        if number is None:
            number = min(self._hinted + 1, len(self.hints))
        if not 1 <= number <= len(self.hints):
            raise ValueError(f"the hints have the numbers 1 to {len(self.hints)}, not {number}")
        self._hinted = max(self._hinted, number)
        self._note(hints=self._hinted)
        return Text(f"Hint {number} of {len(self.hints)}: {self.hints[number - 1]}")

    def solution(self) -> Text:
        """Show code that solves it."""
        self._note(solution=True)
        return Text(f"One solution:\n\n```\n{self.code}\n```")

    def _note(self, **what: Any) -> None:
        known = recall("exercises", self.key)
        hints = max(known.get("hints", 0), what.pop("hints", 0))
        note("exercises", self.key, {"state": known.get("state", "begun"), "hints": hints, **what})

    def help(self) -> None:
        """Say how to use it."""
        print(_HELP)

    # -- for the teacher

    def verify(self, engine: ModuleType | None = None) -> Verification:
        """Test the exercise itself; see the module's text. Nothing is noted as progress, and nothing raised.

        The start is not attempted; each wrong answer gets words of its own; the solution is right; at least one small
        change of the solution is noticed (which ones are not is told in `.notes`); and the check changes nothing.
        """
        module = checked(engine) or self._engine or engine_for(sys._getframe(1).f_globals)
        faults: list[str] = []
        begun = self._try(None, module, faults)
        if begun.state != "not attempted":
            faults.append(f"the start is not seen as not attempted: {begun}")
        for number, code in enumerate((self.code, *self.also)):
            done = self._try(code, module, faults)
            if done.state != "right":
                faults.append(
                    f"{code!r} should be right as well: {done}" if number else f"the solution does not pass: {done}"
                )
        said: dict[str, str] = {}
        for one in self.wrong:
            verdict = self._try(one.code, module, faults)
            if verdict.state != "wrong" or one.says not in verdict.says:
                faults.append(f"{one.code!r} should be told {one.says!r}, and gets: {verdict}")
            elif verdict.says in said:
                faults.append(f"{one.code!r} and {said[verdict.says]!r} get the same words: {verdict.says}")
            said[verdict.says] = one.code
        judged = [(what, self._try(code, module, faults).state) for what, code in mutations(self.code)]
        missed = [what for what, state in judged if state == "right"]
        caught = [what for what, state in judged if state == "wrong"]
        if missed and not caught:
            faults.append("no change of the solution is noticed: the check would pass anything")
        tried = (
            f"start, solution, {count(len(self.wrong), 'wrong answer')}, "
            f"{len(caught)} of {len(caught) + len(missed)} changed solutions noticed"
        )
        return Verification(tried, tuple(dict.fromkeys(faults)), tuple(f"still right: {what}" for what in missed))

    def _try(self, code: str | None, engine: ModuleType, faults: list[str]) -> Verdict:
        names, error = play(self.start, code, engine)
        if error and code in (None, self.code, *self.also):  # what is wrong may raise
            faults.append(f"{code if code is not None else self.start!r} raises {error.partition(chr(10))[0]}")
        attempt = look(names, self.names)
        verdict = self._judge(attempt, engine)
        if look(names, self.names).print != attempt.print:
            faults.append(f"the check changes what it looks at, after: {code if code is not None else self.start}")
        return verdict

    # -- showing

    @property
    def text(self) -> str:
        """The task in words, and how to get at hints and solution. The hints themselves are asked for one by one."""
        ask = "hint() gives a hint, " * bool(self.hints) + "solution() the solution, check() looks at yours."
        return f"{self.title}: {plain(self.task)}\n({len(self.hints)} hints. {ask})"

    @property
    def html(self) -> str:
        """The task as HTML that needs no script, the hints folded."""
        hints = "".join(
            f"<details><summary>Hint {number}</summary>{block(hint)}</details>"
            for number, hint in enumerate(self.hints, 1)
        )
        return (
            f'<div class="copylab-exercise"><p><strong>{inline(self.title)}</strong></p>{block(self.task)}{hints}</div>'
        )

    def live(self) -> ExerciseView:
        """The task with buttons for check, hint and solution, as a widget: its trait `state` can be observed."""
        from .exercise_view import ExerciseView

        return ExerciseView(self)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}


class Text:
    """A short text: prints as it is, and shows its `code` as code in a notebook."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return plain(self.text.replace("```\n", "").replace("\n```", ""))

    def _repr_html_(self) -> str:
        return f"<div>{block(self.text)}</div>"


def _arguments(check: Callable[..., Any], names: tuple[str, ...]) -> frozenset[str]:
    """What of `torch` the check takes as well. TypeError, with what to do, if it does not take the names."""
    if not callable(check):
        raise TypeError("check must be a function of the variables in names")
    signature = inspect.signature(check)
    extra = frozenset({"torch"} & set(signature.parameters) - set(names))
    try:
        signature.bind(**dict.fromkeys([*names, *extra]))
    except TypeError as error:
        raise TypeError(f"check cannot be called with {', '.join(names)} as keyword arguments: {error}") from None
    return extra


_HELP = """\
An exercise: solve the task in a cell of your own, and run that cell.
check() says how it stands: not attempted, not yet (and why), or right. It looks at your variables and changes nothing.
hint() gives one hint after another, hint(2) the second one. solution() shows code that solves it."""
