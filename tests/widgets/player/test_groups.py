"""Steps of one loop, of one round, of one call stand together, in the text and in the static form."""

import json
import re
from html import unescape

import pytest
from copylab import Steps, predict, steps
from copylab.player.drawing import wrap_code
from copylab.player.groups import FrameOrGroup, Group
from copylab.player.static import SCRIPTS
from copylab.questions import value
from copylab.ui.theme import read_web_files

import tinytorch
from tinytorch.viz import LEVELS, labels


def tree(parts: tuple[FrameOrGroup, ...]) -> list[object]:
    """The titles of groups and the numbers of steps, nested as they are."""
    return [
        [part.title, *tree(part.parts)] if isinstance(part, Group) else part.number
        for part in parts
    ]


def made(code: str) -> Steps:
    return steps(code, engine=tinytorch)


def test_a_prediction_may_have_its_loops_folded_at_first() -> None:
    code = "x = 1\nfor i in range(2):\n    x = x + i\nfor i in range(2):\n    x = x * 2"
    folded = predict(code, [value("x")], engine=tinytorch, folds_rounds=True).steps()
    (ways,) = re.findall('data-ways="([^"]*)"', folded.html)
    assert json.loads(unescape(ways)) == [["loop 0 2", "rounds"], ["loop 0 4", "rounds"]]
    assert "data-ways" in folded.run_other_code("for i in range(2):\n    x = i").html
    assert 'data-ways="' not in folded.run_other_code("x = 1").html, "there is no loop"
    assert 'data-ways="' not in predict(code, [value("x")]).steps().html


def test_a_loop_and_its_rounds() -> None:
    found = made("for i in range(2):\n    a = i\n    b = i\nc = 1")
    assert tree(found.parts) == [
        [
            "Loop on line 1: 2 rounds",
            ["Round 1 of the loop on line 1", 1, 2, 3],
            ["Round 2 of the loop on line 1", 4, 5, 6],
            7,
        ],
        8,
    ]
    loop = found.parts[0]
    assert isinstance(loop, Group)
    assert (loop.first, loop.last, loop.changes) == (1, 7, ("i = 1", "a = 1", "b = 1"))
    assert isinstance(loop.parts[1], Group)
    assert loop.parts[1].changes == ("i = 1", "a = 1", "b = 1")


def test_loops_in_loops_and_again() -> None:
    found = made(
        "for i in range(2):\n    for j in range(1):\n        a = 1\nn = 1\nwhile n:\n    n = 0"
    )
    inner = "Loop on line 2: 1 round"
    assert tree(found.parts) == [
        [
            "Loop on line 1: 2 rounds",
            [
                "Round 1 of the loop on line 1",
                1,
                [inner, ["Round 1 of the loop on line 2", 2, 3], 4],
            ],
            [
                "Round 2 of the loop on line 1",
                5,
                [inner, ["Round 1 of the loop on line 2", 6, 7], 8],
            ],
            9,
        ],
        10,
        ["Loop on line 5: 1 round", ["Round 1 of the loop on line 5", 11, 12]],
    ]


def test_calls() -> None:
    found = made(
        "def g(n):\n    return n\ndef f(n):\n    return g(n)\nx = f(1) + g(2)\nwhile f(0):\n    pass"
    )
    assert tree(found.parts) == [
        1,
        2,
        ["Call of f() and g() on line 5", 3, ["Call of g() on line 4", 4, 5, 6], 7, 8],
        ["Call of f() on line 6", 9, ["Call of g() on line 4", 10, 11, 12]],
        13,
    ]


def test_recursion_and_generators_nest() -> None:
    found = made("def f(n):\n    return f(n - 1) if n else 0\nf(2)")
    found = made("def f(n):\n    return f(n - 1) if n else 0\nf(2)")
    inner = ["Call of f() on line 2", 3, ["Call of f() on line 2", 4, 5, 6], 7]
    assert tree(found.parts) == [1, ["Call of f() on line 3", 2, inner, 8]]
    found = made("def g():\n    yield 1\n    yield 2\nfor x in g():\n    a = x")
    assert re.findall(r"Round (\d) of the loop on line 4", found.text) == ["1", "2"]


