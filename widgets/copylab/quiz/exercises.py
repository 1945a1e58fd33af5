"""`exercise(...)`: a task that the learner solves in a cell, and a check that never raises."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from traceback import walk_tb
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple, NoReturn
from uuid import uuid4

import traitlets

from tinytorch.viz import join_names, summarize_text

from ..course_folder import hides_solutions
from ..doc import (
    Box,
    Code,
    Fold,
    InPage,
    InText,
    Paragraph,
    Part,
    html_element,
    inline_html,
    split_paragraphs,
    wrap_in_language,
)
from ..run import (
    CELL_OUTCOMES,
    CellOutcome,
    choose_engine,
    compile_program,
    describe_error,
    engine_for,
    notebook_names,
    stabilize_text,
)
from ..ui import Panel, has_kernel, is_cell_running, publish_bundle, renew_output
from ..wording import gettext, gettext_noop, join_sentences, ngettext
from .attempts import (
    add_reason,
    is_same_program,
    measure_likeness,
    run_attempt,
    select_variables,
    state_of_variables,
)
from .cell_errors import explain_error_of_cell
from .checked_facts import CheckedFact, know_source, list_bindings
from .diagnosis import Diagnosis
from .progress import add_note, find_note
from .verify import Verification, mutate_program
from .view import Task, TaskView


class ExerciseState(NamedTuple):
    """The sign, word, sentence and colours of a state. Not everybody sees colours.

    sentence: of a verdict, with `{why}` in it.
    colour: its name in the palette of the pictures.
    notebook_colour: its name in JupyterLab, and the colour elsewhere, where a page has no palette.
    """

    sign: str
    word: str
    sentence: str
    colour: str
    notebook_colour: str


_STATES = {
    "not attempted": ExerciseState(
        "○",
        gettext_noop("Not attempted"),
        gettext_noop("Not attempted: {why}"),
        "new",
        "--jp-warn-color1, #946200",
    ),
    "wrong": ExerciseState(
        "✖",
        gettext_noop("Not yet"),
        gettext_noop("Not yet: {why}"),
        "bad",
        "--jp-error-color1, #c4231c",
    ),
    "right": ExerciseState(
        "✔",
        gettext_noop("Solved"),
        gettext_noop("Right: {why}"),
        "leaf",
        "--jp-success-color1, #1b7a38",
    ),
}


@dataclass(frozen=True, repr=False)
class Verdict(Part):
    """The result of a check.

    Prints as a sentence; true only if the answer is right, as in `assert part.check()`.

    state: "not attempted", "wrong" or "right".
    says: why, in a sentence.
    output: by which Jupyter finds the outputs that show verdicts of its exercise; empty if they stay as they are.
    """

    state: str
    says: str
    output: str = field(default="", compare=False)

    def __bool__(self) -> bool:
        return self.state == "right"

    def text(self) -> str:
        """Return the sentence."""
        return gettext(_STATES[self.state].sentence, why=self.says)

    def html(self) -> str:
        """Return the sentence with its sign, and a line in its colour."""
        state = _STATES[self.state]
        colour = f"var(--tt-{state.colour}-line, var({state.notebook_colour}))"
        style = f"border-left: 4px solid {colour}; padding-left: 10px"
        return Paragraph(self.text(), mark=state.sign, style=style).html()

    def _ipython_display_(self) -> None:
        if not self.output or not has_kernel():
            # IPython then goes on with `_repr_mimebundle_`.
            raise NotImplementedError
        publish_bundle(self._repr_mimebundle_(), self.output)

    def renew_outputs(self) -> None:
        """Put it in the place of what a cell has shown of its exercise, once a click on the page has judged again.

        "Not attempted" stayed below a card that said "Solved". A cell that runs shows its own.
        """
        if self.output and not is_cell_running():
            renew_output(self._repr_mimebundle_(), self.output)


def wrong(says: str) -> NoReturn:
    """End a check: the answer is not right, for the reason `says`.

    The same as a failed `assert`.
    """
    raise AssertionError(says)


def _find_raising_function(error: BaseException, variables: Mapping[str, Any]) -> str:
    """Return the name of the learner's function in which an error was raised; empty if none."""
    names = {
        value.__code__: name for name, value in variables.items() if isinstance(value, FunctionType)
    }
    frames = walk_tb(error.__traceback__)
    return next((names[frame.f_code] for frame, _ in frames if frame.f_code in names), "")


