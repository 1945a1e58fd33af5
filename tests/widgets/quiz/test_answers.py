"""What learners write is read by what it means, and never run."""

from __future__ import annotations

from typing import Any

import pytest
from copylab.quiz.answers import names, number, same, shown


@pytest.mark.parametrize(
    ("given", "right", "fits"),
    [
        ("2", 2.0, True),
        (" 2.0 ", 2, True),
        ("tensor([2., 4.])", [2.0, 4.0], True),
        ("tensor(5., grad_fn=<AddBackward0>)", 5.0, True),
        ("torch.tensor([2, 4], dtype=torch.float64)", [2.0, 4.0], True),
        ("2, 4", [2.0, 4.0], True),
        ("2 4", [2.0, 4.0], True),
        ("[2 4]", [2.0, 4.0], True),
        ("-1 -2", [-1, -2], True),
        ("[[1,2],[3,4]]", [[1.0, 2.0], [3.0, 4.0]], True),
        ("(2,)", [2.0], True),
        ("2", [2.0], True),
        ("None", None, True),
        ("nothing", None, True),
        ("0", None, False),
        ("None", 0, False),
        ("1", True, False),
        ("yes", True, True),
        ("0.3333", 1 / 3, True),
        ("0.34", 1 / 3, False),
        ("1001", 1000, False),
        ("nan", float("nan"), False),
        ("x and y", frozenset({"x", "y"}), True),
        ("['y', 'x']", frozenset({"x", "y"}), True),
        ("none", frozenset(), True),
        ("x", frozenset({"x", "y"}), False),
        ("clonebackward0", "CloneBackward0", True),
        ("__import__('os').system('true')", 2, False),
        ("[" * 5000, [2], False),
        ("9" * 1999, 2, False),
        ("1 2 3", [1.0, 2.0], False),
        ([2, 4], [2.0, 4.0], True),
    ],
)
def test_what_an_answer_means(given: Any, right: Any, fits: bool) -> None:
    assert same(given, right) is fits


def test_how_answers_are_shown() -> None:
    answers: list[Any] = [True, False, None, 2.0, 1 / 3, [2.0, [1]], {"y", "x"}, frozenset(), "as it is"]
    told = ["yes", "no", "None", "2", "0.333333", "[2, [1]]", "x, y", "none", "as it is"]
    assert [shown(answer) for answer in answers] == told
    assert number((1.5, True)) == "[1.5, True]"
    assert names("x, and kept[0] and net.weight") == {"x", "kept[0]", "net.weight"}
