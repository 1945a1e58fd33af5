"""The graph picture: which nodes backward will walk, and what they saved. Graphviz says where, this says how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import NamedTuple

from ..diagnose import Changes, find_possible_writers, find_stale_saved
from ..read import Node, Saved, Snapshot, Tensor
from ..show import Fold, View
from ..show import statements as words
from ..wording import (
    cut_middle,
    escape_unseen,
    format_shape,
    format_value,
    gettext,
    join_few_names,
    join_lines,
    ngettext,
    short_node_name,
    shorten_text,
    text_width,
)
from . import layout
from .picture import Folded, Picture
from .style import Canvas, number
from .text import graph_text, items_text

LIMIT = 34
KINDS = 4
ROWS = 12
ROW, HEAD, PAD = 16, 26, 10
CHANGED = ("s b", "was")
"""How a line looks that tells what changed."""
EDGE = 14
UNION = 24
"""So many cards of all steps of a run are laid out together, or twice as many as the largest of them has."""
NOTE = 760
"""A longer note makes no picture wider."""
Point = tuple[float, float]


def graphs_of(
    run: Iterable[Changes], wrong: Iterable[frozenset[object]]
) -> Iterator[tuple[tuple[Card | Wire, ...], Picture]]:
    """The graph pictures of the steps of a run; and what each shows, before it is laid out.

    Two that show the same look the same. A graph that is not too large is laid out once, so that what stays keeps its
    place. `wrong`: for each step, the keys of the nodes whose gradient is wrong.
    """
    sheets = [
        build(changed, words.shown(changed), nodes)
        for changed, nodes in zip(run, wrong, strict=True)
    ]
    names: dict[object, str] = {}
    kept = [_renamed(sheet, names) for sheet in sheets]
    most = max((len(sheet.cards) for sheet in sheets), default=0)
    every = {card.name for one in kept if one for card in one.cards}
    together = all(kept) and len(sheets) > 1 and len(every) <= max(UNION, 2 * most)
    sheets = [one for one in kept if one] if together else sheets
    stage = cache(lambda: _stage(sheets))
    for sheet in sheets:
        picture = Picture(
            partial(lambda one: draw(one, stage() if together else None), sheet),
            partial(graph_text, sheet.changed, sheet.seen),
            tell_unmarked=partial(graph_text, Changes(sheet.changed.now), sheet.seen),
        )
        yield (*sheet.cards, *sheet.wires), picture


class Sheet(NamedTuple):
    """What one picture shows, before anything in it has a place."""

    changed: Changes
    seen: View
    cards: list[Card]
    wires: list[Wire]

    @property
    def head(self) -> str:
        """What stands above."""
        if self.changed.now.nodes:
            return gettext("backward follows the arrows")
        return gettext("nothing here was computed from a tensor that requires grad")

    @property
    def marked(self) -> bool:
        """Whether something in it changed."""
        return any(mark == "was" for card in self.cards for _, _, mark in card.lines)


class Stage(NamedTuple):
    """The layout of a whole run: how large its cards are, where they stand, how its wires run; and the size of it."""

    sizes: Mapping[str, tuple[float, float]]
    places: Mapping[str, Point]
    routes: list[tuple[str, str, list[Point]]]
    foot: float
    size: tuple[float, float]


def _renamed(sheet: Sheet, names: dict[object, str]) -> Sheet | None:
    """The sheet with nodes under names that they keep from step to step; None where they cannot be known again."""
    keys = {node.id: node.key for node in sheet.changed.now.nodes}
    if len(set(keys.values())) < len(keys) or sheet.seen.folded:
        return None
    new = {old: names.setdefault(key, f"n{len(names)}") for old, key in keys.items()}
    return sheet._replace(
        cards=[replace(card, name=new.get(card.name, card.name)) for card in sheet.cards],
        wires=[
            replace(wire, tail=new.get(wire.tail, wire.tail), head=new.get(wire.head, wire.head))
            for wire in sheet.wires
        ],
    )


def _stage(run: Sequence[Sheet]) -> Stage:
    """Lay out all cards of a run together, each as large as it ever is."""
    sizes: dict[str, tuple[float, float]] = {}
    lines: Counter[tuple[str, str]] = Counter()
    for sheet in run:
        for card in sheet.cards:
            wide, high = sizes.get(card.name, (0, 0))
            sizes[card.name] = max(wide, card.width), max(high, card.height)
        lines |= Counter((wire.tail, wire.head) for wire in sheet.wires)
    notes = [words.below_graph(sheet.changed, sheet.seen) for sheet in run]
    notes_w = max(
        (text_width(shorten_text(note, 90), "m") for some in notes for note in some), default=0.0
    )
    foot, most = 18 * max(map(len, notes)), 2 * EDGE + notes_w
    if not sizes:
        return Stage({}, {}, [], 26, (max(320, most), 44 + foot))
    marked = any(sheet.marked for sheet in run)
    heads = [text_width(sheet.head) for sheet in run] + [text_width(_legend()) + 16] * marked
    top = EDGE + 22 + 18 * marked
    if any(card.flag for sheet in run for card in sheet.cards):
        top += 6  # room for the flags of the first row
    places, routes, w, h = _laid_out(layout.render, dot_for(sizes, lines.elements()))
    at = {name: (x + EDGE, h - y + top) for name, (x, y) in places.items()}
    drawn = [
        (tail, head, [(x + EDGE, h - y + top) for x, y in points]) for tail, head, points in routes
    ]
    least = max(*heads, min(notes_w, NOTE), w) + 2 * EDGE
    return Stage(sizes, at, drawn, top + h, (least, top + h + foot + EDGE))


def _legend() -> str:
    return gettext("marks what changed since the earlier look")


@dataclass(frozen=True, slots=True)
class Card:
    """One box of the graph picture; its lines are (text, classes, mark)."""

    name: str
    kind: str
    lines: tuple[tuple[str, str, str], ...]
    whole: str = ""
    flag: str = ""
    """"new" for what was not there at the earlier look, "found" for what was looked for, "wrong" for a wrong gradient."""

    @property
    def width(self) -> float:
        """In px."""
        marks = [18 if mark else 0 for _, _, mark in self.lines]
        widths = [
            text_width(text, kind) + mark
            for (text, kind, _), mark in zip(self.lines, marks, strict=True)
        ]
        return max(40.0, round(max(widths) + 2 * PAD))

    @property
    def height(self) -> float:
        """In px."""
        return HEAD + ROW * (len(self.lines) - 1) + (4 if len(self.lines) > 1 else 0)


@dataclass(frozen=True, slots=True)
class Wire:
    """One line of the graph picture, from card to card."""

    tail: str
    head: str
    kind: str
    label: str = ""


def build(changed: Changes, seen: View, wrong: Collection[object] = ()) -> Sheet:
    """The cards and wires of a snapshot's graph, in a fixed order, with what changed marked, and nodes that are wrong."""
    snap, unseen = changed.now, find_possible_writers(changed.now)
    cards: list[Card] = []
    wires: list[Wire] = []
    leaves = [
        item.variable for item in seen.items if isinstance(item, Node) and item.variable is not None
    ]
    elsewhere = {*leaves, *seen.folded}
    off: list[Tensor] = []
    loose: list[Tensor] = []
    for tensor in snap.named:
        if tensor.grad_fn in seen.places and tensor.id not in elsewhere:
            cards.append(_pill(changed, tensor))
            wires.append(Wire(tensor.id, seen.places[tensor.grad_fn], "name"))
        elif tensor.grad_fn is None and tensor.id not in elsewhere and not seen.beyond:
            (loose if tensor.requires_grad else off).append(tensor)
    many = len(loose) > ROWS
    cards += [] if many else [_pill(changed, tensor) for tensor in loose]
    for item in seen.items:
        card = _folded if isinstance(item, Fold) else _node
        cards.append(card(changed, item, seen, unseen))
        if isinstance(item, Node) and item.key in wrong:
            cards[-1] = replace(cards[-1], flag="wrong")
        wires += _wires(item, seen)
    cards += [_pill(changed, snap.tensor(tid)) for tid in dict.fromkeys(leaves)]
    if many:
        cards.append(_off(changed, "loose", loose, gettext("leaves without a graph")))
    if off:
        cards.append(
            _off(changed, "off", off, gettext("not on the graph"), gettext("(needs no grad)"))
        )
    _to_outside(snap, seen, cards, wires)
    return Sheet(changed, seen, cards, wires)


