"""Cuts of a graph stay in the pictures after the backward that frees the tensor which was cut off."""

from types import ModuleType

import pytest
from copylab import Steps, steps
from copylab.lessons.stop_gradient import parts

from tinytorch.viz import graph, snapshot

START = """
a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
y = a * 10
z = b * y.detach()
"""
LIVE = "the same memory, and no gradient goes from one to the other"
FREED = "it was the same memory, and no gradient went from one to the other"


def graphs(player: Steps) -> list[str]:
    return [str(frame.pictures["graph"].svg) for frame in player if "graph" in frame.pictures]


def test_the_lesson_shows_where_the_gradient_stopped() -> None:
    *_, before, after = graphs(parts.steps())
    assert (LIVE in before, FREED in before) == (True, False)
    assert (LIVE in after, FREED in after, ">freed by backward<" in after) == (False, True, True)
    meaning = (
        "<title>only the graph held this tensor: backward freed it, and a second backward that needs "
        "it raises</title>y.detach()<"
    )
    assert (meaning in before, meaning in after) == (False, True)


@pytest.mark.parametrize(
    ("lines", "is_known"),
    [
        ("z.backward()", True),
        ("z.backward()\nn = 1\nb.grad = None", True),
        ("d = y.detach()\nz = b * d\nz.backward()\ndel d", True),
        ("z.backward()\ndel y", False),  # what it was cut from is gone
        ("z.backward()\ndel z", False),  # the node that it was cut off at
        ("z.backward()\ny.mul_(2)", False),  # y is another result now
        ("z.backward()\nz = b * 2", False),
        ("z = b * y\nz.backward()", False),
        ("z = b * y.detach().clone()\nz.backward()", False),
    ],
)
def test_a_cut_stays_as_long_as_it_is_known(lines: str, is_known: bool, engine: ModuleType) -> None:
    last = graphs(steps(START + lines, engine=engine))[-1]
    assert (FREED in last) is is_known
    assert LIVE not in last


def test_a_named_tensor_hangs_on_the_node_that_had_saved_it(engine: ModuleType) -> None:
    player = steps(f"{START}d = y.detach()\nz = b * d\nz.backward()", engine=engine)
    *_, before, after = graphs(player)
    for svg in (before, after):
        assert (LIVE in svg, FREED in svg) == (True, False)
        # From the node to d, and in two halves from d to that of y.
        assert svg.count('class="arrow dash"') == 3


def test_a_picture_with_an_earlier_snapshot_shows_it(engine: ModuleType) -> None:
    a, b = (engine.tensor(number, requires_grad=True) for number in (2.0, 3.0))
    y = a * 10
    z = b * y.detach()
    before = snapshot(a=a, b=b, y=y, z=z)
    z.backward()
    assert FREED in graph(a=a, b=b, y=y, z=z, since=before).svg
    # Without one, nothing tells where the numbers came from.
    assert FREED not in graph(a=a, b=b, y=y, z=z).svg
