"""What a backward has raised on is not said to raise later: in the steps of a run, and in a lab."""

from types import ModuleType

import pytest
from copylab import CopyLab, steps
from copylab.lessons.clinic import triage

from tinytorch.viz import memory

START = "a = torch.tensor([1.0, 2.0], requires_grad=True)\nb = a.clone()\n"
WRITE = "with torch.no_grad():\n    b.mul_(2)\n"
WILL, DID = "backward will raise", "backward raised"


def last_words(code: str, engine: ModuleType) -> tuple[str, str, str]:
    """Give the words of the last memory and graph, and the drawing of that memory."""
    pictures = steps(code, engine=engine)[-1].pictures
    return pictures["memory"].text, pictures["graph"].text, pictures["memory"].svg


def test_it_is_said_from_the_step_on_that_raised(engine: ModuleType) -> None:
    code = f"{START}y = (b ** 2).sum()\nb += 1\ny.backward()"
    *_, before, after = (frame.pictures["memory"] for frame in steps(code, engine=engine))
    sentence = "PowBackward0 saved it at version 0, now at 1: "
    assert f"{sentence}{WILL}." in before.text
    assert f"{sentence}{DID}." in after.text
    assert (DID in before.svg, WILL in before.svg) == (False, True)
    assert (DID in after.svg, WILL in after.svg) == (True, False)


def test_it_stays_so_after_the_error_was_caught(engine: ModuleType) -> None:
    caught = "try:\n    y.backward()\nexcept RuntimeError:\n    pass\nn = 1"
    memory_words, graph_words, _ = last_words(
        f"{START}y = (b ** 2).sum()\nb += 1\n{caught}", engine
    )
    assert f"{DID}." in memory_words
    assert f"STALE: saved at version 0, now at 1; {DID}" in graph_words
    assert WILL not in memory_words + graph_words


@pytest.mark.parametrize(
    ("code", "raised", "pending"),
    [
        # Of two that are stale, behind one another, the first is read.
        ("c = b.exp()\ny = (c * c).sum()\nc += 1\ny.backward()", "MulBackward0", "ExpBackward0"),
        # Of two graphs only that of the call.
        (
            "y = (b ** 2).sum()\nz = b.sin().sum()\nb += 1\ny.backward()",
            "PowBackward0",
            "SinBackward0",
        ),
    ],
)
def test_what_was_not_come_to_will_raise(
    code: str, raised: str, pending: str, engine: ModuleType
) -> None:
    words, *_ = last_words(START + code, engine)
    assert f"{raised} saved it at version 0, now at 1: {DID}." in words
    assert f"{pending} saved it at version 0, now at 1: {WILL}." in words


@pytest.mark.parametrize(
    "code",
    [
        # It is not known which of the two was first.
        "y = (b ** 2).sum() + b.sin().sum()\nb += 1\ny.backward()",
        # Another error, and a look at what was saved.
        "y = (b ** 2).sum()\nb += 1\ny.backward(torch.ones(3))",
        "y = b ** 2\nb += 1\ny.grad_fn._saved_self",
    ],
)
def test_what_is_not_certain_is_not_said(code: str, engine: ModuleType) -> None:
    words, _, svg = last_words(START + code, engine)
    assert WILL in words
    assert DID not in words + svg


def test_of_what_was_detached_in_place_too(engine: ModuleType) -> None:
    words, graph_words, _ = last_words(
        f"{START}y = (b ** 2).sum()\nb.detach_()\ny.backward()", engine
    )
    assert f"detach_() has cut it off its history since: {DID}" in words
    assert f"DETACHED in place since it was saved; {DID}" in graph_words


def test_in_the_lesson_and_in_the_lab() -> None:
    *_, last = triage.steps()
    assert DID in last.pictures["memory"].svg
    lab = CopyLab(method="clone")
    lab.loss("y")
    lab.write("y")
    assert (WILL in lab.html, DID in lab.html) == (True, False)
    lab.backward()
    assert (WILL in lab.html, DID in lab.html) == (False, True)


def test_a_picture_by_itself_knows_no_error(engine: ModuleType) -> None:
    a = engine.tensor([1.0, 2.0], requires_grad=True)
    b = a.clone()
    y = (b**2).sum()
    b += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    assert WILL in memory(a, b, y).text