def _to_outside(snap: Snapshot, seen: View, cards: list[Card], wires: list[Wire]) -> None:
    """Cards for the entries outside of an opened fold that its nodes lead to, or are reached from."""
    pairs: dict[tuple[str, str, bool], None] = {}
    for node in snap.nodes if seen.beyond else ():
        for follower in node.ends:
            tail, head = seen.places.get(node.id), seen.places.get(follower)
            if tail and not head:
                pairs[tail, seen.beyond[follower], False] = None
            elif head and not tail and snap.node(follower).variable is None:
                pairs[head, seen.beyond[node.id], True] = None
    for inside, outside, enters in pairs:
        name = ("from_" if enters else "to_") + outside
        wires.append(Wire(name, inside, "next") if enters else Wire(inside, name, "next"))
        entry = outside if outside.startswith("F") else short_node_name(snap.node(outside).name)
        said = (
            gettext("from {entry}", entry=entry)
            if enters
            else gettext("on to {entry}", entry=entry)
        )
        if all(card.name != name for card in cards):
            cards.append(Card(name, "off", ((said, "s", ""),)))


def _off(changed: Changes, which: str, tensors: list[Tensor], *heads: str) -> Card:
    """One card for many tensors, as for all that are not on the graph."""
    lines = [(head, "s" if k else "b", "") for k, head in enumerate(heads)]
    for tensor in tensors[:ROWS]:
        name = cut_middle(changed.now.label(tensor.id), LIMIT)
        new = (gettext("new: {name}", name=name), *CHANGED)
        lines.append(new if tensor.id in changed.new_tensors else (name, "mono b", ""))
        lines += _changed(changed, tensor)
    if len(tensors) > ROWS:
        lines.append((gettext("and {number} more", number=len(tensors) - ROWS), "s", ""))
    return Card(which, "off", tuple(lines), lines[0][0])


