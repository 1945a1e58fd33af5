"""One frame for each step: its line, its outputs, what it changed, and its two pictures.

A picture that is the same as an earlier one is stored once, and referred to by the number of the
step that has it.
"""

from __future__ import annotations

import ast
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from tinytorch.viz import (
    Blame,
    Changes,
    Document,
    LayoutError,
    Level,
    LineFacts,
    PastStep,
    ReadStep,
    Snapshot,
    StepSentence,
    blame_lines,
    compare_snapshots,
    describe_new_cuts,
    describe_step,
    find_backward_root,
    find_expressions,
    find_number_reads,
    find_origins,
    graphs_of,
    list_texts,
    mark_raised,
    memories_of,
    read_snapshot,
    shorten_text,
    summarize_text,
)

from ..code_marks import CodeWords
from ..run import RecordedRun, Step, make_printable, stabilize_text, truncate_text
from ..wording import (
    cached_property_in_language,
    gettext,
    gettext_noop,
    join_sentences,
    ngettext,
)
from .changed_lines import find_changed_lines
from .harm import measure_harm
from .line_remarks import explain_copy, explain_first_versions, find_lost_write


@dataclass(frozen=True)
class Observation:
    """What was seen after a step: a snapshot of the tensors, and short texts of other variables."""

    snapshot: Snapshot
    plain: Mapping[str, str]
    records_graph: bool = True
    """False if grad mode was off."""


# A program's imports and definitions.
_NOT_SHOWN = (ModuleType, FunctionType, type)
_PLAIN_KINDS = (bool, int, float, complex, str)
_WIDTH_OF_SVG = re.compile(r' viewBox="0 0 (\d+)')


class NameObserver:
    """Observes the names of a program after each step.

    A tensor that is still alive has the same id each time. `engine` is asked for its grad mode.
    """

    def __init__(self, engine: ModuleType) -> None:
        self._engine = engine
        self._last: Snapshot | None = None

    def __call__(self, names: Mapping[str, Any]) -> Observation:
        """Take a snapshot of the values of `names`."""
        # `type(value)` and not isinstance(), which asks the value: it may answer anything, or
        # raise.
        values = {
            name: value for name, value in names.items() if not issubclass(type(value), _NOT_SHOWN)
        }
        snapshot = self._last = self._take_snapshot(values)
        tensors = {name for name, _ in snapshot.names}
        plain: dict[str, str] = {}
        for name, value in values.items():
            text = None if name in tensors else _describe_value(value)
            if text is not None:
                plain[name] = text
        return Observation(snapshot.without_identities(), plain, self._engine.is_grad_enabled())

    def _take_snapshot(self, values: dict[str, Any]) -> Snapshot:
        """Take a snapshot of what can be looked at: an object of the program's may raise anything."""
        try:
            return _look_at(values, self._last)
        except BaseException:  # noqa: BLE001
            # Also KeyboardInterrupt and SystemExit, which a look passes on. Nobody has interrupted:
            # while a step is observed, the stopwatch keeps that until the observation is over.
            pass
        # One at a time: the error does not say which of the objects raised it.
        for name, value in list(values.items()):
            try:
                _look_at({name: value}, None)
            except BaseException:  # noqa: BLE001
                del values[name]
        return _look_at(values, self._last)


def _look_at(values: dict[str, Any], since: Snapshot | None) -> Snapshot:
    """Take a snapshot of variables, and of what objects of the program's own classes hold."""
    return read_snapshot((values,), {}, since=since, objects=is_of_program)


def is_of_program(thing: Any) -> bool:
    """Return True for an object of a class that the program itself defines."""
    # Not for all objects: of a library they may hold far more than the program means by them.
    return type(thing).__module__ == "__main__"


def _describe_value(value: object) -> str | None:
    """Return a short text for a value whose text is the same in every run; None for others."""
    # By identity: the class of a class may compare as it likes.
    if value is not None and not any(type(value) is kind for kind in _PLAIN_KINDS):
        return None
    # Python refuses to write an int of more than 4300 digits, and takes long for a large one.
    if isinstance(value, int) and value.bit_length() > 200:
        return f"an int of {value.bit_length():,} bits"
    # No more than is shown: a text may have megabytes.
    text = repr(value[:70] if isinstance(value, str) else value)
    return truncate_text(stabilize_text(text), 60).replace("\n", " ")


