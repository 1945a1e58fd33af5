"""Repeats in a row of things, found without any tensor."""

from collections.abc import Sequence

import pytest

from tinytorch.viz.render.memory_svg import assign_slots
from tinytorch.viz.show.repeats import SHORTEST, Repeat, choose_repeats, find_repeats


def find_in(kinds: Sequence[object], size: int = 1) -> list[Repeat]:
    """Choose repeats in things that are equal if their kinds are, each as large as `size`."""
    found = find_repeats(kinds, lambda *_: True, lambda start, stop: size * (stop - start))
    return choose_repeats(found)


@pytest.mark.parametrize(
    ("kinds", "start", "length", "times"),
    [
        ("aaaaaaaaaaaa", 0, 1, 12),
        ("xabababababy", 1, 2, 5),
        ("abcabcabcabd", 0, 3, 3),
        ("qrabcabcabc", 2, 3, 3),
    ],
)
def test_rounds_are_found_where_they_begin(kinds: str, start: int, length: int, times: int) -> None:
    (found,) = find_in(kinds)
    assert (found.start, found.length, found.times) == (start, length, times)
    assert found.saving == (times - 1) * length
    assert found.stop == start + length * times


@pytest.mark.parametrize("kinds", ["", "a", "abcdefgh", "aabbccdd"])
def test_where_nothing_is_saved_nothing_is_found(kinds: str) -> None:
    assert find_in(kinds) == []


def test_what_saves_too_little_is_no_repeat() -> None:
    assert find_in("a" * SHORTEST) == []
    assert len(find_in("a" * (SHORTEST + 1))) == 1
    assert len(find_in("aa", size=SHORTEST)) == 1


def test_rounds_must_be_equal_in_the_same_way() -> None:
    # Twelve equal things, but from the seventh on each is equal in another way than before.
    def compare(_: int, other: int) -> str:
        return "near" if other <= 6 else "far"

    found = list(find_repeats("a" * 12, compare, lambda start, stop: stop - start))
    assert [(repeat.start, repeat.times) for repeat in found if repeat.length == 1] == [
        (0, 7),
        (6, 6),
    ]
    (chosen,) = choose_repeats(iter([repeat for repeat in found if repeat.length == 1]))
    assert (chosen.start, chosen.times) == (0, 7)


def test_of_overlapping_repeats_the_one_that_saves_most_is_chosen() -> None:
    small, large, apart = Repeat(5, 0, 1, 6), Repeat(9, 3, 3, 4), Repeat(5, 20, 1, 6)
    assert choose_repeats(iter([small, large, apart])) == [large, apart]


def test_a_slot_is_kept_while_a_thing_is_visible_and_then_reused() -> None:
    steps = [["a", "b"], ["b"], ["b", "c"], ["a", "b", "c"]]
    assert assign_slots(steps) == [["a"], ["b"], ["c"]], "a comes back, and has kept its slot"
    assert assign_slots([["a", "b"], ["b", "c"], ["c", "d"]]) == [["a", "c"], ["b", "d"]]
    assert assign_slots([]) == []


def test_a_long_loop_takes_steps_in_proportion() -> None:
    """A growing graph is drawn after each step: its loop must not be compared at each distance."""

    def count_comparisons(rounds: int) -> int:
        compared = []

        def compare(one: int, other: int) -> bool:
            compared.append((one, other))
            return True

        found = find_repeats("ba" + "xyz" * rounds + "c", compare, lambda start, stop: stop - start)
        assert choose_repeats(found) == [Repeat(3 * (rounds - 1), 2, 3, rounds)]
        return len(compared)

    assert count_comparisons(400) <= 3 * 400 * 3
    # What is left before and after has repeats of its own.
    kinds = "xy" * 9 + "b" * 30 + "c" * 9
    found = find_repeats(kinds, lambda *_: True, lambda start, stop: stop - start)
    starts = [(repeat.start, repeat.length) for repeat in choose_repeats(found)]
    assert starts == [(18, 1), (0, 2), (48, 1)]
