"""Graphviz' own SVG in the colours of our pictures, for graphs that someone has added to."""

from __future__ import annotations

import re

from .style import PALETTE, THEMES, root_class, stylesheet

_RULES = (
    ".tt-pic .node polygon,.tt-pic .node path,.tt-pic .node ellipse{fill:FILL;stroke:LINE}"
    ".tt-pic .edge path{stroke:INK}.tt-pic .edge polygon{fill:INK;stroke:INK}"
    ".tt-pic .graph>polygon{fill:BG}.tt-pic g text{fill:INK}"
)


def restyle(svg: str, theme: str | None) -> str:
    """The <svg> element of `svg` with our stylesheet; what Graphviz escaped stays escaped."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    rules = _RULES
    for word, name in (("FILL", "card"), ("LINE", "line"), ("INK", "ink"), ("BG", "bg")):
        rules = rules.replace(word, _colour(name, theme))
    rules = rules.replace(".tt-pic", f".{root_class(theme)}")
    head = f'<svg class="{root_class(theme)}" role="img" aria-label="Autograd graph" style="max-width:100%;height:auto"'
    body = body.replace("<svg", head, 1)
    at = body.index(">") + 1
    return f"{body[:at]}<style>{stylesheet(theme)}{rules}</style>{body[at:]}"


def _colour(name: str, theme: str | None) -> str:
    return f"var(--tt-{name},var(--_{name}))" if theme is None else PALETTE[name][THEMES[theme]]
