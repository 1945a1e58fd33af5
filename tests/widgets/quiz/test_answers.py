# ruff: noqa: RUF001  # learners write full-width signs
"""What learners write is read by what it means, and never run."""

from __future__ import annotations

from typing import Any

import pytest
from copylab.quiz.answers import names, number, readable, same, shown


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
        ("three", 3, True),
        ("Three.", 2, False),
        ("2; 4", [2.0, 4.0], True),
        ("2 and 4", [2.0, 4.0], True),
        ("[2, 4].", [2.0, 4.0], True),
        ("None.", None, True),
        ("both x and y", frozenset({"x", "y"}), True),
        ("neither", frozenset(), True),
        ("<CloneBackward0>", "CloneBackward0", True),
        ("［2，4］", [2.0, 4.0], True),
        ("【2、4】", [2.0, 4.0], True),
        ("２；４", [2.0, 4.0], True),
        ("2 和 4", [2.0, 4.0], True),
        ("三", 3, True),
        ("셋", 3, True),
        ("x 和 y", frozenset({"x", "y"}), True),
        ("x和y", frozenset({"x", "y"}), True),
        ("x、y", frozenset({"x", "y"}), True),
        ("x와 y", frozenset({"x", "y"}), True),
        ("x 그리고 y", frozenset({"x", "y"}), True),
        ("x 和 y", frozenset({"x"}), False),
        ("无", frozenset(), True),
        ("没有。", None, True),
        ("없음", None, True),
        ("无", "none", True),
        ("无", "CloneBackward0", False),
    ],
)
def test_what_an_answer_means(given: Any, right: Any, fits: bool) -> None:
    assert same(given, right) is fits


@pytest.mark.parametrize(
    ("given", "right", "can"),
    [
        ("a few", 2, False),
        ("a few", None, False),
        ("x", [2.0], False),
        ("two", 3, True),
        ("None", 3, True),
        ("[2, 4]", 3, True),
        ("both of them", frozenset({"x"}), False),
        ("the first", frozenset(), False),
        ("x, w", frozenset({"x"}), True),
        ("none", frozenset({"x"}), True),
        ("anything at all", "CloneBackward0", True),
    ],
)
def test_what_can_be_an_answer(given: str, right: Any, can: bool) -> None:
    assert readable(given, right, {"x", "w"}) is can


def test_how_answers_are_shown() -> None:
    answers: list[Any] = [True, False, None, 2.0, 1 / 3, [2.0, [1]], {"y", "x"}, frozenset(), "as it is"]
    told = ["yes", "no", "None", "2", "0.333333", "[2, [1]]", "x, y", "none", "as it is"]
    assert [shown(answer) for answer in answers] == told
    assert number((1.5, True)) == "[1.5, True]"
    assert names("x, and kept[0] and net.weight") == {"x", "kept[0]", "net.weight"}
