"""`exercise(...)`: a task that the learner solves in a cell, and a check that says how it went and never raises."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple, NoReturn

import traitlets

from tinytorch.viz import gettext, gettext_noop, ngettext, summarize_text

from ..doc import Box, Code, Fold, InPage, InText, Paragraph, Part, html_element, split_paragraphs
from ..run import (
    choose_engine,
    compile_program,
    describe_error,
    engine_for,
    notebook_names,
    stabilize_text,
)
from ..ui import Panel
from .attempts import look, play, state
from .progress import note, recall
from .seen import Fact
from .verify import Verification, mutations
from .view import Asked, View


class _State(NamedTuple):
    """How an exercise stands: a sign and a word, for colour alone says nothing, and what a verdict is told in.

    colour: its name among those of the pictures; elsewhere: what notebooks call it.
    """

    sign: str
    word: str
    verdict: str
    colour: str
    elsewhere: str


_STATES = {
    "not attempted": _State(
        "○",
        gettext_noop("Not attempted"),
        gettext_noop("Not attempted: {why}"),
        "new",
        "--jp-warn-color1, #946200",
    ),
    "wrong": _State(
        "✖",
        gettext_noop("Not yet"),
        gettext_noop("Not yet: {why}"),
        "bad",
        "--jp-error-color1, #c4231c",
    ),
    "right": _State(
        "✔",
        gettext_noop("Solved"),
        gettext_noop("Right: {why}"),
        "leaf",
        "--jp-success-color1, #1b7a38",
    ),
}


@dataclass(frozen=True, repr=False)
class Verdict(Part):
    """What a check found. state: "not attempted", "wrong" or "right"; says: why, in a sentence. Prints as both.

    True if the answer is right, so that `assert part.check()` holds for no other.
    """

    state: str
    says: str

    def __bool__(self) -> bool:
        return self.state == "right"

    def text(self) -> str:
        """The sentence."""
        return gettext(_STATES[self.state].verdict, why=self.says)

    def html(self) -> str:
        """The sentence with its sign, and a line in its colour."""
        sign, *_, colour, elsewhere = _STATES[self.state]
        line = (
            f"border-left: 4px solid var(--tt-{colour}-line, var({elsewhere})); padding-left: 10px"
        )
        return Paragraph(self.text(), mark=sign, style=line).html()


def wrong(says: str) -> NoReturn:
    """End the check that calls this: the answer is not right, for the reason `says`. The same as a failed `assert`."""
    raise AssertionError(says)


class Exercise(Asked):
    r"""A task that is solved in a cell of the learner's own: `exercise(...)`.

        def check(x, t):
            assert not same_storage(x, t), "t still looks at the storage of x."
            assert values(t) == [2, 3], f"t shows {values(t)}."

        exercise(
            "my-course/part",
            "`t` shall show `[2, 3]` and have a storage of its own.",
            check=check,
            start="x = torch.arange(6)\nt = None",
            hints=["A slice picks a part.", "A slice is a view. What copies a view?"],
            solution="t = x[2:4].clone()",
            wrong={"t = x[2:4]": "storage of x", "t = x[2:5].clone()": "shows [2, 3, 4]"},
        )

    key: what it is called in the progress file, such as "clone/readings".
    task: what to do; `code` between backticks, paragraphs between blank lines.
    check: called with the variables that it takes, and with the engine as `torch` if it takes that. None or True is
        right; a sentence says what is not, and so do `assert ..., sentence` and `wrong(sentence)`. An error in it
        becomes a sentence. Or it yields facts (copylab.quiz.seen): all have to hold, and who is right is told what was
        seen. It looks and never changes: copylab.looks helps.
    hints: from the gentlest to the plainest.
    solution, also, wrong: code that solves it, other code that does, and the answers to expect that do not, each with
        words that the check says to it and to no other: {code: words}. All of it runs after `start`.
    start: what stands in the learner's cell at first. Variables that are as they were then are not attempted yet, and
        so are variables that are missing, None or `...`.
    right: a sentence for who has solved it.
    engine: the module that the code knows as `torch`; by default the global `torch` of who asks for the check,
        otherwise tinytorch.

    `.check()`, `.hint()` and `.solution()` are for the learner, `.live()` shows them as buttons, and `.verify()` tests
    the exercise itself.

    Raises:
        TypeError: the check is no function of variables, or wrong is no dict.
        SyntaxError: start, solution or a wrong answer is no Python program.

    """

    HELP = gettext_noop("""\
