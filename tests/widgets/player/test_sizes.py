"""How much a player stores in a notebook, of programs of about 20 steps: nothing that repeats is stored twice."""

import re

import pytest
from copylab import steps
from copylab.doc import Box
from copylab.player.static import StaticForm, stored_size

import tinytorch

HTML, TEXT = 152_000, 20_000
"""The most bytes that the two forms of a player of 20 steps may take in the file of a notebook.

A page of 149,000 bytes may take 2 % more there, where quotes are escaped.
"""

UPDATE = """
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
for _ in range({rounds}):
    loss = ((w * 3 - 1) ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""

PROGRAMS = {
    "an update": UPDATE.format(rounds=3),
    "an update, flat": "w = torch.ones(3, requires_grad=True)"
    + """
loss = ((w - 2) ** 2).sum()
loss.backward()
w.data.sub_(w.grad)
w.grad.zero_()
copy = w.detach().clone()"""
    * 4,
    "views": "x = torch.arange(12.)\n"
    + "".join(f"v{i} = x[{i}:{i + 3}]\n" for i in range(9))
    + "x.zero_()\n" * 10,
    "copies": "x = torch.ones(4)\n" + "".join(f"y{i} = x.clone()\n" for i in range(19)),
    "a chain": "y0 = torch.ones(3, requires_grad=True)\n"
    + "".join(f"y{i} = y{i - 1} * 2\n" for i in range(1, 20)),
    "numbers": "total = 0\nfor i in range(9):\n    total += i\nprint(total)",
    "prints": "x = torch.arange(6)\nfor i in range(9):\n    print(x[:i])",
    "a layer": """
layer = torch.nn.Linear(3, 2)
x = torch.ones(4, 3)
for _ in range(3):
    loss = layer(x).pow(2).mean()
    loss.backward()
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    layer.zero_grad()
""",
    "a function": """
def half(x):
    y = x / 2
    y += 1
    return y
x = torch.ones(3)
for _ in range(4):
    x = half(x)
""",
    "an error": "x = torch.ones(3, requires_grad=True)\n"
    + "y = x * x\ny.sum().backward()\n" * 9
    + "x += 1",
    "a matrix": "m = torch.zeros(3, 4)\n"
    + "".join(f"m[{i % 3}, {i % 4}] = {i}\n" for i in range(19)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_player_stores_little(name: str) -> None:
    made = steps(PROGRAMS[name], engine=tinytorch)
    html, text = stored_size(made.html), stored_size(made.stored_text)
    images = made.html.count("<img ")
    print(
        f"\n{name}: {len(made)} steps, {html / 1000:.0f} kB of HTML with {images} images, {text / 1000:.1f} kB of text"
    )
    assert 17 <= len(made) <= 33
    assert html <= HTML
    assert text <= TEXT


def test_a_step_says_only_what_changed() -> None:
    made = steps("x = torch.ones(2)\ny = x.clone()\ni = 0\ny += 1", engine=tinytorch)
    last = made.stored_text.partition("Step 4, ")[2]
    assert "S2, storage of y alone" in last
    assert "cells: 0: 2.0, 1: 2.0" in last
    assert "version counter C2, of y alone: at version 1 (was 0)." in last
    assert "S1" not in last, "x was not touched"
    assert "shape" not in last, "nor was the shape of y"
    assert made.stored_text.partition("Step 3, ")[2].startswith(
        "line 3: i = 0\n  - i = 0\n\nStep 4"
    ), "a mark is no change"
    assert [made[step].picture_changes["memory"] == () for step in range(4)] == [
        False,
        False,
        True,
        False,
    ]
    for frame in made:
        whole = frame.pictures["memory"].text.splitlines()
        for line in frame.picture_changes["memory"]:
            assert any(one.startswith(line.partition(": ")[0]) for one in whole)


def test_nodes_that_are_only_counted_anew_are_not_said_again() -> None:
    made = steps("a = torch.ones(2, requires_grad=True)\nb = a * 2\nc = a * 3", engine=tinytorch)
    assert "N2 AccumulateGrad\n" in made[1].pictures["graph"].text
    assert "N3 AccumulateGrad\n" in made[2].pictures["graph"].text
    assert made[2].picture_changes["graph"] == (
        "Graph: 3 nodes.",
        "  c (new): made by N2 MulBackward0.",
        "N2 MulBackward0 (new)",
        "  next_functions[0]: N3 AccumulateGrad",
        "  next_functions[1]: None (needs no gradient)",
        "  saved other: 3, live",
    )


def test_of_a_line_only_what_changed_in_it_is_said() -> None:
    made = steps("x = torch.ones(2, requires_grad=True)\nx.sum().backward()", engine=tinytorch)
    said = made[1].picture_changes["memory"]
    assert said[1:4] == (
        "S1, storage of x alone:",
        "  x: .grad is x.grad.",
        "    Changed: .grad was None.",
    )


def test_the_cells_of_a_copy_are_said_although_they_are_those_of_another() -> None:
    made = steps("x = torch.ones(2)\ny = x.clone()", engine=tinytorch)
    assert "  cells: 0: 1.0, 1: 1.0" in made[1].picture_changes["memory"]


def test_nothing_repeats_in_the_page() -> None:
    made = steps(UPDATE.format(rounds=4), engine=tinytorch)
    packed = re.search(r'"parts":\[(".*?")\],"texts"', made.html)
    assert packed is not None
    parts = packed[1].split('","')
    assert len(parts) > 300
    assert len(set(parts)) == len(parts)


def test_rendering_a_player_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    trees: list[Box] = []
    make = StaticForm._make_tree

    def make_and_keep(sheet: StaticForm, plan: object) -> Box:
        trees.append(make(sheet, plan))  # type: ignore[arg-type]
        return trees[-1]

    monkeypatch.setattr(StaticForm, "_make_tree", make_and_keep)
    made = steps(UPDATE.format(rounds=4), engine=tinytorch)
    forms = [
        made.html,
        made.stored_text,
        made.text,
        made.static_form.render_form(images=False),
        made.static_form.brief_text(5000),
    ]
    assert len(trees) >= len(forms)
    for tree in trees:
        first = tree.html(), tree.text()
        assert (tree.html(), tree.text()) == first
    assert made.static_form.render_form() == made.static_form.render_form()