@dataclass(frozen=True, repr=False)
class StepPicture(Document):
    """One picture of a frame: its SVG, its text, and the first step that has the same picture.

    The SVG is empty if it cannot be drawn, and `problem` says why. It shows itself in a notebook,
    and `save` writes it as a file: .svg, .png, .pdf or .txt.
    """

    svg: str
    text: str
    step: int
    problem: str = ""

    def svg_in_theme(self, theme: str | None) -> str:
        """Return the SVG in one fixed theme, "light", "dark" or "print".

        Raises LayoutError if it cannot be drawn.
        """
        if not self.svg:
            raise LayoutError(self.problem)
        return super().svg_in_theme(theme)


class StepAlarm(NamedTuple):
    """What of a step must not be missed: a wrong gradient or an error, there or to come."""

    title: str
    """What it is, in a few words."""
    sentences: tuple[str, ...]
    """The harm in numbers where it is known, the lines to blame, the way out."""
    severity: str = "wrong"
    """"error", or "wrong" for a gradient."""
    details: tuple[str, ...] = ()
    """What a stage has no room for at first: who saved it, and who wrote."""


@dataclass(frozen=True)
class Frame:
    """All that is shown of one step. Steps are counted from 1."""

    number: int
    step: Step
    sentences: tuple[StepSentence, ...]
    pictures: Mapping[str, StepPicture]
    place: str = ""
    """`line 3`; of a function `model.py, line 3`, of several `Net.forward (model.py), line 3`."""
    code: int = 0
    """The index of the text of the run that has its line."""
    picture_changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kind -> the lines of the picture in words that are new since the step before."""
    explanation: tuple[str, ...] = ()
    """For a line that ran backward: which earlier line made it fail or give a wrong gradient, and
    the way out."""
    alarms: tuple[StepAlarm, ...] = ()
    """What must not be missed, other than the error that it raised."""
    memory_since: Mapping[int, StepPicture] = field(default_factory=dict)
    """First step of a stretch that ends here -> the memory picture that is compared with what was
    there before that step: what a round of a loop changed."""
    code_words: CodeWords = field(default_factory=CodeWords)
    """What in its sentences is code."""

    def __repr__(self) -> str:
        return summarize_text(
            gettext(
                "<step {number}, {title}>", number=self.number, title=summarize_text(self.title, 80)
            )
        )

    @property
    def changes(self) -> tuple[str, ...]:
        """What it changed, in sentences."""
        return list_texts(self.sentences)

    @property
    def has_wrong_gradient(self) -> bool:
        """True if it computed a wrong gradient and no error said so."""
        return bool(self.explanation) and self.step.error is None

    @property
    def line(self) -> int:
        """The line that ran: of the code, or of the function's file."""
        return self.step.site.line

    @property
    def source(self) -> str:
        """The text of that line or statement."""
        return self.step.site.source

    @property
    def output(self) -> str:
        """What it printed, showed as its value and warned, in order."""
        return "".join(text if text.endswith("\n") else text + "\n" for _, text in self.step.output)

    @property
    def error(self) -> str | None:
        """The exception it raised, as `Type: message`."""
        return self.step.error

    @cached_property_in_language
    def title(self) -> str:
        """The line that ran, and a note if it is not simply done."""
        note = _NOTES.get(self.step.kind)
        source = _shorten_to_line(make_printable(self.source))
        title = gettext("{what}: {facts}", what=self.place, facts=source)
        return gettext("{text}  ({note})", text=title, note=gettext(note)) if note else title


def wrong_gradient_title() -> str:
    """Return the title above the explanation of a wrong gradient."""
    return gettext("A wrong gradient, and no error")


_NOTES = {
    "call": gettext_noop("calls a function, which begins"),
    "back": gettext_noop("the function has come back"),
    "error": gettext_noop("error"),
    "syntax": gettext_noop("error"),
    "stopped": gettext_noop("stopped here"),
}


def _shorten_to_line(source: str) -> str:
    first, _, rest = source.partition("\n")
    return truncate_text(first, 100).partition("\n")[0] + (
        " ..." if rest or len(first) > 100 else ""
    )