_TENSOR_HAS_NOT = re.compile(r"'Tensor' object has no attribute '(\w+)'")


def _ask_to_fix(cell: CellOutcome, engine: ModuleType) -> str:
    """Ask for a cell that raises no error, and say why it did where copylab knows, else what the error says.

    Not how to write it instead: that may be what the exercise asks for.
    """
    sentence = gettext(
        "your cell raised `{error}` when it was last run. Fix it, and run it again.",
        error=cell.error,
    )
    why = explain_error_of_cell(cell.source, cell.error, engine)
    if why or not cell.message:
        return add_reason(sentence, why)
    words = cell.message.replace("`", "'")
    said = gettext("The error says: {error}", error=f"`{words}`")
    lacking = _TENSOR_HAS_NOT.match(words)
    if lacking is None or engine.__name__ != "tinytorch":
        return join_sentences([sentence, said])
    # A method of PyTorch's is no fault of the learner's.
    small = gettext("tinytorch has no `{name}`, and PyTorch may have it.", name=lacking[1])
    return join_sentences([small, sentence[0].upper() + sentence[1:], said])


class Exercise(Task):
    r"""A task that is solved in a cell of the learner's own: `exercise(...)`.

        def check(x, t):
            assert not same_storage(x, t), "t still looks at the storage of x."
            assert values(t) == [2, 3], f"t shows {values(t)}."

        exercise(
            "my-course/part",
            "`t` should show `[2, 3]` and have a storage of its own.",
            check=check,
            start="x = torch.arange(6)\nt = None",
            hints=["A slice picks a part.", "A slice is a view. What copies a view?"],
            solution="t = x[2:4].clone()",
            wrong={"t = x[2:4]": "storage of x", "t = x[2:5].clone()": "shows [2, 3, 4]"},
        )

    key: its name in the progress file, such as "clone/readings".
    task: what to do; `code` between backticks, paragraphs between blank lines.
    check: called with the variables that it takes, and with the engine as `torch` if it takes that.
        None or True is right; a sentence says what is not, and so do `assert ..., sentence` and
        `wrong(sentence)`. An error in it becomes a sentence. Or it yields facts
        (copylab.quiz.checked_facts): all have to hold, and a right answer is told what was looked
        at. It looks and never changes: copylab.looks helps.
    hints: from the gentlest to the plainest.
    solution, also, wrong: code that solves it, other code that does, and the answers to expect that
        do not, each with words that the check says to it and to no other: {code: words}. All of it
        runs after `start`.
    start: the code in the learner's cell at first. Variables that are as they were then are not
        attempted yet, and so are variables that are missing, None or `...`.
    title: a line above the task, such as "Exercise 2".
    about: what it is about, in a few words; a table of tasks has them behind the title.
    right: why an answer is right, in a sentence that holds for every right one. Without it a right
        answer is told what was looked at.
    diagnosis: asks what is wrong with the start, before it is run.
    engine: the module that the code knows as `torch`; by default the global `torch` of the caller
        of `check`, otherwise tinytorch.

    `.check()`, `.hint()` and `.solution()` are for the learner, `.live()` shows them as buttons,
    and `.verify()` tests the exercise itself.

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
        check: Callable[..., str | bool | Iterator[CheckedFact] | None],
        *,
        solution: str,
        hints: Sequence[str] = (),
        also: Sequence[str] = (),
        # A default is one object for all calls, which nobody may write to.
        wrong: Mapping[str, str] = MappingProxyType({}),
        start: str = "",
        right: str = "",
        engine: ModuleType | None = None,
        title: str | None = None,
        about: str = "",
        diagnosis: Diagnosis | None = None,
    ) -> None:
        parameters = tuple(inspect.signature(check).parameters)
        self._check, self._check_takes_torch = check, "torch" in parameters
        self.names = tuple(name for name in parameters if name != "torch")
        if not self.names or not isinstance(wrong, Mapping):
            raise TypeError(
                "check must be a function of variables, "
                "and wrong a dict, {code: what is said to it}"
            )
        self.key, self._task, self._title, self._about = key, task, title, about
        # A single text is a sequence, too: of letters.
        self._hints = (hints,) if isinstance(hints, str) else tuple(hints)
        self.also = (also,) if isinstance(also, str) else tuple(also)
        self.wrong = dict(wrong)
        self.start = textwrap.dedent(start).strip("\n")
        self.code = textwrap.dedent(solution).strip("\n")
        self._right, self._engine, self.diagnosis = right, engine, diagnosis
        self._last_hint = 0
        self._states_at_start: dict[str, Any] = {}
        self._view: ExerciseView | None = None
        # By this id the outputs of `check()` are renewed.
        self._output = uuid4().hex
        for code in (self.start, self.code, *self.also, *self.wrong):
            # Here, because a SyntaxError is for the teacher to see, and not for the learner.
            compile_program(textwrap.dedent(code))

    @property
    def task(self) -> str:
        """The text that says what to do."""
        return textwrap.dedent(gettext(self._task)).strip()

    @property
    def title_in_table(self) -> str:
        """The title, and what it is about."""
        if not self._about:
            return self.title
        return gettext("{what}: {facts}", what=self.title, facts=gettext(self._about))

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints, the gentlest first."""
        return tuple(map(gettext, self._hints))

    def __repr__(self) -> str:
        return summarize_text(f"Exercise({self.key!r}, {len(self._hints)} hints)")

    # -- for the learner

    @property
    def was_solved(self) -> bool:
        """True if the progress file says that it was solved once."""
        return find_note("exercises", self.key).get("state") == "right"

    def diagnose(self, choice: str) -> Part:
        """Say whether a kind of mistake is what is wrong with the start; note the right one.

        ValueError if nothing is asked, or if it is none of the choices.
        """
        if self.diagnosis is None:
            raise ValueError(gettext("this exercise does not ask what is wrong"))
        chosen = self.diagnosis.read_choice(choice)
        if chosen == self.diagnosis.right:
            state = find_note("exercises", self.key).get("state", "begun")
            add_note("exercises", self.key, {"state": state, "diagnosis": chosen})
        return self.diagnosis.judge(chosen)

    @property
    def found_diagnosis(self) -> str | None:
        """The kind of mistake, if the progress file says that it was found; else None."""
        noted = find_note("exercises", self.key).get("diagnosis")
        return noted if self.diagnosis and noted == self.diagnosis.right else None

    def check(self, names: Mapping[str, Any] | None = None) -> Verdict:
        """Look at the learner's variables, return a verdict, and note it as progress.

        Never raises, and changes nothing of the learner's.

        names: where to look; by default the global variables of the code that calls this.
        """
        namespace = sys._getframe(1).f_globals if names is None else names
        # With -O, Python leaves out `assert`: a check would pass anything.
        if not __debug__:
            return Verdict(
                "not attempted",
                gettext("Python was started with -O, and then no check asserts anything."),
            )
        is_notebook = namespace is notebook_names()
        try:
            variables = select_variables(namespace, self.names)
            engine = self._engine or engine_for(namespace)
            if is_notebook:
                verdict = self._judge_notebook(variables, engine)
                if verdict and (look := CELL_OUTCOMES.find_stale_look(self.names)):
                    again = gettext(
                        "Run the cell of `{look}` again: what it shows is of the run before.",
                        look=look,
                    )
                    verdict = replace(verdict, says=join_sentences([verdict.says, again]))
            else:
                verdict = self._judge_variables(variables, engine)
        except KeyboardInterrupt:
            # The check, or a learner's code in it, has no end.
            return Verdict(
                "not attempted", gettext("the check was interrupted before it had an answer.")
            )
        verdict = replace(verdict, output=self._output)
        verdict.renew_outputs()
        if self._view is not None:
            self._view.take_verdict(verdict)
        if verdict.state != "not attempted":
            # An exercise that was solved once stays solved.
            state = "right" if self.was_solved else verdict.state
            add_note("exercises", self.key, {"state": state})
        return verdict

    def _judge_notebook(self, variables: Mapping[str, Any], engine: ModuleType) -> Verdict:
        """Judge the variables as they are now; else, as a cell left them that set them all.

        The cell of another exercise may have set the same names since: what solves this one is
        what its own cell made.
        """
        CELL_OUTCOMES.follow_shell(self.names)
        with know_source(CELL_OUTCOMES.join_sources(self.names), is_one_cell=False):
            verdict = self._judge_variables(variables, engine, CELL_OUTCOMES.find_last(self.names))
        if verdict.state == "right":
            return verdict
        runs = CELL_OUTCOMES.list_runs(self.names)
        verdicts = [self._judge_variables(run.variables, engine, run.outcome) for run in runs]
        if solved := [past for past in verdicts if past.state == "right"]:
            return solved[0]
        # The learner's own, changed as it may be, is the one most like the start.
        likeness = [measure_likeness(run.outcome.source, self.start) for run in runs]
        best = max(range(len(runs)), key=likeness.__getitem__, default=None)
        if best is not None and verdicts[best].state == "wrong":
            return verdicts[best]
        return self._point_out_other_cells(verdict)

    def _point_out_other_cells(self, verdict: Verdict) -> Verdict:
        """Add to a verdict that variables were set by different cells, if they were.

        They may be of two programs. They may be of one, too, that the learner wrote into two cells.
        """
        apart = CELL_OUTCOMES.list_names_set_apart(self.names)
        if verdict.state != "wrong" or not apart:
            return verdict
        others = [name for name in self.names if name not in apart]
        note = gettext(
            "The run that set {names} did not set {others}: put all lines of your program into one "
            "cell, and run that cell.",
            names=join_names([f"`{name}`" for name in apart]),
            others=join_names([f"`{name}`" for name in others]),
        )
        return Verdict("wrong", join_sentences([verdict.says, note]))

    def judge_cell(self, source: str, engine: ModuleType) -> Verdict:
        """Run a learner's cell in names of its own, and return the verdict. Nothing is noted.

        The cell is Python that does nothing but solve the exercise: its code is run in this process.
        """
        variables, error = run_attempt("", source, engine)
        cell = CellOutcome.from_description(source, error)
        return self._judge_variables(select_variables(variables, self.names), engine, cell)

    def _why_not_attempted(
        self, variables: Mapping[str, Any], engine: ModuleType, cell: CellOutcome | None
    ) -> str:
        """Say why there is nothing to judge; empty if there is.

        cell: the one that set the variables, if it is known.
        """
        for name in self.names:
            if name not in variables:
                # It was run, and ended before it came to the name.
                if cell is not None and cell.error:
                    return _ask_to_fix(cell, engine)
                return gettext("there is no variable `{name}` yet. Run your cell first.", name=name)
            if variables[name] is None:
                return gettext("`{name}` is still None.", name=name)
            if variables[name] is ...:
                return gettext("`{name}` is still `...`", name=name)
        # Another program is an attempt, also where it comes to the same, as `as_tensor` does in
        # place of `from_numpy`: then the check says what is wrong with it.
        if not self.start or (cell is not None and not is_same_program(cell.source, self.start)):
            return ""
        state = self._find_state_at_start(engine)
        # None: they cannot be compared, so the check has to say what is wrong.
        if state is None or state != state_of_variables(variables):
            return ""
        return gettext("everything is as it was at the start.")

    def _explain_none(self, variables: Mapping[str, Any], cell: CellOutcome) -> str:
        """Say which line of a cell made a variable None, as `c = a.retain_grad()` does; empty if none did."""
        for name in self.names:
            lines = [
                line
                for line in list_bindings(cell.source, name)
                if not isinstance(line.value, ast.Constant)
            ]
            if lines and name in variables and variables[name] is None:
                code = ast.unparse(max(lines, key=lambda line: line.lineno).value)
                return gettext(
                    "`{name}` is None: that is what `{code}` gives.", name=name, code=code
                )
        return ""

    def _find_state_at_start(self, engine: ModuleType) -> Any:
        """Return the state of the variables after the start alone; None if it cannot be looked at."""
        # Each run has the same settings and random numbers, so one stands for all: `verify` judges
        # dozens of programs after the same start.
        if engine.__name__ not in self._states_at_start:
            variables = run_attempt(self.start, None, engine).variables
            at_start = select_variables(variables, self.names)
            self._states_at_start[engine.__name__] = state_of_variables(at_start)
        return self._states_at_start[engine.__name__]

    def _judge_variables(
        self, variables: Mapping[str, Any], engine: ModuleType, cell: CellOutcome | None = None
    ) -> Verdict:
        # A program of the learner's own that raised is an attempt, also where it came to none of the names.
        if cell is not None and not is_same_program(cell.source, self.start):
            says = _ask_to_fix(cell, engine) if cell.error else self._explain_none(variables, cell)
            if says:
                return Verdict("wrong", says)
        if why := self._why_not_attempted(variables, engine, cell):
            return Verdict("not attempted", why)
        # What it looks at may be of an earlier run, and right.
        if cell is not None and cell.error:
            return Verdict("wrong", _ask_to_fix(cell, engine))
        arguments = {**variables, "torch": engine} if self._check_takes_torch else variables
        try:
            # What a check prints, or PyTorch warns of, is no output of the learner's cell.
            with (
                warnings.catch_warnings(action="ignore"),
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.nullcontext() if cell is None else know_source(cell.source),
            ):
                return self._verdict_of(self._check(**arguments))
        # `check` has a sentence for it.
        except KeyboardInterrupt:
            raise
        except AssertionError as error:
            sentence = describe_error(error).partition("AssertionError: ")[2].partition("\n")[0]
            return self._wrong_verdict(sentence)
        except BaseException as error:  # noqa: BLE001  # SystemExit must not end the kernel
            raised = describe_error(error).partition("\n")[0]
            if name := _find_raising_function(error, variables):
                says = gettext("calling `{name}` raises `{error}`", name=name, error=raised)
                return Verdict("wrong", says)
            return Verdict("wrong", gettext("looking at it raises `{error}`", error=raised))

    def _verdict_of(self, result: Any) -> Verdict:
        """Return the verdict for what a check returned or, for a generator, yields."""
        # A fact may be tried several times, and is said once.
        sentences: dict[str, None] = {}
        told: list[str] = []
        if isinstance(result, Iterator):
            for fact in result:
                if not fact.holds:
                    return Verdict("wrong", stabilize_text(fact.no))
                if fact.is_told:
                    told.append(fact.yes)
                else:
                    sentences[fact.yes] = None
        elif hasattr(result, "item"):
            # `return (a == b).all()` is a tensor.
            result = result.item()
        if result is None or result is True or isinstance(result, Iterator):
            # Why it is right says more than the list of what was looked at.
            why = gettext(self._right) if self._right else join_sentences(filter(None, sentences))
            why = why or gettext("that is what was asked for.")
            return Verdict("right", join_sentences([why, *told]))
        return self._wrong_verdict(result)

    def _wrong_verdict(self, reason: Any) -> Verdict:
        sentence = stabilize_text(reason) if isinstance(reason, str) else ""
        return Verdict("wrong", sentence or gettext("this is not what was asked for."))

    def hint(self, number: int | None = None) -> Part:
        """Return hint `number` (from 1), or the next one below those before it; note the help.

        ValueError if there is no hint of that number.
        """
        if number is None and self.hints:
            # What was read stays in view: a hint leans on the one before it.
            seen = self.list_read_hints()
            if len(seen) == len(self.hints):
                return Box(*seen, Paragraph(gettext("There is no further hint.")), spaced=True)
            return Box(*seen, self.hint(len(seen) + 1), spaced=True)
        number = number or 0
        if not 1 <= number <= len(self.hints):
            raise ValueError(self._describe_missing_hint(number))
        self._last_hint = max(self._last_hint, number)
        self._note_help(hints=self._last_hint)
        text = gettext(
            "Hint {number} of {count}: {hint}",
            number=number,
            count=len(self.hints),
            hint=self.hints[number - 1],
        )
        return split_paragraphs(text)

    def list_read_hints(self) -> list[Part]:
        """Return the hints that were read already, the first one first."""
        return [self.hint(number) for number in range(1, self._last_hint + 1)]

    def _describe_missing_hint(self, wanted: int) -> str:
        """Say that there is no hint of a number, and how many there are."""
        if not self.hints:
            return gettext("this exercise has no hints")
        return ngettext(
            "this exercise has {number} hint, and no hint {wanted}",
            "this exercise has {number} hints, and no hint {wanted}",
            len(self.hints),
            wanted=wanted,
        )

    def solution(self) -> Part:
        """Return code that solves it, and note that it was asked for.

        With COPYLAB_SOLUTIONS=off, or in a course folder laid out with it, there is a sentence in
        its place.
        """
        if hides_solutions():
            return Paragraph(gettext("Solutions are not shown here."))
        self._note_help(solution=True)
        return Box(Paragraph(gettext("One solution:")), Code(self.code, indent=""), spaced=True)

    def _note_help(self, *, hints: int = 0, solution: bool = False) -> None:
        """Note which help was asked for: the highest number of a hint, and the solution.

        Not once it is solved: what is looked at then did not help.
        """
        note = find_note("exercises", self.key)
        if note.get("state") == "right":
            return
        entry: dict[str, Any] = {
            "state": note.get("state", "begun"),
            "hints": max(note.get("hints", 0), hints),
        }
        if solution:
            entry["solution"] = True
        add_note("exercises", self.key, entry)

    # -- for the teacher

    def verify(self, engine: ModuleType | None = None) -> Verification:
        """Test the exercise itself. Nothing is noted as progress, and nothing raised.

        The start is not attempted; each wrong answer gets words of its own; the solution is right;
        at least one small change of the solution is noticed (`.notes` has those that are not); and
        the check changes nothing.
        """
        module = choose_engine(engine, self._engine)
        faults: list[str] = []
        start = self._judge_attempt(None, module, faults)
        if start.state != "not attempted":
            faults.append(f"the start is not seen as not attempted: {start}")
        verdict = self._judge_attempt(self.code, module, faults)
        if verdict.state != "right":
            faults.append(f"the solution does not pass: {verdict}")
        for code in self.also:
            verdict = self._judge_attempt(code, module, faults)
            if verdict.state != "right":
                faults.append(f"{code!r} should be right as well: {verdict}")
        self._verify_wrong_answers(module, faults)
        if self.diagnosis is not None:
            at_start = run_attempt(self.start, None, module).variables
            when_solved = run_attempt(self.start, self.code, module).variables
            faults += self.diagnosis.find_faults(at_start, when_solved)
        noticed, missed = self._try_mutations(module, faults)
        # Some changes leave it right, `1 + x` for `x + 1`: only a check that notices none is at
        # fault.
        if missed and not noticed:
            faults.append("no change of the solution is noticed: the check would pass anything")
        tried = ngettext(
            "start, solution, {number} wrong answer, "
            "{caught} of {changes} changed solutions noticed",
            "start, solution, {number} wrong answers, "
            "{caught} of {changes} changed solutions noticed",
            len(self.wrong),
            caught=len(noticed),
            changes=len(noticed) + len(missed),
        )
        notes = tuple(f"still right: {change}" for change in missed)
        return Verification(tried, tuple(dict.fromkeys(faults)), notes)

    def _verify_wrong_answers(self, engine: ModuleType, faults: list[str]) -> None:
        """Add a fault for each wrong answer that does not get words of its own."""
        code_by_sentence: dict[str, str] = {}
        for code, words in self.wrong.items():
            verdict = self._judge_attempt(code, engine, faults)
            says = verdict.says
            # What is code is marked as such; words to be found need not be.
            is_told = words.replace("`", "") in says.replace("`", "")
            if verdict.state != "wrong" or not is_told:
                faults.append(f"{code!r} should be told {words!r}, and gets: {verdict}")
            elif says in code_by_sentence:
                other = code_by_sentence[says]
                faults.append(f"{code!r} and {other!r} get the same words: {says}")
            code_by_sentence[says] = code

    def _try_mutations(self, engine: ModuleType, faults: list[str]) -> tuple[list[str], list[str]]:
        """Return the changes of the solution that the check notices, and those it takes for right.

        A change after which nothing counts as attempted is neither.
        """
        noticed, missed = [], []
        for change, code in mutate_program(self.code):
            state = self._judge_attempt(code, engine, faults).state
            if state == "wrong":
                noticed.append(change)
            elif state == "right":
                missed.append(change)
        return noticed, missed

    def _judge_attempt(self, code: str | None, engine: ModuleType, faults: list[str]) -> Verdict:
        """Return the verdict for a program after the start; None is the start alone.

        `faults` gets what goes wrong.
        """
        variables, error = run_attempt(self.start, code, engine)
        program = self.start if code is None else code
        # A wrong answer may raise.
        must_not_raise = code in (None, self.code, *self.also)
        if error and must_not_raise:
            faults.append(f"{program!r} raises {error.partition(chr(10))[0]}")
        checked = select_variables(variables, self.names)
        before = state_of_variables(checked)
        with know_source(program):
            verdict = self._judge_variables(checked, engine)
            # As of a learner's cell: what raised is not right.
            if verdict and error:
                cell = CellOutcome.from_description(program, error)
                verdict = self._judge_variables(checked, engine, cell)
        if state_of_variables(checked) != before:
            faults.append(f"the check changes what it looks at, after: {program}")
        return verdict

    # -- showing

    def tree(self, verdict: Verdict | None = None) -> Part:
        """Return the task, and how to get help.

        A page has the hints themselves, folded, and the `verdict` of the last check.
        """
        usage = self._describe_usage()
        words = InText(
            Paragraph(gettext("{what}: {facts}", what=self.title, facts=self.task)),
            Paragraph(usage),
        )
        asked = None if self.diagnosis is None else self.diagnosis.tree()
        hints = (
            Fold(gettext("Hint {number}", number=n), split_paragraphs(hint))
            for n, hint in enumerate(self.hints, 1)
        )
        # It needs no style sheet.
        card = "border: 1px solid; border-radius: 8px; padding: 6px 12px; max-width: 76rem"
        kernel = gettext("Check, Hint and Solution need a kernel: where one runs, run this cell.")
        title = Paragraph("", mark=self.title)
        inside = (title, split_paragraphs(self.task), asked, *hints, verdict, Paragraph(kernel))
        page = InPage(Box(*inside, class_="copylab-exercise", style=card))
        return Box(words, None if asked is None else InText(asked), page)

    def _describe_usage(self) -> str:
        if not self.hints:
            return gettext("(solution() gives the solution, check() looks at yours.)")
        return ngettext(
            "({number} hint. hint() gives a hint, solution() the solution, "
            "check() looks at yours.)",
            "({number} hints. hint() gives a hint, solution() the solution, "
            "check() looks at yours.)",
            len(self.hints),
        )

    def live(self) -> ExerciseView:
        """Return the card with buttons, the same widget each time: observe its trait `state`."""
        CELL_OUTCOMES.follow_shell(self.names)
        # A closed widget has no comm.
        if self._view is None or self._view.comm is None:
            self._view = ExerciseView(self)
        return self._view


