"""`compare()`: ways to copy side by side, every answer found by running a program that can be read."""

from __future__ import annotations

import sys
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from html import escape
from types import ModuleType
from typing import Any

import traitlets

from tinytorch.viz import summarize_text

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
    plain_text,
    protect_marks,
    wrap_in_language,
)
from ..run import engine_for, require_engine
from ..ui import Exhibit, Live, panel_style_sheet, read_web_files
from ..wording import gettext, gettext_noop, ngettext
from .fact import QUESTIONS, Answer, CopyQuestion, Fact, Facts, facts
from .methods import METHODS, Method, method
from .sources import Source

GIVEN = "given"
"""The kind of a source that was passed in and is none of KINDS."""
KINDS = {
    "leaf": gettext_noop("a leaf that requires grad"),
    "result": gettext_noop("a result of an operation"),
    "plain": gettext_noop("plain: requires no grad"),
}


COLUMNS = sorted(QUESTIONS, key=lambda question: (not question.main, question.key == "raises"))
"""The questions in the order of the table: the main ones, the others, and "raises" at the end."""
MAIN = [question for question in COLUMNS if question.main]
FEW_WAYS = 5
"""Of so many ways and fewer, a page first shows the columns in which they differ, and nothing to filter them by."""
_CELL_CHARACTERS = 24
"""Maximum number of characters of an answer that a cell shows."""


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
        entries = map(method, methods or METHODS.values())
        # A method that was named twice is one row.
        self.methods = tuple({entry.name: entry for entry in entries}.values())
        self._engine = require_engine(engine) or engine_for(sys._getframe(1).f_globals)
        self._given = Source.of(source)
        # A Source that is equal to one of the kinds is offered as that, and not twice.
        self._kind_of_given = next((kind for kind in KINDS if Source.of(kind) == self._given), None)
        # Traits have dynamic defaults and are set only when asked for: a view is made of the state
        # that the model has when it is opened, and a later message might be lost.
        super().__init__()

    @traitlets.default("kinds")
    def _default_kinds(self) -> list[list[str]]:
        own = [] if self._kind_of_given else [[GIVEN, gettext("as it was passed in")]]
        return [*own, *([kind, gettext(words)] for kind, words in KINDS.items())]

    @traitlets.default("kind")
    def _default_kind(self) -> str:
        return self._kind_of_given or GIVEN

    @traitlets.default("results")
    def _find_results(self) -> dict[str, Facts]:
        return {entry.name: facts(entry, self.source, self._engine) for entry in self.methods}

    @traitlets.default("form")
    def _render_form(self) -> str:
        return self.tree().html()

    @property
    def source(self) -> Source:
        """The source of the copies."""
        return self._given if self.kind == GIVEN else Source.of(self.kind)

    @property
    def engine(self) -> str:
        """The name of the engine that was asked."""
        return self._engine.__name__

    def tree(self) -> Part:
        """All answers."""
        return make_comparison(self.source, self.results)

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
        """Return the methods that have all of these answers.

        `c.where(same_storage=True, requires_grad=False)`. Raises ValueError, with the names there
        are, for an unknown question.
        """
        # A misspelt name would match no method, and that would look like an answer.
        names = [question.key for question in QUESTIONS]
        for key in answers:
            if key not in names:
                raise ValueError(f"there is no question {key!r}; there are {', '.join(names)}")
        return [name for name, row in self.items() if answers.items() <= row.answers.items()]

    def __getitem__(self, name: str) -> Facts:
        results: dict[str, Facts] = self.results
        # First as a key: a method that was given as an object may have a name which the catalogue lacks.
        if name in results:
            return results[name]
        # By another way to write it: "assignment" for "=", "x.clone()" for "clone".
        try:
            return results[method(name).name]
        except (ValueError, TypeError):
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def items(self) -> ItemsView[str, Facts]:
        """The names of the methods with their Facts."""
        results: dict[str, Facts] = self.results
        return results.items()

    def __repr__(self) -> str:
        return summarize_text(
            f"Comparison({len(self.methods)} methods, {self.source.kind} of shape {self.source.shape})"
        )

    @traitlets.validate("kind")
    def _validate_kind(self, proposal: Any) -> str:
        kinds = [kind for kind, _ in self.kinds]
        if proposal["value"] not in kinds:
            raise traitlets.TraitError(
                f"kind must be one of {', '.join(kinds)}, not {proposal['value']!r}"
            )
        return str(proposal["value"])

    @traitlets.observe("kind")
    def _update_results(self, _change: object) -> None:
        # Both are read-only, and so refuse an assignment.
        self.set_trait("results", self._find_results())
        self.set_trait("form", self._render_form())


compare = Comparison


