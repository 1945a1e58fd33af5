"""A question about a run: its text, its answers, and what speaks against a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from tinytorch.viz import short_node_name, summarize_text

from ..wording import gettext, join_sentences
from .answers import (
    format_answer,
    format_number,
    is_of_same_kind,
    is_same_answer,
    matches_pattern,
    means_all,
    parse_names,
    parse_value,
    translate_choice,
)
from .misconceptions import (
    MISCONCEPTIONS,
    Misconception,
    misconception,
    require_name_or_sentence,
    require_no_misspelt_name,
)
from .objections import describe_missed_line, differs_in_shape_alone
from .runs import QuizRun
from .wrong_answers import foresee_answers

ArgumentSource = Misconception | str | Callable[[QuizRun], str]
"""Where the argument against an answer is from: a misconception or its name, an objection or its function."""


@dataclass(frozen=True)
class Refutation:
    """What speaks against a wrong answer.

    facts: the facts of the run, in sentences, with an empty line between paragraphs; empty if there are none.
    misconception: the one behind the answer, if it is known.
    argument: that of the misconception, or else an objection, which speaks against this answer
        alone; empty if there is none.
    begins_with_argument: True where the argument says what of the answer is right.
    """

    facts: str
    misconception: Misconception | None
    argument: str
    begins_with_argument: bool = False

    def compose_sentences(self, already_explained: set[str]) -> list[str]:
        """Return what to say, a sentence or several in each text.

        A misconception is explained once on a page, and only named where it comes again.
        `already_explained` has the names of those explained before; this one is added to it.
        """
        sentences = split_facts(self.facts)
        if self.begins_with_argument:
            return [self.argument, *sentences]
        # Its name is the heading, so that a learner meets the same words again in the list of
        # beliefs.
        if self.misconception is not None:
            name = gettext(self.misconception.name)
            if self.misconception.name in already_explained:
                again = gettext("The same misconception again: {name}.", name=name)
                return [*sentences, f"**{again}**"]
            already_explained.add(self.misconception.name)
            headline = gettext("A common misconception: {name}.", name=name)
            belief = f"“{gettext(self.misconception.belief)}”"
            sentences.append(join_sentences([f"**{headline}**", belief]))
        return [*sentences, *([self.argument] if self.argument else [])]


def split_facts(facts: str) -> list[str]:
    """Return the paragraphs of what the facts of a question say."""
    return [paragraph for paragraph in facts.split("\n\n") if paragraph]


@dataclass(frozen=True)
class Features:
    """What others than the question itself have to know of it; most questions have none of these.

    shows_graph: where a retest asks it, the graph at the end of the run is drawn below the rows: what
        it asks for is in no memory picture.
    says_wrong_gradients: its facts end with `list_wrong_gradients`, or with one sentence of that.
    asks_for_ending: the answer is how the run ends, so it has one after an error, too.
    asks_for_numbers: the answer is numbers that a line could write down by hand.
    """

    shows_graph: bool = False
    says_wrong_gradients: bool = False
    asks_for_ending: bool = False
    asks_for_numbers: bool = False


NO_FEATURES = Features()


@dataclass(frozen=True)
class Question:
    """A question whose right answer is always found by running the code.

        Question("What is `y` now?", None, answer=lambda run: run.value("y"))
        Question("Who wins?", ["x", "y"], answer=lambda run: "y", wrong={"x": "a name is a copy"})

    prompt: the question, `code` between backticks; or a function that returns it.
    choices: the answers to choose from; a function of the code that returns them; None for an
        answer in free text, which is read generously: numbers, lists, names, `None`.
    answer: returns the right answer from a QuizRun: True or False (yes, no), a number, a list, a
        text, a set of names.
    wrong: what speaks against particular wrong answers. A text that is the name of a misconception
        of the catalogue means that one, any other is an objection. ValueError for what
        looks like a misspelt name.
    because: the facts of the run that decide the question, shown after every wrong answer.
    name: its name in `commit({name: answer})`; by default its prompt.
    hint: how to write a free answer.
    find_misconception: finds the misconception behind any wrong answer that `wrong` does not list,
        from the run and the answer: returns it, its name in the catalogue, or None. In a
        ready-made question `Declaration.make_question` has bound the names that it is about.
    find_objection: returns an objection to a wrong answer behind which no misconception is found,
        from the run and the answer; or None.
    find_fallback_objection: the same, asked last: where that returns None, and leaving out a line of the
        run makes the answer right for none of its lines (`describe_missed_line`).
    pattern: only for the question `node`, whose answers are names of nodes. A regular expression in
        small letters; a free answer has to match it, or to be the name of a node of the run or a
        key of `wrong`. Any other answer is asked for again.
    names: those that the question is about, where it asks which of them: an answer may be "all".
    features: what a result, a table of rows or a rewrite has to know of it, see `Features`.
    change: of a question about another program, made of the one above by a change: returns the run of
        that one. The result shows the memory of the first that was answered wrongly.
    kind, subject, at: of a ready-made question the name of its function, and what it is called with. What a
        row says may be ruled out by the answer to another one, see `contradictions.py`.
    """

    prompt: str | Callable[[], str]
    choices: Sequence[str] | Callable[[str], Sequence[str]] | None
    answer: Callable[[QuizRun], Any]
    wrong: Mapping[Any, ArgumentSource] = field(default_factory=dict)
    because: str | Callable[[QuizRun], str] = ""
    name: str = ""
    hint: str = ""
    find_misconception: Callable[[QuizRun, str], Misconception | str | None] | None = None
    find_objection: Callable[[QuizRun, str], str | None] | None = None
    find_fallback_objection: Callable[[QuizRun, str], str | None] | None = None
    pattern: str = ""
    names: tuple[str, ...] = ()
    features: Features = NO_FEATURES
    change: Callable[[QuizRun], QuizRun] | None = None
    kind: str = ""
    subject: tuple[Any, ...] = ()
    at: int | None = None

    def __post_init__(self) -> None:
        for entry in self.wrong.values():
            if isinstance(entry, str):
                require_name_or_sentence(entry)
        # What the function returns is only known when a learner answers, and then a misspelt name is
        # passed over: its code has the name as a constant now. Ready-made questions have a lambda
        # here, without constants; a test reads those of `wrong_answers.py`.
        if isinstance(self.find_misconception, FunctionType):
            for constant in self.find_misconception.__code__.co_consts:
                if isinstance(constant, str):
                    require_no_misspelt_name(constant)

    def __repr__(self) -> str:
        return summarize_text(f"Question({self.name or self.text!r})")

    @property
    def text(self) -> str:
        """The prompt in the language in use."""
        return self.prompt() if callable(self.prompt) else gettext(self.prompt)

    @property
    def bound_choices(self) -> tuple[str, ...]:
        """The answers to choose from, once it is bound to a code; none for a free answer."""
        return () if callable(self.choices) or self.choices is None else tuple(self.choices)

    @property
    def answer_format(self) -> str:
        """The choices or, for a free answer, how to write it."""
        if self.bound_choices:
            return " / ".join(map(translate_choice, self.bound_choices))
        return gettext(self.hint) if self.hint else gettext("in your words")

    def bind(self, code: str) -> Question:
        """Return the question for this code, with its choices and its name.

        Raises TypeError for choices that are no list and an answer that is no function, ValueError
        for less than two choices and for two that are the same.
        """
        # Bound to one program: the choices of `outcome` are its lines.
        choices = self.choices(code) if callable(self.choices) else self.choices
        # A single text is a sequence, too: each of its letters would be a choice.
        if isinstance(choices, str) or not callable(self.answer):
            raise TypeError(
                f"the question {self.text!r} needs choices in a list "
                "and an answer that is a function"
            )
        choices = None if choices is None else tuple(str(choice) for choice in choices)
        if choices is not None:
            # Capitals do not matter in an answer, so these alone must not tell two choices apart.
            different = {choice.casefold() for choice in choices}
            if len(choices) < 2 or len(different) < len(choices):
                raise ValueError(
                    f"the question {self.text!r} needs at least two choices, all different, "
                    f"not {list(choices)}"
                )
        prompt = self.text if callable(self.prompt) else self.prompt
        return replace(self, choices=choices, name=self.name or prompt)

    # -- answers

    def normalize_answer(self, answer: Any) -> str:
        """Return an answer as it is stored and judged: the choice that it means, or its text.

        A free answer stays a text, with single spaces: what value it means depends on the right
        answer, and whether it can be read is only known once the code has run (`is_readable`).
        Raises ValueError for an empty answer and for a choice that there is not.
        """
        # `commit({"same": True})`: as yes or no, which are the choices.
        if isinstance(answer, bool):
            answer = format_answer(answer)
        text = answer if isinstance(answer, str) else format_answer(_convert_to_plain(answer))
        text = " ".join(text.split())
        if not text:
            raise ValueError(gettext("the row {question!r} is empty", question=self.text))
        if self.choices is None:
            return (
                ", ".join(self.names) if self.names and means_all(text, len(self.names)) else text
            )
        for choice in self.bound_choices:
            # In either language: who answers from Python may write "yes" in a Chinese notebook.
            if text.casefold() in (choice.casefold(), translate_choice(choice).casefold()):
                return choice
        raise ValueError(self._describe_unknown_choice(text))

    def _describe_unknown_choice(self, answer: str) -> str:
        """Say that an answer is no choice; name those there are in the language in use."""
        choices = {choice: translate_choice(choice) for choice in self.bound_choices}
        # In either language, as the choices themselves.
        texts = choices | {text: text for text in choices.values()}
        similar = difflib.get_close_matches(answer, texts, 1)
        choice_list = ", ".join(map(repr, choices.values()))
        if similar:
            return gettext(
                "{answer!r} is no choice for {question!r} (did you mean {close!r}?): "
                "choose one of {choices}",
                answer=answer,
                question=self.text,
                close=texts[similar[0]],
                choices=choice_list,
            )
        return gettext(
            "{answer!r} is no choice for {question!r}: choose one of {choices}",
            answer=answer,
            question=self.text,
            choices=choice_list,
        )

    def right_answer(self, run: QuizRun) -> Any:
        """Return the right answer, computed.

        ValueError if it is not among the choices, or cannot be found.
        """
        # Found anew each time, and not kept: a question may be asked of the runs of two engines.
        right = _convert_to_plain(self.answer(run))
        # No learner could give it: a fault of the question, which `verify` reports to its author.
        if self.choices is not None and format_answer(right) not in self.bound_choices:
            raise ValueError(
                f"the run answers {self.text!r} with {format_answer(right)!r}, "
                "which is not among its choices"
            )
        return right

    def is_readable(self, answer: str, right: Any, run: QuizRun) -> bool:
        """Return True if a normalized answer can be read as an answer, right or wrong."""
        if self.pattern:
            return matches_pattern(answer, self.pattern, self.node_names(right, run))
        # What the author of a question foresaw is no slip, such as one number for several.
        is_foreseen = self.choices is not None or self._find_in_wrong(answer, right) is not None
        return is_foreseen or is_of_same_kind(answer, right, run.moment().values)

    def node_names(self, right: str, run: QuizRun) -> list[str]:
        """Return the node names that can be an answer: the right one, in `wrong`, in the run."""
        nodes = run.snapshot().nodes
        return [
            right,
            *map(format_answer, self.wrong),
            *(short_node_name(node.name) for node in nodes),
        ]

    def is_right(self, answer: str, right: Any) -> bool:
        """Return True if a normalized answer is the right answer."""
        if self.choices is not None:
            return answer == format_answer(right)
        return is_same_answer(answer, right)

    # -- what speaks against a wrong answer

    def describe_facts(self, run: QuizRun) -> str:
        """Return the facts of the run that decide the question."""
        return self.because(run) if callable(self.because) else gettext(self.because)

    def explain_right(self, run: QuizRun) -> list[str]:
        """Return why the right answer is right: the facts; nothing where nobody is expected to be wrong.

        That is where nothing but the facts could be said to a wrong answer.
        """
        # That a program came to its end says no more than the answer.
        is_told = self.features.asks_for_ending and run.trace.error is None
        has_objection = self.find_objection is not None and not is_told
        if not (self.wrong or self.find_misconception or has_objection):
            return []
        return split_facts(self.describe_facts(run))

    def refute(self, run: QuizRun, answer: str) -> Refutation:
        """Return what speaks against a wrong answer, as `normalize_answer` returns it.

        That is what `wrong` has for it, or else the misconception that `find_misconception` finds.
        Where that returns a name that the catalogue does not have, the facts speak alone:
        `find_faults` tells the author, and no learner.
        """
        facts = self.describe_facts(run)
        found = self._find_source(run, answer)
        if found is None:
            objection = self._choose_objection(run, answer) or ""
            # Its mark is that of a wrong number: that the numbers are right is said before all else.
            is_shape = bool(objection) and differs_in_shape_alone(self.right_answer(run), answer)
            return Refutation(facts, None, objection, begins_with_argument=is_shape)
        if isinstance(found, str):
            return Refutation(facts, None, gettext(found))
        return Refutation(facts, found, found.write_argument(run))

    def _find_source(self, run: QuizRun, answer: str) -> Misconception | str | None:
        """Return the misconception behind a wrong answer, or an objection to it that `wrong` has."""
        # What the author of the program foresaw comes first.
        entry = self._find_in_wrong(answer, self.right_answer(run))
        if entry is not None:
            return _read_source(run, entry)
        if self.find_misconception is not None:
            return _read_misconception(self.find_misconception(run, answer))
        return None

    def name_misconception(self, run: QuizRun, answer: str) -> str:
        """Return the name of the misconception behind a wrong answer; empty if none is known."""
        found = self._find_source(run, answer)
        return found.name if isinstance(found, Misconception) else ""

    def name_misconceptions(self, run: QuizRun) -> dict[str, str]:
        """Return the names of those behind wrong answers that can be foreseen, by these answers."""
        right = self.right_answer(run)
        answers = [*self.bound_choices, *map(format_answer, self.wrong)]
        if self.choices is None and self.find_misconception is not None:
            answers += foresee_answers(run)
        names = {}
        for answer in dict.fromkeys(answers):
            is_wrong = self.is_readable(answer, right, run) and not self.is_right(answer, right)
            if is_wrong and (name := self.name_misconception(run, answer)):
                names[answer] = name
        return names

    def _choose_objection(self, run: QuizRun, answer: str) -> str | None:
        """Return an objection to a wrong answer that points to no misconception, or None."""
        # Sentences begin with it: `3 is what ...`, where "three" was written.
        if self.choices is None and isinstance(number := parse_value(answer), int):
            answer = format_number(number)
        objection = self.find_objection(run, answer) if self.find_objection is not None else None
        if objection is None:
            objection = describe_missed_line(
                run, lambda shorter: self.is_right(answer, self.right_answer(shorter))
            )
        if objection is None and self.find_fallback_objection is not None:
            objection = self.find_fallback_objection(run, answer)
        return objection

    def foresee_refutations(self, run: QuizRun) -> dict[str, Refutation]:
        """Return what speaks against each wrong answer that can be foreseen.

        Those are the choices; for a free answer those in `wrong`, and of `foresee_answers` those
        behind which a misconception or another objection is found.
        """
        right = self.right_answer(run)
        # A choice without anything in `wrong` is refuted by the facts; a page has to know it, too.
        answers = self.bound_choices or tuple(map(format_answer, self.wrong))
        refutations = {
            answer: self.refute(run, answer)
            for answer in answers
            if not self.is_right(answer, right)
        }
        finders = (self.find_misconception, self.find_objection, self.find_fallback_objection)
        if self.choices is not None or not any(finders):
            return refutations
        for answer in foresee_answers(run):
            is_wrong = self.is_readable(answer, right, run) and not self.is_right(answer, right)
            if is_wrong and self._find_in_wrong(answer, right) is None:
                refutation = self.refute(run, answer)
                # Without one it has the facts alone, which the page has anyway: no entry is needed.
                if refutation.argument:
                    refutations[answer] = refutation
        return refutations

    def _find_in_wrong(self, answer: str, right: Any) -> ArgumentSource | None:
        """Return what `wrong` has against an answer; None if it does not list the answer."""
        for key, entry in self.wrong.items():
            if self._matches_key(answer, key, right):
                return entry
        return None

    def _matches_key(self, answer: str, key: Any, right: Any) -> bool:
        """Return True if an answer is the one that `wrong` lists under a key."""
        if self.choices is not None:
            return answer.casefold() == format_answer(key).casefold()
        if isinstance(right, frozenset):
            # In any order, and in any words between them.
            return parse_names(answer) == parse_names(key)
        # Where the answer is a text, `2` and `2.0` are two answers: the key is not parsed.
        return is_same_answer(answer, key if isinstance(right, str) else parse_value(key))

    # -- for the teacher

    def find_faults(self, run: QuizRun) -> list[str]:
        """Return the faults of the question itself, found by asking it of a run, in sentences."""
        try:
            right = self.right_answer(run)
        except Exception as error:  # noqa: BLE001  # a teacher's function
            return [f"{self.text!r} has no answer: {type(error).__name__}: {error}"]
        faults = []
        answer = format_answer(right)
        if not self.is_right(answer, right):
            faults.append(f"{self.text!r} does not take its own right answer {answer!r}")
        keys = [format_answer(key) for key in self.wrong]
        if self.choices is not None:
            options = {choice.casefold() for choice in self.bound_choices}
            unknown = [key for key in keys if key.casefold() not in options]
            faults += [f"{self.text!r} refutes {key!r}, which is no choice" for key in unknown]
        right_keys = [key for key in keys if self.is_right(key, right)]
        faults += [f"{self.text!r} refutes its right answer {key!r}" for key in right_keys]
        wrong_choices = [
            choice for choice in self.bound_choices if not self.is_right(choice, right)
        ]
        for wrong_answer in dict.fromkeys([*keys, *wrong_choices]):
            faults += self._find_faults_of_refutation(run, wrong_answer)
        # Where there are faults, it would meet the same ones again.
        return faults or self._find_faults_of_finder(run)

    def _find_faults_of_refutation(self, run: QuizRun, answer: str) -> list[str]:
        try:
            entry = self._find_in_wrong(answer, self.right_answer(run))
            text = entry(run) if callable(entry) else None
            if isinstance(text, str):
                require_name_or_sentence(text)
            refutation = self.refute(run, answer)
        except Exception as error:  # noqa: BLE001  # as above
            return [f"{self.text!r} cannot refute {answer!r}: {type(error).__name__}: {error}"]
        if not (refutation.facts or refutation.argument):
            return [f"{self.text!r} has nothing to say against {answer!r}"]
        return []

    def _find_faults_of_finder(self, run: QuizRun) -> list[str]:
        """Return the fault of `find_misconception`, such as an unknown name, with foreseen answers.

        Those are the choices, or else what `foresee_answers` has.
        """
        try:
            right = self.right_answer(run)
            if self.find_misconception is not None:
                for answer in self.bound_choices or foresee_answers(run):
                    is_right = self.is_right(answer, right)
                    found = None if is_right else self.find_misconception(run, answer)
                    if isinstance(found, str) and _read_misconception(found) is None:
                        misconception(found)  # raises for an unknown name
                        raise KeyError(f"{found!r} is a lesson's own: return it, and not its name")
            self.foresee_refutations(run)
        except Exception as error:  # noqa: BLE001  # as above
            return [f"{self.text!r} cannot refute an answer: {type(error).__name__}: {error}"]
        return []


def _read_source(run: QuizRun, entry: ArgumentSource) -> Misconception | str:
    """Return what an entry of `wrong` means: a misconception, or an objection to the answer."""
    found = entry(run) if callable(entry) else entry
    # A text that is no name in the catalogue is an objection, also where a function returns it.
    return MISCONCEPTIONS.get(found, found) if isinstance(found, str) else found


def _read_misconception(found: Misconception | str | None) -> Misconception | None:
    """Return the misconception that `find_misconception` has found, by itself or by its name."""
    # A name that is not in the catalogue counts for nothing, see `refute`.
    return MISCONCEPTIONS.get(found) if isinstance(found, str) else found


def _convert_to_plain(answer: Any) -> Any:
    """Return tensors, arrays and their numbers as Python's own; a set as one that can be hashed."""
    if hasattr(answer, "tolist"):
        answer = answer.tolist()
    return frozenset(answer) if isinstance(answer, set) else answer
