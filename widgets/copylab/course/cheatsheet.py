"""The cheat sheet: one printable page on what every way of copying does, computed by running each of them.

python -m copylab.course.cheatsheet cheat_sheet.html
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from types import ModuleType

from ..copying.facts import Answer, Facts, facts
from ..copying.methods import METHODS
from ..copying.sources import Source

SOURCE = Source("result", (2, 3))
"""What is copied: a tensor that was computed from a leaf, the most telling case."""

COLUMNS: Mapping[str, str] = {
    "same_tensor": "same tensor",
    "same_storage": "shares memory",
    "same_counter": "shares the counter",
    "x_sees_y": "x sees a write through y",
    "requires_grad": "requires grad",
    "leaf": "leaf",
    "grad_fn": "grad_fn",
    "gradient_returns": "gradient returns",
    "after_write": "gradient of x * x after a write through y",
    "copied": "new memory",
    "warns": "warns",
}

WANTS: tuple[tuple[str, Mapping[str, Answer]], ...] = (
    (
        "Values that nobody else can change, and the gradient goes back",
        {"same_storage": False, "gradient_returns": True, "dtype": True, "warns": None},
    ),
    (
        "Values that nobody else can change, and no gradient",
        {"same_storage": False, "gradient_returns": False, "leaf": True, "dtype": True, "warns": None},
    ),
    (
        "The same memory without a gradient, and writes are counted",
        {"same_storage": True, "same_counter": True, "gradient_returns": False},
    ),
    (
        "The same memory seen as another tensor, and the gradient goes back",
        {"same_tensor": False, "same_storage": True, "gradient_returns": True},
    ),
    ("Nothing new: a second name, or the tensor itself", {"same_tensor": True}),
    (
        "Beware: a write is not counted, and the gradient is wrong without an error",
        {"after_write": "wrong, and no error"},
    ),
)
"""What one may want of a copy, and the facts by which one knows the methods that give it."""

RULES = (
    "A view and its source share the storage and the version counter. So do <code>detach()</code> and its source.",
    "<code>.data</code>, <code>copy.copy</code>, NumPy: they share the storage, not the counter: writes go uncounted.",
    "A counted write into a <em>saved</em> value raises in <code>backward</code>; an uncounted write never does.",
    "<code>.grad</code> is filled at leaves that require grad; elsewhere ask for it with <code>retain_grad()</code>.",
    "Gradients add up until you set them back: <code>x.grad = None</code> or <code>optimizer.zero_grad()</code>.",
    "<code>reshape</code>, <code>contiguous</code>, <code>to</code>, <code>as_tensor</code> copy only if they must.",
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
tbody th { font-weight: 600; white-space: nowrap } td.wrong { font-weight: 700; text-decoration: underline }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 6mm; font-size: 8.2pt }
ul { margin: 0; padding-left: 4mm } li { margin: .4mm 0 }
dl { margin: 0 } dt { font-weight: 600 } dd { margin: 0 0 .6mm 4mm }
@media print { body { padding: 0; max-width: none } }
"""


def page(engine: ModuleType | None = None) -> str:
    """Return the cheat sheet as a page that needs nothing beside it; every verdict comes from a run of `engine`.

    Raises RuntimeError if for something one may want no method is found: then the page would be wrong.
    """
    found = {name: facts(name, SOURCE, engine) for name in METHODS}
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in COLUMNS.values())
    rows = "".join(_row(name, one) for name, one in found.items())
    wants = "".join(f"<dt>{escape(want)}</dt><dd>{_giving(want, asked, found)}</dd>" for want, asked in WANTS)
    rules = "".join(f"<li>{rule}</li>" for rule in RULES)
    made = escape(SOURCE.code.replace("\n", "; "))
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Copying tensors: the cheat sheet</title>\n'
        f"<style>{_STYLE}</style>\n<h1>Copying tensors</h1>\n"
        f"<p>What <code>y</code> shares with <code>x</code>. Every answer was found by running it, with "
        f"<code>{made}</code>.</p>\n"
        f'<table>\n<thead><tr><th scope="col">method</th>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n'
        f'<div class="two">\n<div><h2>Which one do I want?</h2><dl>{wants}</dl></div>\n'
        f"<div><h2>Six rules</h2><ul>{rules}</ul></div>\n</div>\n</html>\n"
    )


def _row(name: str, found: Facts) -> str:
    cells = []
    if (error := found["raises"].answer) is not None:
        cells.append(f'<td colspan="{len(COLUMNS)}">raises {escape(str(error).partition(". ")[0])}</td>')
    for key in COLUMNS if error is None else ():
        said = found[key].said
        if key == "warns" and found[key].answer is not None:
            said = "yes"
        wrong = ' class="wrong"' if said.startswith("wrong") else ""
        cells.append(f"<td{wrong}>{escape(said)}</td>")
    code = METHODS[name].code.replace("\n", "; ")
    return f'<tr><th scope="row">{escape(code)}</th>{"".join(cells)}</tr>\n'


def _giving(want: str, asked: Mapping[str, Answer], found: Mapping[str, Facts]) -> str:
    names = [name for name, one in found.items() if all(one[key].answer == answer for key, answer in asked.items())]
    if not names:
        raise RuntimeError(f"no copy method gives what is wanted here: {want}")
    return ", ".join(f"<code>{escape(name)}</code>" for name in names)


def main() -> None:
    """Write the page to the file that is named."""
    if len(sys.argv) != 2:
        sys.exit((__doc__ or "").strip())
    Path(sys.argv[1]).write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
