"""The question what is wrong with a program, asked by an exercise before it is run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple

from ..doc import Box, Fold, InPage, InText, Paragraph, Part, html_element, inline_html
from ..wording import gettext, join_sentences
from .answers import translate_choice


class Counterevidence(NamedTuple):
    """What in the run of a program speaks against one of the choices.

    sentence: what can be seen there, with its numbers.
    holds: called with the variables that it takes, returns True if the sentence is true after the start,
        which `Exercise.verify` tries.
    """

    sentence: str
    holds: Callable[..., bool]


class Diagnosis(NamedTuple):
    """The kind of mistake that the start of an exercise has, among others to choose from.

        Diagnosis(
            choices=("memory is shared", "the graph is cut"),
            right="memory is shared",
            because="`best` and `w` look at the same cells.",
            holds=lambda w, best: best.data_ptr() == w.data_ptr(),
        )

    choices: the kinds to choose from, in the order in which they are shown.
    right: the one that is there.
    because: the sentence that says why.
    holds: called with the variables that it takes, returns True if the mistake is there. It is there
        after the start and not after the solution, which `Exercise.verify` tries.
    against: by a wrong choice, what in the run speaks against it.
    """

    choices: tuple[str, ...]
    right: str
    because: str
    holds: Callable[..., bool]
    against: Mapping[str, Counterevidence] = MappingProxyType({})

    def read_choice(self, choice: str) -> str:
        """Return the choice that a text means, in either language; ValueError if it means none."""
        # With or without the marks of code: a button shows none.
        given = _strip_marks(choice).casefold()
        for known in self.choices:
            texts = map(_strip_marks, (known, translate_choice(known)))
            if given in map(str.casefold, texts):
                return known
        raise ValueError(
            gettext(
                "{answer!r} is no choice for {question!r}: choose one of {choices}",
                answer=choice,
                question=gettext("What is wrong?"),
                choices=", ".join(
                    repr(_strip_marks(translate_choice(known))) for known in self.choices
                ),
            )
        )

    def judge(self, choice: str) -> Part:
        """Return what there is to say to a choice: why it is right, or to choose again."""
        name = translate_choice(choice)
        if choice == self.right:
            because = gettext(self.because)
            text = gettext("Right, {choice}: {because}", choice=name, because=because)
            return Paragraph(text, mark="✔")
        text = gettext(
            "“{choice}” is not what is wrong here. Choose again, or run the program and look.",
            choice=name,
        )
        if choice in self.against:
            text = join_sentences([text, gettext(self.against[choice].sentence)])
        return Paragraph(text, mark="✖")

    def tell_answer(self) -> Part:
        """Return what was wrong, once it is solved and nothing was chosen."""
        text = gettext(
            "What was wrong at the start: {choice}. {because}",
            choice=translate_choice(self.right),
            because=gettext(self.because),
        )
        return Paragraph(text)

    def tree(self) -> Part:
        """Return the question, on a page with the answer in a fold."""
        choices = [translate_choice(choice) for choice in self.choices]
        text = gettext(
            "What is wrong? {choices} (diagnose(...) says whether it is that.)",
            choices=" / ".join(choices),
        )
        asked = Paragraph(" / ".join(choices), mark=gettext("What is wrong?"))
        answer = Fold(gettext("Answer"), self.judge(self.right))
        return Box(InText(Paragraph(text)), InPage(asked), InPage(answer))

    def render_buttons(self, found: str | None) -> str:
        """Return the HTML of a button for each choice; `found`: the right one, once it was chosen."""
        buttons = ""
        for number, choice in enumerate(self.choices):
            action = f"diagnose {number}"
            buttons += html_element(
                "button",
                inline_html(translate_choice(choice)),
                type="button",
                data_do=action,
                # Keeps the focus when the card is shown anew.
                data_keep=action,
                aria_pressed="true" if choice == found else "false",
            )
        question = gettext("What is wrong?")
        way = gettext("Read the program below, and choose before you run it.")
        above = html_element("p", html_element("strong", escape(question)) + f" {escape(way)}")
        bar = html_element("div", buttons, class_="cl-bar", role="group", aria_label=question)
        return html_element("div", above + bar, class_="cl-diagnosis")

    def find_faults(
        self, at_start: Mapping[str, Any], when_solved: Mapping[str, Any]
    ) -> Iterator[str]:
        """Yield what is wrong with the question itself, for its author.

        at_start, when_solved: the variables after the start, and after the solution.
        """
        if self.right not in self.choices or len(set(self.choices)) < max(2, len(self.choices)):
            yield f"the diagnosis needs different choices, with {self.right!r} among them"
        # Asked of the variables, and not of the text: the start is a program like any other.
        if not _holds(self.holds, at_start):
            yield f"{self.right!r} does not hold at the start"
        if _holds(self.holds, when_solved):
            yield f"{self.right!r} still holds after the solution"
        if not set(self.against) <= set(self.choices) - {self.right}:
            yield "there is evidence against what is no wrong choice"
        for choice, (sentence, holds) in self.against.items():
            if not _holds(holds, at_start):
                yield f"it is not true at the start what speaks against {choice!r}: {sentence}"


def _strip_marks(choice: str) -> str:
    """Return a choice as a button shows it: without backticks."""
    return choice.replace("`", "")


def _holds(fact: Callable[..., bool], variables: Mapping[str, Any]) -> bool:
    """Return what a function says to the variables that it takes; False where one is missing, as after a solution."""
    names = tuple(inspect.signature(fact).parameters)
    if not all(name in variables for name in names):
        return False
    return bool(fact(**{name: variables[name] for name in names}))
