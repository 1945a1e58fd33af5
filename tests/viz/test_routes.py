"""Lines of the graph picture: none goes back, and none comes near a box that it has nothing to do with."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import pytest
from copylab import CopyLab
from copylab.quiz.prediction import Prediction
from lesson_parts import defined
from project_files import ROOT

import tinytorch
from tinytorch.viz.render import graph_svg
from tinytorch.viz.render.graph_cards import CardSize
from tinytorch.viz.render.routes import (
    DrawnArea,
    Point,
    Route,
    list_boxes,
    measure_clearance,
    measure_way_back,
    mend_routes,
)

CLEAR, STRAIGHT = 2.9, 1.0
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

    def faults(self, routes: Sequence[Route]) -> Iterator[str]:
        """Give the lines that go back or come near a box of others."""
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
                if name in (route.tail, route.head):
                    continue
                clearance = measure_clearance(route.points, near)
                if clearance < CLEAR:
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


@pytest.mark.stress
def test_no_line_of_a_lesson_goes_back_or_behind_a_box_of_others(
    drawn_layouts: list[MendedLayout],
) -> None:
    for path in LESSONS:
        for thing in defined(path).values():
            if isinstance(thing, Prediction):
                assert thing.steps().html
    assert len(drawn_layouts) > 20
    assert [fault for one in drawn_layouts for fault in one.faults(one.mended)] == []
    # As Graphviz gives them, they do.
    assert sum(1 for one in drawn_layouts for _ in one.faults(one.bent)) > 20


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
    assert [fault for one in drawn_layouts for fault in one.faults(one.mended)] == []


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