An exercise: solve the task in a cell of your own, and run that cell.
check() says how it stands: not attempted, not yet (and why), or right. It looks at your variables and changes nothing.
hint() gives one hint after another, hint(2) the second one. solution() shows code that solves it.""")
    UNTITLED = gettext_noop("Exercise")

    def __init__(
        self,
        key: str,
        task: str,
        check: Callable[..., str | bool | Iterator[Fact] | None],
        *,
        solution: str,
        hints: Sequence[str] = (),
        also: Sequence[str] = (),
        wrong: Mapping[str, str] = MappingProxyType({}),
        start: str = "",
        right: str = "",
        engine: ModuleType | None = None,
        title: str | None = None,
    ) -> None:
        takes = tuple(inspect.signature(check).parameters)
        self._check, self._wants_torch = check, "torch" in takes
        self.names = tuple(name for name in takes if name != "torch")
        if not self.names or not isinstance(wrong, Mapping):
            raise TypeError(
                "check must be a function of variables, and wrong a dict, {code: what is said to it}"
            )
        self.key, self._task, self._title = key, task, title
        self._hints, self.also = (
            (one,) if isinstance(one, str) else tuple(one) for one in (hints, also)
        )
        self.wrong = dict(wrong)
        self.start, self.code = (
            textwrap.dedent(start).strip("\n"),
            textwrap.dedent(solution).strip("\n"),
        )
        self._right, self._engine, self._hinted = right, engine, 0
        self._view: ExerciseView | None = None
        for code in (self.start, self.code, *self.also, *self.wrong):
            compile_program(textwrap.dedent(code))

    @property
    def task(self) -> str:
        """What to do."""
        return textwrap.dedent(gettext(self._task)).strip()

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints, the gentlest first."""
        return tuple(map(gettext, self._hints))

    def __repr__(self) -> str:
        return summarize_text(f"Exercise({self.key!r}, {len(self.hints)} hints)")

    # -- for the learner

    def check(self, names: Mapping[str, Any] | None = None) -> Verdict:
        """Look at the learner's variables and say how it stands. Never raises, and changes nothing of the learner's.

        names: where to look; by default the global variables of the code that calls this.
        """
        found = sys._getframe(1).f_globals if names is None else names
        if not __debug__:
            return Verdict(
                "not attempted",
                gettext("Python was started with -O, and then no check asserts anything."),
            )
        try:
            verdict = self._judge(look(found, self.names), self._engine or engine_for(found))
        except KeyboardInterrupt:
            return Verdict(
                "not attempted", gettext("the check was interrupted before it had an answer.")
            )
        if self._view is not None:
            self._view.state = verdict.state
        if verdict.state != "not attempted":
            solved = recall("exercises", self.key).get("state") == "right"  # once is solved
            note("exercises", self.key, {"state": "right" if solved else verdict.state})
        return verdict

    def _untouched(self, values: Mapping[str, Any], engine: ModuleType) -> str:
        """Why there is nothing to judge; empty where there is."""
        for name in self.names:
            if name not in values:
                return gettext("there is no variable {name} yet. Run your cell first.", name=name)
            if values[name] is None or values[name] is ...:
                return gettext(
                    "{name} is still {value}",
                    name=name,
                    value="None." if values[name] is None else "...",
                )
        begun = state(look(play(self.start, None, engine)[0], self.names)) if self.start else None
        if begun is None or begun != state(values):
            return ""
        return gettext(
            "everything is as it was at the start. If you changed the program, that made no difference here."
        )

    def _judge(self, values: Mapping[str, Any], engine: ModuleType) -> Verdict:
        if untouched := self._untouched(values, engine):
            return Verdict("not attempted", untouched)
        given = {**values, "torch": engine} if self._wants_torch else values
        seen: dict[str, None] = {}  # what was tried several times is said once
        try:
            with (
                warnings.catch_warnings(action="ignore"),
                contextlib.redirect_stdout(io.StringIO()),
            ):
                said: Any = self._check(**given)
                for fact in said if isinstance(said, Iterator) else ():
                    if not fact.holds:
                        return Verdict("wrong", stabilize_text(fact.no))
                    seen[fact.yes] = None
                said = (
                    said.item() if hasattr(said, "item") else said
                )  # a tensor or a NumPy number that is True
        except KeyboardInterrupt:
            raise
        except AssertionError as failed:
            said = (
                describe_error(failed).partition("AssertionError: ")[2].partition("\n")[0] or False
            )
        except BaseException as error:  # noqa: BLE001  # learners make anything, and even SystemExit is no crash
            raised = describe_error(error).partition("\n")[0]
            return Verdict("wrong", gettext("looking at it raises {error}", error=raised))
        if said is None or said is True or isinstance(said, Iterator):
            why = " ".join(filter(None, [*seen, gettext(self._right) if self._right else ""]))
            return Verdict("right", why or gettext("that is what was asked for."))
        plain = stabilize_text(said) if isinstance(said, str) else ""
        return Verdict("wrong", plain or gettext("this is not what was asked for."))

    def hint(self, number: int | None = None) -> Part:
        """Show the next hint, or hint `number` (from 1). ValueError if there is no hint of that number."""
        if number is None:
            number = min(self._hinted + 1, len(self.hints))
        if not 1 <= number <= len(self.hints):
            raise ValueError(
                f"this exercise has {len(self.hints) or 'no'} hints, and none of the number {number}"
            )
        self._hinted = max(self._hinted, number)
        self._note(hints=self._hinted)
        said = gettext(
            "Hint {number} of {count}: {hint}",
            number=number,
            count=len(self.hints),
            hint=self.hints[number - 1],
        )
        return split_paragraphs(said)

    def solution(self) -> Part:
        """Show code that solves it, unless the environment says COPYLAB_SOLUTIONS=off."""
        if os.environ.get("COPYLAB_SOLUTIONS") == "off":
            return Paragraph(gettext("Solutions are not shown here."))
        self._note(solution=True)
        return Box(Paragraph(gettext("One solution:")), Code(self.code, by=""), apart=True)

    def _note(self, **what: Any) -> None:
        known = recall("exercises", self.key)
        hints = max(known.get("hints", 0), what.pop("hints", 0))
        note("exercises", self.key, {"state": known.get("state", "begun"), "hints": hints, **what})

    # -- for the teacher

    def verify(self, engine: ModuleType | None = None) -> Verification:
        """Test the exercise itself. Nothing is noted as progress, and nothing raised.

        The start is not attempted; each wrong answer gets words of its own; the solution is right; at least one small
        change of the solution is noticed (which ones are not is told in `.notes`); and the check changes nothing.
        """
        module = choose_engine(engine, self._engine)
        faults: list[str] = []
        begun = self._try(None, module, faults)
        if begun.state != "not attempted":
            faults.append(f"the start is not seen as not attempted: {begun}")
        for number, code in enumerate((self.code, *self.also)):
            done = self._try(code, module, faults)
            if done.state != "right":
                faults.append(
                    f"{code!r} should be right as well: {done}"
                    if number
                    else f"the solution does not pass: {done}"
                )
        said: dict[str, str] = {}
        for code, words in self.wrong.items():
            verdict = self._try(code, module, faults)
            if verdict.state != "wrong" or words not in verdict.says:
                faults.append(f"{code!r} should be told {words!r}, and gets: {verdict}")
            elif verdict.says in said:
                faults.append(
                    f"{code!r} and {said[verdict.says]!r} get the same words: {verdict.says}"
                )
            said[verdict.says] = code
        judged = [
            (what, self._try(code, module, faults).state) for what, code in mutations(self.code)
        ]
        missed = [what for what, state in judged if state == "right"]
        caught = [what for what, state in judged if state == "wrong"]
        if missed and not caught:
            faults.append("no change of the solution is noticed: the check would pass anything")
        tried = ngettext(
            "start, solution, {number} wrong answer, {caught} of {changes} changed solutions noticed",
            "start, solution, {number} wrong answers, {caught} of {changes} changed solutions noticed",
            len(self.wrong),
            caught=len(caught),
            changes=len(caught) + len(missed),
        )
        return Verification(
            tried, tuple(dict.fromkeys(faults)), tuple(f"still right: {what}" for what in missed)
        )

    def _try(self, code: str | None, engine: ModuleType, faults: list[str]) -> Verdict:
        names, error = play(self.start, code, engine)
        if error and code in (None, self.code, *self.also):  # what is wrong may raise
            faults.append(
                f"{code if code is not None else self.start!r} raises {error.partition(chr(10))[0]}"
            )
        values = look(names, self.names)
        before = state(values)
        verdict = self._judge(values, engine)
        if state(values) != before:
            faults.append(
                f"the check changes what it looks at, after: {code if code is not None else self.start}"
            )
        return verdict

    # -- showing

    def tree(self) -> Part:
        """The task, and how to get at hints and solution; the hints themselves are for the page, folded."""
        if self.hints:
            ask = ngettext(
                "({number} hint. hint() gives a hint, solution() the solution, check() looks at yours.)",
                "({number} hints. hint() gives a hint, solution() the solution, check() looks at yours.)",
                len(self.hints),
            )
        else:
            ask = gettext("(solution() gives the solution, check() looks at yours.)")
        hints = (
            Fold(gettext("Hint {number}", number=n), split_paragraphs(hint))
            for n, hint in enumerate(self.hints, 1)
        )
        words = InText(Paragraph(f"{self.title}: {self.task}"), Paragraph(ask))
        # An image, a page or an editor without a kernel shows this: a card that needs no style sheet.
        card = "border: 1px solid; border-radius: 8px; padding: 6px 12px; max-width: 76rem"
        kernel = gettext("Check, Hint and Solution need a kernel: where one runs, run this cell.")
        title = Paragraph("", mark=self.title)
        inside = (title, split_paragraphs(self.task), *hints, Paragraph(kernel))
        return Box(words, InPage(Box(*inside, kind="copylab-exercise", style=card)))

    def live(self) -> ExerciseView:
        """The task as a card with buttons, as a widget, the same one each time: observe its trait `state`."""
        if self._view is None or self._view.comm is None:
            self._view = ExerciseView(self)
        return self._view


