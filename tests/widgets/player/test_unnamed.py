"""A tensor without a name is drawn as the program wrote it, where one expression alone can have made it."""

from types import ModuleType

import pytest
from copylab import steps
from viz.test_memory import words_in

START = """\
a = torch.tensor([2.0, 3.0], requires_grad=True)
b = torch.tensor([3.0, 1.0], requires_grad=True)
y = a * 10
"""


def drawn_graph(lines: str, engine: ModuleType, step: int = -1) -> list[str]:
    """The words of the graph picture of a step, of the last one by default."""
    return words_in(steps(START + lines, engine=engine).frames[step].pictures["graph"].svg)


@pytest.mark.parametrize(
    ("line", "expression"),
    [
        ("z = b * y.detach()", "y.detach()"),
        ("z = b * y.data", "y.data"),
        ("z = b * torch.detach(y)", "torch.detach(y)"),
        ("z = (b * y.detach() + b * y.detach()).sum()", "y.detach()"),
        ("z = b * y.detach()[0]", "y.detach()[0]"),
        ("z = torch.mul(b, y.detach()).sum()", "y.detach()"),
        ("z = 0.5 * b * y.detach()", "y.detach()"),
        ("z = b * y.detach().requires_grad_()", "y.detach().requires_grad_()"),
        ("z = torch.ones(2, requires_grad=True) * b", "torch.ones(2, requires_grad…"),
    ],
)
def test_the_expression_is_drawn(engine: ModuleType, line: str, expression: str) -> None:
    words = drawn_graph(line, engine)
    assert expression in words
    assert not any("(no name)" in word for word in words)


@pytest.mark.parametrize(
    "lines",
    [
        "z = b * y.detach() + b * y.data",
        "z = b * y.detach().view(-1)",
        "f = lambda t: t.detach()\nz = b * f(y)",
        "f = lambda t: t.detach()\nz = b * y.detach() + b.sum() * f(y)",
        "z = b * (y.detach() if True else y.data)",
        "class Box:\n    pass\nbox = Box()\nbox.cut = y.detach()\nz = y.detach().sum() + b * getattr(box, 'cut')",
        "z = torch.ones(2, requires_grad=True) * torch.zeros(2, requires_grad=True)",
    ],
)
def test_where_two_are_possible_it_has_no_name(engine: ModuleType, lines: str) -> None:
    words = drawn_graph(lines, engine)
    assert {"no name", "leaf without a name", "box.cut"} & set(words)
    assert not any(word.startswith(("y.d", "torch.")) for word in words)


def test_it_is_said_as_long_as_its_names_mean_the_same(engine: ModuleType) -> None:
    lines = "z = (b * y.detach()).sum()\nb.requires_grad\ny = a * 2"
    assert "y.detach()" in drawn_graph(lines, engine, -2)
    rebound = drawn_graph(lines, engine)
    assert "y.detach()" not in rebound


def test_what_a_backward_has_freed_is_still_called_so(engine: ModuleType) -> None:
    words = drawn_graph("z = (b * y.detach()).sum()\nz.backward()", engine)
    assert {"y.detach()", "freed by backward", "cut off"} <= set(words)


def test_a_step_says_what_it_has_cut_off(engine: ModuleType) -> None:
    """The picture alone showed it, where its mark was to be watched."""
    begin = "a = torch.tensor(2.0, requires_grad=True)\ny = a * 10\n"
    cut = "Cut off: no gradient goes through {} to y."
    for line, label in {
        "z = a * y.detach()": "y.detach()",
        "h = y.detach().clone()": "h",
        "n = y.item()": "n",
        "leaf = y.detach().requires_grad_()": "leaf",
    }.items():
        *_, at_cut, later = steps(f"{begin}{line}\nk = 1\n", engine=engine)
        assert cut.format(label) in at_cut.changes, line
        # Once: what is still cut off is no news.
        assert not any("Cut off" in sentence for sentence in later.changes)
    # The sentence on a new name says it itself.
    *_, named = steps(f"{begin}d = y.detach()\n", engine=engine)
    assert not any("Cut off" in sentence for sentence in named.changes)
    assert named.changes[0].endswith("it is cut off from the graph.")
    *_, whole = steps(f"{begin}z = a * y\n", engine=engine)
    assert not any("Cut off" in sentence for sentence in whole.changes)
