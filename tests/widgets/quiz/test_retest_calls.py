"""No retest has a call that is new to those who meet it."""

from __future__ import annotations

import pytest
from copylab.questions import value
from copylab.quiz import MISCONCEPTIONS, RetestProgram
from copylab.quiz.retests import find_programs
from lesson_calls import (
    LESSONS,
    describe_new_calls,
    find_first_meetings,
    find_known_calls,
    list_calls,
    list_calls_in_prose,
)


@pytest.fixture(autouse=True)
def _nothing_was_met(progress_file: object) -> None:
    """Keep the recalls of lessons as they are for who has met nothing yet."""


def test_no_retest_has_a_call_that_is_new_to_those_who_answer_it() -> None:
    messages: list[str] = []
    for known, meeting in find_first_meetings().values():
        messages += describe_new_calls(known.name, find_programs(known), meeting)
    assert messages == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = torch.tensor(M); y = x.t()", "has `t`, and 06_view_reshape introduces it"),
        ("x = torch.tensor(V); y = torch.from_numpy(x)", "has `from_numpy`, and 09_torch_tensor"),
        ("x = torch.tensor(V); y = x.cummax(0)", "has `cummax`, and no lesson introduces it"),
    ],
)
def test_a_call_that_is_new_is_named_with_its_lesson(code: str, said: str) -> None:
    name = "a view is a copy"
    _, meeting = find_first_meetings()[name]
    (message,) = describe_new_calls(name, [RetestProgram(code, {2: "pass"}, value, "x")], meeting)
    assert said in message
    assert (
        "know the calls up to 00_start alone (a wrong answer to start/shared shows it)" in message
    )


def test_what_a_lesson_introduces_is_known_in_it_and_later() -> None:
    assert list_calls("y = x.data.clone(); z = torch.ones(2, dtype=None); list(y)") == {
        *("data", "clone", "ones", "dtype", "list"),
    }
    assert list_calls_in_prose("`t` is `x.t()` or `view`, `.grad` or `y =`.") == {
        "t",
        "view",
        "grad",
    }
    for call, lesson in (
        ("clone", "02_clone"),
        ("reshape", "06_view_reshape"),
        ("to", "12_beyond"),
    ):
        before = LESSONS[LESSONS.index(lesson) - 1]
        assert call in find_known_calls(lesson) - find_known_calls(before)
        assert call in find_known_calls(LESSONS[-1])


def test_a_misconception_of_the_first_lesson_is_not_taken_for_one_of_a_later_lesson() -> None:
    meetings = {name: meeting.lesson for name, (_, meeting) in find_first_meetings().items()}
    assert set(meetings) > set(MISCONCEPTIONS)
    assert meetings["a view is a copy"] == "00_start"
    assert meetings["reshape is a copy"] == "06_view_reshape"
    assert meetings["a shallow copy is a copy"] == LESSONS[-1]
