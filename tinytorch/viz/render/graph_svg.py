"""The graph picture: which nodes backward will walk, and what they saved.

Graphviz finds the places; boxes, signs and colours are drawn here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import NamedTuple

from ..diagnose import Changes
from ..show import (
    FoldEntry,
    GraphContents,
    GraphEdge,
    NamedTensor,
    NamedTensors,
    NodeEntry,
    Remark,
    RemarkKind,
    describe_graph,
    select_nodes,
)
from ..wording import cut_middle, gettext, join_lines, shorten_text, text_width
from . import layout
from .picture import Folded, Picture
from .style import Canvas, format_point
from .text import fold_text, graph_text

LINE_COLUMNS, NAME_COLUMNS, TITLE_COLUMNS, REMARK_COLUMNS = 34, 40, 44, 48
"""How long kinds and names, what is below a name, titles of folds, and remarks are in a card."""
GROUP_ROWS = 12
"""A card of several tensors has up to so many names."""
ROW, HEAD, PAD = 16, 26, 10
EDGE = 14
"""Around the picture, in px."""
MOST_TOGETHER = 24
"""So many cards of all steps of a run are laid out together, or twice as many as the largest of
them has: a layout that is much larger than a step would be mostly empty."""
NOTE_WIDTH, NOTE_COLUMNS = 760, 90
"""A longer note makes no picture wider, and is cut."""


class RemarkLook(NamedTuple):
    """How a card shows the remarks of one kind."""

    sign: str
    """One of `MARKS` in style.py; empty for a line that is centred, as it has none."""
    columns: int | None = None
    """How many columns a caption is cut to; None if it stays whole."""
    style: str = "s"
    """Classes of the stylesheet for its text: monospaced, small."""


REMARK_LOOKS: dict[RemarkKind, RemarkLook] = {
    "unchanged": RemarkLook("check"),
    "live": RemarkLook("dot"),
    "number": RemarkLook("dot"),
    "packed": RemarkLook("dot"),
    "once": RemarkLook("dot"),
    "raises": RemarkLook("cross"),
    "written unseen": RemarkLook("cross"),
    "writing line": RemarkLook("dot", REMARK_COLUMNS),
    "maybe written": RemarkLook("warn", REMARK_COLUMNS),
    "count maybe written": RemarkLook("warn"),
    "freed": RemarkLook("void"),
    "unreadable": RemarkLook("void"),
    "changed": RemarkLook("was", REMARK_COLUMNS),
    "results": RemarkLook("", NAME_COLUMNS),
    "node kind": RemarkLook("", LINE_COLUMNS, "mono s"),
}
"""How a card shows a remark, by its kind; all others have no sign and are whole.