class StepRange(NamedTuple):
    """Several steps in a row that a reader may take as one: a round of a loop, a call."""

    first: int
    """The number of its first step."""
    last: int
    """The number of its last step."""


def leave_out_empty_ending(run: RecordedRun) -> RecordedRun:
    """Return a run without the last looks at the heads of its loops, if they are its last steps and change nothing.

    A program that ends in a loop would end in an empty step, behind the line that tells the most.
    """
    number = len(run.steps)
    while number > 1 and run.ended == "finished" and _is_empty_look(run, number):
        number -= 1
    return run if number == len(run.steps) else run.end_after(number)


def _is_empty_look(run: RecordedRun, number: int) -> bool:
    """Return True if a step found that a loop is over, and neither printed nor changed anything."""
    before, step = run.steps[number - 2 : number]
    if not is_end_of_loop(step) or step.output or step.error:
        return False
    # Of a loop without a round, nothing else says that its line ran.
    has_rounds = any(
        other.site is step.site and other.round > 0 and other.calls == step.calls
        for other in run.steps[: number - 1]
    )
    if not has_rounds or before.observation is None or step.observation is None:
        return False
    seen, then = step.observation, before.observation
    changes = compare_snapshots(seen.snapshot, then.snapshot)
    return not describe_step(changes, then.plain, seen.plain)


def is_end_of_loop(step: Step) -> bool:
    """Return True for the look at the head of a loop that begins no round."""
    is_look = bool(step.site.loop) and step.kind == "branch"
    return is_look and not (step.round or step.folded)


def make_frames(
    run: RecordedRun, level: Level = "graph", stretches: Sequence[StepRange] = ()
) -> tuple[Frame, ...]:
    """Make the frames of a run.

    `level` is how much sentences and pictures say. `stretches` get a memory picture of their own.
    """
    differences = _compare_observations(run)
    blames = _blame_steps(run, differences)
    # What is known of graphs alone is said at their level.
    lines = _find_line_facts(run, differences) if level == "graph" else {}
    pictures = _draw_pictures(run, differences, blames, lines, level, stretches)
    has_several_texts = len(run.texts) > 1
    alarms, code_words = _raise_alarms(run, blames), collect_code_words(run)
    frames: list[Frame] = []
    silent_keys: set[object] = set()
    for number, step in enumerate(run.steps, 1):
        place = step.site.describe_place(several=has_several_texts)
        code = run.texts.index(step.site.text)
        # The step of a text that is no Python has nothing that was seen after it.
        if number not in differences:
            frames.append(Frame(number, step, (), {}, place, code))
            continue
        line = lines.get(number, LineFacts())
        sentences = _describe_step(step, differences[number], line, silent_keys, level)
        # Written for good, and no backward asks for it: then there is nothing to be alarmed at.
        if not any(later.error for later in run.steps[number:]):
            sentences = tuple(
                said._replace(role="reason") if said.role == "alarm" else said for said in sentences
            )
        if blames[number].sentences and step.error is None:
            sentences = _set_back(sentences)
        step_pictures = pictures.get(number, StepPictures())
        frames.append(
            Frame(
                number,
                step,
                (*_describe_folded_rounds(step), *sentences),
                step_pictures.pictures,
                place,
                code,
                step_pictures.changed,
                blames[number].sentences,
                (*alarms.get(number, ()), *_foretell_error(sentences)),
                step_pictures.memory_since,
                code_words,
            )
        )
    return tuple(frames)


def _set_back(sentences: Iterable[StepSentence]) -> tuple[StepSentence, ...]:
    """Fold away all but the headline, beside the alarm of a wrong gradient, which has the numbers."""
    return tuple(
        said._replace(role="rest") if said.role in ("numbers", "reason") else said
        for said in sentences
    )


def explain_error(run: RecordedRun) -> str:
    """Say why a run ended in its error, as the player does, without the way out; empty if not known."""
    if run.error is None:
        return ""
    blames = _blame_steps(run, _compare_observations(run))
    blame = blames.get(len(run.steps), Blame())
    words = collect_code_words(run)
    return join_sentences(map(words.quote_code, blame.reasons))


def collect_code_words(run: RecordedRun) -> CodeWords:
    """Return the code words of a run: its lines, and the names of all its tensors."""
    lines, names = set[str](), set[str]()
    for step in run.steps:
        lines.add(step.site.source.partition("\n")[0].strip())
        if step.observation is not None:
            names.update(name for name, _ in step.observation.snapshot.names)
    return CodeWords(lines - {""}, names)


