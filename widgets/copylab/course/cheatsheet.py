"""The cheat sheet: one printable page on what every way of copying does, found by running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import ModuleType

import tinytorch

from ..copying import (
    METHODS,
    OPERATIONS,
    QUESTIONS,
    Answer,
    Facts,
    Source,
    facts,
    find_all_sharing,
    find_word,
    join_code_lines,
    make_cell,
)
from ..doc import Box, Cell, InPage, Items, Paragraph, Table, html_element, protect_marks
from ..wording import current_language, gettext, gettext_noop, join_list

SOURCE = Source("result", (2, 3))
"""The tensor that is copied: computed from a leaf, because there the ways of copying differ
most."""

COLUMNS = [question for question in QUESTIONS if question.main or question.key == "warns"]
_TITLES = {
    "same_counter": gettext_noop("shares the counter"),
    "leaf": gettext_noop("leaf"),
    "gradient_returns": gettext_noop("gradient returns"),
    "after_write": gettext_noop("gradient of x * x after a write through y"),
}
"""Titles of columns that are shorter or longer on paper than on a screen."""

WANTS: tuple[tuple[str, Mapping[str, Answer]], ...] = (
    (
        gettext_noop("Values that nobody else can change, and the gradient goes back"),
        {"same_storage": False, "gradient_returns": True, "dtype": True, "warns": None},
    ),
    (
        gettext_noop("Values that nobody else can change, and no gradient"),
        {
            "same_storage": False,
            "gradient_returns": False,
            "leaf": True,
            "dtype": True,
            "warns": None,
        },
    ),
    (
        gettext_noop("The same memory without a gradient, and writes are counted"),
        {"same_storage": True, "same_counter": True, "gradient_returns": False},
    ),
    (
        gettext_noop("The same memory seen as another tensor, and the gradient goes back"),
        {"same_tensor": False, "same_storage": True, "gradient_returns": True},
    ),
    (gettext_noop("Nothing new: a second name, or the tensor itself"), {"same_tensor": True}),
    (
        gettext_noop("Beware: a write is not counted, and the gradient is wrong without an error"),
        {"after_write": "wrong, and no error"},
    ),
)
"""What somebody may want of a copy, and the facts that are true of the methods that give it."""

RULES = (
    gettext_noop(
        "A view and its source share the storage and the version counter. "
        "So do `detach()` and its source."
    ),
    gettext_noop(
        "`.data`, `copy.copy`, NumPy: they share the storage, not the counter: writes go uncounted."
    ),
    gettext_noop(
        "A counted write into a **saved** value raises in `backward`; "
        "an uncounted write never does."
    ),
    gettext_noop(
        "`.grad` is filled at leaves that require grad; elsewhere ask for it with `retain_grad()`."
    ),
    gettext_noop(
        "Gradients add up until you reset them: `x.grad = None` or `optimizer.zero_grad()`."
    ),
    gettext_noop("`reshape`, `contiguous`, `to`, `as_tensor` copy only if they must."),
)

_STYLE = """
@page { size: A4 landscape; margin: 8mm }
body { margin: 0 auto; padding: 4mm; max-width: 281mm; background: #fff; color: #1b2129;
  font: 9pt/1.3 system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
h1 { margin: 0; font-size: 14pt } h2 { margin: 2.5mm 0 1mm; font-size: 10.5pt } p { margin: 1mm 0 }
table { width: 100%; border-collapse: collapse; font-size: 7.5pt }
th, td { padding: .45mm 1.2mm; border: .2mm solid #828b96; text-align: left; vertical-align: top }
thead th { background: #e4e9f0 } tbody tr:nth-child(even) { background: #f3f5f8 }
code, tbody th { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
tbody th { font-weight: 600; white-space: nowrap } td.cl-bad { font-weight: 700; text-decoration: underline }
.columns { display: grid; grid-template-columns: 3fr 4fr 4fr; gap: 5mm; font-size: 7.4pt; line-height: 1.2 }
.columns dd { font-size: 7pt; margin-bottom: .3mm } .columns h2 { margin-top: 1.5mm }
ul { margin: 0; padding-left: 4mm } li { margin: .4mm 0 }
dl { margin: 0 } dt { font-weight: 600 } dd { margin: 0 0 .6mm 4mm }
@media screen { .wide { overflow-x: auto } .columns > * { min-width: 0; overflow-wrap: anywhere } }
@media screen and (max-width: 800px) { .columns { grid-template-columns: minmax(0, 1fr) } }
@media print { body { padding: 0; max-width: none } }
:lang(ko) { word-break: keep-all; overflow-wrap: break-word }
"""


def render_cheat_sheet(engine: ModuleType | None = None) -> str:
    """Return the cheat sheet as one page of HTML; every answer comes from a run of `engine`.

    Raises RuntimeError if no method gives what a heading of WANTS promises: then the page would be
    wrong.
    """
    # Each way is run once: the table and the lists below it read the same answers.
    facts_by_name = {name: facts(name, SOURCE, engine) for name in METHODS}
    titles = map(gettext, (_TITLES.get(question.key, question.column) for question in COLUMNS))
    code = SOURCE.code.replace("\n", "; ")
    sheet = Box(
        Paragraph(gettext("Copying tensors"), tag="h1"),
        Paragraph(
            gettext(
                "What `y` shares with `x`. Every answer was found by running it, with `{code}`.",
                code=protect_marks(code),
            )
        ),
        Box(
            Table(
                [gettext("method"), *map(protect_marks, titles)],
                map(_render_row, facts_by_name.values()),
            ),
            # It scrolls by itself on a narrow screen; "tabindex" lets the keys scroll it.
            class_="wide",
            tabindex=0,
        ),
        _make_lists(facts_by_name, engine or tinytorch),
    )
    title = escape(gettext("Copying tensors: the cheat sheet"))
    # A row to a line, so that a change of one answer is a change of one line.
    return (
        f'<!doctype html>\n<html lang="{current_language() or "en"}">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n"
        f"<main>{sheet.inner_html()}</main>\n</html>\n".replace("<tr>", "\n<tr>").replace(
            "<d", "\n<d"
        )
    )


def _make_lists(facts_by_name: Mapping[str, Facts], engine: ModuleType) -> Box:
    """Make the three columns below the table."""
    wants = "".join(_render_want(want, wanted, facts_by_name) for want, wanted in WANTS)
    sharing = _list_sharing(engine)
    return Box(
        Box(
            Paragraph(gettext("Which one do I want?"), tag="h2"),
            InPage(html_element("dl", wants)),
        ),
        Box(
            Paragraph(gettext("Six rules"), tag="h2"),
            Items(map(gettext, RULES)),
            Paragraph(gettext("Does it copy? It depends"), tag="h2"),
            InPage(_render_lists(sharing[3:])),
        ),
        Box(
            Paragraph(gettext("Does it share memory with `x`?"), tag="h2"),
            InPage(_render_lists(sharing[:3])),
        ),
        class_="columns",
    )


def _list_sharing(engine: ModuleType) -> list[tuple[str, list[str]]]:
    """List the names of operations below heads: those that always share memory, never, sometimes."""
    shown: list[str] = []
    verdicts: dict[str, set[str]] = {}
    by_copied: dict[tuple[str, ...], list[str]] = {}
    for row in find_all_sharing(engine):
        name = find_word(row.method.code).rpartition(".")[2] or row.method.name
        verdicts.setdefault(name, set()).add(row.verdict)
        # The table above has the methods.
        if row.method.name in OPERATIONS and name not in shown:
            shown.append(name)
        if row.depends_on_layout:
            by_copied.setdefault(tuple(row.list_layouts("copy")), []).append(name)
    # Of a name, all ways to call it have to agree.
    always = [name for name in shown if verdicts[name] == {"always"}]
    never = [name for name in shown if verdicts[name] == {"never"}]
    known = {*always, *never}.union(*by_copied.values())
    rest = [name for name in shown if name not in known]
    return [
        (gettext("Always"), always),
        (gettext("Never"), never),
        (gettext("By the other arguments, or by the dtype"), rest),
        *[
            (gettext("A copy only for: {layouts}", layouts=join_list(map(gettext, layouts))), names)
            for layouts, names in by_copied.items()
        ],
    ]


def _render_lists(entries: Sequence[tuple[str, list[str]]]) -> str:
    """Return lists of names, each below its head."""
    items = ""
    for head, names in entries:
        codes = join_list(f"`{protect_marks(name)}`" for name in names)
        items += Paragraph(head, tag="dt").html() + Paragraph(codes, tag="dd").html()
    return html_element("dl", items)


def _render_row(facts_of_method: Facts) -> list[Cell]:
    name = Cell(protect_marks(join_code_lines(facts_of_method.method)), head=True)
    # On this source some ways raise, as numpy() of what requires grad: their row is one cell.
    error = facts_of_method["raises"].answer
    if error is None:
        return [name, *(make_cell(facts_of_method[question.key]) for question in COLUMNS)]
    # The first sentence of an error says enough on paper.
    raises = gettext("raises {error}", error=protect_marks(str(error).partition(". ")[0]))
    return [name, Cell(raises, colspan=len(COLUMNS))]


def _render_want(
    want: str, wanted: Mapping[str, Answer], facts_by_name: Mapping[str, Facts]
) -> str:
    """Return the entry of a list: a wish, and the methods whose answers include the wanted ones."""
    names = [
        f"`{name}`"
        for name, facts_of_method in facts_by_name.items()
        if wanted.items() <= facts_of_method.answers.items()
    ]
    if not names:
        raise RuntimeError(f"no copy method gives what is wanted here: {want}")
    return Paragraph(gettext(want), tag="dt").html() + Paragraph(join_list(names), tag="dd").html()
