"""Drawing the graph: Graphviz says where, this says how."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ..diff import Changes
from ..fold import view
from ..labels import plural, shorten, width
from ..read.records import Snapshot
from ..words import left_out, no_longer, unread
from . import layout
from .cards import PAD, ROW, Card, Wire
from .style import Canvas, number, numbers

EDGE = 14
NOTE = 760
"""A longer note makes no picture wider."""
LEGEND = "marks what changed since the earlier look"
Point = tuple[float, float]


def dot_for(cards: list[Card], wires: list[Wire]) -> str:
    """DOT with sizes and no text: what the layout needs, and nothing that could be misread."""
    lines = [
        "digraph{graph[rankdir=TB nodesep=.3 ranksep=.4 ordering=out nslimit=2 nslimit1=2 mclimit=.5]",
        'node[shape=box fixedsize=true label=""]edge[dir=none]',
    ]
    lines += [f"{card.name}[width={card.width / 72:.4f} height={card.height / 72:.4f}]" for card in cards]
    lines += [f"{wire.tail}->{wire.head}" for wire in wires]
    return "\n".join([*lines, "}"])


def draw(snap: Snapshot, cards: list[Card], wires: list[Wire], changed: Changes, theme: str | None = None) -> str:
    """The whole SVG."""
    canvas = Canvas()
    notes = [*unread(snap), *no_longer(changed), *left_out(view(snap), changed)]
    notes_w = max((width(shorten(note, 90), "m") for note in notes), default=0.0)
    if not cards:
        canvas.text(EDGE, 26, "no tensors to show", "m")
        for k, note in enumerate(notes):
            canvas.text(EDGE, 46 + 18 * k, note, "m", 90)
        return canvas.svg(max(320, 2 * EDGE + notes_w), 44 + 18 * len(notes), "Graph picture without tensors", theme)
    places, routes, w, h = _laid_out(layout.render, dot_for(cards, wires))
    top = EDGE + 22
    head = "backward follows the arrows" if snap.nodes else "nothing here was computed from a tensor that requires grad"
    canvas.text(EDGE, EDGE + 10, head, "m")
    least = width(head) + 2 * EDGE
    if any(mark == "was" for card in cards for _, _, mark in card.lines):
        _mark(canvas, "was", EDGE + 5, top)
        canvas.text(EDGE + 16, top + 4, LEGEND, "m")
        least = max(least, width(LEGEND) + 16 + 2 * EDGE)
        top += 18
    if any(card.fresh for card in cards):
        top += 6  # room for the flags of the first row
    for wire, points in zip(wires, _matched(wires, routes), strict=True):
        _wire(canvas, wire, [(x + EDGE, h - y + top) for x, y in points])
    for card in cards:
        x, y = places[card.name]
        _card(canvas, card, x + EDGE, h - y + top)
    bottom = top + h
    for note in notes:
        canvas.text(EDGE, bottom + 20, note, "m", 90)
        bottom += 18
    least = max(least, min(notes_w, NOTE) + 2 * EDGE)
    return canvas.svg(max(w + 2 * EDGE, least), bottom + EDGE, _summary(snap, changed), theme)


@lru_cache(maxsize=128)
def _laid_out(
    render: Callable[[str], str], dot: str
) -> tuple[dict[str, Point], list[tuple[str, str, list[Point]]], float, float]:
    """What `_places` makes of a layout; what changes from step to step of a program often leaves it as it is."""
    return _places(render(dot))


def _places(plain: str) -> tuple[dict[str, Point], list[tuple[str, str, list[Point]]], float, float]:
    """Graphviz' plain output, in px with y upwards."""
    places: dict[str, Point] = {}
    routes: list[tuple[str, str, list[Point]]] = []
    w = h = 0.0
    for line in plain.splitlines():
        words = line.split()  # names and numbers; what is quoted comes after them
        if words[0] == "graph":
            w, h = float(words[2]) * 72, float(words[3]) * 72
        elif words[0] == "node":
            places[words[1]] = (float(words[2]) * 72, float(words[3]) * 72)
        elif words[0] == "edge":
            count = int(words[3])
            flat = [float(word) * 72 for word in words[4 : 4 + 2 * count]]
            routes.append((words[1], words[2], list(zip(flat[::2], flat[1::2], strict=True))))
    return places, routes, w, h


def _matched(wires: list[Wire], routes: list[tuple[str, str, list[Point]]]) -> list[list[Point]]:
    """The route of each wire; two wires between the same cards take theirs in turn."""
    waiting: dict[tuple[str, str], list[list[Point]]] = {}
    for tail, head, points in routes:
        waiting.setdefault((tail, head), []).append(points)
    return [waiting[wire.tail, wire.head].pop(0) for wire in wires]


