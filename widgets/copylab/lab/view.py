"""What a CopyLab says: verdicts, program, output and pictures, as one tree of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tinytorch import viz
from tinytorch.viz import LineFacts, compare_snapshots, graphs_of

from ..code_marks import CodeWords, MarkedItems, MarkedParagraph
from ..copying import Fact, Facts, Source, classify_answer
from ..doc import (
    Alarm,
    Box,
    Cell,
    Code,
    Figure,
    Fold,
    InPage,
    InText,
    Listing,
    ListingLine,
    Paragraph,
    Part,
    Table,
    Titled,
    html_element,
    inline_html,
    protect_marks,
)
from ..player import wrong_gradient_title
from ..run import make_printable
from ..ui import panel_style_sheet
from ..wording import gettext, gettext_noop, join_phrases, join_sentences
from .lab_program import LabResult, ProgramLine


class StripField(NamedTuple):
    """A verdict in the strip above the program.

    key: of the fact. label: its name. yes, no: the words for True and False; without them the
    fact's own words are used.
    """

    key: str
    label: str
    yes: str = ""
    no: str = ""


_SHARED, _OWN = gettext_noop("shared with x"), gettext_noop("its own")
_STRIP = (
    StripField(
        "same_tensor", gettext_noop("y is"), gettext_noop("x itself"), gettext_noop("a new tensor")
    ),
    StripField("same_storage", gettext_noop("memory"), _SHARED, _OWN),
    StripField("same_counter", gettext_noop("version counter"), _SHARED, _OWN),
    StripField(
        "requires_grad", gettext_noop("requires_grad"), gettext_noop("True"), gettext_noop("False")
    ),
    StripField("leaf", gettext_noop("leaf"), gettext_noop("yes"), gettext_noop("no")),
    StripField("grad_fn", gettext_noop("grad_fn")),
    StripField(
        "gradient_returns",
        gettext_noop("gradient to x"),
        gettext_noop("flows back"),
        gettext_noop("does not flow"),
    ),
    StripField("copied", gettext_noop("new memory")),
)
"""The verdicts that tell copy methods apart; all of them are in the proofs below."""
_NO_COPY = {
    "leaf": gettext_noop("There is no y: this copy of a leaf raises an error."),
    "result": gettext_noop("There is no y: this copy of a result raises an error."),
    "plain": gettext_noop("There is no y: this copy of a tensor without grad raises an error."),
}
_KINDS = {
    "leaf": gettext_noop("a leaf that requires grad"),
    "result": gettext_noop("a result that requires grad"),
    "plain": gettext_noop("without grad"),
}
_BACKWARD_RAISED = gettext_noop("backward raised an error")
_OUTPUTS = {
    "out": gettext_noop("Printed"),
    "err": gettext_noop("Error output"),
    "warning": gettext_noop("Warning"),
}
_STATES = {"raised": gettext_noop("<- it ended here"), "not run": gettext_noop("(not run)")}

MAX_LINE_LENGTH = 80
LONG_OUTPUT = 500
LONG_OUTPUT_LINES = 9
"""Longer output scrolls within its place."""


def make_twin(result: LabResult) -> Box:
    """Return everything a lab shows, for pages without a kernel; its text is in another order."""
    words = _collect_words(result)
    head = MarkedParagraph(
        gettext(
            "CopyLab, {source}; y by {method}.",
            source=describe_source(result.source),
            method=shorten_to_line(result.method.name),
        ),
        words,
    )
    summary = Box(Paragraph(describe_copy(result)), *_describe_run(result))
    verdicts = None
    if result.facts is not None:
        rows = _make_verdict_rows(result.facts)
        verdicts = Table((), rows, caption=gettext("Verdicts:"))
    pictures = _draw_pictures(result, live=False)
    # In the output itself: a saved notebook has no other place for a style.
    style = html_element("style", panel_style_sheet("lab/lab.css"))
    return Box(
        InText(head, _list_program(result), summary, verdicts, *pictures, spaced=True),
        InPage(style + head.html()),
        InPage(make_page(result)),
        InPage(make_proofs(result)),
        class_="cl-panel",
    )


def make_page(
    result: LabResult,
    old: LabResult | None = None,
    *,
    notes: Iterable[str] = (),
    live: bool = False,
) -> Box:
    """Return what a page shows above the proofs.

    old: the result that was shown before; verdicts that differ from it are marked.
    notes: warnings that come first.
    live: the page has the colours of the pictures; elsewhere they are images.
    """
    program = Box(
        Paragraph(gettext("Program, as it ran"), class_="cl-title"), _list_program(result)
    )
    words = _collect_words(result)
    alarms = [
        MarkedParagraph(make_printable(note), words, class_="cl-alarm cl-warning cl-lab-message")
        for note in notes
    ]
    return Box(
        *alarms,
        MarkedParagraph(describe_copy(result), words, class_="cl-lab-head"),
        _make_strip(result, old),
        # As in the player of steps: code and words, and beside them the pictures.
        Box(
            Box(program, Box(*_describe_run(result)), class_="cl-lab-texts"),
            Box(*_draw_pictures(result, live=live), class_="cl-lab-pictures"),
            class_="cl-halves",
        ),
        class_="cl-lab",
    )


def make_proofs(result: LabResult) -> Part:
    """Return all verdicts, folded, and in each the program that proves it."""
    if result.facts is None:
        return Box()
    title = gettext("All verdicts, each with the program that proves it")
    words = _collect_words(result)
    table = Table((), _make_verdict_rows(result.facts, words.mark_code))
    return Fold(title, table, class_="cl-lab", data_keep="proofs")


def describe_copy(result: LabResult) -> str:
    """Say what y is to x, and that backward raised an error, if it did."""
    sentence = _describe_relation(result)
    if result.raised_in_backward and not _is_way_hindered(result):
        return join_sentences([sentence, gettext("Backward raised an error.")])
    return sentence


def _is_way_hindered(result: LabResult) -> bool:
    """Return True if a way leads from y back to x, but backward raised an error."""
    facts = result.facts
    is_open = facts is not None and facts["gradient_returns"].answer is True
    return is_open and result.raised_in_backward


def _describe_relation(result: LabResult) -> str:
    """Say in one sentence what y is to x."""
    facts = result.facts
    if facts is None:
        return gettext("Nothing is known about y: the program was stopped.")
    # Its program catches what the copy raises: only the lines that make x are outside.
    if facts["raises"].why:
        return gettext("There is no x: the lines that make it raise an error.")
    # Before the next: with an error there is no copy, and the reason is the error.
    if facts["raises"].answer is not None:
        return gettext(_NO_COPY[result.source.kind])
    if not result.has_copy:
        return gettext("There is no y: the lines of this method do not make one.")
    # Before memory and counter, which one tensor shares with itself.
    if facts["same_tensor"].answer is True:
        return gettext("y is x itself: two names for one tensor.")
    if not facts["same_storage"].answer:
        memory = gettext("y is a new tensor with its own memory")
    # The difference between `detach` and `.data`, which is what the lab is for.
    elif facts["same_counter"].answer:
        memory = gettext("y is a new tensor over the memory of x and shares its version counter")
    else:
        memory = gettext("y is a new tensor over the memory of x but has its own version counter")
    return gettext(
        "{memory}; {gradient}.", memory=memory, gradient=_describe_gradient(result, facts)
    )


def _describe_gradient(result: LabResult, facts: Facts) -> str:
    # The error is told below: with it, a promise of gradients would be wrong.
    if _is_way_hindered(result):
        return gettext(_BACKWARD_RAISED)
    returns = facts["gradient_returns"]
    if returns.why and facts.source.requires_grad:
        return gettext("no gradient can flow")
    if returns.why:
        return gettext("x requires no grad, so no gradient flows")
    if returns.answer is True:
        return gettext("gradients flow back to x")
    if facts["requires_grad"].answer:
        return gettext("it requires grad on its own, and no gradient flows back to x")
    return gettext("it is off the graph, and no gradient flows back")


def describe_source(source: Source) -> str:
    """Return the source of the copy in a few words."""
    words = [source.dtype, gettext("shape {shape}", shape=source.shape)]
    if source.transposed:
        words.append(gettext("transposed"))
    if source.device != "cpu":
        words.append(gettext("on {device}", device=source.device))
    words.append(gettext(_KINDS[source.kind]))
    return gettext("{what}: {facts}", what="x", facts=join_phrases(words))


def shorten_to_line(code: str) -> str:
    """Return the first line of code, and a mark if there is more."""
    first, _, rest = make_printable(code).partition("\n")
    is_cut = bool(rest) or len(first) > MAX_LINE_LENGTH
    return first[:MAX_LINE_LENGTH] + (" ..." if is_cut else "")


def _list_program(result: LabResult) -> Listing:
    # The lines that the last click added are marked.
    newest_part = "action" if result.actions else "copy"
    newest_code = result.actions[-1] if result.actions else result.method.code
    first_new = len(result.lines) - len(newest_code.splitlines()) + 1
    lines = []
    for line in result.lines:
        is_new = line.part == newest_part and line.number >= first_new
        note = gettext(_STATES[line.state]) if line.state in _STATES else ""
        classes = _classes_of_line(result, line, is_new=is_new)
        lines.append(ListingLine(make_printable(line.text), note, " ".join(classes)))
    return Listing(lines, aria_label=gettext("Program"), data_keep="program")


def _classes_of_line(result: LabResult, line: ProgramLine, *, is_new: bool) -> list[str]:
    classes = [f"cl-lab-{line.part}"]
    if line.state == "not run":
        return [*classes, "cl-lab-skipped"]
    if line.state == "raised":
        return [*classes, "cl-wrong"]
    if result.explanation and line.number == result.explained_line:
        # It computed a wrong gradient, and no error said so.
        classes.append("cl-wrong")
    if is_new:
        classes.append("cl-here")
    return classes


def _make_strip(result: LabResult, old: LabResult | None) -> Part | None:
    if result.facts is None or not result.has_copy:
        return None
    mark_code = _collect_words(result).mark_code
    fields = []
    for field in _STRIP:
        verdict = _word_verdict(result, result.facts, field)
        old_verdict = verdict
        if old is not None and old.facts is not None:
            old_verdict = _word_verdict(old, old.facts, field)
        mark = ""
        # Where there was no answer, none has changed.
        if old_verdict not in (verdict, "-"):
            change = mark_code(gettext("was: {verdict}", verdict=old_verdict))
            mark = " " + html_element("span", inline_html(change), class_="cl-lab-was")
        # The name of a node may break, but not within a word: the strip has eight columns.
        value = inline_html(mark_code(verdict)).replace("Backward", "<wbr>Backward")
        label = html_element("dt", inline_html(mark_code(gettext(field.label))))
        kind = classify_answer(result.facts[field.key])
        if field.key == "gradient_returns" and _is_way_hindered(result):
            kind = "cl-no"
        fields.append(
            html_element(
                "div",
                label + html_element("dd", value + mark),
                class_=kind,
                data_verdict=field.key,
            )
        )
    return InPage(html_element("dl", "".join(fields), class_="cl-lab-strip"))


def _word_verdict(result: LabResult, facts: Facts, field: StripField) -> str:
    fact = facts[field.key]
    if field.key == "gradient_returns" and _is_way_hindered(result):
        return gettext(_BACKWARD_RAISED)
    # "0 bytes" would be read as a size.
    if field.key == "copied" and fact.answer == 0:
        return gettext("none")
    if field.key == "gradient_returns" and not facts.source.requires_grad:
        return gettext("x asks for none")
    if fact.answer is True:
        return gettext(field.yes)
    if fact.answer is False:
        return gettext(field.no)
    return fact.words


def _make_verdict_rows(
    facts: Facts, mark: Callable[[str], str] = protect_marks
) -> list[list[Cell | str]]:
    """Return questions and answers; `mark` marks the code in the questions, in a page."""
    # That there is no copy is said above. It is the reason for most answers then, and not repeated.
    known_reasons = [
        gettext("the copy was not made: {error}", error=fact.output) for fact in facts.values()
    ]
    return [
        [mark(fact.question), _make_verdict(key, fact, known_reasons)]
        for key, fact in facts.items()
    ]


def _make_verdict(key: str, fact: Fact, known_reasons: Sequence[str]) -> Cell:
    """Return the answer to a question; in a page it opens to the program that proves it."""
    if fact.why:
        is_known = fact.why in known_reasons
        reason = gettext("{text} ({note})", text=fact.words, note=fact.why)
        return Cell(protect_marks(fact.words if is_known else reason))
    proof = Fold(
        protect_marks(fact.words),
        Code(make_printable(fact.proof)),
        Paragraph(gettext("prints `{text}`", text=protect_marks(fact.output))),
        data_keep=f"proof {key}",
    )
    return Cell(protect_marks(fact.words), part=proof)


def _describe_run(result: LabResult) -> list[Part]:
    """Say what the last part of the program printed, raised and changed, and why."""
    parts: list[Part] = []
    if result.source.note:
        why = protect_marks(result.source.note)
        parts.append(Paragraph(gettext("x is a stand-in for your tensor: {why}.", why=why)))
    for kind, text in result.output:
        if kind in _OUTPUTS:
            title = gettext(_OUTPUTS[kind])
            output = _quote_output(title, text.rstrip("\n"))
            parts.append(Titled(title, output, class_=f"cl-out cl-{kind}"))
    words = _collect_words(result)
    reasons = [MarkedParagraph(make_printable(sentence), words) for sentence in result.explanation]
    if result.error:
        if result.ended == "error":
            title = gettext("Error on line {number}", number=result.error_line)
        else:
            title = gettext("Line {number}", number=result.error_line)
        # The error's own words name no line and no variable, so they come behind what explains them.
        parts.append(Alarm(title, *reasons, Code(make_printable(result.error), indent="")))
    elif reasons:
        parts.append(Alarm(wrong_gradient_title(), *reasons, severity="wrong"))
    # With an error and no change, "Nothing that can be seen" would be beside the point.
    if result.changes or not result.error:
        parts.append(_list_changes(result))
    return [*parts, *map(Paragraph, _make_remarks(result))]


def _list_changes(result: LabResult) -> Part:
    newest = result.actions[result.actions_run - 1] if result.actions_run else result.method.code
    if "\n" in newest.strip():
        title = gettext("What the last lines changed")
    else:
        code = f"`{protect_marks(shorten_to_line(newest))}`"
        title = gettext("What {code} changed", code=code)
    changes = [make_printable(sentence) for sentence in result.changes]
    if not changes:
        changes = [gettext("Nothing that can be seen.")]
    words = _collect_words(result)
    return Titled(title, MarkedItems(changes, words, bullet="- ", class_="cl-says"))


def _collect_words(result: LabResult) -> CodeWords:
    # Of the last four its sentences speak whatever the program has made.
    snapshot = result.snapshot
    names = [name for name, _ in snapshot.names] if snapshot else []
    words = (*names, "x", "y", "requires_grad", "grad_fn")
    return CodeWords({line.text.strip() for line in result.lines} - {""}, words)


def _quote_output(title: str, text: str) -> Code:
    """Return what a program printed. A long text scrolls in its place."""
    attributes: dict[str, Any] = {}
    if len(text) > LONG_OUTPUT or text.count("\n") > LONG_OUTPUT_LINES:
        # What scrolls must be reachable by key, and is a region with a name to a screen reader.
        attributes = {"tabindex": 0, "role": "region", "aria_label": title}
    return Code(make_printable(text), indent="", **attributes)


def _make_remarks(result: LabResult) -> Iterator[str]:
    """Yield remarks on the verdicts, on files, and on what was not run."""
    facts = result.facts
    has_verdicts = facts is not None and result.has_copy
    if has_verdicts and result.actions_run and facts is not None and not facts.then:
        yield gettext("The program takes long, so the verdicts are those right after the copy.")
    yield from map(protect_marks, result.effects)
    if result.effects:
        yield gettext("The program is run anew for each look, and does this again.")
    if result.ended == "error" and has_verdicts and result.actions_run < len(result.actions):
        yield gettext("Your next action replaces the line that raised.")


def _draw_pictures(result: LabResult, *, live: bool) -> list[Part]:
    if result.snapshot is None:
        return []
    changes = compare_snapshots(result.snapshot, result.before)
    memory = viz.memory_with_origins(changes, result.origins)
    pictures: list[Part] = [
        _FigureOrWords(memory, gettext("Memory"), live=live, data_picture="memory")
    ]
    # Without a node the picture of the graph would say only that there is none.
    if result.snapshot.nodes:
        ((_, graph),) = graphs_of([changes], [result.wrong_nodes], [LineFacts(result.root)])
        pictures.append(
            _FigureOrWords(
                graph,
                gettext("Graph"),
                live=live,
                # Its first line begins "Graph: backward".
                has_title_inside=True,
                data_picture="graph",
            )
        )
    return pictures


class _FigureOrWords(Figure):
    """A picture, or its words where it cannot be drawn: they need no Graphviz."""

    def html(self) -> str:
        """Return a `<figure>`, or why there is none."""
        try:
            return super().html()
        except viz.LayoutError as error:
            why = gettext(
                "This picture cannot be drawn here: {error}", error=protect_marks(str(error))
            )
            return Titled(self.title, Paragraph(why), Code(self.picture.text)).html()
