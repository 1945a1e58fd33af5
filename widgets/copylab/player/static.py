"""The static form of a step-through: HTML that can be read anywhere, and plain text that leaves nothing out.

The HTML needs no script: a `<details>` for each step, pictures as images that carry their SVG. It stays readable in a
notebook that is not trusted, where scripts and styles are taken away. Where scripts run, the player's script, which
comes last, turns it into the player. Everything of the user's is escaped here.

Both together take less than LEVEL in the file of a notebook, whatever was stepped. What is left out for that is said
where it would stand.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from ..run.capture import cut, shown
from ..ui.theme import style, web
from .frames import Frame, Picture
from .groups import Group, Part
from .packing import Pack, stored_size

LEVEL = 2_000_000
"""Bytes that both forms of a step-through may take in a notebook."""

WORDS = 200_000
"""Of these, bytes that are kept free for pictures in words, in the plain text."""

STEPS = 800_000
"""Of these, bytes of all steps without their pictures; if it would take more, only the first steps are shown."""

ROOM = 400_000
"""Characters that a form gives to images; what is over goes into a table of parts, as far as that may go."""

CODE = 300_000
"""And so many of the code itself, about."""

SHORT = 12
"""A loop or call of no more steps is open from the start."""

_NOTHING = "Nothing changed in memory or on the graph."
_TITLES = {"memory": "Memory", "graph": "Graph"}
# What is left out first. Of many tensors, the graph is the harder one to read.
_SPARE = ("graph svg", "memory svg", "graph text", "memory text")
_WORDS = "{}: left out, see the end"
_KINDS = {"out": "Output", "err": "Error output", "warning": "Warning", "value": "Value", "cut": "Cut"}


SCRIPTS = ("player/picture.js", "player/player.js")
SHEETS = ("player/player.css",)


def form(source: str, parts: Sequence[Part], summary: str, end: str) -> str:
    """The static form without style and script: what the live form carries."""
    lines = _code(source)
    digits = len(str(len(lines)))
    code = "\n".join(f"{n:>{digits}}  <span class='cl-line'>{escape(line)}</span>" for n, line in enumerate(lines, 1))
    pictures = _Pictures()
    count = _last(parts)
    steps = "".join(_part(part, count, pictures, opened=True) for part in parts)
    ending = f"<p class='cl-end'>{escape(end)}</p>" if end else ""
    made = (
        f'<div class="copylab-steps" aria-label="{escape(summary)}">'
        f"<p><strong>{escape(summary)}</strong></p><pre class='cl-code'>{code}</pre>{steps}{ending}"
    )
    if pictures.pack:
        without = _plain(source, parts, summary, end, None)
        room = LEVEL - WORDS - sum(map(stored_size, (made, web(*SCRIPTS), style(*SHEETS), without)))
        made += f'<script type="application/json">{pictures.pack.json(room * 24 // 25, _SPARE)}</script>'
    return f"{made}</div>"


def page(source: str, parts: Sequence[Part], summary: str, end: str) -> str:
    """The static form with the script that turns it into the player."""
    made = form(source, parts, summary, end).removesuffix("</div>")
    return f'{made}<style>{style(*SHEETS)}</style><script type="module">{web(*SCRIPTS)}</script></div>'


def how_many(parts: Sequence[Part]) -> int:
    """How many steps, from the first, there is room for."""
    room, shown = STEPS, 0
    for part in _flat(parts):
        if isinstance(part, Group):
            room -= 200 + stored_size("".join(map(escape, part.changes)))
        else:
            room -= stored_size(_step(part, 0, None)) + 200
            shown += room >= 0
    return shown


def _flat(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        if isinstance(part, Group):
            yield from _flat(part.parts)


def _code(source: str) -> list[str]:
    """The lines of the code; of very long ones, and of very many, it is said how much is not shown."""
    lines = [cut(line, 2000).replace("\n", " ") for line in shown(source).splitlines()] or [""]
    room = CODE
    for at, line in enumerate(lines):
        room -= 2 * len(line) + 100  # it stands in both forms, and in a notebook on a line of its own
        if room < 0 < at:
            return [*lines[:at], f"... {len(lines) - at:,} more lines, not shown"]
    return lines


def _last(parts: Sequence[Part]) -> int:
    last = parts[-1] if parts else None
    return last.last if isinstance(last, Group) else last.number if last is not None else 0


def _part(part: Part, count: int, pictures: _Pictures, *, opened: bool) -> str:
    if isinstance(part, Frame):
        return _step(part, count, pictures)
    says = "".join(f"<li>{escape(change)}</li>" for change in part.changes or (_NOTHING,))
    opened = opened and part.last - part.first < SHORT
    return (
        f'<details class="cl-group" data-kind="{part.kind}" data-line="{part.line}" data-first="{part.first}" '
        f'data-last="{part.last}"{" open" * opened}><summary>{escape(part.summary)}</summary>'
        f"<ul class='cl-says'>{says}</ul>"
        f"{''.join(_part(inner, count, pictures, opened=opened) for inner in part.parts)}</details>"
    )


def _step(frame: Frame, count: int, pictures: _Pictures | None) -> str:
    site, step = frame.step.site, frame.step
    says = "".join(f"<li>{escape(change)}</li>" for change in _says(frame))
    opened = " open" if frame.number == count else ""  # the last step shows where it led
    calls = f' data-calls="{escape(" ".join(step.calls))}"' if step.calls else ""
    return (
        f'<details class="cl-step" data-line="{site.line}" data-end="{site.end_line}" data-kind="{step.kind}"{calls}'
        f"{opened}>"
        f"<summary>Step {frame.number}, {escape(frame.title)}</summary>"
        f"<ul class='cl-says'>{says}</ul>"
        f"{''.join(_output(*part) for part in _outputs(frame))}"
        f"{''.join(pictures.put(kind, one, frame) for kind, one in frame.pictures.items()) if pictures else ''}"
        "</details>"
    )


def _says(frame: Frame) -> tuple[str, ...]:
    if frame.changes or frame.explanation:
        return tuple(cut(one, 500).replace("\n", " ") for one in (*frame.changes, *frame.explanation))
    if frame.step.error is not None:
        return ()
    return (_NOTHING,)


def _outputs(frame: Frame) -> list[tuple[str, str]]:
    parts = [(_KINDS[kind], text.rstrip("\n")) for kind, text in frame.step.output]
    if frame.step.error is not None:
        parts.append(("Raised, and caught" if frame.step.caught else "Error", frame.step.error))
    return parts


def _output(title: str, text: str) -> str:
    kind = title.partition(",")[0].lower().replace(" ", "-")
    scrolls = f' tabindex="0" role="region" aria-label="{title}"' if len(text) > 500 or text.count("\n") > 9 else ""
    return f"<div class='cl-out cl-{kind}'><strong>{title}</strong><pre{scrolls}>{escape(text)}</pre></div>"


class _Pictures:
    """The pictures of one form: images while there is room, then parts that only the player can put together."""

    def __init__(self) -> None:
        self.pack = Pack()
        self._room = ROOM

    def put(self, kind: str, picture: Picture, frame: Frame) -> str:
        """The HTML of a picture, or where to find it."""
        title = _TITLES[kind]
        about = f'class="cl-picture" data-picture="{kind}"'
        if picture.step != frame.number:
            return f'<p {about} data-as="{picture.step}">{title}: as in step {picture.step}.</p>'
        if not picture.svg:
            words = f"This picture cannot be drawn here: {picture.problem}\n\n{picture.text}"
            return f"<div {about}><strong>{title}</strong><pre>{escape(words)}</pre></div>"
        source = base64.b64encode(picture.svg.encode()).decode() if self._room > 0 else ""
        self._room -= len(source) + len(picture.text)
        if self._room <= 0:
            self.pack.add(f"{kind} svg", frame.number, picture.svg)
            self.pack.add(f"{kind} text", frame.number, picture.text)
            return f'<p {about} data-packed="{frame.number}">{title}: not shown here, there are too many pictures.</p>'
        return (
            f"<figure {about}><figcaption>{title} after step {frame.number}</figcaption>"
            f'<img alt="{title} after step {frame.number}, told in words below" '
            f'src="data:image/svg+xml;base64,{source}">'
            f"<details><summary>{title} in words</summary><pre>{escape(picture.text)}</pre></details></figure>"
        )


def plain(source: str, parts: Sequence[Part], summary: str, end: str, room: int | None = None) -> str:
    """The whole step-through as text: the code, then every step with its changes, outputs and pictures in words.

    room: so many bytes of a notebook; if it takes more, pictures are left out, the longest first, and it says so.
    """
    told = _plain(source, parts, summary, end, frozenset())
    if room is None or (size := stored_size(told)) <= room:
        return told
    left: set[tuple[int, str]] = set()
    for cost, number, kind in sorted(_costs(parts), reverse=True):
        if size <= room - 500:
            break
        left.add((number, kind))
        size -= cost
    counts = [f"{sum(kind == one for _, kind in left):,} of {_TITLES[one].lower()}" for one in _TITLES]
    words = f"Left out, to keep what a notebook stores below 2 MB, are pictures in words: {' and '.join(counts)}."
    how = "With s = steps(...), print(s.text) tells all of it."
    return _plain(source, parts, summary, " ".join(filter(None, [end, words, how])), frozenset(left))


def _costs(parts: Iterable[Part]) -> Iterator[tuple[int, int, str]]:
    """How many bytes it saves to leave a picture out, with its step and kind."""
    for frame in (part for part in _flat(parts) if isinstance(part, Frame)):
        for kind, picture in frame.pictures.items():
            if picture.step == frame.number:
                told = "\n".join(_indented(picture.text.split("\n"), "    "))
                if (cost := stored_size(told) - len(_WORDS)) > 0:
                    yield cost, frame.number, kind


Left = frozenset[tuple[int, str]] | None
"""Steps and kinds of pictures whose words are left out; None for all."""


def _plain(source: str, parts: Sequence[Part], summary: str, end: str, left: Left) -> str:
    lines = _code(source)
    digits = len(str(len(lines)))
    told = [summary, *_indented((f"{n:>{digits}}  {line}".rstrip() for n, line in enumerate(lines, 1)), "  ")]
    for part in parts:
        told += _told(part, left)
    if end:
        told += ["", end]
    return "\n".join(told)


def _told(part: Part, left: Left) -> Iterator[str]:
    yield ""
    if isinstance(part, Group):
        yield part.summary
        for inner in part.parts:
            yield from _told(inner, left)
        return
    yield f"Step {part.number}, {part.title}"
    yield from (f"  - {change}" for change in _says(part))
    for title, text in _outputs(part):
        yield f"  {title}:"
        yield from _indented(text.split("\n"), "    ")
    for kind, picture in part.pictures.items():
        if left is None or (part.number, kind) in left:
            yield f"  {_WORDS.format(_TITLES[kind])}"
        elif picture.step == part.number:
            yield f"  {_TITLES[kind]}:"
            yield from _indented(picture.text.split("\n"), "    ")
        else:
            yield f"  {_TITLES[kind]}: as in step {picture.step}"


def _indented(lines: Iterable[str], by: str) -> list[str]:
    return [f"{by}{line}".rstrip() for line in lines]
