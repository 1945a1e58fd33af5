"""The comparison as text and as HTML: a table of the main answers, and below it every answer with its program."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..run.ending import count
from ..ui.theme import style, web
from .facts import Fact, Facts

if TYPE_CHECKING:
    from .comparison import Comparison

MAIN: Mapping[str, str] = MappingProxyType(
    {
        "same_tensor": "same tensor",
        "same_storage": "shares memory",
        "same_counter": "shares version counter",
        "x_sees_y": "x sees a write through y",
        "requires_grad": "requires grad",
        "leaf": "is a leaf",
        "grad_fn": "grad_fn",
        "gradient_returns": "gradient flows back",
        "after_write": "backward after a write",
        "copied": "new memory",
    }
)
"""The columns of the table."""
MORE: Mapping[str, str] = MappingProxyType(
    {
        "y_sees_x": "y sees a write through x",
        "dtype": "keeps dtype",
        "device": "keeps device",
        "shape": "keeps shape",
        "strides": "keeps strides",
        "warns": "warns",
        "raises": "raises",
    }
)
"""What there is beside: in the table on demand."""
_WIDE = 24  # characters of an answer that a cell shows
FOUND = "Every answer was found by running a program."
HELP = """\
compare() puts ways to copy a tensor side by side. Every answer was found by running a program.

Choose a cell and press Enter: the program that proves it opens below. Copy it, change it, run it.
Press on the name of a column to sort by it; show only some rows with the fields above the table.
Then choose another kind of source and watch which cells change.

  compare("clone", "detach", ".data")     only these
  compare(source=x)                       what they would do to your tensor, which is not touched
  c["clone"]["same_storage"].proof        the program as text; .answer is what it printed
  c.where(same_storage=True, same_counter=False)
  print(c.text)                           everything in words"""


def summary(comparison: Comparison) -> str:
    """What is compared, in a sentence."""
    return f"{count(len(comparison.methods), 'way')} to make y from x: what is shared, what autograd sees"


def _answers(found: Facts, names: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {found[key].said}" for key, name in names.items())


def plain(comparison: Comparison) -> str:
    """All answers in words."""
    lines = [f"{summary(comparison)}.", FOUND, "", *(f"  {line}" for line in comparison.source.code.splitlines())]
    if comparison.source.note:
        lines.append(f"  (x stands in for your tensor: {comparison.source.note})")
    for name, found in comparison.items():
        lines += ["", f"{name}    {'; '.join(found.method.code.splitlines())}"]
        lines += [f"  {_answers(found, MAIN)}", f"  {_answers(found, MORE)}"]
    return "\n".join(lines)


def page(comparison: Comparison) -> str:
    """The static form with its style, and the script that lets it be sorted and filtered."""
    made = form(comparison).removesuffix("</div>")
    sheet = f"<style>{style('copying/compare.css')}</style>"
    return f'{made}{sheet}<script type="module">{web("copying/compare.js")}</script></div>'


def form(comparison: Comparison) -> str:
    """The static form: it needs no script."""
    source = comparison.source
    note = f"<p>x stands in for your tensor: {escape(source.note)}.</p>" if source.note else ""
    head = "".join(f'<th scope="col">{name}</th>' for name in MAIN.values())
    rows = "".join(_row(name, found) for name, found in comparison.items())
    proofs = "".join(_proofs(name, found) for name, found in comparison.items())
    return (
        '<div class="copylab-compare cl-panel">'
        f"<p class='cl-summary'><strong>{summary(comparison)}</strong>. {FOUND}</p>"
        f'<div class="cl-source"><pre>{escape(source.code)}</pre>{note}</div>'
        f'<table><thead><tr><th scope="col">y is made by</th>{head}</tr></thead><tbody>{rows}</tbody></table>'
        f'<div class="cl-proofs"><p>The programs that prove it:</p>{proofs}</div></div>'
    )


def _row(name: str, found: Facts) -> str:
    cells = "".join(f'<td class="{_kind(found[key])}">{_short(found[key])}</td>' for key in MAIN)
    return f'<tr><th scope="row"><code>{escape(name)}</code>{_failed(found)}</th>{cells}</tr>'


def _failed(found: Facts) -> str:
    """Why there are no answers, beside the name; the whole error stands in the cells and below the table."""
    error = found["raises"].answer
    return "" if error is None else f" <small>{escape(str(error).partition(':')[0])}</small>"


def _short(fact: Fact) -> str:
    said = (
        fact.said if len(fact.said) <= _WIDE else "yes" if fact.key in ("warns", "raises") else fact.said[:_WIDE] + "…"
    )
    return escape(said)


def _kind(fact: Fact) -> str:
    """The class of a cell: what it says at a glance, beside its word."""
    if fact.why:
        return "cl-none"
    if fact.answer is True or (fact.key in ("warns", "raises") and fact.answer is not None):
        return "cl-yes"
    if fact.answer is False or fact.answer in (None, 0):
        return "cl-no"
    return {"right": "cl-right", "an error": "cl-stops", "wrong, and no error": "cl-bad"}.get(
        str(fact.answer), "cl-yes"
    )


def _proofs(name: str, found: Facts) -> str:
    code, how = "; ".join(found.method.code.splitlines()), found.method
    about = f"{escape(how.note)}. " if how.note else ""
    docs = f'<span class="cl-docs">{escape(how.docs)}</span>' if how.docs else ""
    names = {**MAIN, **MORE}
    parts = "".join(_proof(found[key], names[key]) for key in names)
    return (
        f'<details class="cl-way" data-method="{escape(name)}" data-code="{escape(code)}"><summary><code>{escape(name)}'
        f'</code>: {escape(code)}</summary><p class="cl-about">{about}{docs}</p>{parts}</details>'
    )


def _proof(fact: Fact, short: str) -> str:
    result = f"It printed: {fact.printed}" if not fact.why else f"No answer: {fact.why}."
    main = ' data-main=""' if fact.key in MAIN else ""
    return (
        f'<details class="cl-fact {_kind(fact)}" data-key="{fact.key}" data-name="{short}" '
        f'data-cell="{_short(fact)}"{main}>'
        f"<summary>{escape(fact.question)} <strong>{escape(fact.said)}</strong></summary>"
        f'<pre>{escape(fact.proof.rstrip())}</pre><p class="cl-printed">{escape(result)}</p></details>'
    )