@pytest.mark.parametrize(
    "code",
    [
        "for i in range(9):\n    if i == 1: break",
        "for i in []:\n    pass",
        "while 0: pass",
        "for i in range(3):\n    1 / (1 - i)",
        "def f():\n    for i in range(2):\n        if i: return i\nfor j in range(2): f()",
        "def g():\n    for i in range(2):\n        yield i\nfor x in g():\n    for y in g():\n        x = y\n[*g()]",
        "while True:\n    a = 1",
        "def f(n):\n    for i in range(n):\n        f(n - 1)\nf(3)",
        "class A:\n    def __init__(self):\n        for i in range(2): self.i = i\nxs = [A() for _ in range(2)]",
        "try:\n    for i in range(3):\n        raise ValueError\nexcept ValueError:\n    for i in range(2): pass",
        "async def f():\n    for i in range(2): pass\nf().close()",
        "",
        "b = = 1",
    ],
)
def test_every_step_stands_once_and_in_order(code: str) -> None:
    found = made(code)

    def numbers(parts: tuple[FrameOrGroup, ...]) -> list[int]:
        flat: list[int] = []
        for part in parts:
            flat += numbers(part.parts) if isinstance(part, Group) else [part.number]
        return flat

    assert numbers(found.parts) == list(range(1, len(found) + 1))
    assert re.findall(r"^Step (\d+), ", found.text, re.MULTILINE) == [
        str(n) for n in range(1, len(found) + 1)
    ]
    html = found.html.replace(read_web_files(*SCRIPTS), "")
    assert html.count('<details class="cl-step"') == len(found)
    assert html.count("<details") == html.count("</details>")


BEGIN = "w = torch.ones(2)\nfor i in range(2):\n    "


@pytest.mark.parametrize(
    ("code", "line", "count"),
    [
        (BEGIN + "w += i", 3, 5),
        (BEGIN + "for j in range(1):\n        w += j", 4, 8),
        ("i = 0\nwhile i < 2:\n    i += 1", 3, 5),
        # Lines that were run, and a test that does something, are never left out.
        (BEGIN + "w += i\nprint(1)", 4, 7),
        (BEGIN + "w += i\nw", 4, 7),
        ("i = 1\nwhile i and print(i):\n    pass\n", 2, 2),
        ("i = 3\nwhile (i := i - 1):\n    pass\n", 2, 6),
        ("for i in []:\n    pass", 1, 1),
        (BEGIN + "if w[0] > 5:\n        w += i", 3, 5),
        (BEGIN + "w += i\nelse:\n    w *= 2", 5, 7),
    ],
)
def test_a_run_ends_with_the_line_that_did_the_last_thing(code: str, line: int, count: int) -> None:
    """The last of 28 steps was the look at `for` that begins no round: an empty end of the story."""
    found = made(code)
    assert (found[-1].line, len(found), found.last_shown) == (line, count, count)
    assert found.html.count('<details class="cl-step"') == count


def test_the_look_at_a_loop_before_other_lines_says_that_it_is_over() -> None:
    found = made(BEGIN + "w += i\nw *= 2")
    assert (found[5].line, found[5].changes) == (2, ())
    _, _, step = found.text.partition("Step 6, line 2: for i in range(2):\n")
    assert step.startswith("  - The loop is over.\n")
    assert "The loop is over." in found.html


def test_a_run_that_did_not_finish_keeps_each_step() -> None:
    assert made(BEGIN + "w += i\n    del w")[-1].error
    assert len(steps(BEGIN + "w += i", engine=tinytorch, max_steps=4)) == 4
    folded = steps(BEGIN.replace("2):", "5):") + "w += 1", engine=tinytorch, rounds=2)
    assert folded[-1].changes[0] == "Before this, 3 more rounds of the loop ran in one go."