def _changed(changed: Changes, tensor: Tensor) -> list[tuple[str, str, str]]:
    """What is to be said of a tensor that was there before."""
    said = (*words.renamed(changed, tensor), *words.facts(changed, tensor.id, words.IN_GRAPH))
    return [(shorten_text(fact, 40), *CHANGED) for fact in said]


def _wires(item: Node | Fold, seen: View) -> list[Wire]:
    if isinstance(item, Fold):
        heads = dict.fromkeys(seen.places[end] for end in item.ends if end in seen.places)
        return [Wire(item.id, head, "next") for head in heads]
    numbered = len(item.edges) > 1
    ways = [(index, seen.places[end]) for index, end in enumerate(item.edges) if end in seen.places]
    often = Counter(place for _, place in ways)
    # Of very many edges to one fold one stands for all.
    wires = [
        Wire(item.id, place, "next", str(index) if numbered else "")
        for index, place in ways
        if often[place] <= words.SAVED
    ]
    wires += [Wire(item.id, place, "next") for place, count in often.items() if count > words.SAVED]
    if item.variable is not None:
        wires.append(Wire(item.id, item.variable, "leaf", ".grad"))
    return wires


def _pill(changed: Changes, tensor: Tensor) -> Card:
    name = changed.now.label(tensor.id)
    kind, below = "name", format_shape(tensor.shape)
    if tensor.is_leaf and tensor.requires_grad:
        kind, below = "leaf", gettext("leaf {shape}", shape=below)
    lines = (
        (cut_middle(name, LIMIT), "mono b", ""),
        (shorten_text(below, 40), "s", ""),
        *_changed(changed, tensor),
    )
    return Card(tensor.id, kind, lines, name, "new" if tensor.id in changed.new_tensors else "")


