# learners write full-width signs
"""What learners write is read by what it means, and never run."""

from __future__ import annotations

from typing import Any

import pytest
from copylab.quiz.answers import (
    format_answer,
    format_number,
    is_of_same_kind,
    is_same_answer,
    parse_names,
)
from written import KNOWN, MEANT, READ


@pytest.mark.parametrize(
    ("given", "right", "fits"),
    MEANT,
)
def test_what_an_answer_means(given: Any, right: Any, fits: bool) -> None:
    assert is_same_answer(given, right) is fits


@pytest.mark.parametrize(
    ("given", "right", "can"),
    READ,
)
def test_what_can_be_an_answer(given: str, right: Any, can: bool) -> None:
    assert is_of_same_kind(given, right, KNOWN) is can


def test_how_answers_are_shown() -> None:
    answers: list[Any] = [
        True,
        False,
        None,
        2.0,
        1 / 3,
        [2.0, [1]],
        {"y", "x"},
        frozenset(),
        "as it is",
    ]
    told = ["yes", "no", "None", "2", "0.333333", "[2, [1]]", "x, y", "none", "as it is"]
    assert [format_answer(answer) for answer in answers] == told
    assert format_number((1.5, True)) == "[1.5, True]"
    assert parse_names("x, and kept[0] and net.weight") == {"x", "kept[0]", "net.weight"}