def test_both_forms_tell_of_a_long_loop() -> None:
    found = made("x = torch.ones(2)\nfor i in range(30):\n    x += 1")
    assert "\nLoop on line 2: 30 rounds, steps 2 to 61\n" in found.text
    assert "\nRound 30 of the loop on line 2, steps 60 to 61\n" in found.text
    loop = re.search(
        r'<details class="cl-group" data-kind="loop"[^>]*><summary>([^<]*)</summary>(.*?)</ul>',
        found.html,
    )
    assert loop is not None
    assert loop[1] == "Loop on line 2: 30 rounds, steps 2 to 61"
    assert "the version counter of x went up from 0 to 30." in loop[2]
    assert 'data-last="62" open' not in found.html, "a long loop is folded"
    short = made("for i in range(3):\n    pass").html
    assert 'data-first="1" data-last="6" open' in short


def test_a_round_is_compared_with_its_beginning() -> None:
    code = "x = torch.zeros(1)\nkeep = x.detach()\nfor i in range(2):\n    x += 1\n    x += 1"
    found = made(code)
    loop = found.parts[2]
    assert isinstance(loop, Group)
    first, second = [part for part in loop.parts if isinstance(part, Group)]
    for group, before in ((loop, 0.0), (first, 0.0), (second, 2.0)):
        assert group.memory is not None
        assert f"changed: cell 0 was {before}." in group.memory.text
        assert "The values of x and keep changed." in group.changes
        assert f'data-packed="{group.memory.step}"' in found.html
    assert len({group.memory for group in (loop, first, second)}) == 3
    # What the round made shows the change, too.
    born = made("x = torch.zeros(1)\nfor i in range(2):\n    y = x[:]\n    x += 1").parts[1]
    assert isinstance(born, Group)
    assert "The values of x changed." in born.changes
    assert "y is a new tensor over the storage of x, with the same version counter." in born.changes


def test_a_level_says_what_was_taught_and_keeps_the_rest_in_a_fold() -> None:
    code = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = x.detach()
    y = x * 2
    y.sum().backward()
    v += 1
    1 + 1
    """
    says: dict[str, str] = {}
    for level in LEVELS:
        found = steps(code, level=level, engine=tinytorch)
        # But what a level leaves out, which is named.
        says[level] = re.sub(r"What changed is not shown here: .*", "", str(found))
        assert ('class="cl-everything"' in found.html) is (level != "graph")
        assert any("graph" in frame.pictures for frame in found) is (level == "graph")
    assert "x is a new tensor.\n" in says["names"]
    assert "v is a new tensor over the cells of x.\n" in says["names"]
    assert "The values of x and v changed." in says["names"]
    for word, level in (("storage", "storage"), ("version", "counter"), ("graph", "graph")):
        assert [word in says[each] for each in LEVELS] == [
            LEVELS.index(each) >= LEVELS.index(level) for each in LEVELS
        ]
    assert "grad is set" not in says["counter"]
    assert "grad is set" in says["graph"]
    code_of_gradient = "x = torch.ones(2, requires_grad=True)\nx.sum().backward()\npass"
    silent = steps(code_of_gradient, level="names", engine=tinytorch).text
    for number, sentence in (
        (2, "What changed is not shown here: a gradient or the graph."),
        (3, "No tensor changed."),
    ):
        assert f"Step {number}, line {number}: " in silent
        assert sentence in silent.partition(f"Step {number}, line {number}: ")[2][:120]
    written = steps("x = torch.zeros(2)\nv = x.add_(1)[0:1]", engine=tinytorch).text
    assert "The values of x changed." in written, "v had no other values"
    first = steps(code, level="names", engine=tinytorch)[3].pictures["memory"].text
    assert "x.grad" not in first, "it has not been explained"
    with pytest.raises(ValueError, match="level must be one of"):
        steps("1", level="all")  # type: ignore[arg-type]


def test_a_long_line_of_code_is_broken_and_not_cut() -> None:
    for line in ("    total = [" + "1.25," * 30 + "]", "y" * 120 + " = 1", "x = 1"):
        pieces = wrap_code(line, 9)
        assert "".join(pieces).replace(" ", "") == line.replace(" ", "")
        assert all(labels.text_width(piece, "mono b") <= 320 for piece in pieces)
    assert wrap_code("z" * 400, 3)[-1].endswith("…")