def _node(changed: Changes, node: Node, seen: View, unseen: dict[tuple[str, str], str]) -> Card:
    head = short_node_name(node.name)
    lines = [(shorten_text(head, LIMIT), "mono b", "")]
    for at, saved in words.saved_shown(node):
        through = unseen.get((node.id, saved.tensor or "")) if saved.state == "live" else None
        lines.append(_saved_line(changed.now, saved, through is None))
        if through is not None:
            said = gettext("perhaps written unseen, through {names}", names=through)
            lines.append((shorten_text(said, 48), "s b", "warn"))
        if (node.id, at) in changed.earlier_saved:
            lines.append((words.was(changed.earlier_saved[node.id, at]), *CHANGED))
    if len(node.saved) > words.SAVED:
        lines.append(
            (
                gettext("and {number} more saved", number=f"{len(node.saved) - words.SAVED:,}"),
                "s",
                "",
            )
        )
    if node.cut:
        lines.append((gettext("the graph goes on"), "s", ""))
    return Card(node.id, "node", tuple(lines), head, _flag({node.id}, changed, seen))


def _flag(nodes: Iterable[str], changed: Changes, seen: View) -> str:
    if not seen.found.isdisjoint(nodes):
        return "found"
    return "new" if changed.new_nodes.issuperset(nodes) else ""


def _folded(changed: Changes, fold: Fold, seen: View, unseen: dict[tuple[str, str], str]) -> Card:
    title = words.fold_title(fold)
    lines = [(cut_middle(f"{fold.id} {title}".rstrip(), 44), "b", "")]
    lines.append(
        (ngettext("{number} node folded", "{number} nodes folded", len(fold.nodes)), "s", "")
    )
    for name, count in fold.kinds[:KINDS]:
        said = gettext("{number} x {node}", number=f"{count:,}", node=short_node_name(name))
        lines.append((shorten_text(said, LIMIT), "mono s", ""))
    if len(fold.kinds) > KINDS:
        more = ngettext(
            "and {number} kind more", "and {number} kinds more", len(fold.kinds) - KINDS
        )
        lines.append((more, "s", ""))
    marks = {"stale": ("s b", "cross"), "written unseen": ("s b", "cross")}
    lines += [(said, *marks.get(state, ("s", ""))) for state, said in words.in_states(fold)]
    through = sum(node in fold.nodes for node, _ in unseen)
    if through:
        lines.append(
            (
                gettext("saved: {number} perhaps written unseen", number=f"{through:,}"),
                "s b",
                "warn",
            )
        )
    if fold.leaves:
        lines.append(
            (ngettext("with {number} leaf", "with {number} leaves", len(fold.leaves)), "s", "")
        )
    if fold.made:
        lines.append(
            (
                shorten_text(
                    gettext(
                        "made here: {names}",
                        names=join_few_names(map(changed.now.label, fold.made)),
                    ),
                    40,
                ),
                "s",
                "",
            )
        )
    lines += [(shorten_text(said, 48), *CHANGED) for said in words.in_fold(changed, fold)]
    whole = f"{fold.id} {title}" if title else ""
    return Card(fold.id, "fold", tuple(lines), whole, _flag(fold.nodes, changed, seen))


def _saved_line(snap: Snapshot, saved: Saved, clear: bool) -> tuple[str, str, str]:
    """What a node saved, with a tick if it is known to be as it was (`clear`: nothing speaks against it)."""
    head = gettext("saved {name}", name=shorten_text(escape_unseen(saved.name), 14))
    whole = head
    if saved.tensor is not None:
        whole = f"{head} = {cut_middle(snap.label(saved.tensor), 26)}"
    elif saved.value is not None:
        whole = f"{head} = {format_value(saved.value)}"
    match saved.state:
        case "live":
            if saved.tensor is not None:
                whole = gettext("{what}, version {version}", what=whole, version=saved.version)
            if saved.bytes_unchanged is False:
                return (gettext("{what}: written unseen", what=whole), "s b", "cross")
            return (whole, "s", "check" if saved.bytes_unchanged and clear else "dot")
        case "number":
            return (whole, "s", "dot")
        case "stale":
            said = gettext(
                "{what}: saved at version {then}, now at {now}",
                what=whole,
                then=saved.saved_version,
                now=saved.version,
            )
            return (said, "s b", "cross")
        case "freed":
            return (gettext("{what}: freed", what=head), "s", "void")
        case "packed":
            return (gettext("{what}: packed by a hook", what=head), "s", "dot")
        case "once":
            return (gettext("{what}: left for backward", what=head), "s", "dot")
    return (gettext("{what}: cannot be read", what=head), "s", "void")


