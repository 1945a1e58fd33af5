"""A question about a run: its words, the answers it takes, and what speaks against a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tinytorch.viz import gettext, short_node_name, summarize_text

from .answers import label, looks, names, readable, same, shown, value
from .misconceptions import MISCONCEPTIONS, Misconception
from .runs import Run

Wrong = Misconception | str | Callable[[Run], str]
"""What speaks against an answer: a misconception, the name of one, a sentence, or a function that makes one."""


@dataclass(frozen=True)
class Refutation:
    """What speaks against a wrong answer: the facts of the run, and the misconception behind the answer, if known."""

    facts: str
    misconception: Misconception | None
    against: str

    def sentences(self, met: set[str]) -> list[str]:
        """What to say; `met` are the names of misconceptions that were explained already, and gets this one."""
        found = [self.facts] if self.facts else []
        known = self.misconception
        if known is not None:
            name = gettext(known.name)
            if known.name in met:
                return [
                    *found,
                    f"**{gettext('The same misconception again: {name}.', name=name)}**",
                ]
            met.add(known.name)
            headline = gettext("A common misconception: {name}.", name=name)
            found.append(f"**{headline}** “{gettext(known.says)}”")
        return [*found, *([self.against] if self.against else [])]


@dataclass(frozen=True)
class Question:
    """A question whose right answer is always found by running the code.

        Question("What is `y` now?", None, answer=lambda run: run.value("y"))
        Question("Who wins?", ["x", "y"], answer=lambda run: "y", wrong={"x": "a name is a copy"})

    prompt: the question, `code` between backticks; or a function that gives it.
    choices: the answers to choose from; a function of the code that gives them; None for an answer in free text, which
        is read generously: numbers, lists, names, `None`.
    answer: gives the right answer from a Run: True or False (yes, no), a number, a list, a text, a set of names.
    wrong: what speaks against particular wrong answers. A text that is the name of a misconception of the catalogue
        means that one, any other is a sentence of its own.
    because: the facts of the run that decide the question, told after every wrong answer.
    name: what to call it in `commit({name: answer})`; by default its prompt.
    hint: how to write a free answer.
    suspect: finds the misconception behind any wrong answer that `wrong` does not list, from the run and the answer.
    like: what the name of a node looks like, in small letters, where one is asked for: another answer is asked again.
    """

    prompt: str | Callable[[], str]
    choices: Sequence[str] | Callable[[str], Sequence[str]] | None
    answer: Callable[[Run], Any]
    wrong: Mapping[Any, Wrong] = field(default_factory=dict)
    because: str | Callable[[Run], str] = ""
    name: str = ""
    hint: str = ""
    suspect: Callable[[Run, Any], str | None] | None = None
    like: str = ""

    def __repr__(self) -> str:
        return summarize_text(f"Question({self.name or self.asks!r})")

    @property
    def asks(self) -> str:
        """The question, as it is asked."""
        return self.prompt() if callable(self.prompt) else gettext(self.prompt)

    @property
    def options(self) -> tuple[str, ...]:
        """The answers to choose from, once it is bound to a code; none for an answer in free text."""
        return () if callable(self.choices) or self.choices is None else tuple(self.choices)

    @property
    def takes(self) -> str:
        """What can be answered, in words."""
        return " / ".join(map(label, self.options)) or (
            gettext(self.hint) if self.hint else gettext("in your words")
        )

    def bound(self, code: str) -> Question:
        """The question for this code: its choices made, its name filled in. TypeError for what cannot be a question."""
        choices = self.choices(code) if callable(self.choices) else self.choices
        if isinstance(choices, str) or not callable(self.answer):
            raise TypeError(
                f"the question {self.asks!r} needs choices in a list and an answer that is a function"
            )
        made = None if choices is None else tuple(str(choice) for choice in choices)
        if made is not None and (len(made) < 2 or len({c.casefold() for c in made}) < len(made)):
            raise ValueError(
                f"the question {self.asks!r} needs at least two choices, all different, not {list(made)}"
            )
        return replace(
            self,
            choices=made,
            name=self.name or (self.asks if callable(self.prompt) else self.prompt),
        )

    def read(self, given: Any) -> str:
        """An answer as it is kept: the choice it means, or the text as written. ValueError for none and a wrong choice.

        Whether a free answer makes sense is only known once the code has run: see `understands`.
        """
        if isinstance(given, bool):
            given = shown(given)
        text = " ".join((given if isinstance(given, str) else shown(_plain(given))).split())
        if not text:
            raise ValueError(f"the row {self.asks!r} is empty")
        if self.choices is None:
            return text
        found = [
            one
            for one in self.options
            if text.casefold() in (one.casefold(), label(one).casefold())
        ]
        if not found:
            near = difflib.get_close_matches(text, self.options, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            listed = ", ".join(map(repr, self.options))
            raise ValueError(
                f"{text!r} is no choice for {self.asks!r}{hint}: choose one of {listed}"
            )
        return found[0]

    def right(self, run: Run) -> Any:
        """The right answer, computed. ValueError if it is not among the choices, or cannot be found."""
        found = _plain(self.answer(run))
        if self.choices is not None and shown(found) not in self.options:
            raise ValueError(
                f"the run answers {self.asks!r} with {shown(found)!r}, which is not among its choices"
            )
        return found

    def understands(self, given: str, right: Any, run: Run) -> bool:
        """Whether `given`, as `read` keeps it, can be read as an answer, be it right or wrong."""
        if self.like:
            return looks(given, self.like, self.nodes(right, run))
        return self.choices is not None or readable(given, right, run.at().values)

    def nodes(self, right: str, run: Run) -> list[str]:
        """The names of nodes that there are, or are foreseen as wrong: each can be an answer where one is asked for."""
        return [
            right,
            *map(shown, self.wrong),
            *(short_node_name(node.name) for node in run.snapshot().nodes),
        ]

    def holds(self, given: str, right: Any) -> bool:
        """Whether `given`, as `read` keeps it, is the right answer."""
        return given == shown(right) if self.choices is not None else same(given, right)

    def facts(self, run: Run) -> str:
        """The facts of the run that decide it."""
        return self.because(run) if callable(self.because) else gettext(self.because)

    def refute(self, run: Run, given: str) -> Refutation:
        """What speaks against `given`, which is wrong."""
        right, facts = self.right(run), self.facts(run)
        told = next(
            (wrong for key, wrong in self.wrong.items() if self._is(given, key, right)), None
        )
        if told is None and self.suspect is not None:
            told = self.suspect(run, given)
        if callable(told):
            told = told(run)
        known = MISCONCEPTIONS.get(told) if isinstance(told, str) else told
        if known is None:
            return Refutation(facts, None, gettext(told) if isinstance(told, str) else "")
        return Refutation(facts, known, known.against(run))

    def beliefs(self, run: Run) -> set[str]:
        """The names of the misconceptions that wrong answers to this question would show, those that are foreseen."""
        right = self.right(run)
        given = (
            [*self.options, *map(shown, self.wrong)]
            if self.choices is not None
            else map(shown, self.wrong)
        )
        told = (self.refute(run, one).misconception for one in given if not self.holds(one, right))
        return {known.name for known in told if known is not None}

    def _is(self, given: str, key: Any, right: Any) -> bool:
        if self.choices is not None:
            return given.casefold() == shown(key).casefold()
        if isinstance(right, frozenset):
            return names(given) == names(key)
        return same(given, key if isinstance(right, str) else value(key))

    def faults(self, run: Run) -> list[str]:
        """What is wrong with the question itself, found by asking it of a run: one sentence for each fault."""
        try:
            right = self.right(run)
        except Exception as error:  # noqa: BLE001  # whatever its function raises is what the teacher has to see
            return [f"{self.asks!r} has no answer: {type(error).__name__}: {error}"]
        found = []
        given = shown(right)
        if not self.holds(given, right):
            found.append(f"{self.asks!r} does not take its own right answer {given!r}")
        keys = [shown(key) for key in self.wrong]
        if self.choices is not None:
            offered = {choice.casefold() for choice in self.options}
            found += [
                f"{self.asks!r} refutes {key!r}, which is no choice"
                for key in keys
                if key.casefold() not in offered
            ]
        found += [
            f"{self.asks!r} refutes its right answer {key!r}"
            for key in keys
            if self.holds(key, right)
        ]
        others = [choice for choice in self.options if not self.holds(choice, right)]
        for wrong in dict.fromkeys([*keys, *others]):
            try:
                told = self.refute(run, wrong)
            except Exception as error:  # noqa: BLE001  # as above
                found.append(
                    f"{self.asks!r} cannot refute {wrong!r}: {type(error).__name__}: {error}"
                )
                continue
            if not (told.facts or told.against):
                found.append(f"{self.asks!r} has nothing to say against {wrong!r}")
        return found


def _plain(answer: Any) -> Any:
    """Tensors, arrays and their numbers as Python's own; sets as they can be kept."""
    if hasattr(answer, "tolist"):
        answer = answer.tolist()
    return frozenset(answer) if isinstance(answer, set) else answer
