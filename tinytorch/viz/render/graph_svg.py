"""The graph picture: which nodes backward will walk, and where it ends.

Graphviz finds the layout; boxes, signs and colours are drawn here. From left to right where that
fits the width that there is, from the top down where it does not, and in the columns of players and labs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import chain, product
from math import ceil
from typing import NamedTuple

from ..diagnose import Changes
from ..show import (
    FoldEntry,
    FreedCut,
    GraphContents,
    GraphEdge,
    LineFacts,
    NodeEntry,
    check_option,
    describe_graph,
    find_freed_cuts,
    select_nodes,
)
from ..wording import (
    columns_that_fit,
    gettext,
    join_lines,
    shorten_text,
    text_width,
    wrap_text,
)
from . import layout
from .edges import SIGN_HEIGHT, TIP_LENGTH, draw_count, draw_edge, measure_count
from .graph_cards import (
    MEANING_OF_CUTS,
    Card,
    CardArea,
    CardLine,
    CardSize,
    draw_card,
    make_cut_card,
    make_cut_mark,
    make_fold_card,
    make_freed_card,
    make_leaf_card,
    make_node_card,
    make_number_card,
    make_off_card,
)
from .picture import Folded, Picture
from .routes import (
    Point,
    Route,
    Span,
    close_gaps,
    find_reach,
    list_boxes,
    mend_routes,
    spread_ends,
    straighten_routes,
)
from .style import Canvas
from .text import write_fold_text, write_graph_text

PAGE_WIDTH, STAGE_WIDTH = 836, 408
"""The widths that there usually are, in px: of a notebook beside JupyterLab's file browser, and of
the half of the step player that has the pictures."""
EDGE, FOOT = 6, 1
"""At the sides of the picture, and below it, in px."""
HEAD, NOTE = 20, 18
"""Height of the line above the cards, with the gap below it, and of a line below them."""
MOST_TOGETHER = 24
"""So many cards of all steps of a run are laid out together, or twice as many as the largest of
them has: a layout that is much larger than a step would be mostly empty."""
REACH_OF_DISC = 0.75
"""Lines arrive at a disc up to so far from its middle, as a part of its radius: beyond that they would pass it by."""
MOST_NOTE_LINES = 3
"""What a note has beyond this is cut."""
MOST_FIELDS = 5
"""In so many fields an area is divided at most, to have the middle of its box at the middle of one of them."""
LEAF_GAP = 18
"""Between an accumulator and its leaf where they are side by side, in px."""


class Gaps(NamedTuple):
    """Between two boxes, in inches of DOT."""

    between_rows: float
    """Where one leads to the other."""
    beside: float
    """Where they are beside each other."""


_GAPS_RIGHT = (Gaps(0.34, 0.12), Gaps(0.27, 0.12), Gaps(0.22, 0.12))
"""Where backward runs to the right. It is the largest for which there is room: beside the tip of an arrow, a line has
to be seen."""
_GAP_DOWN, _LOW_GAP_DOWN = 0.24, 0.15
"""Between two rows where it runs down, and where height counts. There lines are nearly level: in a smaller gap they
seem to come out of the boxes above them."""
_GAPS_BESIDE = (0.2, 0.12)
"""Between two areas of a row, and where there would be no room to have names on the right of boxes."""


WEIGHT_IN_CHAIN = 8
"""Of a line between two boxes that have no other on that side: Graphviz makes the heavier lines straight first."""


class Room(NamedTuple):
    """The room that a picture is made for."""

    width: float = PAGE_WIDTH
    """In px: a graph that would be wider is drawn from the top down."""
    direction: str = ""
    """ "right" or "down" for how it is drawn in any case; empty to decide by the width."""
    is_low: bool = False
    """True in a player, which has to be in view as a whole: rows are close together. There a graph goes down as long as
    it fits: from step to step, and from player to player, it went to the right or down by the length of its names."""

    @property
    def gap_down(self) -> float:
        """Between two rows where backward runs down, in inches of DOT."""
        return _LOW_GAP_DOWN if self.is_low else _GAP_DOWN


PAGE = Room()
"""The room of a picture of its own."""


def make_room(direction: object, width: float = PAGE_WIDTH) -> Room:
    """Return the room of a picture; raises TypeError or ValueError for what is no direction."""
    check_option("direction", direction, str)
    if direction not in ("", "right", "down"):
        raise ValueError(f'direction must be "right" or "down", not {direction!r}')
    return Room(width, str(direction))


class GraphStep(NamedTuple):
    """The graph picture of one step of a run."""

    key: tuple[Card | GraphEdge, ...]
    """What it shows, before it is laid out: two steps with equal keys look the same."""
    picture: Picture


def graphs_of(
    run: Iterable[Changes],
    wrong_nodes: Iterable[frozenset[object]],
    lines: Iterable[LineFacts] = (),
    *,
    width: float = 0,
) -> Iterator[GraphStep]:
    """Make the graph pictures of the steps of a run.

    A graph that is not too large is laid out once, so that what stays does not move. `wrong_nodes`
    has, for each step, the keys of the nodes whose gradient is wrong, as `blame_lines` found them;
    `width` is that of the pictures beside them, in px: a graph may be as wide; `lines` has, for each step, what its
    line tells.
    """
    room = Room(max(width, STAGE_WIDTH), is_low=True)
    sheets: list[GraphSheet] = []
    describe_unmarked: list[Callable[[], GraphContents]] = []
    freed_cuts: list[FreedCut] = []
    # Shorter than the run for a caller that knows nothing of them.
    lines_of_steps = iter(lines)
    # A run whose time for drawing is up ends before its nodes do.
    for changes, wrong_in_step in zip(run, wrong_nodes, strict=False):
        selection = select_nodes(changes)
        line = next(lines_of_steps, LineFacts())
        freed_cuts = find_freed_cuts(changes, freed_cuts)
        contents = describe_graph(changes, selection, wrong_in_step, line, freed_cuts)
        sheets.append(make_sheet(contents))
        old = LineFacts(reads=[read._replace(is_new=False) for read in line.reads])
        unmarked = partial(
            describe_graph, Changes(changes.now), selection, line=old, freed_cuts=freed_cuts
        )
        describe_unmarked.append(unmarked)
    sheets = _leave_out_early_leaves(sheets)
    stage: Callable[[], GraphStage] | None = None
    # By their ids two nodes of two steps may have one name, and Graphviz would draw them as one.
    renamed = _rename_all(sheets)
    if renamed is not None:
        sheets = renamed
        # Graphviz is called once for the whole run, when the first of its pictures is drawn.
        stage = cache(partial(lay_out_sheets, sheets, room))
    for sheet, describe in zip(sheets, describe_unmarked, strict=True):
        picture = Picture(
            partial(_draw_on_stage, sheet, room, stage),
            partial(write_graph_text, sheet.contents),
            write_unmarked=partial(_write_described, describe),
        )
        yield GraphStep((*sheet.cards, *sheet.edges), picture)


def _write_described(describe: Callable[[], GraphContents]) -> str:
    return write_graph_text(describe())


def _draw_on_stage(sheet: GraphSheet, room: Room, stage: Callable[[], GraphStage] | None) -> str:
    return draw_sheet(sheet, room, None if stage is None else stage())


# -- a sheet: everything that is drawn, not yet laid out ---------------------------


class GraphSheet(NamedTuple):
    """What one picture draws, before it is laid out."""

    contents: GraphContents
    """The records that it is made from, which the text is written from as well."""
    cards: list[Card]
    """In the order of the records: Graphviz keeps it where it can."""
    edges: list[GraphEdge]
    """The lines between the cards, by their names."""


def make_sheet(contents: GraphContents) -> GraphSheet:
    """Make the cards of a graph, in a fixed order: Graphviz keeps it where it can."""
    cards: list[Card] = []
    for entry in contents.entries:
        if isinstance(entry, NodeEntry):
            cards.append(make_node_card(entry))
        else:
            cards.append(make_fold_card(entry))
    cards += map(make_leaf_card, contents.leaves)
    cards += map(make_off_card, contents.subjects)
    for tensor in contents.cut_off:
        make = make_leaf_card if tensor.is_grad_leaf else make_cut_card
        cards.append(make(tensor))
    cards += map(make_freed_card, contents.freed_cuts)
    cards += map(make_number_card, contents.numbers)
    # Without a node, one line says all that there is to say.
    for leaf in contents.without_graph if contents.entries else ():
        # One with a gradient was reached by a graph that is gone.
        cards.append(make_leaf_card(leaf, "" if leaf.grad else gettext("not reached")))
    for outside in contents.outside:
        cards.append(Card(outside.id, "off", (CardLine(outside.caption),)))
    return GraphSheet(contents, cards, list(contents.edges))


def _leave_out_early_leaves(sheets: Sequence[GraphSheet]) -> list[GraphSheet]:
    """Leave leaves out of the steps before that at which the graph gets to them.

    Until then "not reached" said less than nothing, and stood alone in the empty half of a picture.
    """
    first_steps: dict[str, int] = {}
    for step, sheet in enumerate(sheets):
        for edge in sheet.edges:
            if edge.kind == "leaf":
                first_steps.setdefault(edge.head, step)
    left = []
    for step, sheet in enumerate(sheets):
        early = {name for name, first in first_steps.items() if step < first}
        # At a cut it is there before the graph leads to it: `k = y.detach().requires_grad_()`.
        for edge in sheet.edges:
            early -= {edge.tail, edge.head}
        cards = [card for card in sheet.cards if card.name not in early]
        left.append(sheet._replace(cards=cards))
    return left


def mark_cuts(sheet: GraphSheet) -> GraphSheet:
    """Return a sheet whose cuts each have a mark, as a card between the two halves of the line.

    By then its cards have the names of their run, from which a mark has its own. As a card it has room of its own: a
    sign on a line had none, and was the smallest thing in the picture.
    """
    cards, edges = list(sheet.cards), list[GraphEdge]()
    for edge in sheet.edges:
        if edge.kind not in MEANING_OF_CUTS:
            edges.append(edge)
            continue
        mark = make_cut_mark(edge)
        cards.append(mark)
        edges += [edge._replace(head=mark.name), edge._replace(tail=mark.name)]
    return sheet._replace(cards=cards, edges=edges)


def list_folds(contents: GraphContents, room: Room) -> list[Folded]:
    """List the folds of a graph, each with a picture of what is in it."""
    folds = (entry for entry in contents.entries if isinstance(entry, FoldEntry))
    # Opened when it is asked for: what is in a fold may have folds of its own, and a layout each.
    return [Folded(fold.summary, partial(_open_fold, fold, room)) for fold in folds]


def _open_fold(fold: FoldEntry, room: Room) -> tuple[str, str, list[Folded]]:
    """Return SVG, text and folds of what is in it, as `Folded.open` is to."""
    if fold.open is None:
        return "", join_lines(list(fold.leaf_labels)), []
    contents = fold.open()
    svg = draw_sheet(make_sheet(contents), room, label=fold.summary)
    return svg, write_fold_text(fold, contents), list_folds(contents, room)


# -- layout ------------------------------------------------------------------------


class DotLine(NamedTuple):
    """A line between two cards, as the layout needs it."""

    tail: str
    """The card that it starts at."""
    head: str
    """The card that it goes to."""
    sign_width: float
    """The width of a sign on it, in px, for which it is longer than others; 0 without one."""
    is_to_leaf: bool
    """True from an accumulator to its leaf."""
    is_from_mark: bool = False
    """True for the second half of a line that is cut."""
    arrives_at: str = ""
    """The corner of an area that it goes to, in the words of DOT; empty for where the middle of its box is."""


class GraphLayout(NamedTuple):
    """What Graphviz found, in px with y upwards."""

    middles: dict[str, Point]
    """The middles of cards."""
    routes: list[Route]
    """The courses of the lines."""
    width: float
    """Of all of it."""
    height: float
    """Of all of it."""


class GraphStage(NamedTuple):
    """The layout of a whole run: how large its cards are, where they and its lines are."""

    direction: str
    """ "right" or "down": the way of backward."""
    names: str
    """ "right" of the boxes, "below" them where lines go to the right, or, where they go down, below and "aside": right of
    the line from there, or "astride" of it, with their word "new" on its left."""
    sizes: Mapping[str, CardSize]
    """The size of each card, as large as it ever is."""
    middles: Mapping[str, Point]
    """The middles of cards, with y downwards."""
    routes: list[Route]
    """The courses of the lines."""
    foot: float
    """How far down the notes begin."""
    size: tuple[float, float]
    """Width and height of the pictures."""


def _rename_all(sheets: list[GraphSheet]) -> list[GraphSheet] | None:
    """Give cards names that they keep from step to step; None if a run is not laid out together."""
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
    slots = _share_slots(renamed)
    largest = max((len(sheet.cards) for sheet in renamed), default=0)
    if len(sheets) < 2 or len(set(slots.values())) > max(MOST_TOGETHER, 2 * largest):
        return None
    return [_rename_cards(sheet, slots) for sheet in renamed]


def _rename_cards(sheet: GraphSheet, names: Mapping[str, str]) -> GraphSheet:
    def rename(name: str) -> str:
        # Tensors have names of their own, which they keep from step to step anyway.
        return names.get(name, name)

    cards = [replace(card, name=rename(card.name)) for card in sheet.cards]
    edges = [edge._replace(tail=rename(edge.tail), head=rename(edge.head)) for edge in sheet.edges]
    return sheet._replace(cards=cards, edges=edges)


def _share_slots(sheets: Sequence[GraphSheet]) -> dict[str, str]:
    """Return card -> the name of its slot, which it has after another card that is no longer there.

    The graph of each round of a loop is drawn where that of the round before was: below one another,
    they would leave most of the picture empty.
    """
    last_steps: dict[str, int] = {}
    for step, sheet in enumerate(sheets):
        last_steps |= {card.name: step for card in sheet.cards}
    free_from: dict[object, dict[str, int]] = {}
    slots: dict[str, str] = {}
    for step, sheet in enumerate(sheets):
        heads: dict[str, list[str]] = {}
        for edge in sheet.edges:
            if edge.kind in ("next", "leaf"):
                heads.setdefault(edge.tail, []).append(edge.head)
        # An edge leads to a card that is further behind: the last come first.
        for card in reversed(sheet.cards):
            if card.name in slots:
                continue
            ends = tuple(slots.get(head, head) for head in heads.get(card.name, ()))
            alike = free_from.setdefault((card.kind, card.lines[0].text, ends), {})
            free = (slot for slot, last in alike.items() if last < step)
            slots[card.name] = next(free, card.name)
            alike[slots[card.name]] = last_steps[card.name]
    return slots


def lay_out_sheets(sheets: Sequence[GraphSheet], room: Room) -> GraphStage:
    """Lay out all cards of a run together, each as large as it ever is."""
    sheets = list(map(mark_cuts, sheets))
    sizes: dict[str, CardSize] = {}
    smallest: dict[str, CardSize] = {}
    for sheet in sheets:
        for card in sheet.cards:
            size = card.size
            sizes[card.name] = sizes.get(card.name, size).unite(size)
            smallest[card.name] = smallest.get(card.name, size).intersect(size)
    notes_of_sheets = [_wrap_notes(sheet, room) for sheet in sheets]
    widths_of_notes = [text_width(note, "m") for note in chain.from_iterable(notes_of_sheets)]
    notes_width = max(widths_of_notes, default=0)
    foot = NOTE * max(map(len, notes_of_sheets))
    if not sizes:
        widest = max(_width_of_head(sheets, room), notes_width)
        return GraphStage("", "", {}, {}, [], HEAD, (widest + 2 * EDGE, HEAD + FOOT + foot))
    direction, names, found = _choose_layout(sizes, _make_dot_lines(sheets), room)
    # The areas of cards are larger than what is drawn: there may be nothing at the upper edge.
    lowest, highest = _find_lowest_and_highest(sizes, found, names)

    def turn_upright(point: Point) -> Point:
        # In Graphviz y goes up from the bottom, in SVG down from the top.
        x, y = point
        return x + EDGE, highest - y + HEAD

    middles = {name: turn_upright(point) for name, point in found.middles.items()}
    routes = [
        route._replace(points=list(map(turn_upright, route.points))) for route in found.routes
    ]
    routes = straighten_routes(routes, sizes, smallest, middles, direction, names)
    routes = mend_routes(routes, sizes, middles, direction, names)
    widest = max(_width_of_head(sheets, room), notes_width, found.width)
    bottom = HEAD + highest - lowest
    return GraphStage(
        direction,
        names,
        sizes,
        middles,
        routes,
        bottom,
        (widest + 2 * EDGE, bottom + foot + FOOT),
    )


def _make_dot_lines(sheets: Sequence[GraphSheet]) -> list[DotLine]:
    """Make the lines of a run: as many between two cards as there are at once in any step."""
    counts: Counter[tuple[str, str]] = Counter()
    sign_widths: dict[tuple[str, str], float] = {}
    to_leaf: set[tuple[str, str]] = set()
    from_mark: set[tuple[str, str]] = set()
    for sheet in sheets:
        counts_of_step: Counter[tuple[str, str]] = Counter()
        marks = {card.name for card in sheet.cards if card.kind == "mark"}
        for edge in sheet.edges:
            ends = (edge.tail, edge.head)
            counts_of_step[ends] += 1
            if edge.kind == "leaf":
                to_leaf.add(ends)
            if edge.tail in marks:
                from_mark.add(ends)
        # The larger number of each pair of cards.
        counts |= counts_of_step
        for ends, width in measure_signs(sheet).items():
            sign_widths[ends] = max(width, sign_widths.get(ends, 0))
    return [
        DotLine(*ends, sign_widths.get(ends, 0), ends in to_leaf, ends in from_mark)
        for ends in counts.elements()
    ]


class ChosenLayout(NamedTuple):
    """A layout, and how it was made."""

    direction: str
    """ "right" or "down": the way of backward."""
    names: str
    """As in `GraphStage`."""
    found: GraphLayout
    """The middles and routes of boxes, not of their areas."""


def _choose_layout(
    sizes: Mapping[str, CardSize], lines: Sequence[DotLine], room: Room
) -> ChosenLayout:
    """Lay out to the right; where that is wider than the room, down, as loosely as the width allows."""
    tried: list[ChosenLayout] = []
    for lay in _list_ways(sizes, lines, room):
        tried.append(_close_columns(sizes, lines, lay()))
        if tried[-1].found.width + 2 * EDGE <= room.width:
            return tried[-1]
    return min(tried, key=lambda chosen: chosen.found.width)


def _close_columns(
    sizes: Mapping[str, CardSize], lines: Sequence[DotLine], chosen: ChosenLayout
) -> ChosenLayout:
    """Return a layout that goes down without its empty columns, and any other as it is.

    To Graphviz a box is in the middle of its area, so that there is as much room on the left of it as its names take on
    the right: names were put on arrows for want of a width of which half was empty.
    """
    direction, names, found = chosen
    if direction == "right":
        return chosen
    spans = list(_list_spans(sizes, lines, chosen))
    close = close_gaps(spans, LEAF_GAP)
    xs = list(map(close, chain.from_iterable(spans)))
    # A line may turn beside all boxes.
    for route in found.routes:
        xs += [close(x) for x, _ in route.points]
    left = min(xs)

    def move_across(x: float) -> float:
        return close(x) - left

    middles = {name: (move_across(x), y) for name, (x, y) in found.middles.items()}
    routes = [route.move_points(move_across) for route in found.routes]
    closed = found._replace(middles=middles, routes=routes, width=max(xs) - left)
    return ChosenLayout(direction, names, closed)


def _list_spans(
    sizes: Mapping[str, CardSize], lines: Sequence[DotLine], chosen: ChosenLayout
) -> Iterator[Span]:
    """Yield from where to where boxes, names and signs on lines are, along x."""
    for name, middle in chosen.found.middles.items():
        for box in list_boxes(sizes[name], middle, chosen.names):
            yield box.left, box.right
    sign_widths = {(line.tail, line.head): line.sign_width for line in lines}
    for route in chosen.found.routes:
        width = sign_widths.get((route.tail, route.head), 0)
        if width:
            x, _ = route.points[len(route.points) // 2]
            yield x - width / 2, x + width / 2


def _list_ways(
    sizes: Mapping[str, CardSize], lines: Sequence[DotLine], room: Room
) -> Iterator[Callable[[], ChosenLayout]]:
    """Yield the ways to lay out a graph, the best first."""
    # Most graphs that are too wide are so by their longest chain alone, which needs no layout.
    is_chain_too_long = _length_of_longest_chain(sizes, lines) > room.width
    if room.direction == "right" or not (room.direction or room.is_low or is_chain_too_long):
        for gaps in _GAPS_RIGHT:
            yield partial(_lay_out, sizes, lines, "right", gaps, "below")
    if room.direction != "right":
        # Never on the line that leaves the box: there a name seems to be between two nodes.
        loose, tight = (Gaps(room.gap_down, beside) for beside in _GAPS_BESIDE)
        for names, gaps in product(("right", "aside", "astride"), (loose, tight)):
            yield partial(_lay_out_with_leaves_beside, sizes, lines, names, gaps)
        # With a row for leaves it is higher.
        for names in ("aside", "astride"):
            yield partial(_lay_out, sizes, lines, "down", tight, names)
    # Many short chains side by side may be wider than one below the other.
    if not room.direction and (room.is_low or is_chain_too_long):
        yield partial(_lay_out, sizes, lines, "right", _GAPS_RIGHT[-1], "below")


def _lay_out(
    sizes: Mapping[str, CardSize],
    lines: Sequence[DotLine],
    direction: str,
    gaps: Gaps,
    names: str,
) -> ChosenLayout:
    """Lay out with the names of tensors "below" their boxes, "aside" or "astride"."""
    goes_right = direction == "right"
    areas = {name: size.measure_area(names, goes_right) for name, size in sizes.items()}
    found = lay_out(layout.render, write_dot(areas, lines, direction, gaps))
    found = _find_middles_of_boxes(areas, found)
    if direction == "down":
        found = _move_up_boxes(sizes, found, names)
    return ChosenLayout(direction, names, found)


def _move_up_boxes(sizes: Mapping[str, CardSize], found: GraphLayout, names: str) -> GraphLayout:
    """Return a layout with boxes in the upper parts of their areas, above their names."""
    middles = {
        name: (x, y + sizes[name].find_room_below(names) / 2)
        for name, (x, y) in found.middles.items()
    }
    return found._replace(middles=middles)


def _find_middles_of_boxes(areas: Mapping[str, CardArea], found: GraphLayout) -> GraphLayout:
    """Return a layout with the middles of boxes, given that with the middles of their areas."""
    middles = {}
    for name, (x, y) in found.middles.items():
        division = divide_area(areas[name])
        middles[name] = (x + (division.middle_part - 0.5) * division.width, y)
    return found._replace(middles=middles)


def _lay_out_with_leaves_beside(
    sizes: Mapping[str, CardSize], lines: Sequence[DotLine], names: str, gaps: Gaps
) -> ChosenLayout:
    """Lay out from the top down, with each leaf to the right of its accumulator.

    Graphviz knows the two as one: as neighbours of their own, it would put others between them.
    """
    accumulator_of: dict[str, str] = {}
    for line in lines:
        # Of a run, a leaf may have one accumulator after another: the first is beside it.
        if line.is_to_leaf:
            accumulator_of.setdefault(line.head, line.tail)
    leaf_of = {accumulator: leaf for leaf, accumulator in accumulator_of.items()}
    areas = _measure_joined_areas(sizes, leaf_of, names)
    joined = _join_ends(lines, accumulator_of)
    alone = {name: area for name, area in areas.items() if name not in accumulator_of}
    found = lay_out(layout.render, write_dot(alone, joined, "down", gaps))
    found = _find_middles_of_boxes(alone, found)
    if names != "right":
        found = _move_up_boxes(sizes, found, names)
    middles, routes = dict(found.middles), []
    for accumulator, leaf in leaf_of.items():
        x, y = middles[accumulator]
        start = x + sizes[accumulator].width / 2
        end = start + LEAF_GAP
        middles[leaf] = (end + sizes[leaf].width / 2, y)
        points = [(start + (end - start) * part / 3, y) for part in range(4)]
        routes.append(Route(accumulator, leaf, points))
    tops = {name: middles[name][1] + areas[name].height / 2 for name in leaf_of}
    unused_routes = _group_points_by_ends(found.routes)
    for line in lines:
        tail = accumulator_of.get(line.tail, line.tail)
        head = accumulator_of.get(line.head, line.head)
        if leaf_of.get(line.tail) != line.head:
            points = unused_routes[tail, head].pop(0)
            if head in tops:
                side = _find_side_of_box(sizes, middles, line.head, 1)
                points = _aim_at_card(points, side, tops[head], gaps.between_rows)
            if line.tail in accumulator_of:
                # Graphviz begins below the middle of the area, which is below the accumulator.
                points = [_find_side_of_box(sizes, middles, line.tail, -1), *points[1:]]
            routes.append(Route(line.tail, line.head, points))
    return ChosenLayout("down", names, found._replace(middles=middles, routes=routes))


def _measure_joined_areas(
    sizes: Mapping[str, CardSize], leaf_of: Mapping[str, str], names: str
) -> dict[str, CardArea]:
    """Return the areas of cards; that of an accumulator has room for its leaf."""
    areas = {name: size.measure_area(names, goes_right=False) for name, size in sizes.items()}
    for accumulator, leaf in leaf_of.items():
        own, beside = areas[accumulator], areas[leaf]
        width = own.right + LEAF_GAP + beside.left + beside.right
        areas[accumulator] = CardArea(own.left, width, max(own.height, beside.height))
    return areas


def _group_points_by_ends(routes: Iterable[Route]) -> dict[tuple[str, str], list[list[Point]]]:
    """Return the points of all routes between two cards; the lines between these take them in turn."""
    groups: dict[tuple[str, str], list[list[Point]]] = {}
    for route in routes:
        groups.setdefault((route.tail, route.head), []).append(route.points)
    return groups


def _find_side_of_box(
    sizes: Mapping[str, CardSize], middles: Mapping[str, Point], name: str, sign: int
) -> Point:
    """Return the middle of the upper side of a box (sign 1), or of the lower one (-1); y is upwards."""
    x, y = middles[name]
    return x, y + sign * sizes[name].height / 2


def _join_ends(lines: Sequence[DotLine], accumulator_of: Mapping[str, str]) -> list[DotLine]:
    """Return the lines as Graphviz gets them: for a leaf there is the area of its accumulator."""
    joined = []
    for line in lines:
        tail = accumulator_of.get(line.tail, line.tail)
        head = accumulator_of.get(line.head, line.head)
        # The line within the area is drawn anyway.
        if accumulator_of.get(line.head) != line.tail:
            # To the side of the area at which the leaf is.
            corner = "ne" if head != line.head else ""
            joined.append(line._replace(tail=tail, head=head, arrives_at=corner))
    return joined


def _aim_at_card(points: list[Point], end: Point, area_top: float, gap: float) -> list[Point]:
    """Return a line that ends above one of the cards in an area, given one to the edge of that area; y is upwards.

    gap: between two rows, in inches.
    """
    start, (x, y) = points[0], end
    # Twice the gap, since its box may be the lowest of its row. A line that is longer passes a row.
    if start[1] - area_top <= 2 * 72 * gap:
        # From the row above: Graphviz goes to a corner in a bow, below other boxes and back.
        middle = (start[1] + area_top) / 2
        return [start, (start[0], middle), (x, middle), end]
    dx, dy = x - points[-1][0], y - points[-1][1]
    before = (points[-2][0] + dx, points[-2][1] + dy)
    return [*points[:-2], before, end]


def _length_of_longest_chain(sizes: Mapping[str, CardSize], lines: Sequence[DotLine]) -> float:
    """Return how wide the cards of the longest chain are, side by side without a gap."""
    heads: dict[str, set[str]] = {name: set() for name in sizes}
    lines_left = dict.fromkeys(sizes, 0)
    for tail, head, *_ in set(lines):
        heads[tail].add(head)
        lines_left[head] += 1
    lengths = {name: max(size.width, size.beside_width) for name, size in sizes.items()}
    ready = [name for name, count in lines_left.items() if not count]
    reached = dict(lengths)
    # Those on a circle never get ready, and count with their own width alone.
    while ready:
        name = ready.pop()
        for head in heads[name]:
            reached[head] = max(reached[head], reached[name] + lengths[head])
            lines_left[head] -= 1
            if not lines_left[head]:
                ready.append(head)
    return max(reached.values())


def _find_lowest_and_highest(
    sizes: Mapping[str, CardSize], found: GraphLayout, names: str
) -> tuple[float, float]:
    """Return the lowest and the highest y of anything that is drawn, with y upwards."""
    ends: list[float] = []
    for name, (_, y) in found.middles.items():
        size = sizes[name]
        below = 0 if names == "right" else size.beside_height
        half = max(size.height, size.beside_height if names == "right" else 0) / 2
        ends += [y + half + 1, y - half - below - 1]
    for route in found.routes:
        ends += [y for _, y in route.points]
    return min(ends), max(ends)


def _wrap_notes(sheet: GraphSheet, room: Room) -> list[str]:
    """Return the lines below the cards, none of which is wider than the room."""
    columns = columns_that_fit(room.width - 2 * EDGE, "m")
    lines: list[str] = []
    for note in (*sheet.contents.asides, *sheet.contents.notes):
        lines += wrap_text(note, columns, most=MOST_NOTE_LINES)
    return lines


def _heading_of(sheet: GraphSheet, room: Room) -> str:
    if not sheet.cards:
        columns = columns_that_fit(room.width - 2 * EDGE, "m")
        return shorten_text(sheet.contents.heading.caption, columns)
    # In a player a fold is beside it, so it is the second half of the other. Before any backward it must not sound as if one
    # had run. True of each arrow: the last one, into a leaf, goes to the right where all others go down.
    if room.is_low:
        return gettext("Graph: arrows go backward.")
    # What a name is, too: to a beginner it looked like an input of the node that it is beside.
    return gettext("Graph: nodes and their results; arrows go backward.")


def _width_of_head(sheets: Sequence[GraphSheet], room: Room) -> float:
    return max(text_width(_heading_of(sheet, room), "m b") for sheet in sheets)


def measure_signs(sheet: GraphSheet) -> dict[tuple[str, str], float]:
    """Return how wide the signs on lines are, by the two cards between which they are."""
    counts = Counter((edge.tail, edge.head) for edge in sheet.edges if edge.label)
    return {ends: measure_count(count) for ends, count in counts.items()}


def _write_node(name: str, division: AreaDivision, height: float) -> str:
    """Write an area as a node of DOT, which counts in inches of 72 points."""
    shape = ""
    if division.count > 1:
        # Fields are alike, and have no words, which might be too large for them.
        label = "|".join(f"<f{number}>" for number in range(division.count))
        shape = f' shape=record fontsize=1 label="{label}"'
        # Graphviz makes a record higher by a point than it is told to.
        height -= 1
    return f'"{name}"[width={division.width / 72:.4f} height={height / 72:.4f}{shape}]'


class AreaDivision(NamedTuple):
    """An area in equal fields, at the middle of one of which lines arrive: DOT has no other place aside of the middle."""

    width: float
    """Of all fields, in px."""
    count: int
    """How many fields there are."""
    field: int
    """The number of the one in which the middle of the box is."""

    @property
    def middle_part(self) -> float:
        """How far from the left side that is, as a part of the width."""
        return (2 * self.field + 1) / (2 * self.count)


def divide_area(area: CardArea) -> AreaDivision:
    """Return the narrowest division in which there is as much room on both sides as in an area."""
    divisions = []
    for count in range(1, MOST_FIELDS + 1):
        for field in range(count):
            part = AreaDivision(0, count, field).middle_part
            width = max(area.left / part, area.right / (1 - part))
            divisions.append(AreaDivision(width, count, field))
    return min(divisions)


def write_dot(
    areas: Mapping[str, CardArea],
    lines: Iterable[DotLine],
    direction: str,
    gaps: Gaps,
) -> str:
    """Write DOT with sizes and no text: what the layout needs, and nothing that could be misread."""
    goes_right = direction == "right"
    rank = f"{'LR' if goes_right else 'TB'} nodesep={gaps.beside} ranksep={gaps.between_rows}"
    # Lines go from side to side, and not to corners.
    ports = "tailport=e headport=w" if goes_right else "tailport=s headport=n"
    # The last three limit the iterations of the layout, which takes long for large graphs.
    dot = [
        f"digraph{{graph[rankdir={rank} ordering=out nslimit=2 nslimit1=2 mclimit=.5]",
        f'node[shape=box fixedsize=true label=""]edge[dir=none {ports}]',
    ]
    fields: dict[str, str] = {}
    for name, area in areas.items():
        division = divide_area(area)
        if division.count > 1:
            fields[name] = f"f{division.field}:"
        dot.append(_write_node(name, division, area.height))
    lines = list(lines)
    tails, heads = Counter(line.tail for line in lines), Counter(line.head for line in lines)
    for line in lines:
        length = ""
        # A chain is short and straight, and what leads to it takes the way that is left.
        if tails[line.tail] == heads[line.head] == 1:
            length = f"[weight={WEIGHT_IN_CHAIN}]"
        if line.sign_width:
            # Beside the sign the line has to be seen, and its tip.
            shown = SIGN_HEIGHT + 2 * TIP_LENGTH
            if goes_right:
                shown = line.sign_width + 3 * TIP_LENGTH
            length += f"[minlen={max(2, ceil(shown / (72 * gaps.between_rows)))}]"
        elif line.is_from_mark and not goes_right and heads[line.head] > 1:
            # Another line comes down beside the mark, and has to turn below it: with less room its tip would be bent.
            length += "[minlen=2]"
        if line.tail in fields:
            length += f'[tailport="{fields[line.tail]}s"]'
        if line.arrives_at:
            length += f"[headport={line.arrives_at}]"
        elif line.head in fields:
            length += f'[headport="{fields[line.head]}n"]'
        dot.append(f'"{line.tail}"->"{line.head}"{length}')
    return "\n".join([*dot, "}"])


@lru_cache(maxsize=128)
def lay_out(render: Callable[[str], str], dot: str) -> GraphLayout:
    """Lay out DOT source. Cached: from step to step the graph often stays as it is.

    render: what calls Graphviz, as `layout.render` does.
    """
    middles: dict[str, Point] = {}
    routes: list[Route] = []
    total_width = total_height = 0.0
    for line in render(dot).splitlines():
        # Names and numbers; no name has a blank.
        words = line.replace('"', "").split()
        if words[0] == "graph":
            total_width, total_height = float(words[2]) * 72, float(words[3]) * 72
        elif words[0] == "node":
            middles[words[1]] = (float(words[2]) * 72, float(words[3]) * 72)
        elif words[0] == "edge":
            # Coordinates of so many points, then, as the case may be, a label and a style.
            end = 4 + 2 * int(words[3])
            coordinates = [float(word) * 72 for word in words[4:end]]
            points = list(zip(coordinates[::2], coordinates[1::2], strict=True))
            routes.append(Route(words[1], words[2], points))
    return GraphLayout(middles, routes, total_width, total_height)


# -- drawing -----------------------------------------------------------------------


def draw_sheet(
    sheet: GraphSheet, room: Room = PAGE, stage: GraphStage | None = None, label: str = ""
) -> str:
    """Draw a picture on the stage of its run, or laid out by itself; returns the SVG document."""
    canvas, contents = Canvas(), sheet.contents
    stage = stage or lay_out_sheets([sheet], room)
    sheet = mark_cuts(sheet)
    stage = stage._replace(middles=_align_leaves(sheet, stage))
    canvas.text(EDGE, 11, _heading_of(sheet, room), "m b" if sheet.cards else "m")
    cards = {card.name: card for card in sheet.cards}
    numbers: dict[tuple[str, str], list[tuple[str, list[Point]]]] = {}
    # What flows is drawn last: it must not be below the lines that it crosses.
    edges = sorted(sheet.edges, key=lambda edge: edge.state == "flows")
    for edge, points in zip(edges, _find_courses(edges, cards, stage), strict=True):
        direction = _find_direction(edge, stage)
        start = _find_side(stage, cards[edge.tail], direction, 1, points[0])
        end = _find_side(stage, cards[edge.head], direction, -1, points[-1])
        draw_edge(canvas, edge, points, (start, end))
        numbers.setdefault((edge.tail, edge.head), []).append((edge.label, points))
    drawn = (list_boxes(card.size, stage.middles[card.name], stage.names) for card in sheet.cards)
    boxes = list(chain.from_iterable(drawn))
    for parallel in numbers.values():
        draw_count(canvas, parallel, boxes)
    for card in sheet.cards:
        draw_card(canvas, card, stage.middles[card.name], stage.names)
    for index, note in enumerate(_wrap_notes(sheet, room)):
        canvas.text(EDGE, stage.foot + 15 + NOTE * index, note, "m")
    summary = contents.summary if contents.listed else gettext("Graph picture without tensors")
    return canvas.svg(*stage.size, label or summary, contents.is_unfolded)


def _align_leaves(sheet: GraphSheet, stage: GraphStage) -> dict[str, Point]:
    """Return the middles of cards, with each leaf beside its accumulator at the left of its place.

    In the middle of a place that has room for a gradient, it was far from the accumulator until the gradient came.
    """
    middles = dict(stage.middles)
    lines = Counter(chain.from_iterable((route.tail, route.head) for route in stage.routes))
    widths = {card.name: card.size.width for card in sheet.cards}
    for route in stage.routes:
        (x, y), leaf = middles[route.head], route.head
        is_level = stage.direction == "down" and abs(y - middles[route.tail][1]) < 1
        # Another line arrives at the middle of the place.
        if is_level and leaf in widths and lines[leaf] == 1:
            middles[leaf] = (x - (stage.sizes[leaf].width - widths[leaf]) / 2, y)
    return middles


def _find_courses(
    edges: Sequence[GraphEdge], cards: Mapping[str, Card], stage: GraphStage
) -> list[list[Point]]:
    """Return the courses of edges in one picture: a line that is not there yet leaves no room beside others."""
    unused_routes = _group_points_by_ends(stage.routes)
    routes = []
    for tail, head in ((edge.tail, edge.head) for edge in edges):
        # Two between the same cards take their routes in turn.
        routes.append(Route(tail, head, unused_routes[tail, head].pop(0)))
    goes_down = stage.direction == "down"
    starts, ends = {}, {}
    for name, card in cards.items():
        starts[name] = ends[name] = _find_reach_of_card(card, 0 if goes_down else 1)
        # A name is below its box, beside the line that leaves the middle.
        if goes_down and stage.names != "right" and card.size.beside_width:
            starts[name] = 0.0
    areas = {
        name: list_boxes(card.size, stage.middles[name], stage.names)
        for name, card in cards.items()
    }
    # What goes another way arrives at another side.
    alike = [at for at, edge in enumerate(edges) if _find_direction(edge, stage) == stage.direction]
    moved = [routes[at] for at in alike]
    along = 1 if goes_down else 0
    for at, route in zip(
        alike, spread_ends(moved, stage.middles, starts, ends, areas, along), strict=True
    ):
        routes[at] = route
    return [route.points for route in routes]


def _find_direction(edge: GraphEdge, stage: GraphStage) -> str:
    """Return the direction of a line: a leaf may be beside its accumulator where all others are below one another."""
    is_level = abs(stage.middles[edge.tail][1] - stage.middles[edge.head][1]) < 1
    return "right" if edge.kind == "leaf" and is_level else stage.direction


def _find_side(stage: GraphStage, card: Card, direction: str, sign: int, near: Point) -> Point:
    """Return where a line leaves a box (sign 1), or arrives at it (-1): at the end of its course that is `near`.

    Where the box is too narrow for that in this step, it is the middle of its side.
    """
    across = 1 if direction == "right" else 0
    middle = stage.middles[card.name]
    aside = near[across] - middle[across]
    # Rounded: a line may end just at the reach.
    if round(abs(aside), 3) > _find_reach_of_card(card, across):
        aside = 0.0
    beyond = (card.size.width, card.size.height)[1 - across] / 2
    if card.is_disc:
        beyond = (beyond**2 - aside**2) ** 0.5
    if direction == "right":
        return middle[0] + sign * beyond, middle[1] + aside
    return middle[0] + aside, middle[1] + sign * beyond


def _find_reach_of_card(card: Card, across: int) -> float:
    """Return how far from the middle of a side a line may leave a card or arrive."""
    half = (card.size.width, card.size.height)[across] / 2
    # A box has round corners, at which no line goes; a disc is round all over.
    return half * REACH_OF_DISC if card.is_disc else find_reach(half)