def dot_for(sizes: Mapping[str, tuple[float, float]], lines: Iterable[tuple[str, str]]) -> str:
    """DOT with sizes and no text: what the layout needs, and nothing that could be misread."""
    made = [
        "digraph{graph[rankdir=TB nodesep=.3 ranksep=.4 ordering=out nslimit=2 nslimit1=2 mclimit=.5]",
        'node[shape=box fixedsize=true label=""]edge[dir=none]',
    ]
    made += [f'"{name}"[width={w / 72:.4f} height={h / 72:.4f}]' for name, (w, h) in sizes.items()]
    made += [f'"{tail}"->"{head}"' for tail, head in lines]
    return "\n".join([*made, "}"])


def folded_in(sheet: Sheet) -> list[Folded]:
    """The folds of a graph, each with a picture of what is in it."""
    folds = (item for item in sheet.seen.items if isinstance(item, Fold))
    return [Folded(_line(fold), partial(_opened, sheet.changed, fold)) for fold in folds]


def _line(fold: Fold) -> str:
    nodes = ngettext("{number} node folded", "{number} nodes folded", len(fold.nodes))
    line = gettext(
        "{fold}: {nodes}", fold=f"{fold.id} {words.fold_title(fold)}".rstrip(), nodes=nodes
    )
    return gettext("{line}; drawn here is the first of them", line=line) if fold.times > 1 else line


def _opened(changed: Changes, fold: Fold) -> tuple[str, str, list[Folded]]:
    if fold.inside is None:
        return "", join_lines([changed.now.label(leaf) for leaf in fold.leaves]), []
    sheet = build(changed, fold.inside())
    text = join_lines([_line(fold), *items_text(changed, sheet.seen)])
    return draw(sheet, label=_line(fold)), text, folded_in(sheet)


def draw(sheet: Sheet, stage: Stage | None = None, label: str = "") -> str:
    """The whole SVG; on the stage of a run, or laid out by itself."""
    canvas, (changed, seen, cards, wires) = Canvas(), sheet
    sizes, places, routes, foot, size = stage or _stage([sheet])
    if cards:
        canvas.text(EDGE, EDGE + 10, sheet.head, "m")
    else:
        canvas.text(EDGE, 26, gettext("no tensors to show"), "m")
    if sheet.marked:
        canvas.mark("was", EDGE + 5, EDGE + 22)
        canvas.text(EDGE + 16, EDGE + 26, _legend(), "m")
    waiting: dict[tuple[str, str], list[list[Point]]] = {}
    for tail, head, points in routes:
        waiting.setdefault((tail, head), []).append(points)
    for wire in wires:  # two between the same cards take their routes in turn
        _wire(canvas, wire, waiting[wire.tail, wire.head].pop(0))
    for card in cards:
        _card(canvas, card, *places[card.name], sizes[card.name])
    for k, note in enumerate(words.below_graph(changed, seen)):
        canvas.text(EDGE, foot + 20 + 18 * k, note, "m", 90)
    summary = _summary(changed) if cards else gettext("Graph picture without tensors")
    return canvas.svg(*size, label or summary, seen.whole)


