"""The courses of lines in the graph picture: Graphviz' curves, mended where a reader would misread them.

Between two rows that are close together Graphviz draws a bow: below the row and up again, along the
edge of a box that the line has nothing to do with. What goes back, or comes near such a box, is drawn
anew here. Lines between boxes that face each other are made straight; all others are left as they are.
The ends of several lines at one box, which the layout has in the middle of a side, are put apart: what
comes from three nodes looked like one line there, or like three ways to one and the same place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import inf
from typing import NamedTuple

from .graph_cards import ASIDE, GAP, NAME_HEIGHT, CardSize

Point = tuple[float, float]
Span = tuple[float, float]
"""From where to where something is, along x or y."""
LEAST_CLEARANCE = 3.0
"""A line that is nearer to a box of others, in px, seems to end there."""
MOST_BACK = 1.0
"""So far a line may go back, in px, before it is drawn anew: nobody sees less."""
_BESIDE_BOX = 5.0
"""So far from a box a line is drawn that passes it, in px."""
_TURN = 3.0
"""Before a row, and behind it, in px: so much earlier a line has turned, or later it turns."""
_CORNER = 5.0
"""So far from the end of a side the corner of a box is round, in px: no line goes there."""
_MOST_CRAMPED, _MOST_ASLANT = 20.0, 5.0
"""Where the room between two boxes, in px, has no place for a turn before the tip of an arrow, a line turned within the
tip, which looked like a hook. It is aslant there, if it goes aside no more than so many times as far as on."""
_STEPS_OF_CURVE = 24
"""So many points of each cubic curve are looked at."""
_MOST_APART, _LEAST_APART = 9.0, 3.0
"""So far apart two ends are at most, in px: the tips of both are seen whole. Nearer than the least many would be one
blot: then all stay in the middle."""
_LOOKED_AT = 24.0
"""So far from its end, in px, it is seen from which side a line comes."""
_STEPS_OF_END = 8
"""So many points of each curve are looked at where lines end."""
_BENT = (120.0, 72.0, 40.0, 24.0)
"""So far before its end, in px, a line leaves its course: the first that is clear of boxes."""
_MOST_STEEP = 3.0
"""So many times as far aside as on, in half of its way, a line turns at most."""
_NEAR = 2 * _MOST_APART + LEAST_CLEARANCE
"""What is so far, in px, from the place that a line takes is in nobody's way when its end goes aside."""
_STRAIGHT = 0.5
"""What goes aside no more than this, in px, is straight to the eye."""


class Route(NamedTuple):
    """The course of a line: cubic curves, from its tail to its head."""

    tail: str
    """The card that it starts at."""
    head: str
    """The card that it goes to."""
    points: list[Point]
    """The end of one curve is the beginning of the next: 3n + 1 points."""

    def move_points(self, move: Callable[[float], float]) -> Route:
        """Return it with each of its x moved."""
        return self._replace(points=[(move(x), y) for x, y in self.points])


class DrawnArea(NamedTuple):
    """The area of a box, or of the names beside it, in px with y downwards."""

    left: float
    """The x of its left side."""
    top: float
    """The y of its upper side."""
    right: float
    """The x of its right side."""
    bottom: float
    """The y of its lower side."""

    def measure_distance(self, point: Point) -> float:
        """Return how far outside of it a point is, along the axis where that is more; less than 0 inside."""
        x, y = point
        return max(self.left - x, x - self.right, self.top - y, y - self.bottom)

    def measure_gap(self, other: DrawnArea) -> float:
        """Return how far apart the two are, along the axis where that is more; less than 0 if they overlap."""
        beside = max(self.left - other.right, other.left - self.right)
        return max(beside, self.top - other.bottom, other.top - self.bottom)


