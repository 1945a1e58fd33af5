"""The lines between the cards of a graph picture: from box to box, each with its tip and its sign."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from ..show import GraphEdge
from ..wording import ngettext, text_width
from .routes import DrawnArea, Point, draw_straight, point_on_curve
from .style import Canvas, format_point

TIP_LENGTH, TIP_HALF = 8.0, 4.0
"""Length of the tip of an arrow, and half of its width, in px; both are larger where a gradient
flows."""
SIGN_HEIGHT = 14
"""Height of a sign on a line, in px."""
CLEAR_OF_BOXES = 3.0
"""So far from a box a sign is clear of it, in px."""
_LARGER_IN_FLOW = 1.3
_LEAST_LENGTH = 0.5
"""What is shorter, in px, has no direction: its ends are written with one decimal."""
_MOST_APART = 1.5
"""A line whose end is farther from its box, in px, goes on to it."""
_LOOKS_OF_EDGES = {
    "flows": ("flow", "flow-t"),
    "freed": ("thin", "thin-t"),
    "cut": ("arrow dash", ""),
    "was cut": ("arrow dash", ""),
    "copied": ("arrow dash", ""),
    "saved": ("arrow dash", ""),
}
"""Classes of the line and of its tip, by the state or the kind of an edge."""


def measure_count(count: int) -> float:
    """Return how wide the sign is that counts edges, in px."""
    return _width_of_sign(_phrase_count(count))


def _width_of_sign(text: str) -> float:
    return text_width(text, "") + 4


def _phrase_count(count: int) -> str:
    return ngettext("{number} edge", "{number} edges", count)


def draw_edge(
    canvas: Canvas, edge: GraphEdge, points: Sequence[Point], ends: tuple[Point, Point]
) -> None:
    """Draw an edge along a course, from the box at one of its ends to that at the other."""
    # The state goes before the kind: where a gradient went is what a reader looks for.
    look = _LOOKS_OF_EDGES.get(edge.state) or _LOOKS_OF_EDGES.get(edge.kind)
    line, tip = look or ("arrow", "tip")
    scale = _LARGER_IN_FLOW if edge.state == "flows" else 1.0
    # Without a tip, the line itself goes up to the box.
    size = scale * TIP_LENGTH if tip else 0.0
    course = _reach_boxes(points, *ends, size)
    end, direction = course[-1], find_direction(course)
    course = _shorten_to_tip(course, direction, size)
    curve = f"M{format_point(course[0])}"
    # Each cubic curve begins where the one before ends, and has three more points.
    for first in range(1, len(course), 3):
        curve += "C" + " ".join(map(format_point, course[first : first + 3]))
    canvas.path(curve, line)
    if tip:
        (ux, uy), half = direction, scale * TIP_HALF
        base = (end[0] - size * ux, end[1] - size * uy)
        left = (base[0] - half * uy, base[1] + half * ux)
        right = (base[0] + half * uy, base[1] - half * ux)
        canvas.path("M" + "L".join(map(format_point, (end, left, right))) + "z", tip)


def find_direction(course: Sequence[Point]) -> Point:
    """Return the way in which a line arrives, as a vector of length 1.

    A curve arrives from its last point that is not its end: two points in one place have no direction,
    and a tip drawn between them is not seen.
    """
    end = course[-1]
    for point in reversed(course[:-1]):
        length = _measure_distance(point, end)
        if length >= _LEAST_LENGTH:
            return (end[0] - point[0]) / length, (end[1] - point[1]) / length
    return 1.0, 0.0


def _reach_boxes(
    points: Sequence[Point], start: Point, end: Point, tip_length: float
) -> list[Point]:
    """Return the course from box to box, of whole curves.

    Boxes are in the middle of the areas that the layout knows: a line goes on to their sides.
    """
    course = list(points)
    # Nearer than that the end itself is moved: a curve without a length has no direction.
    if _measure_distance(start, course[0]) > _MOST_APART:
        course = [*draw_straight(start, course[0]), *course[1:]]
    else:
        course[0] = start
    gap = _measure_distance(course[-1], end)
    if gap >= max(tip_length, _MOST_APART):
        return [*course, *draw_straight(course[-1], end)[1:]]
    # In a shorter gap there would be no room for the tip, and the line would come back out of it.
    dx, dy = end[0] - course[-1][0], end[1] - course[-1][1]
    return [*course[:-2], (course[-2][0] + dx, course[-2][1] + dy), end]


def _shorten_to_tip(course: list[Point], direction: Point, size: float) -> list[Point]:
    """Return a line that ends at the base of its tip: its last curve is pressed together as a whole.

    Cut off there, a curve that is hardly longer than the tip would turn within it, and seem to miss it.
    """
    first, end = course[-4], course[-1]
    ux, uy = direction
    length = (end[0] - first[0]) * ux + (end[1] - first[1]) * uy
    shortened = course[:-3]
    for x, y in course[-3:]:
        part = 1.0
        if length > size:
            way = (x - first[0]) * ux + (y - first[1]) * uy
            part = min(max(way / length, 0.0), 1.0)
        shortened.append((x - size * part * ux, y - size * part * uy))
    return shortened


def _measure_distance(first: Point, second: Point) -> float:
    return hypot(first[0] - second[0], first[1] - second[1])


def draw_count(
    canvas: Canvas, parallel: Sequence[tuple[str, Sequence[Point]]], boxes: Sequence[DrawnArea]
) -> None:
    """Draw how many edges go the same way, with their indices as the tooltip, clear of `boxes` where that is possible."""
    labels = [label for label, _ in parallel if label]
    if not labels:
        return
    ends = ", ".join(f"next_functions[{label}]" for label in sorted(labels, key=int))
    points, text = parallel[0][1], _phrase_count(len(labels))
    places = [_area_of_sign(points, part, _width_of_sign(text)) for part in _list_parts(points)]

    def measure_room(place: DrawnArea) -> float:
        # Rounded: of equal ones the first is taken.
        return round(min([CLEAR_OF_BOXES, *map(place.measure_gap, boxes)]))

    place = max(places, key=measure_room)
    canvas.rect(place.left, place.top, place.right - place.left, SIGN_HEIGHT, "page", 4)
    middle = ((place.left + place.right) / 2, (place.top + place.bottom) / 2)
    canvas.text(middle[0], middle[1] + 4.5, text, "t c", whole=ends)


def _list_parts(points: Sequence[Point]) -> Sequence[float]:
    """Return the parts of a line's way at which a sign may be, the best first: in the middle of its middle curve."""
    curves = (len(points) - 1) // 3
    # To the right its place has room on both sides, and names of other cards may be near.
    if abs(points[-1][1] - points[0][1]) <= abs(points[-1][0] - points[0][0]):
        return [(curves // 2 + 0.5) / curves]
    # The tip takes the end of the line: what is between it and the other end has its middle further back.
    return [(curves // 2 + 0.4) / curves, 0.4, 0.3, 0.5, 0.2, 0.6]


def _area_of_sign(points: Sequence[Point], part: float, width: float) -> DrawnArea:
    """Return the area of a sign on a line, so far on its way."""
    curves = (len(points) - 1) // 3
    # Each of its curves counts for an equal part of the way.
    number = min(int(part * curves), curves - 1)
    x, y = point_on_curve(points[3 * number : 3 * number + 4], part * curves - number)
    half = SIGN_HEIGHT / 2
    return DrawnArea(x - width / 2, y - half, x + width / 2, y + half)