def _describe_step(
    step: Step, difference: Difference, line: LineFacts, silent_keys: set[object], level: Level
) -> tuple[StepSentence, ...]:
    """Return what a step changed and cut off, and why it copied; `silent_keys` as `describe_step` has them."""
    before, changes = difference
    sentences = describe_step(
        changes,
        before.plain,
        step.observation.plain,
        off_graph=_list_results_off_graph(step, before),
        silent_keys=silent_keys,
        root=_quote_root(step),
        level=level,
    )
    if level == "names":
        return sentences
    cuts = describe_new_cuts(changes, line) if level == "graph" else ()
    site, after = step.site, step.observation.snapshot
    reasons = [explain_copy(site.source, site.function, after)]
    if level != "storage":
        reasons += explain_first_versions(site.source, changes)
    # Of several rounds, the last line does not tell what they did.
    if step.kind == "ran" and not step.folded:
        reasons.append(find_lost_write(site.source, site.function, before.snapshot, after))
    return (*sentences, *cuts, *filter(None, reasons))


def _quote_root(step: Step) -> str:
    """Return what the statement of a step calls backward on, as it is written; empty if nothing."""
    # What several rounds of a loop did, the last line of them does not tell.
    if step.folded:
        return ""
    try:
        statement = ast.parse(step.site.source.strip()).body[0]
    except (SyntaxError, IndexError):
        return ""  # the beginning of a block
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(root, "backward"))) if _is_made_of_tensors(root, step):
            return shorten_text(ast.unparse(root), 30)
    return ""


def _is_made_of_tensors(root: ast.expr, step: Step) -> bool:
    """Return False for `torch.autograd.backward(loss)`, and for a trainer's `self.backward(loss)`."""
    # Inside of a function the snapshot calls a variable `loss in f`.
    names = {name.partition(" in ")[0] for name, _ in step.observation.snapshot.names}
    if isinstance(root, ast.Name | ast.Attribute):
        return ast.unparse(root) in names
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(root))


def _raise_alarms(run: RecordedRun, blames: Mapping[int, Blame]) -> dict[int, list[StepAlarm]]:
    """Return the alarms by the number of their step.

    One for each step that computed a wrong gradient, and before it one for each that wrote.
    """
    wrong = {
        number: blame
        for number, blame in blames.items()
        if blame.sentences and run.steps[number - 1].error is None
    }
    harm = measure_harm(run) if wrong else {}
    backwards = Counter(run.steps[number - 1].site.line for number in wrong)
    # A writer is an index in what `_blame_steps` has as `past`: line 0, then a step for each key here.
    numbers_of_past = [0, *blames]
    alarms: dict[int, list[StepAlarm]] = {}
    for number, blame in wrong.items():
        site = run.steps[number - 1].site
        # Of two wrong ones on one line it is not known which was measured.
        is_measured = site.text is run.texts[0] and backwards[site.line] == 1
        numbers = harm.get(site.line, ()) if is_measured else ()
        title = gettext("A gradient will be wrong, without an error")
        place = site.phrase_place(several=len(run.texts) > 1)
        where = gettext("The backward {where} will use the new values.", where=place)
        for writer in sorted(blame.writers):
            foretold = (*(each.predict_difference() for each in numbers), where)
            # Once, of however many backwards read it.
            of_writer = alarms.setdefault(numbers_of_past[writer], [])
            if not any(alarm.title == title for alarm in of_writer):
                of_writer.append(StepAlarm(title, foretold))
        # Beside numbers the way out is enough at first: it comes last.
        details, way_out = blame.sentences[:-1], blame.sentences[-1:]
        alarm = StepAlarm(
            wrong_gradient_title(),
            (*map(str, numbers), *way_out) if numbers else blame.sentences,
            details=details if numbers else (),
        )
        alarms.setdefault(number, []).append(alarm)
    return alarms


def _foretell_error(sentences: Iterable[StepSentence]) -> Iterator[StepAlarm]:
    """Yield an alarm if a step wrote to what backward will not accept."""
    reasons = tuple(sentence.text for sentence in sentences if sentence.role == "alarm")
    if reasons:
        yield StepAlarm(gettext("An error is coming"), reasons, "error")