def make_comparison(source: Source, facts_by_name: Mapping[str, Facts]) -> Box:
    """Make all that a comparison says: the source, the table, and for the page the programs."""
    title = ngettext(
        "{number} way to make y from x: what is shared, what autograd sees",
        "{number} ways to make y from x: what is shared, what autograd sees",
        len(facts_by_name),
    )
    summary = Box(
        Paragraph(gettext("**{what}.**", what=title)),
        Paragraph(gettext("Every answer was found by running a program.")),
        class_="cl-summary",
    )
    note = None
    if source.note:
        note = Paragraph(
            gettext("x stands in for your tensor: {note}.", note=protect_marks(source.note))
        )
    proofs = Box(
        Paragraph(gettext("The programs that prove it:")),
        *map(_make_proofs, facts_by_name.values()),
        class_="cl-proofs",
    )
    shown = select_columns(list(facts_by_name.values()))
    return Box(
        summary,
        Box(Code(source.code), note, class_="cl-source"),
        Table(
            [
                gettext("y is made by"),
                *(_make_head(question, hidden=question not in shown) for question in COLUMNS),
            ],
            [_make_row(answers, shown) for answers in facts_by_name.values()],
            layout="rows",
            breaks=[1 + len(MAIN)],
        ),
        InPage(proofs),
        spaced=True,
        class_="copylab-compare cl-panel",
    )


def select_columns(ways: Sequence[Facts]) -> list[CopyQuestion]:
    """Return the questions whose columns a page shows first: the main ones, of few ways those that tell them apart."""

    def tells_apart(question: CopyQuestion) -> bool:
        return len({way[question.key].words for way in ways}) > 1

    telling = list(filter(tells_apart, MAIN))
    return telling if telling and len(ways) <= FEW_WAYS else MAIN


def _make_head(question: CopyQuestion, *, hidden: bool) -> Cell:
    return Cell(
        gettext(question.column),
        hidden=hidden,
        data_key=question.key,
        title=question.text,
    )


def _make_row(answers: Facts, shown: Sequence[CopyQuestion]) -> list[Cell | str]:
    cells = [make_cell(answers[question.key], hidden=question not in shown) for question in COLUMNS]
    return [_make_row_head(answers), *cells]


def join_code_lines(how: Method) -> str:
    """Return the code of a method on one line."""
    return "; ".join(how.code.splitlines())


def make_cell(fact: Fact, **attributes: Any) -> Cell:
    """Make the field of an answer. The page cuts it: the programs below the table have it whole."""
    short = fact.words
    if len(short) > _CELL_CHARACTERS:
        # An error or a warning was given: its text is in the program.
        is_message = fact.key in ("warns", "raises")
        short = gettext("yes") if is_message else f"{short[:_CELL_CHARACTERS]}…"
    css_class = classify_answer(fact)
    if fact.key == "after_write":
        css_class += " cl-decisive"
    return Cell(
        protect_marks(fact.words), short=protect_marks(short), class_=css_class, **attributes
    )


def classify_answer(fact: Fact) -> str:
    """Return the CSS class of an answer, which colours it beside its word."""
    answer = fact.answer
    if fact.why:
        return "cl-none"
    # Their answer is the text of a warning or error, so they are no yes or no by themselves.
    if fact.key in ("warns", "raises"):
        return "cl-no" if answer is None else "cl-yes"
    if fact.key == "after_write":
        return {"right": "cl-right", "an error": "cl-stops"}.get(str(answer), "cl-bad")
    return "cl-yes" if answer else "cl-no"


def _make_row_head(answers: Facts) -> Cell:
    how, error = answers.method, answers["raises"].answer
    code = join_code_lines(how)
    html = html_element("code", inline_html(protect_marks(how.name)))
    if error is not None:
        # The kind of the error stands for the answers that are missing; its text is in the cells.
        error_kind = str(error).partition(":")[0]
        html += " " + html_element("small", inline_html(protect_marks(error_kind)))
    text = protect_marks(f"{how.name}    {code}")
    return Cell(text, part=InPage(html), head=True, title=code)


def _make_proofs(answers: Facts) -> Fold:
    how = answers.method
    return Fold(
        f"`{protect_marks(how.name)}`: `{protect_marks(join_code_lines(how))}`",
        _describe_method(how),
        *(_make_proof(answers[question.key]) for question in COLUMNS),
        class_="cl-way",
    )


def _describe_method(how: Method) -> Part:
    """Return the note on a method and the address of its documentation, which the page links."""
    about = gettext(how.note) if how.note else how.docs
    if how.note and how.docs:
        about = gettext("{what}: {where}", what=about, where=how.docs)
    html = inline_html(protect_marks(about))
    if how.docs.startswith("https://"):
        # Only an address that we know: a Method of the user's may have any text there.
        link = html_element("a", escape(gettext("documentation")), href=how.docs)
        html = html.replace(escape(how.docs), link)
    return Part(plain_text(protect_marks(about)), html_element("p", html, class_="cl-about"))


def _make_proof(fact: Fact) -> Fold:
    if fact.why:
        result = gettext("No answer: {why}.", why=protect_marks(fact.why))
    else:
        result = gettext("It printed: {printed}", printed=protect_marks(fact.output))
    return Fold(
        f"{fact.question} **{protect_marks(fact.words)}**",
        Code(fact.proof),
        Paragraph(result, class_="cl-printed"),
        class_=f"cl-fact {classify_answer(fact)}",
    )
