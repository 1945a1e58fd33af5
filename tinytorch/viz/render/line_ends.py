"""The ends of several lines at one box, and their beginnings: apart, so that each can be followed.

The layout has all of them in the middle of a side. What comes from three nodes looked like one line
there, or like three ways to one and the same place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .routes import (
    LEAST_CLEARANCE,
    DrawnArea,
    Point,
    Route,
    draw_straight,
    measure_clearance,
    point_on_curve,
)

_MOST_APART, _LEAST_APART = 9.0, 3.0
"""So far apart two ends are at most, in px: the tips of both are seen whole. Nearer than the least many would be one
blot: then all stay in the middle."""
_LOOKED_AT = 24.0
"""So far from its end, in px, it is seen from which side a line comes."""
_STEPS_OF_CURVE = 8
"""So many points of each curve are looked at."""
_BENT = (120.0, 72.0, 40.0, 24.0)
"""So far before its end, in px, a line leaves its course: the first that is clear of boxes."""
_MOST_STEEP = 3.0
"""So many times as far aside as on, in half of its way, a line turns at most."""
_NEAR = 2 * _MOST_APART + LEAST_CLEARANCE
"""What is so far, in px, from the place that a line takes is in nobody's way when its end goes aside."""
_STRAIGHT = 0.5
"""What goes aside no more than this, in px, is straight to the eye."""


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
    for step in range(len(points) // 3 * _STEPS_OF_CURVE - 1, 0, -1):
        curve, number = divmod(step, _STEPS_OF_CURVE)
        point = point_on_curve(points[3 * curve : 3 * curve + 4], number / _STEPS_OF_CURVE)
        if points[-1][along] - point[along] >= distance:
            first, part = 3 * curve, number / _STEPS_OF_CURVE
            break
    if part == 0:
        return list(points[: first + 1]), list(points[first + 1 :])
    # De Casteljau's points: of the curve up to there, and of the one behind it.
    ab, bc, cd = (_mix(points[at], points[at + 1], part) for at in range(first, first + 3))
    abc, bcd = _mix(ab, bc, part), _mix(bc, cd, part)
    cut = _mix(abc, bcd, part)
    return [*points[: first + 1], ab, abc, cut], [bcd, cd, *points[first + 3 :]]


def _mix(first: Point, second: Point, part: float) -> Point:
    return first[0] + part * (second[0] - first[0]), first[1] + part * (second[1] - first[1])


def _set_across(point: Point, value: float, across: int) -> Point:
    return (value, point[1]) if across == 0 else (point[0], value)