def _list_results_off_graph(step: Step, before: Observation) -> list[str]:
    """Return the variables given a result of arithmetic on what requires grad, in no_grad mode.

    Of other code (`torch.zeros(3)`, a call) it is not known whether grad mode made a difference.
    """
    if step.observation.records_graph:
        return []
    leaves = {name for name, i in before.snapshot.names if before.snapshot.tensor(i).requires_grad}
    try:
        statement = ast.parse(step.site.source.strip()).body[0]
    except (SyntaxError, IndexError):
        return []  # the beginning of a block
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return []
    waiting, operands = [statement.value], []
    while waiting:
        operand = waiting.pop()
        operands.append(ast.unparse(operand))
        if isinstance(operand, ast.BinOp):
            waiting += [operand.left, operand.right]
    # The whole alone, `y = w`, is no arithmetic.
    return [] if leaves.isdisjoint(operands[1:]) else [statement.targets[0].id]


class Difference(NamedTuple):
    """An observation, and what has changed at the next one."""

    before: Observation
    changes: Changes


def _compare_observations(run: RecordedRun) -> dict[int, Difference]:
    """Return what changed at each step, by its number, for steps with an observation after them."""
    differences: dict[int, Difference] = {}
    before: Observation | None = run.before
    for number, step in enumerate(run.steps, 1):
        if step.observation is not None and before is not None:
            changes = compare_snapshots(step.observation.snapshot, before.snapshot)
            differences[number] = Difference(before, changes)
            before = step.observation
    return differences


def find_origins_at_end(run: RecordedRun) -> dict[str, str]:
    """Return tensor id -> the expression that computed it, as the last picture of a run has it."""
    found = find_origins(
        (changes, run.steps[number - 1].site.source)
        for number, (_, changes) in _compare_observations(run).items()
    )
    return found[-1] if found else {}


def _blame_steps(run: RecordedRun, differences: Mapping[int, Difference]) -> dict[int, Blame]:
    """Find for each step with an observation the earlier lines that spoil its backward.

    `Blame.writers` are indices in `past` below, of which `_raise_alarms` makes numbers of steps: each
    key of the result adds one step to it, behind line 0.
    """
    # Line 0 is what was there before the first one ran. Without it there are no differences.
    past = [] if run.before is None else [PastStep(0, "", run.before.snapshot)]
    blames: dict[int, Blame] = {}
    for number, (_, changes) in differences.items():
        step = run.steps[number - 1]
        site, now = step.site, changes.now
        blames[number] = blame_lines(past, site.source, step.error, now)
        function = site.text.describe(several=len(run.texts) > 1)
        past.append(PastStep(site.line, site.source, now, function))
    return blames


@dataclass(frozen=True)
class StepPictures:
    """The pictures of a step by their kind, and of each in words the lines that changed."""

    pictures: dict[str, StepPicture] = field(default_factory=dict)
    changed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    memory_since: dict[int, StepPicture] = field(default_factory=dict)


def _draw_pictures(
    run: RecordedRun,
    differences: Mapping[int, Difference],
    blames: Mapping[int, Blame],
    lines: Mapping[int, LineFacts],
    level: Level,
    stretches: Sequence[StepRange],
) -> dict[int, StepPictures]:
    """Draw the pictures of each step, on one stage for all steps.

    A picture that is as before is the same object.
    """
    # Before there is a tensor, there is nothing to draw.
    changes = _collect_changes(differences, blames)
    pictures = {number: StepPictures() for number in changes}
    # As many seconds as the run had: of a graph that grows with each of n steps, pictures take the
    # square of n, and 400 rounds took 46 seconds. Memory leaves at least half of them to graphs.
    seconds = run.limits.seconds
    time_of_memories = _DrawingTime(seconds / 2)
    looks = list(_list_looks(run, changes, differences, stretches))
    count = _draw_memories(run, looks, pictures, time_of_memories, level)
    _add_undrawn(pictures, "memory", list(changes)[count:], seconds)
    if level != "graph":
        return pictures
    graphs = {number: changed for number, changed in changes.items() if changed.now.nodes}
    # An error speaks for itself: nodes are marked only for a gradient that was computed.
    wrong_nodes = [
        frozenset() if run.steps[number - 1].error else blames[number].nodes for number in graphs
    ]
    time_of_graphs = _DrawingTime(seconds - time_of_memories.seconds_used())
    marks = GraphMarks(wrong_nodes, [lines[number] for number in graphs])
    count = _draw_graphs(graphs, marks, pictures, time_of_graphs)
    _add_undrawn(pictures, "graph", list(graphs)[count:], seconds)
    return pictures