def point_on_curve(points: Sequence[Point], t: float) -> Point:
    """Return a point on a cubic curve, by Bernstein's polynomials."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points
    s = 1 - t
    a, b, c, d = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    return (a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy)


def list_boxes(size: CardSize, middle: Point, names: str) -> list[DrawnArea]:
    """Return the areas that a card draws in: its box, and what is beside it; y is downwards."""
    x, y = middle
    half_width, half_height = size.width / 2, size.height / 2
    boxes = [DrawnArea(x - half_width, y - half_height, x + half_width, y + half_height)]
    if size.beside_width:
        left, top = size.find_names(middle, names)
        left_width, right_width = size.find_halves(names)
        right = x + size.reach if names == "right" else left + right_width - GAP
        if left_width:
            end = x - ASIDE
            boxes.append(DrawnArea(end - left_width + GAP, top, end, top + NAME_HEIGHT))
        # In another step the box may be wider than it is with its names in this one.
        if left < right:
            boxes.append(DrawnArea(left, top, right, top + NAME_HEIGHT))
    return boxes


def close_gaps(spans: Iterable[Span], most: float) -> Callable[[float], float]:
    """Return where each place goes when no gap between spans is wider than `most`; it keeps the order of places."""
    cuts: list[tuple[float, float, float]] = []
    reach = inf
    for low, high in sorted(spans):
        if low - reach > most:
            cuts.append((reach, low, low - reach - most))
        reach = high if reach == inf else max(reach, high)

    def move(place: float) -> float:
        # Within a gap what is left of it is divided as all of it was.
        parts = (
            excess * min(max((place - start) / (end - start), 0), 1) for start, end, excess in cuts
        )
        return place - sum(parts)

    return move


def mend_routes(
    routes: Sequence[Route],
    sizes: Mapping[str, CardSize],
    middles: Mapping[str, Point],
    direction: str,
    names: str,
) -> list[Route]:
    """Return the lines, with those drawn anew that go back or come near a box of others; y is downwards."""
    boxes = {name: list_boxes(sizes[name], middle, names) for name, middle in middles.items()}
    counts = Counter((route.tail, route.head) for route in routes)
    mended = []
    for route in routes:
        own = (route.tail, route.head)
        others = list(chain.from_iterable(boxes[name] for name in boxes if name not in own))
        # Of several lines between the same cards each keeps its bow: a new one would hide the others.
        is_alone = counts[route.tail, route.head] == 1
        points = _mend_points(route.points, others, direction == "down", is_alone=is_alone)
        mended.append(route._replace(points=points))
    return mended


def straighten_routes(
    routes: Sequence[Route],
    sizes: Mapping[str, CardSize],
    smallest: Mapping[str, CardSize],
    middles: Mapping[str, Point],
    direction: str,
    names: str,
) -> list[Route]:
    """Return the lines, those as straight ones for which two boxes face each other; y is downwards.

    `smallest`: the sizes that boxes have at least, in all steps of a run.
    """
    goes_down = direction == "down"
    along = 1 if goes_down else 0
    boxes = {name: list_boxes(sizes[name], middle, names) for name, middle in middles.items()}
    counts = Counter((route.tail, route.head) for route in routes)
    arrivals = Counter(route.head for route in routes)
    starts: dict[str, tuple[float, float]] = {}
    ends: dict[str, tuple[float, float]] = {}
    for name, size in smallest.items():
        middle = middles[name][1 - along]
        reach = find_reach((size.width if goes_down else size.height) / 2)
        # Names below a box are on the line that leaves its middle, or right of it, and in the way of any other.
        hides = goes_down and names != "right" and sizes[name].beside_width > 0
        starts[name] = (middle, middle) if hides else (middle - reach, middle + reach)
        # Of several lines that end there one may be straight, in the middle: `spread_ends` has the others beside it.
        ends[name] = (middle, middle) if arrivals[name] > 1 else (middle - reach, middle + reach)
    results = list(routes)
    for position, route in enumerate(routes):
        own = (route.tail, route.head)
        if counts[own] > 1:
            continue
        between = (route.points, starts[route.tail], ends[route.head], along)
        line = find_straight_line(*between) or find_slant_line(*between)
        if line is None:
            continue
        others = chain.from_iterable(boxes[name] for name in boxes if name not in own)
        if measure_clearance(line, list(others)) >= LEAST_CLEARANCE:
            results[position] = route._replace(points=line)
    return results


def find_reach(half: float) -> float:
    """Return how far from the middle of a side, of which half is given, a line may leave a box or arrive."""
    return max(half - _CORNER, 0.0)


def find_straight_line(
    points: Sequence[Point],
    starts: tuple[float, float],
    ends: tuple[float, float],
    along: int,
) -> list[Point] | None:
    """Return the straight line that may take a course's place; None if there is none.

    `starts`, `ends`: from where to where, across, it may leave and arrive.
    """
    start, end = points[0], points[-1]
    low, high = max(starts[0], ends[0]), min(starts[1], ends[1])
    # A leaf beside its accumulator, or a circle: there is no way forward.
    if low > high or end[along] - start[along] < 1:
        return None
    across = min(max(sum(ends) / 2, low), high)
    return draw_straight(_set_along(start, across, 1 - along), _set_along(end, across, 1 - along))


def find_slant_line(
    points: Sequence[Point],
    starts: tuple[float, float],
    ends: tuple[float, float],
    along: int,
) -> list[Point] | None:
    """Return the line aslant that may take the place of a course with too little room to turn; None for all others.

    `starts`, `ends`: from where to where, across, it may leave and arrive.
    """
    start, end = points[0], points[-1]
    way = end[along] - start[along]
    if not 1 <= way <= _MOST_CRAMPED:
        return None
    # The nearest way that there is: it leaves its box at a corner.
    arrival = sum(ends) / 2
    departure = min(max(arrival, starts[0]), starts[1])
    if abs(arrival - departure) > _MOST_ASLANT * way:
        return None
    across = 1 - along
    return draw_straight(_set_along(start, departure, across), _set_along(end, arrival, across))


def _mend_points(
    points: list[Point], others: Sequence[DrawnArea], goes_down: bool, *, is_alone: bool
) -> list[Point]:
    """Return the first course that goes forward and keeps away from `others`, or the one that is farthest from them."""
    along = 1 if goes_down else 0
    # A leaf beside its accumulator, or a circle: there is no way forward.
    if points[-1][along] - points[0][along] < 1:
        return points
    clearance = measure_clearance(points, others)
    if measure_way_back(points, along) <= MOST_BACK and clearance >= LEAST_CLEARANCE:
        return points
    tried: list[tuple[float, list[Point]]] = []
    for course in _list_courses(points, others, along, is_alone=is_alone):
        tried.append((measure_clearance(course, others), course))
        if tried[-1][0] >= LEAST_CLEARANCE:
            return course
    return max(tried, key=lambda each: each[0])[1]


def measure_way_back(points: Sequence[Point], along: int) -> float:
    """Return how far a line goes back at most, along x (0) or y (1)."""
    farthest, back = points[0][along], 0.0
    # On the curve, and not its control points: it does not go back as far as these.
    for point in _list_points(points):
        farthest = max(farthest, point[along])
        back = max(back, farthest - point[along])
    return back


def _list_points(points: Sequence[Point]) -> Iterator[Point]:
    for first in range(0, len(points) - 3, 3):
        at = partial(point_on_curve, points[first : first + 4])
        for step in range(_STEPS_OF_CURVE + 1):
            yield at(step / _STEPS_OF_CURVE)


def measure_clearance(points: Sequence[Point], others: Sequence[DrawnArea]) -> float:
    """Return how far a line is from the nearest of some boxes; `LEAST_CLEARANCE` for all that is farther."""
    # A curve stays within its control points: most boxes are far from all of them.
    xs, ys = zip(*points, strict=True)
    reach = DrawnArea(min(xs), min(ys), max(xs), max(ys))
    near = [box for box in others if box.measure_gap(reach) < LEAST_CLEARANCE]
    if not near:
        return LEAST_CLEARANCE
    passed = list(_list_points(points))
    clearance = LEAST_CLEARANCE
    for box in near:
        clearance = min(clearance, *map(box.measure_distance, passed))
    return clearance


def _list_courses(
    points: list[Point], others: Sequence[DrawnArea], along: int, *, is_alone: bool
) -> Iterator[list[Point]]:
    """Yield the courses to try, the best first; none of them goes back."""
    forward = _turn_forward(points, along)
    if not is_alone:
        yield forward
        return
    start, end = points[0], points[-1]
    # One curve goes from a row to the next, and a bow has its turn between the two.
    if len(points) == 4:
        yield _draw_bow(start, end, along)
    leave, arrive = _find_channel(start, end, others, along)
    # Where the two rows overlap, there is no room between them to turn in.
    if leave < arrive:
        yield _draw_steps(start, end, (leave, arrive), along)
    yield forward
    # A line that passes rows: straight beside one of the boxes, the nearest way first.
    across = 1 - along
    lanes = set(_list_lanes(others, across, (start[across], end[across])))
    middle = (start[across] + end[across]) / 2
    for lane in sorted(lanes, key=lambda lane: abs(lane - middle)):
        yield from _pass_in_lane(start, end, lane, (leave, arrive), others, along)


def _find_sides(box: DrawnArea, axis: int) -> tuple[float, float]:
    """Return where a box begins and ends along x (0) or y (1)."""
    if axis == 0:
        return box.left, box.right
    return box.top, box.bottom


def _list_lanes(
    others: Sequence[DrawnArea], across: int, ends: tuple[float, float]
) -> Iterator[float]:
    """Yield where a line has a little room beside a box, within what is drawn."""
    sides = [_find_sides(box, across) for box in others]
    lows, highs = zip(*sides, strict=True) if sides else ((), ())
    first, last = min(*ends, *lows), max(*ends, *highs)
    for low, high in sides:
        for lane in (low - _BESIDE_BOX, high + _BESIDE_BOX):
            if first <= lane <= last:
                yield lane


def _pass_in_lane(
    start: Point,
    end: Point,
    lane: float,
    channel: tuple[float, float],
    others: Sequence[DrawnArea],
    along: int,
) -> Iterator[list[Point]]:
    """Yield the line that changes to a lane in the room behind its row, and back before the last."""
    leave, arrive = channel
    begins: list[float] = []
    ends: list[float] = []
    for box in others:
        low, high = _find_sides(box, along)
        if low > leave:
            begins.append(low)
        if high < arrive:
            ends.append(high)
    # To the lane before the first box behind the row begins, and back behind the last one.
    enter = min(begins, default=arrive) - _TURN
    exit_ = max(ends, default=leave) + _TURN
    # One of the two turns would have to be made beside a box.
    if not leave < enter <= exit_ < arrive:
        return
    first = (lane, enter) if along else (enter, lane)
    last = (lane, exit_) if along else (exit_, lane)
    into = _draw_steps(start, first, (leave, enter), along)
    out_of = _draw_steps(last, end, (exit_, arrive), along)
    yield [*into, *draw_straight(first, last)[1:], *out_of[1:]]


def _turn_forward(points: Sequence[Point], along: int) -> list[Point]:
    """Return a line whose curves each stay between their ends: what was beyond made it go back."""
    turned = list(points)
    for first in range(0, len(points) - 3, 3):
        low, high = sorted((points[first][along], points[first + 3][along]))
        for index in (first + 1, first + 2):
            limited = min(max(points[index][along], low), high)
            turned[index] = _set_along(points[index], limited, along)
    return turned


def _set_along(point: Point, value: float, along: int) -> Point:
    return (point[0], value) if along else (value, point[1])


def _draw_bow(start: Point, end: Point, along: int) -> list[Point]:
    """Return one curve that leaves and arrives straight, and turns in the middle."""
    middle = (start[along] + end[along]) / 2
    return [start, _set_along(start, middle, along), _set_along(end, middle, along), end]


def _find_channel(
    start: Point, end: Point, others: Sequence[DrawnArea], along: int
) -> tuple[float, float]:
    """Return where the room between the rows of two cards begins and ends."""
    leave, arrive = start[along], end[along]
    for box in others:
        low, high = _find_sides(box, along)
        if low < start[along] < high:
            leave = max(leave, high + _TURN)
        if low < end[along] < high:
            arrive = min(arrive, low - _TURN)
    return leave, arrive


def _draw_steps(start: Point, end: Point, channel: tuple[float, float], along: int) -> list[Point]:
    """Return a line that goes straight out of one row and into another, and turns between them."""
    corner, before = _set_along(start, channel[0], along), _set_along(end, channel[1], along)
    points = _draw_bow(corner, before, along)
    # A curve without a length would have no direction, and the tip at its end none.
    if corner != start:
        points = [*draw_straight(start, corner), *points[1:]]
    if before != end:
        points = [*points, *draw_straight(before, end)[1:]]
    return points


def draw_straight(start: Point, end: Point) -> list[Point]:
    """Return the curve that is a straight line; no two of its points are in one place, as its ends are not."""
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    return [start, (x + dx / 3, y + dy / 3), (x + 2 * dx / 3, y + 2 * dy / 3), end]


# -- where lines end -------------------------------------------------------------------------


def spread_ends(
    routes: Sequence[Route],
    middles: Mapping[str, Point],
    starts: Mapping[str, float],
    ends: Mapping[str, float],
    areas: Mapping[str, Sequence[DrawnArea]],
    along: int,
) -> list[Route]:
    """Return the lines of one picture with their ends apart, and where they begin; straight ones stay as they are.

    starts, ends: how far from the middle of their side lines may leave and arrive, by the names of
    cards. areas: what they draw in. along: the axis from row to row, x (0) or y (1).
    """
    arrived = _spread_arrivals(routes, middles, ends, areas, along)
    turned = _turn_round(arrived, along)
    mirrored = {name: _mirror_areas(drawn, along) for name, drawn in areas.items()}
    return _turn_round(_spread_arrivals(turned, middles, starts, mirrored, along), along)


def _turn_round(routes: Sequence[Route], along: int) -> list[Route]:
    """Return the lines from their heads to their tails, mirrored: they go forward then, too."""
    turned = []
    for tail, head, points in routes:
        mirrored = [(x, -y) if along else (-x, y) for x, y in reversed(points)]
        turned.append(Route(head, tail, mirrored))
    return turned


def _mirror_areas(areas: Sequence[DrawnArea], along: int) -> list[DrawnArea]:
    mirrored = []
    for left, top, right, bottom in areas:
        upright = DrawnArea(left, -bottom, right, -top)
        mirrored.append(upright if along else DrawnArea(-right, top, -left, bottom))
    return mirrored


def _spread_arrivals(
    routes: Sequence[Route],
    middles: Mapping[str, Point],
    reaches: Mapping[str, float],
    areas: Mapping[str, Sequence[DrawnArea]],
    along: int,
) -> list[Route]:
    results, across = list(routes), 1 - along
    arriving: dict[str, dict[str, list[int]]] = {}
    for index, route in enumerate(routes):
        # Several between the same two cards are counted in words: they stay together.
        arriving.setdefault(route.head, {}).setdefault(route.tail, []).append(index)
    for head, bundles in arriving.items():
        ordered = sorted(
            bundles.values(), key=lambda bundle: _find_origin(routes[bundle[0]].points, along)
        )
        firsts = [routes[bundle[0]].points for bundle in ordered]
        places = _find_places(firsts, middles[head][across], reaches[head], across)
        for bundle, place in zip(ordered, places, strict=False):
            others = _list_others(routes[bundle[0]], areas)
            for index in bundle:
                points = _end_at(routes[index].points, place, across, others)
                results[index] = routes[index]._replace(points=points)
    return results


def _list_others(route: Route, areas: Mapping[str, Sequence[DrawnArea]]) -> list[DrawnArea]:
    """List what a line keeps away from, as far as it is near."""
    xs, ys = zip(*route.points, strict=True)
    place = DrawnArea(min(xs), min(ys), max(xs), max(ys))
    others: list[DrawnArea] = []
    for name, drawn in areas.items():
        # Its own boxes it touches, but not their names. To look at all takes long where there are many.
        strange = drawn[name in (route.tail, route.head) :]
        others.extend(area for area in strange if area.measure_gap(place) < _NEAR)
    return others


def _find_origin(points: Sequence[Point], along: int) -> tuple[float, float]:
    """Return from where a line comes, across: shortly before its end, and at its start."""
    before = _split_before_end(points, along, _LOOKED_AT)[0][-1]
    return round(before[1 - along], 1), points[0][1 - along]


def _find_places(
    courses: Sequence[Sequence[Point]], middle: float, reach: float, across: int
) -> list[float]:
    """Return where lines in a row end, across; none if they are too many for that side."""
    last = len(courses) - 1
    # What is straight stays; without such a line there is as much room on both sides of the middle.
    rank, anchor = last / 2, middle
    for position, points in enumerate(courses):
        if _is_level(points, across):
            rank, anchor = position, points[-1][across]
            break
    apart = _MOST_APART
    if rank > 0:
        apart = min(apart, (anchor - middle + reach) / rank)
    if rank < last:
        apart = min(apart, (middle + reach - anchor) / (last - rank))
    if last == 0 or apart < _LEAST_APART:
        return []
    return [anchor + (position - rank) * apart for position in range(last + 1)]


def _is_level(points: Sequence[Point], across: int) -> bool:
    places = [point[across] for point in points]
    return max(places) - min(places) <= _STRAIGHT


def _end_at(
    points: list[Point], place: float, across: int, others: Sequence[DrawnArea]
) -> list[Point]:
    """Return a line that ends elsewhere, across: the last of its way is drawn anew, as long a way as is clear of `others`."""
    end = _set_across(points[-1], place, across)
    if _is_level(points, across):
        return points
    if points == draw_straight(points[0], points[-1]):
        courses = [draw_straight(points[0], end)]
    else:
        turned = [_turn_near_end(points, end, distance, across) for distance in _BENT]
        before = _set_across(points[-2], points[-2][across] + place - points[-1][across], across)
        # Nearly level between two rows the end alone goes aside.
        courses = [*filter(None, turned), [*points[:-2], before, end]]
    least = min(measure_clearance(points, others), LEAST_CLEARANCE)
    clear = (course for course in courses if measure_clearance(course, others) >= least)
    return next(clear, points)


def _turn_near_end(
    points: Sequence[Point], end: Point, distance: float, across: int
) -> list[Point] | None:
    """Return a line that leaves its course so far before the end; None if it would have to turn at once."""
    along = 1 - across
    kept, rest = _split_before_end(points, along, distance)
    start = kept[-1]
    before, after = (kept[-2], start) if len(kept) > 1 else (start, rest[0])
    half = (end[along] - start[along]) / 2
    on = after[along] - before[along]
    slope = (after[across] - before[across]) / on if on > 0 else 0.0
    if abs(slope) > 1 or abs(end[across] - start[across]) > _MOST_STEEP * half:
        return None
    # Level at its end, and at its start as it was: one curve, as wide as there is room for.
    places = ((start[along] + half, start[across] + slope * half), (end[along] - half, end[across]))
    return [*kept, *((x, y) if across else (y, x) for x, y in places), end]


def _split_before_end(
    points: Sequence[Point], along: int, distance: float
) -> tuple[list[Point], list[Point]]:
    """Return the points of a line up to a place so far before its end, and those behind it; up to its start if it is shorter."""
    first, part = 0, 0.0
    for step in range(len(points) // 3 * _STEPS_OF_END - 1, 0, -1):
        curve, number = divmod(step, _STEPS_OF_END)
        point = point_on_curve(points[3 * curve : 3 * curve + 4], number / _STEPS_OF_END)
        if points[-1][along] - point[along] >= distance:
            first, part = 3 * curve, number / _STEPS_OF_END
            break
    if part == 0:
        return list(points[: first + 1]), list(points[first + 1 :])
    # De Casteljau's points: of the curve up to there, and of the one behind it.
    ab, bc, cd = (
        _find_point_between(points[at], points[at + 1], part) for at in range(first, first + 3)
    )
    abc, bcd = _find_point_between(ab, bc, part), _find_point_between(bc, cd, part)
    cut = _find_point_between(abc, bcd, part)
    return [*points[: first + 1], ab, abc, cut], [bcd, cd, *points[first + 3 :]]


def _find_point_between(first: Point, second: Point, part: float) -> Point:
    return first[0] + part * (second[0] - first[0]), first[1] + part * (second[1] - first[1])


def _set_across(point: Point, value: float, across: int) -> Point:
    return (value, point[1]) if across == 0 else (point[0], value)