Captions of any length are cut here; in those of what was saved, `graph_remarks.py` has cut the names
(`SAVED_COLUMNS`, `LABEL_COLUMNS`). All others are short.
"""
# A line with one of these is bold: colour alone does not reach everybody.
_LOUD = ("cross", "warn", "was")
Point = tuple[float, float]


class GraphStep(NamedTuple):
    """The graph picture of one step of a run."""

    key: tuple[Card | GraphEdge, ...]
    """What it shows, before it is laid out: two steps with equal keys look the same."""
    picture: Picture


def graphs_of(
    run: Iterable[Changes], wrong_nodes: Iterable[frozenset[object]]
) -> Iterator[GraphStep]:
    """Make the graph pictures of the steps of a run.

    A graph that is not too large is laid out once, so that what stays keeps its place. `wrong_nodes`
    has, for each step, the keys of the nodes whose gradient is wrong, as `blame_lines` found them.
    """
    sheets: list[GraphSheet] = []
    describe_unmarked: list[Callable[[], GraphContents]] = []
    # A run whose time for drawing is up ends before its nodes do.
    for changed, wrong_in_step in zip(run, wrong_nodes, strict=False):
        selection = select_nodes(changed)
        sheets.append(make_sheet(describe_graph(changed, selection, wrong_in_step)))
        describe_unmarked.append(partial(describe_graph, Changes(changed.now), selection))
    stage: Callable[[], GraphStage] | None = None
    renamed = _rename_all(sheets)
    if renamed is not None:
        sheets = renamed
        # Graphviz is called once for the whole run, when the first of its pictures is drawn.
        stage = cache(partial(place_sheets, sheets))
    for sheet, describe in zip(sheets, describe_unmarked, strict=True):
        picture = Picture(
            partial(_draw_on_stage, sheet, stage),
            partial(graph_text, sheet.contents),
            render_unmarked=partial(_text_of, describe),
        )
        yield GraphStep((*sheet.cards, *sheet.edges), picture)


def _text_of(describe: Callable[[], GraphContents]) -> str:
    return graph_text(describe())


def _draw_on_stage(sheet: GraphSheet, stage: Callable[[], GraphStage] | None) -> str:
    return draw_sheet(sheet, None if stage is None else stage())


# -- a sheet: everything that is drawn, not yet placed -----------------------------


class CardLine(NamedTuple):
    """A line of a card."""

    text: str
    """As it is drawn, cut where it is too long."""
    style: str
    """Classes of the stylesheet: monospaced, bold, small."""
    sign: str
    """One of `MARKS` in style.py; empty for a line without one, which is centred in the card."""

    @property
    def width(self) -> float:
        """The width in px, with its sign."""
        sign_width = 18 if self.sign else 0
        return text_width(self.text, self.style) + sign_width


@dataclass(frozen=True, slots=True)
class Card:
    """One box of the graph picture."""

    name: str
    """Its name in DOT: the id of a node, a fold or a tensor."""
    kind: str
    """ "node", "fold", "name", "leaf", or "off" for what is not in this graph."""
    lines: tuple[CardLine, ...]
    """The first is its title."""
    title: str = ""
    """The first line before it was cut."""
    flag: str = ""
    """ "new" for what the earlier snapshot did not have, "found" for what `find` names, "wrong" for a
    wrong gradient."""

    @property
    def width(self) -> float:
        """The width in px."""
        widest = max(line.width for line in self.lines)
        return max(40.0, round(widest + 2 * PAD))

    @property
    def height(self) -> float:
        """The height in px."""
        if len(self.lines) == 1:
            return HEAD
        return HEAD + ROW * (len(self.lines) - 1) + 4

    def has_sign(self, sign: str) -> bool:
        """Return True if a line has this sign."""
        return any(line.sign == sign for line in self.lines)


class GraphSheet(NamedTuple):
    """What one picture draws, before anything in it has a place."""

    contents: GraphContents
    """The records that it is made from, which the text is written from as well."""
    cards: list[Card]
    """In the order of the records: Graphviz keeps it where it can."""
    edges: list[GraphEdge]
    """The lines between the cards, by their names."""

    @property
    def has_changes(self) -> bool:
        """True if a line of a card says what changed."""
        return any(card.has_sign("was") for card in self.cards)


def make_sheet(contents: GraphContents) -> GraphSheet:
    """Make the cards of a graph, in a fixed order: Graphviz keeps it where it can."""
    cards = list(map(_make_name_card, (*contents.results, *contents.without_graph)))
    for entry in contents.entries:
        if isinstance(entry, NodeEntry):
            cards.append(_make_node_card(entry))
        else:
            cards.append(_make_fold_card(entry))
    cards += map(_make_name_card, contents.leaves)
    cards += map(_make_group_card, contents.groups)
    for outside in contents.outside:
        cards.append(Card(outside.id, "off", (CardLine(outside.caption, "s", ""),)))
    return GraphSheet(contents, cards, list(contents.edges))


def _make_name_card(tensor: NamedTensor) -> Card:
    lines = (
        CardLine(cut_middle(tensor.label, LINE_COLUMNS), "mono b", ""),
        CardLine(shorten_text(tensor.caption, NAME_COLUMNS), "s", ""),
        *map(_make_change_line, tensor.changes),
    )
    kind = "leaf" if tensor.is_grad_leaf else "name"
    flag = "new" if tensor.is_new else ""
    return Card(tensor.id, kind, lines, tensor.label, flag)


def _make_change_line(fact: str) -> CardLine:
    return CardLine(shorten_text(fact, NAME_COLUMNS), "s b", "was")


def _make_group_card(group: NamedTensors) -> Card:
    """Make one card for many tensors, as for all that are not on the graph."""
    first, *others = group.headings
    lines = [CardLine(first, "b", "")]
    lines += [CardLine(heading, "s", "") for heading in others]
    for tensor in group.tensors[:GROUP_ROWS]:
        label = cut_middle(tensor.label, LINE_COLUMNS)
        if tensor.is_new:
            lines.append(CardLine(gettext("new: {name}", name=label), "s b", "was"))
        else:
            lines.append(CardLine(label, "mono b", ""))
        lines += map(_make_change_line, tensor.changes)
    hidden = len(group.tensors) - GROUP_ROWS
    if hidden > 0:
        lines.append(CardLine(gettext("and {number} more", number=hidden), "s", ""))
    return Card(group.id, "off", tuple(lines), first)


def _make_remark_line(remark: Remark) -> CardLine:
    sign, columns, style = REMARK_LOOKS.get(remark.kind, RemarkLook(""))
    text = remark.caption if columns is None else shorten_text(remark.caption, columns)
    return CardLine(text, f"{style} b" if sign in _LOUD else style, sign)


def _make_node_card(node: NodeEntry) -> Card:
    lines = [CardLine(shorten_text(node.name, LINE_COLUMNS), "mono b", "")]
    lines += _make_remark_lines(node.remarks)
    # A card has one flag, and a wrong gradient is what a reader must not miss.
    flag = "wrong" if node.has_wrong_gradient else _flag_of_entry(node)
    return Card(node.id, "node", tuple(lines), node.name, flag)


def _make_fold_card(fold: FoldEntry) -> Card:
    title = f"{fold.id} {fold.title}".rstrip()
    lines = [CardLine(cut_middle(title, TITLE_COLUMNS), "b", "")]
    lines += _make_remark_lines(fold.remarks)
    # An id alone is never cut.
    whole_title = title if fold.title else ""
    return Card(fold.id, "fold", tuple(lines), whole_title, _flag_of_entry(fold))


def _make_remark_lines(remarks: Iterable[Remark]) -> list[CardLine]:
    # Without a caption, a remark is for the text alone.
    return [_make_remark_line(remark) for remark in remarks if remark.caption]


def _flag_of_entry(entry: NodeEntry | FoldEntry) -> str:
    # What was searched for comes first: with `since`, all of a graph may be new.
    if entry.is_found:
        return "found"
    return "new" if entry.is_new else ""


def list_folds(contents: GraphContents) -> list[Folded]:
    """List the folds of a graph, each with a picture of what is in it."""
    folds = (entry for entry in contents.entries if isinstance(entry, FoldEntry))
    # Opened when it is asked for: what is in a fold may have folds of its own, and a layout each.
    return [Folded(fold.summary, partial(_open_fold, fold)) for fold in folds]


def _open_fold(fold: FoldEntry) -> tuple[str, str, list[Folded]]:
    """Return SVG, text and folds of what is in it, as `Folded.open` is to."""
    if fold.open is None:
        return "", join_lines(list(fold.leaf_labels)), []
    contents = fold.open()
    svg = draw_sheet(make_sheet(contents), label=fold.summary)
    return svg, fold_text(fold, contents), list_folds(contents)


# -- places ------------------------------------------------------------------------


class Route(NamedTuple):
    """The course of a line: cubic curves, from its tail to its head."""

    tail: str
    """The card that it starts at."""
    head: str
    """The card that it goes to."""
    points: list[Point]
    """The end of one curve is the beginning of the next: 3n + 1 points."""


class GraphLayout(NamedTuple):
    """What Graphviz found, in px with y upwards."""

    places: dict[str, Point]
    """The middles of cards."""
    routes: list[Route]
    """The courses of the lines."""
    width: float
    """Of all of it."""
    height: float
    """Of all of it."""


class GraphStage(NamedTuple):
    """The layout of a whole run: how large its cards are, where they and its lines are."""

    sizes: Mapping[str, tuple[float, float]]
    """Width and height of each card, as large as it ever is."""
    places: Mapping[str, Point]
    """The middles of cards, with y downwards."""
    routes: list[Route]
    """The courses of the lines."""
    foot: float
    """How far down the notes begin."""
    size: tuple[float, float]
    """Width and height of the pictures."""


def _rename_all(sheets: list[GraphSheet]) -> list[GraphSheet] | None:
    """Give nodes names that they keep from step to step; None if a run is not laid out together."""
    names: dict[object, str] = {}
    renamed = []
    for sheet in sheets:
        keys = sheet.contents.keys
        # Without keys of their own, or in folds, nodes cannot be told from each other.
        if len(set(keys.values())) < len(keys) or sheet.contents.has_folded_tensors:
            return None
        new_names = {}
        for old, key in keys.items():
            new_names[old] = names.setdefault(key, f"n{len(names)}")
        renamed.append(_rename_cards(sheet, new_names))
    largest = 0
    all_names: set[str] = set()
    for sheet in renamed:
        largest = max(largest, len(sheet.cards))
        all_names |= {card.name for card in sheet.cards}
    fits = len(sheets) > 1 and len(all_names) <= max(MOST_TOGETHER, 2 * largest)
    return renamed if fits else None


def _rename_cards(sheet: GraphSheet, names: Mapping[str, str]) -> GraphSheet:
    def rename(name: str) -> str:
        # Tensors have names of their own, which they keep from step to step anyway.
        return names.get(name, name)

    cards = [replace(card, name=rename(card.name)) for card in sheet.cards]
    edges = [edge._replace(tail=rename(edge.tail), head=rename(edge.head)) for edge in sheet.edges]
    return sheet._replace(cards=cards, edges=edges)


def place_sheets(sheets: Sequence[GraphSheet]) -> GraphStage:
    """Lay out all cards of a run together, each as large as it ever is."""
    sizes: dict[str, tuple[float, float]] = {}
    lines: Counter[tuple[str, str]] = Counter()
    for sheet in sheets:
        for card in sheet.cards:
            card_width, card_height = sizes.get(card.name, (0, 0))
            sizes[card.name] = max(card_width, card.width), max(card_height, card.height)
        # As many lines between two cards as there are at once in any step.
        lines |= Counter((edge.tail, edge.head) for edge in sheet.edges)
    notes_width = _width_of_notes(sheets)
    foot = 18 * max(len(sheet.contents.notes) for sheet in sheets)
    if not sizes:
        return GraphStage({}, {}, [], 26, (max(320, 2 * EDGE + notes_width), 44 + foot))
    top = _height_of_head(sheets)
    layout_found = lay_out(layout.render, write_dot(sizes, lines.elements()))

    def turn_upright(point: Point) -> Point:
        # In Graphviz y goes up from the bottom, in SVG down from the top.
        x, y = point
        return x + EDGE, layout_found.height - y + top

    places = {name: turn_upright(point) for name, point in layout_found.places.items()}
    routes = [
        route._replace(points=list(map(turn_upright, route.points)))
        for route in layout_found.routes
    ]
    widest = max(_width_of_head(sheets), min(notes_width, NOTE_WIDTH), layout_found.width)
    bottom = top + layout_found.height
    return GraphStage(sizes, places, routes, bottom, (widest + 2 * EDGE, bottom + foot + EDGE))


def _width_of_notes(sheets: Sequence[GraphSheet]) -> float:
    widest = 0.0
    for sheet in sheets:
        for note in sheet.contents.notes:
            widest = max(widest, text_width(shorten_text(note, NOTE_COLUMNS), "m"))
    return widest


def _width_of_head(sheets: Sequence[GraphSheet]) -> float:
    widest = max(text_width(sheet.contents.heading.caption) for sheet in sheets)
    if any(sheet.has_changes for sheet in sheets):
        widest = max(widest, text_width(_legend()) + 16)
    return widest


def _height_of_head(sheets: Sequence[GraphSheet]) -> int:
    """Return the room above the first card: for the heading, the legend of the diamonds, flags."""
    top = EDGE + 22
    if any(sheet.has_changes for sheet in sheets):
        top += 18
    # A flag reaches above its card, and would cover the heading.
    if any(card.flag for sheet in sheets for card in sheet.cards):
        top += 6
    return top


def write_dot(sizes: Mapping[str, tuple[float, float]], lines: Iterable[tuple[str, str]]) -> str:
    """Write DOT with sizes and no text: what the layout needs, and nothing that could be misread."""
    # The last three limit the iterations of the layout, which takes long for large graphs.
    dot = [
        "digraph{graph[rankdir=TB nodesep=.3 ranksep=.4 ordering=out nslimit=2 nslimit1=2 mclimit=.5]",
        'node[shape=box fixedsize=true label=""]edge[dir=none]',
    ]
    for name, (card_width, card_height) in sizes.items():
        # DOT counts in inches of 72 points.
        dot.append(f'"{name}"[width={card_width / 72:.4f} height={card_height / 72:.4f}]')
    for tail, head in lines:
        dot.append(f'"{tail}"->"{head}"')
    return "\n".join([*dot, "}"])


@lru_cache(maxsize=128)
def lay_out(render: Callable[[str], str], dot: str) -> GraphLayout:
    """Lay out DOT source. Cached: from step to step the graph often stays as it is.

    render: what calls Graphviz, as `layout.render` does.
    """
    places: dict[str, Point] = {}
    routes: list[Route] = []
    total_width = total_height = 0.0
    for line in render(dot).splitlines():
        # Names and numbers; no name has a blank.
        words = line.replace('"', "").split()
        if words[0] == "graph":
            total_width, total_height = float(words[2]) * 72, float(words[3]) * 72
        elif words[0] == "node":
            places[words[1]] = (float(words[2]) * 72, float(words[3]) * 72)
        elif words[0] == "edge":
            # Coordinates of so many points, then, as the case may be, a label and a style.
            end = 4 + 2 * int(words[3])
            coordinates = [float(word) * 72 for word in words[4:end]]
            points = list(zip(coordinates[::2], coordinates[1::2], strict=True))
            routes.append(Route(words[1], words[2], points))
    return GraphLayout(places, routes, total_width, total_height)


# -- drawing -----------------------------------------------------------------------


def draw_sheet(sheet: GraphSheet, stage: GraphStage | None = None, label: str = "") -> str:
    """Draw a picture on the stage of its run, or laid out by itself; returns the SVG document."""
    canvas, contents = Canvas(), sheet.contents
    stage = stage or place_sheets([sheet])
    if sheet.cards:
        canvas.text(EDGE, EDGE + 10, contents.heading.caption, "m")
    else:
        canvas.text(EDGE, 26, gettext("no tensors to show"), "m")
    if sheet.has_changes:
        canvas.mark("was", EDGE + 5, EDGE + 22)
        canvas.text(EDGE + 16, EDGE + 26, _legend(), "m")
    waiting: dict[tuple[str, str], list[list[Point]]] = {}
    for route in stage.routes:
        waiting.setdefault((route.tail, route.head), []).append(route.points)
    for edge in sheet.edges:
        # Two between the same cards take their routes in turn.
        _draw_edge(canvas, edge, waiting[edge.tail, edge.head].pop(0))
    for card in sheet.cards:
        _draw_card(canvas, card, stage.places[card.name], stage.sizes[card.name])
    for place, note in enumerate(contents.notes):
        canvas.text(EDGE, stage.foot + 20 + 18 * place, note, "m", NOTE_COLUMNS)
    summary = contents.summary if sheet.cards else gettext("Graph picture without tensors")
    return canvas.svg(*stage.size, label or summary, contents.is_whole)


def _legend() -> str:
    return gettext("marks what changed since the earlier look")


def _draw_edge(canvas: Canvas, edge: GraphEdge, points: list[Point]) -> None:
    line, tip, ink = {
        "next": ("arrow", "tip", "t"),
        "name": ("arrow dash", "tip", "t"),
        "leaf": ("leaf-l", "leaf-t", "leaf-t"),
    }[edge.kind]
    end, before = points[-1], points[-2]
    dx, dy = end[0] - before[0], end[1] - before[1]
    # Two points in one place have no direction, and no length to divide by.
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    ux, uy = dx / length, dy / length
    # The line ends at the base of its tip.
    base = (end[0] - 8 * ux, end[1] - 8 * uy)
    first, *others = map(format_point, (*points[:-1], base))
    curve = f"M{first}"
    # Each cubic curve begins where the one before ends, and has three more points.
    for start in range(0, len(others), 3):
        curve += "C" + " ".join(others[start : start + 3])
    canvas.path(curve, line)
    left = (base[0] - 4 * uy, base[1] + 4 * ux)
    right = (base[0] + 4 * uy, base[1] - 4 * ux)
    canvas.path("M" + "L".join(map(format_point, (end, left, right))) + "z", tip)
    if edge.kind == "next" and edge.label:
        x, y = _point_on_curve(points, 0.3)
        label_width = text_width(edge.label, "mono s") + 8
        canvas.rect(x - label_width / 2, y - 7, label_width, 14, "card", 7)
        canvas.text(x, y + 3.5, edge.label, "t mono s c")
    elif edge.label:
        x, y = _point_on_curve(points, 0.5)
        canvas.text(x + 6, y + 3, edge.label, f"{ink} mono s")


def _point_on_curve(points: list[Point], t: float) -> Point:
    """Return a point on the first cubic curve of a route, by Bernstein's polynomials."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points[:4]
    s = 1 - t
    a, b, c, d = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    return (a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy)