def _collect_changes(
    differences: Mapping[int, Difference], blames: Mapping[int, Blame]
) -> dict[int, Changes]:
    """Return what changed at each step with tensors, with what backward has raised on until then."""
    raised: set[tuple[object, str]] = set()
    collected = {}
    for number, (_, changes) in differences.items():
        raised |= blames[number].raised
        if changes.now.tensors:
            collected[number] = replace(changes, now=mark_raised(changes.now, raised))
    return collected


class _DrawingTime:
    """The time that is left to draw pictures.

    Processor time, so that a busy machine draws as many as an idle one.
    """

    def __init__(self, seconds: float) -> None:
        self._begin, self._seconds = time.process_time(), seconds

    def seconds_used(self) -> float:
        """Return how many seconds have been used."""
        return time.process_time() - self._begin

    def is_up(self, share: float = 1.0) -> bool:
        """Return True if a share of the time is used up."""
        return self.seconds_used() > share * self._seconds

    def limit_steps(self, steps: Iterable[Changes]) -> Iterator[Changes]:
        """Yield the steps until half of the time is up: all are placed before one is drawn."""
        for changed in steps:
            if self.is_up(share=0.5):
                return
            yield changed


def _add_undrawn(
    pictures: Mapping[int, StepPictures], kind: str, numbers: list[int], seconds: float
) -> None:
    """Say at the steps for which there was no time that their pictures are not drawn."""
    if not numbers:
        return
    problem = gettext("the time for drawing was up (seconds={seconds})", seconds=f"{seconds:g}")
    words = gettext("Not drawn. Draw fewer steps with rounds=2, or more with a larger seconds=.")
    for number in numbers:
        pictures[number].pictures[kind] = StepPicture("", words, numbers[0], problem)


class _MemoryToDraw(NamedTuple):
    """A memory picture that is to be drawn."""

    last: int
    """The step after which it is."""
    first: int
    """It is compared with what was there before this step."""
    changes: Changes
    """What has changed since."""
    source: str
    """The statement that ran; empty for a stretch of several."""
    number: int
    """That of the picture: of a step its own, of a stretch one behind those of all steps."""


def _list_looks(
    run: RecordedRun,
    changes: Mapping[int, Changes],
    differences: Mapping[int, Difference],
    stretches: Iterable[StepRange],
) -> Iterator[_MemoryToDraw]:
    """Yield the pictures to draw: of each step, and behind it of the stretches that it ends.

    A stretch shows what its last step shows, so that it changes no place on the stage.
    """
    ending: dict[int, list[int]] = {}
    for stretch in stretches:
        ending.setdefault(stretch.last, []).append(stretch.first)
    next_number = len(run.steps) + 1
    for number, changed in changes.items():
        yield _MemoryToDraw(number, number, changed, run.steps[number - 1].site.source, number)
        for first in ending.get(number, ()):
            if first not in differences:
                continue
            since = compare_snapshots(changed.now, differences[first].before.snapshot)
            yield _MemoryToDraw(number, first, since, "", next_number)
            next_number += 1


def _draw_memories(
    run: RecordedRun,
    looks: Sequence[_MemoryToDraw],
    pictures: Mapping[int, StepPictures],
    time_left: _DrawingTime,
    level: Level,
) -> int:
    """Draw the memory of the steps while there is time; return of how many."""
    drawn: dict[tuple[str, str], StepPicture] = {}
    before = ""
    count = 0
    # A picture says which expression computed a tensor.
    sources = [look.source for look in looks]
    changes = time_left.limit_steps(look.changes for look in looks)
    memories = memories_of(changes, sources=sources, level=level)
    # Fewer memories than changes, if the time was up before all had a place.
    for look, memory in zip(looks, memories, strict=False):
        if time_left.is_up():
            break
        number = look.last
        new = StepPicture(memory.svg, memory.text, look.number)
        picture = drawn.setdefault((memory.svg, memory.text), new)
        if look.number > len(run.steps):
            pictures[number].memory_since[look.first] = picture
            continue
        count += 1
        pictures[number].pictures["memory"] = picture
        pictures[number].changed["memory"] = find_changed_lines(before, memory.text)
        # Without the marks of what was new at that step: they alone would make lines differ.
        before = memory.unmarked_text()
    return count


