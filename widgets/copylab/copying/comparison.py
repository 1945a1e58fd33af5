"""`compare()`: ways to copy side by side, every answer found by running a program that can be read."""

from __future__ import annotations

import sys
from collections.abc import ItemsView, Iterator, Mapping
from types import ModuleType
from typing import Any

import traitlets

from tinytorch.viz import gettext, gettext_noop, ngettext, summarize_text

from ..doc import (
    Box,
    Cell,
    Code,
    Fold,
    InPage,
    Paragraph,
    Part,
    Table,
    html_element,
    inline_html,
    protect_marks,
    wrap_in_language,
)
from ..run import engine_for, require_engine
from ..ui import Exhibit, Live, panel_style_sheet, read_web_files
from .fact import QUESTIONS, Answer, CopyQuestion, Fact, Facts, facts
from .methods import METHODS, Method, method
from .sources import Source

GIVEN = "given"
KINDS = {
    "leaf": gettext_noop("a leaf that requires grad"),
    "result": gettext_noop("a result of an operation"),
    "plain": gettext_noop("plain: requires no grad"),
}


COLUMNS = sorted(QUESTIONS, key=lambda one: (not one.main, one.key == "raises"))
"""The questions in the order of the table: the main ones, what there is beside, and last whether there was a copy."""
MAIN = [question for question in COLUMNS if question.main]
_WIDE = 24  # characters of an answer that a cell shows


class Comparison(Exhibit, Live):
    """Ways to copy `x` side by side: what they share, what autograd sees, what a write does.

    methods: names such as "clone", or a Method of your own; all there are if none is given.
    source: "leaf", "result" or "plain", a Source, or a tensor of yours: a stand-in is copied, yours is not touched.
    engine: the module to ask; by default your global `torch`, otherwise tinytorch.

    In a notebook it is a table to sort and to filter, and each cell opens the program that proves its answer.
    `c["clone"]` are the Facts of one way, `list(c)` are their names, `c.items()` both;
    `c["clone"]["same_storage"].proof` is that program as text. Traits to observe: `kind`, of the source ("leaf",
    "result", "plain", or "given" for what was passed in), which may be set, and `results`, the Facts by name.

    Raises ValueError for an unknown method, or a source that cannot be built, TypeError for what is neither.
    """

    SCRIPTS = ("copying/compare.js",)
    SHEETS = ("copying/compare.css",)
    form = traitlets.Unicode(read_only=True, help="The static form that the table is made of.").tag(
        sync=True
    )
    kinds: traitlets.List = traitlets.List(
        read_only=True, help="The kinds of source to choose from, each with its words."
    ).tag(sync=True)
    kind = traitlets.Unicode(help="The kind of the source.").tag(sync=True)
    results: traitlets.Dict = traitlets.Dict(
        read_only=True, help="The Facts of each method, by its name."
    )

    HELP = gettext_noop("""\
compare() puts ways to copy a tensor side by side. Every answer was found by running a program.

Choose a cell and press Enter: the program that proves it opens below. Copy it, change it, run it.
Press on the name of a column to sort by it; show only some rows with the fields above the table.
Then choose another kind of source and watch which cells change.

  compare("clone", "detach", ".data")     only these
  compare(source=x)                       what they would do to your tensor, which is not touched
  c["clone"]["same_storage"].proof        the program as text; .answer is what it printed
  c.where(same_storage=True, same_counter=False)
  print(c.text)                           everything in words""")

    def __init__(
        self, *methods: str | Method, source: object = None, engine: ModuleType | None = None
    ) -> None:
        self.methods = tuple(
            {one.name: one for one in map(method, methods or METHODS.values())}.values()
        )
        self._engine = require_engine(engine) or engine_for(sys._getframe(1).f_globals)
        self._given = Source.of(source)
        self._known_kind = next((kind for kind in KINDS if Source.of(kind) == self._given), None)
        # All that is shown is a default: a view may be made of what the model has when it is opened.
        super().__init__()

    @traitlets.default("kinds")
    def _kinds(self) -> list[list[str]]:
        own = [] if self._known_kind else [[GIVEN, gettext("as it was passed in")]]
        return [*own, *([kind, gettext(words)] for kind, words in KINDS.items())]

    @traitlets.default("kind")
    def _kind(self) -> str:
        return self._known_kind or GIVEN

    @traitlets.default("results")
    def _results(self) -> dict[str, Facts]:
        return {one.name: facts(one, self.source, self._engine) for one in self.methods}

    @traitlets.default("form")
    def _form(self) -> str:
        return self.tree().html()

    @property
    def source(self) -> Source:
        """What is copied."""
        return self._given if self.kind == GIVEN else Source.of(self.kind)

    @property
    def engine(self) -> str:
        """The name of the engine that was asked."""
        return self._engine.__name__

    def tree(self) -> Part:
        """All answers."""
        return told(self.source, self.results)

    @property
    def html(self) -> str:
        """The table as HTML, with a script that lets it be sorted and filtered, and all programs."""
        sheet, script = (
            panel_style_sheet("copying/compare.css"),
            read_web_files("copying/compare.js"),
        )
        return wrap_in_language(
            f'{self.form}<style>{sheet}</style><script type="module">{script}</script>'
        )

    def where(self, **answers: Answer) -> list[str]:
        """The methods that have all of these answers: `c.where(same_storage=True, requires_grad=False)`.

        Raises ValueError, with the names there are, for what is no question.
        """
        names = [question.key for question in QUESTIONS]
        for key in answers:
            if key not in names:
                raise ValueError(f"there is no question {key!r}; there are {', '.join(names)}")
        return [name for name, found in self.items() if answers.items() <= found.answers.items()]

    def __getitem__(self, name: str) -> Facts:
        found: dict[str, Facts] = self.results
        if name in found:
            return found[name]
        try:
            return found[method(name).name]
        except (ValueError, TypeError):
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def items(self) -> ItemsView[str, Facts]:
        """The names of the methods with their Facts."""
        found: dict[str, Facts] = self.results
        return found.items()

    def __repr__(self) -> str:
        return summarize_text(
            f"Comparison({len(self.methods)} methods, {self.source.kind} of shape {self.source.shape})"
        )

    @traitlets.validate("kind")
    def _known(self, proposal: Any) -> str:
        kinds = [kind for kind, _ in self.kinds]
        if proposal["value"] not in kinds:
            raise traitlets.TraitError(
                f"kind must be one of {', '.join(kinds)}, not {proposal['value']!r}"
            )
        return str(proposal["value"])

    @traitlets.observe("kind")
    def _compute(self, _change: object) -> None:
        self.set_trait("results", self._results())
        self.set_trait("form", self._form())