exercise = Exercise


class Card(Panel):
    """The place of a card, with its style."""

    SHEETS = ("quiz/exercise.css",)


class ExerciseView(View):
    """A card: the task, how it stands, three buttons, and what they say. Observe `state`."""

    state = traitlets.Enum(tuple(_STATES), "not attempted", help="What the last check found.")

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise
        self.card = Card(label=exercise.title)
        self.card.on_msg(self._asked)
        self._say()
        super().__init__(exercise, [self.card])

    def close(self) -> None:
        """Close the card, and let it go: the exercise makes another when it is looked at again."""
        super().close()
        if self._exercise._view is self:
            self._exercise._view = None

    def _asked(self, _widget: object, content: Any, _buffers: object) -> None:
        match content:
            case {"do": "check"}:
                self._say(self._exercise.check(notebook_names()))
            case {"do": "hint"}:
                self._say(self._exercise.hint())
            case {"do": "solution"}:
                self._say(self._exercise.solution())

    @traitlets.observe("state")
    def _follow(self, _: object) -> None:
        self._say()

    def _say(self, what: Part | None = None) -> None:
        sign, word, _, colour, _ = _STATES[self.state]
        status = html_element(
            "span", escape(f"{sign} {gettext(word)}"), class_=f"cl-status cl-{colour}"
        )
        inside = html_element(
            "p", html_element("strong", escape(self._exercise.title)) + status, class_="cl-title"
        )
        inside += split_paragraphs(self._exercise.task).html()
        names = {
            "check": gettext("Check"),
            "hint": gettext("Hint"),
            "solution": gettext("Solution"),
        }
        if not self._exercise.hints:
            del names["hint"]
        primary = {"check": "cl-primary"}
        made = (
            html_element(
                "button",
                escape(name),
                type="button",
                data_do=do,
                data_keep=do,
                class_=primary.get(do),
            )
            for do, name in names.items()
        )
        inside += html_element("div", "".join(made), class_="cl-bar")
        if what is not None:
            inside += html_element("div", what.html(), class_="cl-said")
        self.card.show(
            html_element("div", inside, class_="cl-card"), "" if what is None else what.text()
        )