def _draw_card(canvas: Canvas, card: Card, middle: Point, size: tuple[float, float]) -> None:
    x, y = middle
    left, top = x - size[0] / 2, y - size[1] / 2
    box = _box_of_card(card)
    # A tensor has a hue of its own, unless the box says that something is wrong.
    tensor_id = card.name if card.kind in ("name", "leaf") and box != "bad" else ""
    radius = 6 if card.kind in ("node", "fold") else 12
    canvas.rect(left, top, *size, box, radius, tensor_id)
    if card.flag:
        _draw_flag(canvas, card.flag, left, top)
    ink = "m" if card.kind == "off" else "t"
    void_ink = "m"
    # Muted ink has too little contrast on these.
    if box.startswith(("bad", "new")):
        ink = void_ink = "t"
    inks = {"cross": "bad-t", "warn": "bad-t", "was": "new-t", "void": void_ink}
    for place, line in enumerate(card.lines):
        line_y = top + 17 + place * ROW
        # Below the first line, the title, is a little more room.
        if place > 0:
            line_y += 3
        style = f"{inks.get(line.sign, ink)} {line.style}"
        if line.sign:
            canvas.mark(line.sign, left + PAD + 4, line_y - 4)
            canvas.text(left + PAD + 16, line_y, line.text, style)
        else:
            whole = card.title if place == 0 else ""
            canvas.text(x, line_y, line.text, f"{style} c", whole=whole)


def _box_of_card(card: Card) -> str:
    # In the order of what a reader must not miss.
    if card.flag == "wrong" or card.has_sign("cross"):
        return "bad"
    if card.flag and card.kind in ("name", "leaf"):
        return f"{card.kind} fresh"
    if card.flag:
        return "new dash" if card.kind == "fold" else "new"
    return {"node": "band", "name": "name", "leaf": "leaf"}.get(card.kind, "card dash")


def _draw_flag(canvas: Canvas, flag: str, left: float, top: float) -> None:
    """Draw a flag at the upper left corner of a card."""
    tone, text = "new", gettext(flag)
    # A sign, too: colour alone does not reach everybody.
    if flag == "wrong":
        tone, text = "bad", f"✖ {text}"
    flag_width = max(30.0, text_width(text, "s b") + 9)
    canvas.rect(left - 5, top - 11, flag_width, 15, tone, 3)
    canvas.text(left - 5 + flag_width / 2, top, text, f"{tone}-t s b c")