compare = Comparison


def told(source: Source, found: Mapping[str, Facts]) -> Box:
    """Everything that a comparison says: the source, the table, and for the page the programs."""
    about = ngettext(
        "{number} way to make y from x: what is shared, what autograd sees",
        "{number} ways to make y from x: what is shared, what autograd sees",
        len(found),
    )
    note = (
        gettext("x stands in for your tensor: {note}.", note=protect_marks(source.note))
        if source.note
        else ""
    )
    return Box(
        Box(
            Paragraph(gettext("**{what}**.", what=about)),
            Paragraph(gettext("Every answer was found by running a program.")),
            kind="cl-summary",
        ),
        Box(Code(source.code), Paragraph(note) if note else None, kind="cl-source"),
        Table(
            [gettext("y is made by"), *(_head(one) for one in COLUMNS)],
            [
                [_name(one), *(cell(one[each.key], hidden=not each.main) for each in COLUMNS)]
                for one in found.values()
            ],
            told="rows",
            breaks=[1 + len(MAIN)],
        ),
        InPage(
            Box(
                Paragraph(gettext("The programs that prove it:")),
                *map(_proofs, found.values()),
                kind="cl-proofs",
            )
        ),
        apart=True,
        kind="copylab-compare cl-panel",
    )


def _head(question: CopyQuestion) -> Cell:
    return Cell(
        gettext(question.column),
        hidden=not question.main,
        data_key=question.key,
        title=question.text,
    )


def on_one_line(how: Method) -> str:
    """The code of a method, its lines one after the other."""
    return "; ".join(how.code.splitlines())


def cell(fact: Fact, **attributes: Any) -> Cell:
    """An answer in a table: all of it in the text, cut in the page, where the programs have it whole."""
    short = fact.said
    if len(short) > _WIDE:
        short = gettext("yes") if fact.key in ("warns", "raises") else f"{short[:_WIDE]}…"
    return Cell(
        protect_marks(fact.said),
        short=protect_marks(short),
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
    small = (
        ""
        if error is None
        else " " + html_element("small", inline_html(protect_marks(str(error).partition(":")[0])))
    )
    part = InPage(html_element("code", inline_html(protect_marks(how.name))) + small)
    return Cell(
        protect_marks(f"{how.name}    {on_one_line(how)}"),
        part=part,
        head=True,
        title=on_one_line(how),
    )


def _proofs(found: Facts) -> Fold:
    how = found.method
    note = gettext(how.note) if how.note else ""
    about = (
        gettext("{what}: {where}", what=note, where=how.docs)
        if note and how.docs
        else note or how.docs
    )
    return Fold(
        f"`{protect_marks(how.name)}`: `{protect_marks(on_one_line(how))}`",
        Paragraph(protect_marks(about), kind="cl-about"),
        *(_proof(found[question.key]) for question in COLUMNS),
        kind="cl-way",
    )


def _proof(fact: Fact) -> Fold:
    printed = gettext("It printed: {printed}", printed=protect_marks(fact.printed))
    why = gettext("No answer: {why}.", why=protect_marks(fact.why))
    return Fold(
        f"{fact.question} **{protect_marks(fact.said)}**",
        Code(fact.proof),
        Paragraph(why if fact.why else printed, kind="cl-printed"),
        kind=f"cl-fact {kind(fact)}",
    )