exercise = Exercise


class ExerciseCard(Panel):
    """The place of a card, with its style."""

    SHEETS = ("quiz/exercise.css",)


class ExerciseView(TaskView):
    """A card: the task, its state, buttons, and the verdict or help that was asked for.

    Observe `state`.
    """

    state = traitlets.Enum(tuple(_STATES), "not attempted", help="What the last check found.")

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise
        self._verdict: Verdict | None = None
        self.card = ExerciseCard(label=exercise.title)
        self.card.on_msg(self._handle_message)
        self._update_card()
        super().__init__(exercise, [self.card])

    @property
    def html(self) -> str:
        """The card for a page without a kernel, as the last check left it."""
        return wrap_in_language(self._exercise.tree(self._verdict).html())

    def take_verdict(self, verdict: Verdict) -> None:
        """Show what a check found: the state in the card, all of it in the page that is stored."""
        self._verdict = verdict
        # Before the verdict is seen: who then saves the notebook at once saves it, too.
        self.renew_twin()
        is_as_before = self.state == verdict.state
        self.state = verdict.state  # at a change the card is shown anew
        # Without a verdict of the button, which would be there twice: `check()` prints its own below its cell.
        if is_as_before:
            self._follow_state(None)

    def close(self) -> None:
        """Close the card, and let it go: the exercise makes another when it is looked at again."""
        super().close()
        if self._exercise._view is self:
            self._exercise._view = None

    def _handle_message(self, _widget: object, content: Any, _buffers: object) -> None:
        match content:
            case {"do": "check"}:
                verdict = self._exercise.check(notebook_names())
                self._update_card(verdict, self._exercise.list_read_hints())
            case {"do": str(action)} if action.startswith("diagnose ") and self._exercise.diagnosis:
                choices = self._exercise.diagnosis.choices
                # It comes from a browser, and may be any number.
                chosen = dict(zip(map(str, range(len(choices))), choices, strict=True))
                if choice := chosen.get(action.partition(" ")[2]):
                    self._update_card(diagnosed=self._exercise.diagnose(choice))
            case {"do": "hint"}:
                self._update_card(self._exercise.hint())
            case {"do": "solution"}:
                # Below the hints, which lead to it: the eye should not meet it before them.
                self._update_card(
                    self._exercise.solution(), self._exercise.list_read_hints(), is_last=True
                )

    @traitlets.observe("state")
    def _follow_state(self, _: object) -> None:
        # By `check()` in a cell, say: what was read stays.
        self._update_card(hints=self._exercise.list_read_hints())

    def _update_card(
        self,
        answer: Part | None = None,
        hints: Sequence[Part] = (),
        *,
        is_last: bool = False,
        diagnosed: Part | None = None,
    ) -> None:
        """Show the card, with a verdict, a hint or the solution below its buttons.

        hints: those that stay below it, or above it if it `is_last`; a screen reader is not told
            them again.
        diagnosed: what is said to a choice of what is wrong.
        """
        state = _STATES[self.state]
        word = gettext(state.word)
        if self.state != "right" and self._exercise.was_solved:
            # By another session, as the progress file says: this one has judged nothing so far.
            if self._verdict is None:
                state, word = _STATES["right"], gettext("Solved earlier")
            else:
                word = gettext("{state} (solved earlier)", state=word)
        status = html_element(
            "span",
            escape(f"{state.sign} {word}"),
            class_=f"cl-status cl-{state.colour}",
        )
        title = html_element("strong", escape(self._exercise.title))
        html = html_element("p", title + status, class_="cl-title")
        html += split_paragraphs(self._exercise.task).html()
        html += self._render_diagnosis(diagnosed)
        html += self._render_buttons()
        parts = (*hints, answer) if is_last else (answer, *hints)
        shown = [part for part in parts if part is not None]
        if shown:
            said = Box(*shown, spaced=True) if hints else shown[0]
            html += html_element("div", said.html(), class_="cl-said")
        text = "".join(part.text() for part in (diagnosed, answer) if part is not None)
        self.card.show(html_element("div", html, class_="cl-card"), text)

    def _render_diagnosis(self, diagnosed: Part | None) -> str:
        """Return the HTML of the question what is wrong, and of what is said to a choice."""
        asked, found = self._exercise.diagnosis, self._exercise.found_diagnosis
        if asked is None:
            return ""
        if diagnosed is None and found is not None:
            diagnosed = asked.judge(found)
        is_solved = self.state == "right" or self._exercise.was_solved
        if diagnosed is None and is_solved:
            # The program that was asked about is gone: what was wrong with it is told.
            return html_element("div", asked.tell_answer().html(), class_="cl-diagnosis")
        said = "" if diagnosed is None else html_element("div", diagnosed.html())
        return asked.render_buttons(found) + said

    def _render_buttons(self) -> str:
        names = {"check": gettext("Check")}
        if self._exercise.hints:
            names["hint"] = gettext("Hint")
        names["solution"] = gettext("Solution")
        buttons = ""
        for action, name in names.items():
            buttons += html_element(
                "button",
                escape(name),
                type="button",
                data_do=action,
                # Keeps the focus when the card is shown anew.
                data_keep=action,
                class_="cl-primary" if action == "check" else None,
            )
        if self._verdict is None and not self._exercise.was_solved:
            way = gettext(
                "Write in your cell below, run it, then press Check. "
                "(`check()` in a cell does the same.)"
            )
            buttons += html_element("span", inline_html(way), class_="cl-way")
        return html_element("div", buttons, class_="cl-bar")
