"""Many pictures in one table of parts: all of them come out again, and no page grows over its level."""

import json
import re
from typing import Any

import pytest
from copylab import Steps, steps
from copylab.player.packing import SWAP, Pack

import tinytorch

LEVEL = 2_000_000
START = "x = torch.ones(3, requires_grad=True)\n"
STRAIGHT = START + "\n".join(f"y{i} = x * {i}" for i in range(120))
CHAIN = START + "y0 = x * 1\n" + "\n".join(f"y{i} = y{i - 1} * 2" for i in range(1, 120))


def unpacked(made: str) -> dict[str, dict[int, str]]:
    """As the player's script does it."""
    table: dict[str, Any] = json.loads(made)
    found: dict[str, dict[int, str]] = {}
    for kind, rows in table["texts"].items():
        before: list[int] = []
        for number, row in rows.items():
            whole: list[int] = []
            for entry in row:
                whole += (
                    before[entry[0] : entry[0] + entry[1]] if isinstance(entry, list) else [entry]
                )
            found.setdefault(kind, {})[int(number)] = "".join(
                table["parts"][part] for part in whole
            ).translate(SWAP)
            before = whole
    return found


TEXTS = [
    "<a><b>1</b></a>",
    "<a><b>2</b></a>",
    "",
    "<a><b>1</b><b>1</b><b>1</b></a>",
    "<a>\n<b>1</b></a>\nend",
    "<b>1</b><a><b>1</b><b>1</b><b>1</b></a></script>",
]


def in_notebook(made: Steps) -> int:
    """Return the size of its outputs in bytes, as Jupyter writes them."""
    data = {kind: text.splitlines(keepends=True) for kind, text in made._repr_mimebundle_().items()}
    cell = {"cells": [{"outputs": [{"data": data}]}]}
    return len(json.dumps(cell, ensure_ascii=False, indent=1).encode())


def test_what_goes_in_comes_out() -> None:
    pack = Pack()
    for number, text in enumerate(TEXTS, 1):
        pack.add("one", number, text)
        pack.add("two", number, text[::-1])
    made = pack.to_json(10**6)
    assert "<" not in made
    assert unpacked(made) == {
        "one": dict(enumerate(TEXTS, 1)),
        "two": {number: text[::-1] for number, text in enumerate(TEXTS, 1)},
    }


def test_what_is_the_same_as_before_costs_next_to_nothing() -> None:
    once, often = Pack(), Pack()
    text = "".join(f"<p>{n}</p>" for n in range(1000))
    once.add("one", 1, text)
    for number in range(1, 51):
        often.add("one", number, text.replace("<p>500</p>", f"<p>{number + 5000}</p>"))
    assert len(often.to_json(10**9)) < len(once.to_json(10**9)) + 50 * 60


def test_what_no_longer_fits_is_left_out_and_the_last_kind_first() -> None:
    pack = Pack()
    for number in range(1, 21):
        for kind in ("graph", "memory", "words"):
            pack.add(kind, number, "".join(f"<{kind} {number} {n}>" for n in range(number * 10)))
    whole = unpacked(pack.to_json(10**9))
    room = len(pack.to_json(1, ("graph",))) + 20_000
    made = pack.to_json(room, ("memory", "graph"))
    found = unpacked(made)
    assert len(made) <= room
    assert found["memory"] == whole["memory"]
    assert found["words"] == whole["words"]
    assert 0 < len(found["graph"]) < 20
    assert list(found["graph"]) == list(range(1, len(found["graph"]) + 1)), "the first are kept"
    least = unpacked(pack.to_json(1, ("memory", "graph")))
    assert least == {"words": whole["words"]}, "words are never left out"


@pytest.mark.stress
@pytest.mark.parametrize("code", [STRAIGHT, CHAIN])
def test_a_long_page_keeps_to_its_level(code: str) -> None:
    made = steps(code, engine=tinytorch)
    page = made.html
    assert in_notebook(made) <= LEVEL
    packed = re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert packed is not None
    found = unpacked(packed[1])
    for kind in ("memory", "graph"):
        for number, svg in found[f"{kind} svg"].items():
            assert svg == made[number - 1].pictures[kind].svg
        for number, text in found[f"{kind} text"].items():
            assert text == made[number - 1].pictures[kind].text
    for kind in ("memory", "graph"):
        wanted = {
            frame.number
            for frame in made
            if kind in frame.pictures
            if frame.pictures[kind].step == frame.number
        }
        assert set(found[f"{kind} text"]) == wanted, "in words the player has every picture"
    assert len(found["memory svg"]) >= len(found["graph svg"]) > 0
    assert "left out" not in made.stored_text + made.text


def test_a_text_leaves_out_what_it_has_no_room_for() -> None:
    made = steps("x = torch.ones(3, requires_grad=True)\n" + "y = x * 2\n" * 40, engine=tinytorch)
    whole = made.static_form.brief_text(10**9)
    assert whole == made.stored_text
    text = made.static_form.brief_text(20_000)
    assert len(text) < 20_000 < len(whole)
    missing = [text.count(f"{title}: left out, see the end") for title in ("Memory", "Graph")]
    assert min(missing) > 0
    assert (
        f"pictures in words were left out: {missing[0]} of memory and {missing[1]} of graph."
        in text
    )
    assert "\n".join(f"    {line}" for line in made[1].picture_changes["memory"]) in text


NAME = "a_name_" * 500
NASTY = {
    "much code": "x = 1\n" + "# <é" * 300_000 + "\n" * 10 + "# a\n" * 100_000 + "y = 2",
    "long names": "\n".join(f"{NAME}{i} = torch.ones(2)" for i in range(20)),
    "much output": "for i in range(99):\n    print('<&\"\\n' * 5000)",
}


@pytest.mark.parametrize("code", NASTY.values(), ids=NASTY)
def test_whatever_is_stepped_keeps_to_the_level(code: str) -> None:
    made = steps(code, engine=tinytorch)
    assert in_notebook(made) <= LEVEL
    assert "not shown" in made.stored_text


@pytest.mark.stress
def test_of_too_many_steps_the_first_are_shown() -> None:
    made = steps("for i in range(3000):\n    a = i", max_steps=4000)
    assert len(made) == 4000
    assert in_notebook(made) <= LEVEL
    shown = made.html.count('<details class="cl-step"')
    assert 800 < shown < 4000
    assert f"Only the first {shown:,} of 4,000 steps are shown" in made.html
    assert f"Only the first {shown:,} of 4,000 steps are shown" in made.stored_text
    assert f"s[{shown}] is the next one" in made.stored_text
    assert "\nStep 4000, " in made.text
    widget = made.live()
    widget.step = shown
    with pytest.raises(Exception, match=f"between 1 and {shown}, not {shown + 1}"):
        widget.step = shown + 1
    widget.close()