@lru_cache(maxsize=128)
def _laid_out(
    render: Callable[[str], str], dot: str
) -> tuple[dict[str, Point], list[tuple[str, str, list[Point]]], float, float]:
    """Graphviz' plain output, in px with y upwards; what changes from step to step often leaves it as it is."""
    places: dict[str, Point] = {}
    routes: list[tuple[str, str, list[Point]]] = []
    w = h = 0.0
    for line in render(dot).splitlines():
        parts = line.replace('"', "").split()  # names and numbers; no name has a blank
        if parts[0] == "graph":
            w, h = float(parts[2]) * 72, float(parts[3]) * 72
        elif parts[0] == "node":
            places[parts[1]] = (float(parts[2]) * 72, float(parts[3]) * 72)
        elif parts[0] == "edge":
            count = int(parts[3])
            flat = [float(word) * 72 for word in parts[4 : 4 + 2 * count]]
            routes.append((parts[1], parts[2], list(zip(flat[::2], flat[1::2], strict=True))))
    return places, routes, w, h


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
    first, *rest = [f"{number(x)} {number(y)}" for x, y in bends]
    canvas.path(
        f"M{first}" + "".join("C" + " ".join(rest[i : i + 3]) for i in range(0, len(rest), 3)), line
    )
    left = (base[0] - 4 * uy, base[1] + 4 * ux)
    right = (base[0] + 4 * uy, base[1] - 4 * ux)
    canvas.path(
        "M" + "L".join(f"{number(x)} {number(y)}" for x, y in (end, left, right)) + "z", tip
    )
    if wire.kind == "next" and wire.label:
        x, y = _along(points, 0.3)
        w = text_width(wire.label, "mono s") + 8
        canvas.rect(x - w / 2, y - 7, w, 14, "card", 7)
        canvas.text(x, y + 3.5, wire.label, "t mono s c")
    elif wire.label:
        x, y = _along(points, 0.5)
        canvas.text(x + 6, y + 3, wire.label, f"{ink} mono s")


def _along(points: list[Point], t: float) -> Point:
    """A point on the first cubic curve of a route."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points[:4]
    s = 1 - t
    a, b, c, d = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    return (a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy)


def _card(canvas: Canvas, card: Card, x: float, y: float, size: tuple[float, float]) -> None:
    w, h = size
    left, top = x - w / 2, y - h / 2
    of = card.name if card.kind in ("name", "leaf") else ""
    kind = {
        "node": "band",
        "fold": "card dash",
        "name": "name",
        "leaf": "leaf",
        "off": "card dash",
    }[card.kind]
    ink = "m" if card.kind == "off" else "t"
    if card.flag:
        kind = f"{kind} fresh" if of else "new dash" if card.kind == "fold" else "new"
    if card.flag == "wrong" or any(mark == "cross" for _, _, mark in card.lines):
        kind, of = "bad", ""
    canvas.rect(left, top, w, h, kind, 6 if card.kind in ("node", "fold") else 12, of)
    if card.flag:
        flag = ("✖ " * (card.flag == "wrong")) + gettext(card.flag)
        w = max(30.0, text_width(flag, "s b") + 9)
        tone = "bad" if card.flag == "wrong" else "new"
        canvas.rect(left - 5, top - 11, w, 15, tone, 3)
        canvas.text(left - 5 + w / 2, top, flag, f"{tone}-t s b c")
    plain, void = ("t", "t") if kind.startswith(("bad", "new")) else (ink, "m")
    for k, (text, style, mark) in enumerate(card.lines):
        line_y = top + 17 + k * ROW + (3 if k else 0)
        tone = {"cross": "bad-t", "warn": "bad-t", "was": "new-t"}.get(
            mark, plain if mark != "void" else void
        )
        if mark:
            canvas.mark(mark, left + PAD + 4, line_y - 4)
            canvas.text(left + PAD + 16, line_y, text, f"{tone} {style}")
        else:
            canvas.text(x, line_y, text, f"{tone} {style} c", whole="" if k else card.whole)


def _summary(changed: Changes) -> str:
    snap = changed.now
    said = ngettext(
        "Autograd graph with {number} node", "Autograd graph with {number} nodes", len(snap.nodes)
    )
    said += " " + gettext("and more") if snap.notes else ""
    said += (
        ", " + gettext("{number} of them new", number=f"{len(changed.new_nodes):,}")
        if changed.new_nodes
        else ""
    )
    wrong = ngettext(
        "{number} saved tensor stale: backward will raise",
        "{number} saved tensors stale: backward will raise",
        len(find_stale_saved(snap)),
    )
    return f"{said}, {wrong}" if find_stale_saved(snap) else said
