"""What a CopyLab says: the verdicts, the program, what came of it and the two pictures, as one tree of parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tinytorch import viz
from tinytorch.viz import compare_snapshots, gettext, gettext_noop, graphs_of

from ..copying import Fact, Facts, Source
from ..doc import (
    Alarm,
    Box,
    Cell,
    Code,
    Figure,
    Fold,
    InPage,
    InText,
    Items,
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
from .play import Result

_STRIP = (
    ("same_tensor", gettext_noop("y is"), gettext_noop("x itself"), gettext_noop("a new tensor")),
    (
        "same_storage",
        gettext_noop("memory"),
        gettext_noop("shared with x"),
        gettext_noop("its own"),
    ),
    (
        "same_counter",
        gettext_noop("version counter"),
        gettext_noop("shared with x"),
        gettext_noop("its own"),
    ),
    ("requires_grad", gettext_noop("requires_grad"), gettext_noop("True"), gettext_noop("False")),
    ("leaf", gettext_noop("leaf"), gettext_noop("yes"), gettext_noop("no")),
    ("grad_fn", gettext_noop("grad_fn")),
    (
        "gradient_returns",
        gettext_noop("gradient to x"),
        gettext_noop("flows back"),
        gettext_noop("does not"),
    ),
    ("copied", gettext_noop("new memory")),
)
"""The most telling verdicts: the fact, its name, and the words for yes and no; else its own words are said."""
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
_OUTPUTS = {
    "out": gettext_noop("Printed"),
    "err": gettext_noop("Error output"),
    "warning": gettext_noop("Warning"),
}
_STATES = {"raised": gettext_noop("<- it ended here"), "not run": gettext_noop("(not run)")}


def whole(result: Result) -> Box:
    """All of it, for pages without a kernel. The text has it in another order than the page."""
    where = Paragraph(
        gettext(
            "CopyLab, {source}; y by {method}.",
            source=about(result.source),
            method=protect_marks(one_line(result.method.name)),
        )
    )
    told = Box(Paragraph(headline(result)), *_story(result))
    pictures = _pictures(result, live=False)
    return Box(
        InText(where, _listing(result), told, _verdicts(result), *pictures, spaced=True),
        InPage(html_element("style", panel_style_sheet("lab/lab.css")) + where.html()),
        InPage(page(result)),
        InPage(proofs(result)),
        class_="cl-panel",
    )


def page(
    result: Result, old: Result | None = None, *, notes: Iterable[str] = (), live: bool = False
) -> Box:
    """What a page has above the proofs.

    old: what was shown before; verdicts that differ from it are marked. notes: what is to be said first.
    live: the page has the colours of the pictures; elsewhere they are images.
    """
    program = Box(Paragraph(gettext("Program, as it ran"), class_="cl-title"), _listing(result))
    return Box(
        *(
            Paragraph(
                protect_marks(make_printable(note)), class_="cl-alarm cl-warning cl-lab-message"
            )
            for note in notes
        ),
        Paragraph(headline(result), class_="cl-lab-head"),
        _strip(result, old),
        Box(program, Box(*_story(result)), class_="cl-halves"),
        Box(*_pictures(result, live=live), class_="cl-halves"),
        class_="cl-lab",
    )


def proofs(result: Result) -> Part:
    """All verdicts, folded, and in each the program that proves it."""
    if result.facts is None:
        return Box()
    title = gettext("All verdicts, each with the program that proves it")
    return Fold(title, Table((), _verdict_rows(result.facts)), class_="cl-lab", data_keep="proofs")


def headline(result: Result) -> str:
    """What y is to x, in one sentence."""
    found = result.facts
    if found is None:
        return gettext("Nothing is known of y: the program was stopped.")
    if found["raises"].why:
        return gettext("There is no x: the lines that make it raise an error.")
    if found["raises"].answer is not None:
        return gettext(_NO_COPY[result.source.kind])
    if not result.copied:
        return gettext("There is no y: the lines of this method do not make one.")
    if found["same_tensor"].answer is True:
        return gettext("y is x itself: two names for one tensor.")
    if not found["same_storage"].answer:
        memory = gettext("y is a new tensor with its own memory")
    elif found["same_counter"].answer:
        memory = gettext("y is a new tensor over the memory of x and shares its version counter")
    else:
        memory = gettext("y is a new tensor over the memory of x but has its own version counter")
    return gettext("{memory}; {gradient}.", memory=memory, gradient=_gradient(found))


def _gradient(found: Facts) -> str:
    if found["gradient_returns"].why:
        none = gettext("no gradient can flow")
        return (
            none
            if found.source.requires_grad
            else gettext("x requires no grad, so no gradient flows")
        )
    if found["gradient_returns"].answer is True:
        return gettext("gradients flow back to x")
    if found["requires_grad"].answer:
        return gettext("it requires grad on its own, and no gradient flows back to x")
    return gettext("it is off the graph, and no gradient flows back")


def about(source: Source) -> str:
    """Return the source of the copy in a few words."""
    said = [source.dtype, gettext("shape {shape}", shape=source.shape)]
    said += [gettext("transposed")] if source.transposed else []
    said += [gettext("on {device}", device=source.device)] if source.device != "cpu" else []
    return f"x: {', '.join([*said, gettext(_KINDS[source.kind])])}"


def one_line(code: str) -> str:
    """The first line of code, and a mark that there are more."""
    first, _, rest = make_printable(code).partition("\n")
    return first[:80] + (" ..." if rest or len(first) > 80 else "")


def _listing(result: Result) -> Listing:
    newest = "action" if result.actions else "copy"
    last = result.actions[-1] if result.actions else result.method.code
    first = len(result.lines) - len(last.splitlines()) + 1
    lines = []
    for line in result.lines:
        kinds = [f"cl-lab-{line.part}"]
        kinds += {"raised": ["cl-wrong"], "not run": ["cl-lab-skipped"], "ran": []}[line.state]
        kinds += (
            ["cl-wrong"]
            if result.explanation and line.number == result.explained and line.state == "ran"
            else []
        )
        kinds += (
            ["cl-here"]
            if line.number >= first and line.part == newest and line.state == "ran"
            else []
        )
        note = gettext(_STATES[line.state]) if line.state in _STATES else ""
        lines.append(ListingLine(make_printable(line.text), note, " ".join(kinds)))
    return Listing(lines, aria_label=gettext("Program"), data_keep="program")


def _strip(result: Result, old: Result | None) -> Part | None:
    if result.facts is None or not result.copied:
        return None
    fields = []
    for key, name, *words in _STRIP:
        said = _in_strip(result.facts, key, words)
        was = (
            _in_strip(old.facts, key, words) if old is not None and old.facts is not None else said
        )
        changed = gettext("was: {verdict}", verdict=was) if was not in (said, "-") else ""
        mark = (
            html_element("span", inline_html(protect_marks(changed)), class_="cl-lab-was")
            if changed
            else ""
        )
        # The name of a node may break, but not within a word.
        shown_as = inline_html(protect_marks(said)).replace("Backward", "<wbr>Backward")
        field = html_element("dt", inline_html(gettext(name))) + html_element("dd", shown_as + mark)
        answer = result.facts[key].answer
        kind = "yes" if answer is True else "no" if answer is False else "other"
        fields.append(html_element("div", field, class_=f"cl-lab-{kind}", data_verdict=key))
    return InPage(html_element("dl", "".join(fields), class_="cl-lab-strip"))


def _in_strip(found: Facts, key: str, words: Sequence[str]) -> str:
    """A verdict in the words of the strip."""
    answer = found[key].answer
    if key == "copied" and answer == 0:
        return gettext("none")
    if key == "gradient_returns" and not found.source.requires_grad:
        return gettext("x asks for none")
    return gettext(words[not answer]) if isinstance(answer, bool) else found[key].said


def _verdicts(result: Result) -> Part | None:
    return (
        None
        if result.facts is None
        else Table((), _verdict_rows(result.facts), caption=gettext("Verdicts:"))
    )


def _verdict_rows(found: Facts) -> list[list[Cell | str]]:
    return [[protect_marks(fact.question), _verdict(key, fact)] for key, fact in found.items()]


def _verdict(key: str, fact: Fact) -> Cell:
    if not fact.why:
        prints = gettext("prints `{text}`", text=protect_marks(fact.printed))
        proof = Fold(
            protect_marks(fact.said),
            Code(make_printable(fact.proof)),
            Paragraph(prints),
            data_keep=f"proof {key}",
        )
        return Cell(protect_marks(fact.said), part=proof)
    return Cell(
        protect_marks(
            fact.said if fact.why.startswith("the copy was") else f"{fact.said} ({fact.why})"
        )
    )


def _story(result: Result) -> list[Part]:
    """What the program said, how it ended, what came of it, and remarks."""
    parts: list[Part] = []
    if result.source.note:
        note = gettext(
            "x is a stand-in for your tensor: {why}.", why=protect_marks(result.source.note)
        )
        parts.append(Paragraph(note))
    for kind, said in result.output:
        if kind in _OUTPUTS:
            title = gettext(_OUTPUTS[kind])
            parts.append(
                Titled(title, _as_it_is(title, said.rstrip("\n")), class_=f"cl-out cl-{kind}")
            )
    if result.error:
        title = gettext("Error on line {number}", number=result.error_line)
        if result.ended != "error":
            title = gettext("Line {number}", number=result.error_line)
        parts.append(Alarm(title, _as_it_is(title, result.error)))
    if result.explanation:
        why = [Paragraph(protect_marks(make_printable(one))) for one in result.explanation]
        parts.append(
            Titled(gettext("Why"), *why, class_="cl-out")
            if result.error
            else Alarm(wrong_gradient_title(), *why, severity="wrong")
        )
    changes = [protect_marks(make_printable(one)) for one in result.changes]
    if changes or not result.error:
        last = result.actions[result.ran - 1] if result.ran else result.method.code
        one = "\n" not in last.strip()
        title = (
            gettext("What {code} changed", code=protect_marks(one_line(last)))
            if one
            else gettext("What the last lines changed")
        )
        parts.append(
            Titled(
                title,
                Items(
                    changes or [gettext("Nothing that can be seen.")], bullet="- ", class_="cl-says"
                ),
            )
        )
    return [*parts, *map(Paragraph, _remarks(result))]


def _as_it_is(title: str, said: str) -> Code:
    """What a program said. A long text scrolls in its place, and can be reached by key for that."""
    long: dict[str, Any] = {"tabindex": 0, "role": "region", "aria_label": title}
    return Code(
        make_printable(said), indent="", **(long if len(said) > 500 or said.count("\n") > 9 else {})
    )


def _remarks(result: Result) -> Iterator[str]:
    """On the verdicts, on files, and on what was not run."""
    found = result.facts
    if found is not None and result.copied and result.ran and not found.then:
        yield gettext("The program takes long, so the verdicts are those right after the copy.")
    yield from map(protect_marks, result.effects)
    if result.effects:
        yield gettext("The program is run anew for each look, and does this again.")
    if (
        result.ended == "error"
        and found is not None
        and result.copied
        and result.ran < len(result.actions)
    ):
        yield gettext("The next action takes the place of the line that raised.")


def _pictures(result: Result, *, live: bool) -> list[Part]:
    if result.snapshot is None:
        return []
    made: list[Part] = [
        _Drawn(
            viz.memory(result.snapshot, since=result.before),
            gettext("Memory"),
            live=live,
            data_picture="memory",
        )
    ]
    if result.snapshot.nodes:
        ((_, drawn),) = graphs_of(
            [compare_snapshots(result.snapshot, result.before)], [result.wrong]
        )
        made.append(_Drawn(drawn, gettext("Graph"), live=live, data_picture="graph"))
    return made


class _Drawn(Figure):
    """A picture that still has its words where it cannot be drawn."""

    def html(self) -> str:
        """A `<figure>`, or why there is none."""
        try:
            return super().html()
        except viz.LayoutError as error:  # the words need no Graphviz
            why = gettext(
                "This picture cannot be drawn here: {error}", error=protect_marks(str(error))
            )
            return Titled(self.title, Paragraph(why), Code(self.picture.text)).html()
