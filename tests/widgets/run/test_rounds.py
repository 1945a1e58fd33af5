"""What becomes a step at all: which functions are stepped into, and how many rounds of a loop."""

import time
from types import ModuleType
from typing import Any

import pytest
from copylab import Steps, steps

import tinytorch


def made(code: str, **choice: Any) -> Steps:
    return steps(code, engine=tinytorch, **choice)


def lines(found: Steps) -> list[int]:
    return [frame.line for frame in found]


def unseen(found: Steps) -> dict[int, int]:
    """The steps, from 0, before which rounds of a loop ran in one go, and how many."""
    return {at: frame.step.folded for at, frame in enumerate(found) if frame.step.folded}


class TestRounds:
    def test_a_for_loop(self) -> None:
        found = made("for i in range(50):\n    a = i\nb = 2", rounds=2)
        assert lines(found) == [1, 2, 1, 2, 1, 3]
        assert unseen(found) == {4: 48}
        assert found[4].changes == (
            "Before this, 48 more rounds of the loop ran in one go.",
            "i = 49",
            "a = 49",
        )

    def test_a_while_loop(self) -> None:
        found = made("n = 50\nwhile n:\n    n -= 1\nb = 2", rounds=2)
        assert lines(found) == [1, 2, 3, 2, 3, 2, 4]
        assert unseen(found) == {5: 48}

    @pytest.mark.parametrize(
        "head", ["for i in range(2):\n    pass", "i = 2\nwhile i:\n    i -= 1"]
    )
    def test_exactly_enough_rounds(self, head: str) -> None:
        found = made(head, rounds=2)
        assert unseen(found) == {}
        assert lines(found) == lines(made(head))

    def test_break(self) -> None:
        found = made(
            "for i in range(50):\n    if i == 30:\n        break\nelse:\n    i = 0\nprint(i)",
            rounds=1,
        )
        assert unseen(found) == {2: 30}
        assert found[-1].output == "30\n"

    def test_a_loop_that_ends_the_program(self) -> None:
        found = made("for i in range(50):\n    if i == 30:\n        break", rounds=1)
        assert (found[-1].line, found[-1].changes[1:]) == (1, ("i = 30",))

    def test_return_out_of_a_loop(self) -> None:
        found = made(
            "def f():\n    for i in range(50):\n        if i == 20:\n            return i\nx = f()",
            rounds=1,
        )
        assert lines(found) == [1, 5, 2, 3, 2, 4, 5]
        assert found[-2].changes == ("f() returns 20.",)

    def test_an_error_in_a_folded_round(self) -> None:
        found = made("for i in range(50):\n    1 / (30 - i)", rounds=1)
        assert (found[-1].line, found[-1].error) == (2, "ZeroDivisionError: division by zero")
        assert unseen(found) == {2: 30}
        code = "try:\n    for i in range(50):\n        1 / (30 - i)\nexcept ZeroDivisionError:\n    b = 1"
        assert lines(made(code, rounds=1)) == [2, 3, 3, 4, 5]

    def test_an_inner_loop_and_calls_in_it(self) -> None:
        found = made("for i in range(5):\n    for j in range(7):\n        k = i * j", rounds=2)
        assert lines(found) == [1, 2, 3, 2, 3, 2, 1, 2, 3, 2, 3, 2, 1]
        assert unseen(found) == {5: 5, 11: 5, 12: 3}
        code = "def g(n):\n    m = n + 1\n    return m\ndef f():\n    for i in range(9):\n        k = g(i)\nx = f()"
        assert lines(made(code, rounds=1)) == [1, 4, 7, 5, 6, 2, 3, 6, 5, 7]

    def test_a_loop_that_is_entered_again(self) -> None:
        code = "def f():\n    for i in range(3):\n        a = i\nf()\nf()"
        assert lines(made(code, rounds=1)) == [1, 4, 2, 3, 2, 4, 5, 2, 3, 2, 5]

    def test_a_generator_is_stepped_in_full(self) -> None:
        code = "def g():\n    for i in range(3):\n        yield i\nfor x in g():\n    a = x"
        assert made(code, rounds=1)[-1].changes[-2:] == ("x = 2", "a = 2")

    def test_an_endless_loop_stops_in_time(self) -> None:
        start = time.monotonic()
        found = made("while True:\n    a = 1", rounds=2, seconds=0.3)
        assert found.ended == "time"
        assert found[-1].step.folded > 100
        assert time.monotonic() - start < 5

    def test_training(self, engine: ModuleType) -> None:
        code = """
x = torch.zeros(4, requires_grad=True)
for i in range(100):
    y = (x - 1) ** 2
    y.sum().backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
    x.grad.zero_()
"""
        found = steps(code, engine=engine, rounds=2)
        assert (found.ended, len(found)) == ("finished", 14)
        assert found[-1].changes[0] == "Before this, 98 more rounds of the loop ran in one go."


class TestInto:
    CODE = """\
class A:
    def m(self):
        return 1
def f():
    def g():
        return 2
    return g()
x = f() + A().m()
"""

    @pytest.mark.parametrize(
        ("into", "stepped"),
        [
            (True, {3, 5, 6, 7}),
            (False, set()),
            ("f", {5, 7}),
            ("g", {6}),
            ("m", {3}),
            (["A.m", "f"], {3, 5, 7}),
        ],
    )
    def test_which_functions(self, into: Any, stepped: set[int]) -> None:
        found = made(self.CODE, into=into)
        assert set(lines(found)) - {1, 4, 8} == stepped
        assert "x = 3" in found[-1].changes

    @pytest.mark.parametrize(
        ("into", "stepped"),
        [(True, {4, 7}), ("A.B.m", {4}), ("A.n", {7}), ("m", {4}), (["A.B.m", "n"], {4, 7})],
    )
    def test_methods_of_classes_within_classes_and_below_a_condition(
        self, into: Any, stepped: set[int]
    ) -> None:
        code = """\
class A:
    class B:
        def m(self):
            return 1
    if True:
        def n(self):
            return A.B().m()
x = A().n()"""
        found = made(code, into=into)
        assert set(lines(found)) - {1, 8} == stepped
        assert [frame.step.calls for frame in found if frame.line == 4] in (
            [],
            [("A.B.m",)],
            [("A.n", "A.B.m")],
        )

    def test_an_error_in_a_function_that_is_not_stepped(self) -> None:
        found = made("def f(n):\n    a = n\n    return 1 / a\nx = 1\ny = f(0)", into=False)
        assert (found[-1].line, found[-1].error) == (5, "ZeroDivisionError: division by zero")

    def test_a_function_is_stepped_and_what_it_defines_is_not(self) -> None:
        def outer() -> int:
            def inner() -> int:
                return 1

            return inner()

        assert len(steps(outer, engine=tinytorch, into=False)) == 2
        assert len(steps(outer, engine=tinytorch)) == 4

    def test_wrong_choices(self) -> None:
        with pytest.raises(
            ValueError, match="into names h, but the functions that the code defines are: f and g"
        ):
            made("def f(): pass\ndef g(): pass", into=["f", "h"])
        with pytest.raises(ValueError, match="are: none"):
            made("a = 1", into="f")
        with pytest.raises(TypeError, match="names of functions"):
            made("a = 1", into=[print])
        with pytest.raises(ValueError, match="rounds=0"):
            made("a = 1", rounds=0)
