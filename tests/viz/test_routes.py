"""Lines of the graph picture: none goes back, comes near a box of others, or ends without a tip that can be seen."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest
from copylab import CopyLab, steps
from copylab.lessons import stop_gradient
from copylab.quiz.misconceptions import MISCONCEPTIONS
from copylab.quiz.prediction import Prediction
from copylab.quiz.retest_programs import RETEST_PROGRAMS
from copylab.quiz.retests import write_retest
from lesson_parts import defined
from project_files import ROOT

import tinytorch
from tinytorch.viz import compare_snapshots, graph, snapshot
from tinytorch.viz.render import graph_svg
from tinytorch.viz.render.edges import (
    SIGN_HEIGHT,
    TIP_HALF,
    TIP_LENGTH,
    draw_count,
    draw_edge,
    find_direction,
)
from tinytorch.viz.render.graph_cards import CardArea, CardSize
from tinytorch.viz.render.routes import (
    DrawnArea,
    Point,
    Route,
    close_gaps,
    draw_straight,
    find_slant_line,
    list_boxes,
    measure_clearance,
    measure_way_back,
    mend_routes,
    spread_ends,
    straighten_routes,
)
from tinytorch.viz.render.style import Canvas
from tinytorch.viz.show import GraphEdge, describe_graph, select_nodes

CLEAR, CLEAR_OF_OWN_NAME, STRAIGHT = 2.9, 2.0, 1.0
# Two lines between the same two cards keep apart from each other first: moved away from a box, they would be one.
CLEAR_IN_PAIRS = 2.0
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# The first two experiments of lesson 02, and with the write through the other tensor.
PRESSES = list(product(("x", "y"), ("x", "y")))


class MendedLayout(NamedTuple):
    """A layout before its lines were mended, and after."""

    bent: list[Route]
    mended: list[Route]
    sizes: Mapping[str, CardSize]
    middles: Mapping[str, Point]
    direction: str
    names: str

    def list_faults(self, routes: Sequence[Route]) -> Iterator[str]:
        """Give the lines that go back or come near a name, their own as well, or a box of others."""
        boxes = {
            name: list_boxes(self.sizes[name], at, self.names) for name, at in self.middles.items()
        }
        along = 1 if self.direction == "down" else 0
        for route in routes:
            first, last = route.points[0][along], route.points[-1][along]
            back = measure_way_back(route.points, along)
            if last - first >= 1 and back > STRAIGHT:
                yield f"{route.tail} -> {route.head} goes back by {back:.1f}"
            for name, near in boxes.items():
                # Its own box it touches, and below its own name it turns.
                is_own = name in (route.tail, route.head)
                is_pair = sum(each[:2] == route[:2] for each in routes) > 1
                least = CLEAR_OF_OWN_NAME if is_own else CLEAR_IN_PAIRS if is_pair else CLEAR
                clearance = measure_clearance(route.points, near[is_own:])
                if clearance < least:
                    yield f"{route.tail} -> {route.head} is {clearance:.1f} from {name}"


@pytest.fixture
def drawn_layouts(monkeypatch: pytest.MonkeyPatch) -> list[MendedLayout]:
    """All layouts that a test has made."""
    layouts: list[MendedLayout] = []

    def mend(
        routes: list[Route],
        sizes: Mapping[str, CardSize],
        middles: Mapping[str, Point],
        direction: str,
        names: str,
    ) -> list[Route]:
        mended = mend_routes(routes, sizes, middles, direction, names)
        layouts.append(MendedLayout(routes, mended, sizes, middles, direction, names))
        return mended

    monkeypatch.setattr(graph_svg, "mend_routes", mend)
    return layouts


class SpreadPicture(NamedTuple):
    """The lines of one picture before their ends were put apart, and after."""

    before: Sequence[Route]
    after: Sequence[Route]
    areas: Mapping[str, Sequence[DrawnArea]]
    along: int

    def list_faults(self) -> Iterator[str]:
        """Give the lines that come nearer to a name or a box, or go back farther, than they did."""
        for old, new in zip(self.before, self.after, strict=True):
            backs = [measure_way_back(route.points, self.along) for route in (old, new)]
            if backs[1] > max(backs[0], STRAIGHT):
                yield f"{old.tail} -> {old.head} goes back by {backs[1]:.1f}"
            others: list[DrawnArea] = []
            for name, near in self.areas.items():
                others += near[name in (old.tail, old.head) :]
            gaps = [measure_clearance(route.points, others) for route in (old, new)]
            if gaps[1] < min(gaps[0], CLEAR):
                yield f"{old.tail} -> {old.head} is {gaps[1]:.1f} from a box or a name"

    def count_places(self) -> list[tuple[int, int]]:
        """Return for each card at which several others arrive how many these are, and in how many places."""
        arriving: dict[str, dict[str, float]] = {}
        for tail, head, points in self.after:
            arriving.setdefault(head, {})[tail] = round(points[-1][1 - self.along])
        return [(len(by), len(set(by.values()))) for by in arriving.values() if len(by) > 1]


@pytest.fixture
def spread_pictures(monkeypatch: pytest.MonkeyPatch) -> list[SpreadPicture]:
    """All pictures that a test has drawn."""
    pictures: list[SpreadPicture] = []

    def record_spread_ends(routes: Sequence[Route], *places: Any) -> list[Route]:
        after = spread_ends(routes, *places)
        *_, areas, along = places
        pictures.append(SpreadPicture(routes, after, areas, along))
        return after

    monkeypatch.setattr(graph_svg, "spread_ends", record_spread_ends)
    return pictures


def list_programs(path: Path) -> Iterator[str]:
    """The programs of a lesson: what it predicts, and what solves its exercises or does not."""
    for thing in defined(path).values():
        if isinstance(thing, Prediction):
            yield thing.code
        else:
            for code in (thing.code, *thing.also, *thing.wrong):
                yield f"{thing.start}\n{code}"


def draw_players(programs: Iterable[str]) -> None:
    for code in programs:
        assert steps(code, engine=tinytorch).html


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, id=path.stem, marks=() if path.stem == "13_choosing" else pytest.mark.stress
        )
        for path in LESSONS
    ],
)
def test_no_line_of_a_lesson_is_behind_a_name_or_a_box_of_others(
    drawn_layouts: list[MendedLayout], path: Path
) -> None:
    """Names were on the arrow to the next node: in lesson 13, `k` seemed to be between two nodes."""
    draw_players(list_programs(path))
    assert [fault for one in drawn_layouts for fault in one.list_faults(one.mended)] == []


@pytest.mark.stress
def test_no_line_of_a_retest_is_behind_a_name_or_a_box_of_others(
    drawn_layouts: list[MendedLayout],
) -> None:
    for name in RETEST_PROGRAMS:
        belief = MISCONCEPTIONS[name]
        draw_players(write_retest(belief, seed=0, number=number) for number in range(3))
    assert len(drawn_layouts) > 100
    assert [fault for one in drawn_layouts for fault in one.list_faults(one.mended)] == []


def test_as_graphviz_gives_them_lines_go_back_or_behind_boxes(
    drawn_layouts: list[MendedLayout],
) -> None:
    draw_players(list_programs(ROOT / "notebooks" / "08_stop_gradient.ipynb"))
    assert sum(1 for one in drawn_layouts for _ in one.list_faults(one.bent)) > 3


@pytest.mark.parametrize("direction", ["right", "down"])
@pytest.mark.parametrize("path", sorted(LESSONS)[::4], ids=lambda path: path.stem)
def test_no_line_of_a_graph_is_behind_a_name(
    drawn_layouts: list[MendedLayout], path: Path, direction: str
) -> None:
    for code in list_programs(path):
        names: dict[str, Any] = {"torch": tinytorch}
        with suppress(Exception):
            exec(code, names)
        tensors = {name: one for name, one in names.items() if isinstance(one, tinytorch.Tensor)}
        assert graph(tensors, direction=direction).svg
    assert [fault for one in drawn_layouts for fault in one.list_faults(one.mended)] == []


@pytest.mark.parametrize(
    "method",
    [
        "clone",
        "view",
        *[
            pytest.param(method, marks=pytest.mark.stress)
            for method in ("detach", ".data", "copy.copy", "copy_")
        ],
    ],
)
@pytest.mark.parametrize("kind", ["leaf", "result"])
def test_no_line_of_the_lab_goes_back_or_behind_a_box_of_others(
    drawn_layouts: list[MendedLayout], method: str, kind: str
) -> None:
    """Of "Loss from y", "Write through y", "Backward" an edge came out of the red box, as it seemed."""
    for loss, written in PRESSES:
        lab = CopyLab(kind, method=method, engine=tinytorch)
        lab.loss(loss)
        lab.write(written)
        lab.backward()
        lab.close()
    assert drawn_layouts
    assert [fault for one in drawn_layouts for fault in one.list_faults(one.mended)] == []


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id=path.stem,
            marks=() if path.stem == "05_in_place" else pytest.mark.stress,
        )
        for path in LESSONS
    ],
)
def test_lines_to_one_card_end_apart(spread_pictures: list[SpreadPicture], path: Path) -> None:
    draw_players(list_programs(path))
    assert [fault for one in spread_pictures for fault in one.list_faults()] == []
    assert path.stem != "05_in_place" or any(one.count_places() for one in spread_pictures)


@pytest.mark.parametrize("direction", ["right", "down"])
def test_three_rounds_end_in_three_places(
    spread_pictures: list[SpreadPicture], direction: str
) -> None:
    """Patient 12 of the clinic: three nodes led into one point, as three ways to the same place."""
    decay = tinytorch.tensor(0.5, requires_grad=True)
    state = tinytorch.tensor(1.0)
    for _ in range(3):
        state = state * decay
    assert graph(state=state, decay=decay, direction=direction).svg
    assert [one.count_places() for one in spread_pictures] == [[(3, 3)]]
    assert [fault for one in spread_pictures for fault in one.list_faults()] == []


def test_more_lines_than_a_side_has_room_for_end_in_its_middle(
    spread_pictures: list[SpreadPicture],
) -> None:
    x = tinytorch.ones(1, requires_grad=True)
    for count in (3, 12):
        assert graph(y=sum(x * number for number in range(count)), direction="right").svg
    few, many = (one.count_places() for one in spread_pictures)
    assert few == [(3, 3)]
    assert many == [(12, 1)]


def test_edges_between_the_same_cards_end_together(spread_pictures: list[SpreadPicture]) -> None:
    x = tinytorch.ones(1, requires_grad=True)
    assert graph(y=x * x + x.exp(), direction="right").svg
    assert spread_pictures[0].count_places() == [(2, 2)]
    ends: dict[tuple[str, str], set[Point]] = {}
    for tail, head, points in spread_pictures[0].after:
        ends.setdefault((tail, head), set()).add(points[-1])
    assert len(spread_pictures[0].after) > len(ends)
    assert {len(places) for places in ends.values()} == {1}


def test_a_line_that_is_well_is_left_as_it_is() -> None:
    sizes = {name: CardSize(20, 20) for name in "ab"}
    middles = {"a": (10.0, 10.0), "b": (60.0, 60.0)}
    route = Route("a", "b", [(10, 20), (10, 35), (60, 35), (60, 50)])
    assert mend_routes([route], sizes, middles, "down", "right") == [route]


def test_a_line_past_a_box_goes_beside_it() -> None:
    sizes = {"a": CardSize(20, 20), "b": CardSize(20, 20), "between": CardSize(40, 20)}
    middles = {"a": (50.0, 10.0), "between": (50.0, 50.0), "b": (50.0, 90.0)}
    through = Route("a", "b", [(50, 20), (50, 40), (50, 60), (50, 80)])
    assert measure_clearance(through.points, [DrawnArea(30, 40, 70, 60)]) < 0
    # There is something at its right, within which a line may be.
    sizes["far"], middles["far"] = CardSize(20, 20), (150.0, 10.0)
    (mended,) = mend_routes([through], sizes, middles, "down", "right")
    assert measure_clearance(mended.points, [DrawnArea(30, 40, 70, 60)]) >= 3
    assert (mended.points[0], mended.points[-1]) == ((50, 20), (50, 80))
    assert measure_way_back(mended.points, along=1) == 0


def test_lines_between_the_same_cards_stay_apart() -> None:
    sizes = {name: CardSize(80, 20) for name in "ab"}
    middles = {"a": (50.0, 10.0), "b": (50.0, 60.0)}
    bows = [[(50.0, 20.0), (x, 60.0), (x, 10.0), (50.0, 50.0)] for x in (20.0, 80.0)]
    mended = mend_routes([Route("a", "b", bow) for bow in bows], sizes, middles, "down", "right")
    assert mended[0].points != mended[1].points
    assert all(measure_way_back(route.points, along=1) < 1 for route in mended)


_TIP = re.compile(r'<path class="(?:tip|thin-t|flow-t)" d="M([^"]*)z"')
TIPLESS = ("cut", "was cut", "copied", "saved")


def faults_of_tip(edge: GraphEdge, parts: Sequence[str]) -> Iterator[str]:
    """Give what is wrong with the tip of an edge that was drawn as these elements."""
    tips = _TIP.findall("".join(parts))
    if len(tips) != (edge.kind not in TIPLESS):
        yield f"{edge.tail} -> {edge.head}, {edge.kind}, has {len(tips)} tips"
    for tip in tips:
        (x, y), (left, top), (right, low) = (
            map(float, corner.split()) for corner in tip.split("L")
        )
        area = abs((left - x) * (low - y) - (right - x) * (top - y)) / 2
        # Corners have one decimal.
        if area < 0.9 * TIP_LENGTH * TIP_HALF:
            yield f"{edge.tail} -> {edge.head} has a tip of {area:.1f} square px"


@pytest.fixture
def tip_faults(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """All edges that a test has drawn, by their ends, with what is wrong with the tip of each."""
    found: dict[str, list[str]] = {}

    def draw(canvas: Canvas, edge: GraphEdge, points: list[Point], ends: Any) -> None:
        before = len(canvas.parts)
        draw_edge(canvas, edge, points, ends)
        faults = faults_of_tip(edge, canvas.parts[before:])
        found.setdefault(f"{edge.tail} {edge.head} {points}", []).extend(faults)

    monkeypatch.setattr(graph_svg, "draw_edge", draw)
    return found


def test_every_line_has_a_tip_that_can_be_seen(tip_faults: dict[str, list[str]]) -> None:
    """In lesson 08, the last two points of a line that went around a box were one, and its tip was a dash."""
    predictions = [one for one in vars(stop_gradient).values() if isinstance(one, Prediction)]
    for prediction in predictions:
        assert steps(prediction.code, engine=tinytorch).html
    assert len(tip_faults) > 10
    assert [fault for faults in tip_faults.values() for fault in faults] == []


@pytest.mark.stress
def test_every_line_of_the_lessons_has_a_tip_that_can_be_seen(
    tip_faults: dict[str, list[str]],
) -> None:
    for path in LESSONS:
        for thing in defined(path).values():
            if isinstance(thing, Prediction):
                assert steps(thing.code, engine=tinytorch).html
    assert len(tip_faults) > 100
    assert [fault for faults in tip_faults.values() for fault in faults] == []


@pytest.mark.parametrize(
    ("points", "tip"),
    [
        ([(0, 0), (0, 10), (0, 30), (0, 30)], (0, 1)),
        ([(0, 0), (30, 0), (30, 0), (30, 0)], (1, 0)),
        ([(0, 0), (0, 9), (0, 9), (0, 10), (0, 10), (0, 40), (0, 40)], (0, 1)),
        ([(5, 5), (5, 5), (5, 5), (5, 5)], (1, 0)),
    ],
)
def test_points_in_one_place_have_a_tip_all_the_same(points: list[Point], tip: Point) -> None:
    assert find_direction(points) == tip
    canvas, edge = Canvas(), GraphEdge("a", "b", "next")
    draw_edge(canvas, edge, points, (points[0], points[-1]))
    assert list(faults_of_tip(edge, canvas.parts)) == []


def test_a_tip_without_an_area_is_noticed() -> None:
    parts = ['<path class="tip" d="M24 57L24 57L24 57z"/>']
    assert list(faults_of_tip(GraphEdge("a", "b", "next"), parts)) == [
        "a -> b has a tip of 0.0 square px"
    ]
    assert list(faults_of_tip(GraphEdge("a", "b", "next"), [])) == ["a -> b, next, has 0 tips"]


@pytest.mark.parametrize(
    ("shift", "down", "straight_at"),
    [(12.0, True, 62.0), (12.0, False, None), (6.0, False, 55.0), (90.0, True, None)],
)
def test_a_line_between_boxes_that_face_each_other_is_straight(
    shift: float, down: bool, straight_at: float | None
) -> None:
    """It ran aslant from the middle of one to the middle of the other."""
    sizes = {name: CardSize(60, 20) for name in "ab"}
    ends = ((50.0, 10.0), (50.0 + shift, 60.0)) if down else ((10.0, 50.0), (160.0, 50.0 + shift))
    middles = dict(zip("ab", ends, strict=True))
    start = (50.0, 20.0) if down else (40.0, 50.0)
    end = (50.0 + shift, 50.0) if down else (130.0, 50.0 + shift)
    route = Route("a", "b", [start, start, end, end])
    direction = "down" if down else "right"
    (line,) = straighten_routes([route], sizes, sizes, middles, direction, "right")
    if straight_at is None:
        assert line == route
        return
    assert {point[0 if down else 1] for point in line.points} == {straight_at}
    # Where a step has a narrower box, or another box is in the way, it stays as it was.
    narrow = {name: CardSize(16, 12) for name in "ab"}
    assert straighten_routes([route], sizes, narrow, middles, direction, "right") == [route]
    between = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    sizes["c"], middles["c"] = CardSize(14, 14), between
    assert straighten_routes([route], sizes, sizes, middles, direction, "right") == [route]


@pytest.mark.parametrize(
    ("end", "line"),
    [
        ((24.0, 61.0), ((72.0, 43.0), (24.0, 61.0))),
        # There is room to turn in, or the line would be along the row.
        ((24.0, 66.0), None),
        ((-24.0, 53.0), None),
    ],
)
def test_a_line_without_room_to_turn_is_aslant(
    end: Point, line: tuple[Point, Point] | None
) -> None:
    """In lesson 08 it came along the row, and turned within its tip: a hook above the accumulator."""
    points = draw_straight((119.0, 43.0), end)
    found = find_slant_line(points, (72.0, 166.0), (end[0] - 7, end[0] + 7), 1)
    assert (found and (found[0], found[-1])) == line


def test_rows_are_close_together_only_where_height_counts() -> None:
    """On a page, lines between rows 11 px apart seemed to come out of the boxes above them."""
    x = tinytorch.ones(3, requires_grad=True)
    snap = snapshot(loss=(x.exp() * 2).sum())
    changes = compare_snapshots(snap, None)
    sheet = graph_svg.make_sheet(describe_graph(changes, select_nodes(changes)))
    gaps = []
    for is_low in (False, True):
        room = graph_svg.Room(direction="down", is_low=is_low)
        stage = graph_svg.lay_out_sheets([sheet], room)
        tops = sorted({round(y) for _, y in stage.middles.values()})
        gaps.append(tops[1] - tops[0] - 22)
    assert gaps == [17, 11]


def lay_out_down(**tensors: Any) -> tuple[graph_svg.GraphSheet, graph_svg.GraphStage]:
    """The cards of a graph that runs down, and where they are in a player."""
    changes = compare_snapshots(snapshot(tensors), None)
    sheet = graph_svg.make_sheet(describe_graph(changes, select_nodes(changes)))
    room = graph_svg.Room(direction="down", is_low=True)
    return sheet, graph_svg.lay_out_sheets([sheet], room)


def test_equal_chains_are_in_line() -> None:
    """Of three equal chains the last nodes were aside, and one of them a row below the others of its chain."""
    w = tinytorch.tensor([1.0], requires_grad=True)
    losses = [((w * x) ** 2).sum() for x in (1.0, 2.0, 3.0)]
    sheet, stage = lay_out_down(total=0.0 + losses[0] + losses[1] + losses[2], w=w)
    name_of = {card.name: card.lines[0].text for card in sheet.cards}
    inner = {"SumBackward0", "PowBackward0"}
    below = {edge.tail: edge.head for edge in sheet.edges if name_of[edge.tail] in inner}
    steps = []
    for tail, head in below.items():
        (x, y), (x_below, y_below) = stage.middles[tail], stage.middles[head]
        steps.append((round(x_below - x), round(y_below - y)))
    assert len(steps) == 6
    assert set(steps) == {(0, 33)}


@pytest.mark.parametrize(("width", "names"), [(280, "aside"), (220, "astride")])
def test_a_name_below_its_box_is_not_on_the_line_that_leaves_it(width: int, names: str) -> None:
    """`z` was in the middle of the line from MulBackward0 to CloneBackward0, as if it were between the two."""
    a = tinytorch.tensor(1.0, requires_grad=True)
    y, b = a**2, a.clone()
    changes = compare_snapshots(snapshot(y=y, b=b, z=b * 3), snapshot(a=a))
    sheet = graph_svg.make_sheet(describe_graph(changes, select_nodes(changes)))
    stage = graph_svg.lay_out_sheets([sheet], graph_svg.Room(width, is_low=True))
    assert stage.names == names
    areas: dict[str, list[DrawnArea]] = {}
    for card in sheet.cards:
        _, *beside = list_boxes(card.size, stage.middles[card.name], stage.names)
        if beside:
            areas[card.name] = beside
    lines = [route for route in stage.routes if route.tail in areas]
    assert len(lines) == len(areas) == 3
    for line in lines:
        assert measure_clearance(line.points, areas[line.tail]) >= 2


def test_a_leaf_is_beside_its_accumulator_before_its_gradient_comes() -> None:
    """In the middle of the room for "grad 1.0, 2.0", the leaf was far from where the arrow to it begins."""
    program = "x = torch.tensor([1.0, 2.0], requires_grad=True)\nz = (x * 2).sum()\nz.backward()"
    gaps, widths = [], []
    for frame in list(steps(program, engine=tinytorch))[1:]:
        svg = frame.pictures["graph"].svg
        left, width = re.findall(
            r'<rect class="leaf[^"]*"[^>]* x="([^"]*)"[^>]* width="([^"]*)"', svg
        )[-1]
        disc = re.findall(r'<rect[^>]* x="([^"]*)"[^>]* width="24" height="24"', svg)[-1]
        gaps.append(float(left) - float(disc) - 24)
        widths.append(float(width))
    assert widths[1] > widths[0] + 20
    assert gaps == [graph_svg.LEAF_GAP] * 2


def test_a_sign_on_a_line_is_clear_of_boxes() -> None:
    """In lesson 14, a box of another chain covered the number of "2 edges"."""
    line = draw_straight((50.0, 0.0), (50.0, 100.0))
    tops = []
    for boxes in ([], [DrawnArea(0, 30, 40, 50)], [DrawnArea(0, 0, 40, 100)]):
        canvas = Canvas()
        draw_count(canvas, [("0", line), ("1", line)], boxes)
        (top,) = re.findall(r'<rect class="page"[^>]* y="([^"]*)"', "".join(canvas.parts))
        tops.append(float(top) + SIGN_HEIGHT / 2)
    assert tops == [40, 20, 40]


@pytest.mark.parametrize(
    ("left", "right", "division"),
    [(50, 50, (100, 1, 0)), (50, 100, (160, 4, 1)), (20, 60, (80, 2, 0)), (50, 52, (104, 1, 0))],
)
def test_an_area_is_divided_where_its_lines_arrive(
    left: float, right: float, division: tuple[int, int, int]
) -> None:
    """Graphviz has lines arrive in the middle of a field: half of each area was empty."""
    found = graph_svg.divide_area(CardArea(left, right, 22))
    assert (round(found.width), found.count, found.field) == division
    assert found.middle_part * found.width >= left - 0.01
    assert (1 - found.middle_part) * found.width >= right - 0.01


def test_gaps_are_closed_and_what_is_in_them_keeps_its_order() -> None:
    move = close_gaps([(0, 10), (5, 20), (60, 70), (80, 90)], 10)
    assert [move(place) for place in (0, 20, 40, 60, 70, 80, 95)] == [0, 20, 25, 30, 40, 50, 65]


def test_the_tip_of_counted_lines_is_below_their_sign() -> None:
    x = tinytorch.ones(2, requires_grad=True)
    y = x * 3
    sheet, stage = lay_out_down(loss=(y * y).sum(), x=x)
    head = next(edge.head for edge in sheet.edges if edge.label)
    svg = graph_svg.draw_sheet(sheet, graph_svg.Room(direction="down", is_low=True), stage)
    texts = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    sign_y = next(
        float(each.attrib["y"]) for each in texts if "".join(each.itertext()).endswith("edges")
    )
    size = next(card.size for card in sheet.cards if card.name == head)
    top = stage.middles[head][1] - size.height / 2
    # The text begins 4.5 px below the middle of its ground.
    assert sign_y - 4.5 + SIGN_HEIGHT / 2 <= top - TIP_LENGTH
