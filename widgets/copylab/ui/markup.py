"""Short texts with `code`, **bold** and blank lines between paragraphs, as HTML; everything else in them is escaped."""

from __future__ import annotations

import re
from html import escape

_FENCE = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)
_MARKS = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*")


def inline(text: str) -> str:
    """One line of text as HTML: `code` and **bold**, the rest escaped."""
    out, at = [], 0
    for mark in _MARKS.finditer(text):
        out.append(escape(text[at : mark.start()]))
        code, bold = mark.groups()
        out.append(f"<code>{escape(code)}</code>" if code is not None else f"<strong>{escape(bold)}</strong>")
        at = mark.end()
    return "".join([*out, escape(text[at:])])


def block(text: str) -> str:
    """Paragraphs as HTML; a part between three backticks is shown as code."""
    parts = _FENCE.split(text.strip())
    return "".join(
        f"<pre>{escape(part)}</pre>"
        if number % 2
        else "".join(f"<p>{inline(p)}</p>" for p in re.split(r"\n\s*\n", part.strip()) if p.strip())
        for number, part in enumerate(parts)
    )


def plain(text: str) -> str:
    """The same for reading as text: backticks stay, for they say what is code."""
    return re.sub(r"\*\*([^*\n]+)\*\*", r"\1", text.strip())
