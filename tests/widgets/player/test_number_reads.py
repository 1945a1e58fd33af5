"""A player draws where only the numbers of a tensor went on, as the line that ran says."""

from types import ModuleType

import pytest
from copylab import Steps, steps

START = "a = torch.tensor([1.0, 2.0], requires_grad=True)\ny = (a * a).sum()\n"


def last_graph(player: Steps) -> str:
    return str(player[-1].pictures["graph"].svg)


def words_of(line: str, engine: ModuleType) -> str:
    return str(steps(START + line, engine=engine)[-1].pictures["graph"].text)


@pytest.mark.parametrize(
    "line",
    [
        "n = y.item()",
        "n = float(y)",
        "n = y.detach().item()",
        "n = a[1].item() if False else y.tolist()",
    ],
)
def test_a_number_hangs_on_the_tensor_that_it_was_read_from(line: str, engine: ModuleType) -> None:
    said = words_of(line, engine)
    is_read = " if " not in line
    assert ("n = 5.0 (new), read from y: no gradient goes through it." in said) is is_read


@pytest.mark.parametrize(
    "line",
    [
        "b = torch.tensor(a)",
        "b = torch.tensor(a.tolist(), requires_grad=True)",
        "b = a.detach().clone()",
        "b = a.new_tensor(a)",
    ],
)
def test_a_copy_is_cut_off_while_it_is_one(line: str, engine: ModuleType) -> None:
    meaning = "only the numbers were read, and no gradient goes back"
    player = steps(f"{START}{line}\nb = 3", engine=engine)
    assert meaning in str(player[2].pictures["graph"].svg)
    assert meaning not in last_graph(player)


@pytest.mark.parametrize(
    "line",
    [
        "b = a.clone()",  # a node leads back
        "b = a.detach()",  # the same memory, which is a cut of another kind
        "b = torch.tensor([1.0, 2.0])",  # the same numbers, but not of `a`
        "b = torch.tensor(a) * 1",
        "n = 5.0",
        "n = y.item() + 0",
        "a = a.detach().clone()",  # what was read is gone
    ],
)
def test_of_what_no_line_read_nothing_is_said(line: str, engine: ModuleType) -> None:
    player = steps(START + line, engine=engine)
    assert "only the numbers were read" not in last_graph(player)
    assert "no gradient goes through it" not in words_of(line, engine)


def test_a_number_that_is_another_by_now_is_gone(engine: ModuleType) -> None:
    player = steps(START + "n = y.item()\nz = a * n\nn += 1", engine=engine)
    texts = [str(frame.pictures["graph"].text) for frame in player[1:]]
    assert "n = 5.0 (new), read from y" in texts[1]
    assert "n = 5.0, read from y" in texts[2]
    assert "read from" not in texts[3]