def _wire(canvas: Canvas, wire: Wire, points: list[Point]) -> None:
    line, tip, ink = {
        "next": ("arrow", "tip", "t"),
        "name": ("arrow dash", "tip", "t"),
        "leaf": ("leaf-l", "leaf-t", "leaf-t"),
    }[wire.kind]
    end, before = points[-1], points[-2]
    dx, dy = end[0] - before[0], end[1] - before[1]
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    ux, uy = dx / length, dy / length
    base = (end[0] - 8 * ux, end[1] - 8 * uy)
    bends = [*points[:-1], base]
    curve = "".join([f"C{numbers(bends[i : i + 3])}" for i in range(1, len(bends), 3)])
    canvas.path(f"M{number(points[0][0])} {number(points[0][1])}{curve}", line)
    left = (base[0] - 4 * uy, base[1] + 4 * ux)
    right = (base[0] + 4 * uy, base[1] - 4 * ux)
    canvas.path("M" + "L".join(f"{number(x)} {number(y)}" for x, y in (end, left, right)) + "z", tip)
    if wire.kind == "next" and wire.label:
        x, y = _along(points, 0.3)
        w = width(wire.label, "mono xs") + 8
        canvas.rect(x - w / 2, y - 7, w, 14, "card", 7)
        canvas.text(x, y + 3.5, wire.label, "t mono xs c")
    elif wire.label:
        x, y = _along(points, 0.5)
        canvas.text(x + 6, y + 3, wire.label, f"{ink} mono xs")


def _along(points: list[Point], t: float) -> Point:
    """A point on the first cubic curve of a route."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points[:4]
    s = 1 - t
    a, b, c, d = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    return (a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy)


def _card(canvas: Canvas, card: Card, x: float, y: float) -> None:
    w, h = card.width, card.height
    left, top = x - w / 2, y - h / 2
    kind = {"node": "band", "fold": "card dash", "name": "name", "leaf": "leaf", "off": "card dash"}[card.kind]
    ink = {"node": "t", "fold": "t", "name": "name-t", "leaf": "leaf-t", "off": "m"}[card.kind]
    if card.fresh:
        kind = "new dash" if card.kind == "fold" else "new"
    if any(mark == "cross" for _, _, mark in card.lines):
        kind = "bad"
    canvas.rect(left, top, w, h, kind, 6 if card.kind in ("node", "fold") else 12)
    if card.fresh:
        canvas.rect(left - 5, top - 11, 30, 15, "new", 3)
        canvas.text(left + 10, top, "new", "new-t xs b c")
    for k, (text, style, mark) in enumerate(card.lines):
        line_y = top + 17 + k * ROW + (3 if k else 0)
        tone = _tone(kind, mark, ink)
        if mark:
            _mark(canvas, mark, left + PAD + 4, line_y - 4)
            canvas.text(left + PAD + 16, line_y, text, f"{tone} {style}")
        else:
            canvas.text(x, line_y, text, f"{tone} {style} c", whole="" if k else card.whole)


def _tone(kind: str, mark: str, ink: str) -> str:
    """The colour of a line of text."""
    if mark in ("cross", "warn"):
        return "bad-t"
    if mark == "was":
        return "new-t"
    if kind.startswith(("bad", "new")):
        return "t"
    return "m" if mark == "void" else ink


def _mark(canvas: Canvas, mark: str, x: float, y: float) -> None:
    if mark == "check":
        canvas.check(x, y, "leaf-l")
    elif mark == "cross":
        canvas.cross(x, y, "bad-l")
    elif mark == "warn":
        canvas.path(f"M{number(x - 5)} {number(y + 4)}l5 -9l5 9zm5 -6v2.5m0 1.2v1", "bad-l")
    elif mark == "was":
        canvas.path(f"M{number(x - 5)} {number(y)}l5 -5l5 5l-5 5z", "new")
    elif mark == "void":
        canvas.path(f"M{number(x - 4)} {number(y)}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0m1.2 2.8l5.6 -5.6", "thin")
    else:
        canvas.path(f"M{number(x - 2)} {number(y)}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0", "tip")


def _summary(snap: Snapshot, changed: Changes) -> str:
    stale = sum(saved.state == "stale" for node in snap.nodes for saved in node.saved)
    text = f"Autograd graph with {plural(len(snap.nodes), 'node')}{' and more' if snap.notes else ''}"
    text += f", {len(changed.nodes):,} of them new" if changed.nodes else ""
    return text + (f", {plural(stale, 'saved tensor')} stale: backward will raise" if stale else "")