def _find_root(step: Step, difference: Difference) -> object:
    """Return the key of the node at which the backward of a step began, if it is certain."""
    # What several rounds of a loop did, the last line of them does not tell.
    if step.error or step.folded or step.kind != "ran":
        return None
    return find_backward_root(difference.before.snapshot, step.site.source)


class GraphMarks(NamedTuple):
    """What the run tells of the graphs of its steps, one of each for each step that has a graph."""

    wrong_nodes: list[frozenset[Any]]
    """The keys of the nodes whose gradient is wrong."""
    lines: list[LineFacts]
    """What its line tells."""


def _find_line_facts(
    run: RecordedRun, differences: Mapping[int, Difference]
) -> dict[int, LineFacts]:
    """Return for each step that was observed what its line tells of its graph."""
    steps = []
    for number, (_, changes) in differences.items():
        step = run.steps[number - 1]
        # In a function the names are others; a line of several rounds does not tell what they did.
        is_known = step.site.function is None and not step.folded and step.kind == "ran"
        source = step.site.source if is_known else ""
        steps.append(ReadStep(changes, source, step.observation.plain))
    found = zip(differences, find_number_reads(steps), find_expressions(steps), strict=True)
    lines = {}
    for number, reads, expressions in found:
        root = _find_root(run.steps[number - 1], differences[number])
        lines[number] = LineFacts(root, reads, expressions)
    return lines


def _draw_graphs(
    changes: Mapping[int, Changes],
    marks: GraphMarks,
    pictures: Mapping[int, StepPictures],
    time_left: _DrawingTime,
) -> int:
    """Draw the graphs of the steps while there is time; return of how many."""
    drawn: dict[tuple[Any, str], StepPicture] = {}
    before = ""
    count = 0
    # Below a wide picture of memory there is room for a graph to the right, which is not as high.
    width = max(_measure_width(pictures[number]) for number in changes) if changes else 0
    limited = time_left.limit_steps(changes.values())
    graphs = graphs_of(limited, marks.wrong_nodes, marks.lines, width=width)
    for number, (content, graph) in zip(changes, graphs, strict=False):
        if time_left.is_up():
            break
        count += 1
        # A graph is compared before its layout is made, which takes most of the time.
        key = (content, graph.text)
        if key not in drawn:
            try:
                drawn[key] = StepPicture(graph.svg, graph.text, number)
            except LayoutError as error:
                # The words need no Graphviz.
                drawn[key] = StepPicture("", graph.text, number, str(error))
        pictures[number].pictures["graph"] = drawn[key]
        renumbered = _renumber_nodes(before, changes[number])
        pictures[number].changed["graph"] = find_changed_lines(renumbered, graph.text)
        before = graph.unmarked_text()
    return count


def _measure_width(pictures: StepPictures) -> float:
    """Return the width of a memory picture in px; 0 if it was not drawn."""
    memory = pictures.pictures.get("memory")
    size = _WIDTH_OF_SVG.search(memory.svg) if memory else None
    return float(size[1]) if size else 0


def _renumber_nodes(text: str, changes: Changes) -> str:
    """Return the earlier graph in words with the numbers that its nodes have now.

    Nodes are counted from the newest on: each new one would change all lines.
    """
    if changes.since is None:
        return text
    now = {node.key: node.id for node in changes.now.nodes}
    numbers = {node.id: now[node.key] for node in changes.since.nodes if node.key in now}
    return re.sub(r"\bN\d+\b", lambda number: numbers.get(number[0], number[0]), text)


def _describe_folded_rounds(step: Step) -> tuple[StepSentence, ...]:
    if not step.folded:
        return ()
    return (
        StepSentence(
            ngettext(
                "Before this, {number} more round of the loop ran in one go.",
                "Before this, {number} more rounds of the loop ran in one go.",
                step.folded,
            )
        ),
    )
