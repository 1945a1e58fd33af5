"""What was found of several ways to copy, as a tree: a table of the answers, and below it every answer's program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinytorch.viz.catalogue import gettext, ngettext

from ..doc import Box, Cell, Code, Fold, InPage, Paragraph, Table, element, exact, inline
from .facts import QUESTIONS, CopyQuestion, Fact, Facts
from .methods import Method
from .sources import Source

COLUMNS = sorted(QUESTIONS, key=lambda one: (not one.main, one.key == "raises"))
"""The questions in the order of the table: the main ones, what there is beside, and last whether there was a copy."""
MAIN = [question for question in COLUMNS if question.main]
_WIDE = 24  # characters of an answer that a cell shows


def tree(source: Source, found: Mapping[str, Facts]) -> Box:
    """Everything that a comparison says: the source, the table, and for the page the programs."""
    about = ngettext(
        "{number} way to make y from x: what is shared, what autograd sees",
        "{number} ways to make y from x: what is shared, what autograd sees",
        len(found),
    )
    note = gettext("x stands in for your tensor: {note}.", note=exact(source.note)) if source.note else ""
    return Box(
        Box(
            Paragraph(gettext("**{what}**.", what=about)),
            Paragraph(gettext("Every answer was found by running a program.")),
            kind="cl-summary",
        ),
        Box(Code(source.code), Paragraph(note) if note else None, kind="cl-source"),
        Table(
            [gettext("y is made by"), *(_head(one) for one in COLUMNS)],
            [[_name(one), *(cell(one[each.key], hidden=not each.main) for each in COLUMNS)] for one in found.values()],
            told="rows",
            breaks=[1 + len(MAIN)],
        ),
        InPage(Box(Paragraph(gettext("The programs that prove it:")), *map(_proofs, found.values()), kind="cl-proofs")),
        apart=True,
        kind="copylab-compare cl-panel",
    )


def _head(question: CopyQuestion) -> Cell:
    return Cell(gettext(question.column), hidden=not question.main, data_key=question.key, title=question.text)


def on_one_line(how: Method) -> str:
    """The code of a method, its lines one after the other."""
    return "; ".join(how.code.splitlines())


def cell(fact: Fact, **attributes: Any) -> Cell:
    """An answer in a table: all of it in the text, cut in the page, where the programs have it whole."""
    short = fact.said
    if len(short) > _WIDE:
        short = gettext("yes") if fact.key in ("warns", "raises") else f"{short[:_WIDE]}…"
    return Cell(
        exact(fact.said),
        short=exact(short),
        class_=f"{kind(fact)}{' cl-decisive' * (fact.key == 'after_write')}",
        **attributes,
    )


def kind(fact: Fact) -> str:
    """The class of an answer: what it says at a glance, beside its word."""
    given = fact.answer
    if fact.why:
        return "cl-none"
    if fact.key in ("warns", "raises"):
        return "cl-no" if given is None else "cl-yes"
    if fact.key == "after_write":
        return {"right": "cl-right", "an error": "cl-stops"}.get(str(given), "cl-bad")
    return "cl-yes" if given else "cl-no"


def _name(found: Facts) -> Cell:
    """The head of a row: why there are no answers stands beside the name; the whole error stands in the cells."""
    how, error = found.method, found["raises"].answer
    small = "" if error is None else " " + element("small", inline(exact(str(error).partition(":")[0])))
    part = InPage(element("code", inline(exact(how.name))) + small)
    return Cell(exact(f"{how.name}    {on_one_line(how)}"), part=part, head=True, title=on_one_line(how))


def _proofs(found: Facts) -> Fold:
    how = found.method
    note = gettext(how.note) if how.note else ""
    about = gettext("{what}: {where}", what=note, where=how.docs) if note and how.docs else note or how.docs
    return Fold(
        f"`{exact(how.name)}`: `{exact(on_one_line(how))}`",
        Paragraph(exact(about), kind="cl-about"),
        *(_proof(found[question.key]) for question in COLUMNS),
        kind="cl-way",
    )


def _proof(fact: Fact) -> Fold:
    printed = gettext("It printed: {printed}", printed=exact(fact.printed))
    why = gettext("No answer: {why}.", why=exact(fact.why))
    return Fold(
        f"{fact.question} **{exact(fact.said)}**",
        Code(fact.proof),
        Paragraph(why if fact.why else printed, kind="cl-printed"),
        kind=f"cl-fact {kind(fact)}",
    )
