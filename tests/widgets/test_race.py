"""`race`: samples are taken in turns, and nothing is said of them that is not certain.

No test here depends on how long anything takes: times are made up, and of real ones only their number is looked at.
"""

import gc
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import copylab
import pytest
from copylab import race
from copylab.racing import (
    Lane,
    Timing,
    count_left_out,
    describe_timings,
    draw_plot,
    find_ties,
    format_seconds,
    is_slower,
    make_table,
)

import tinytorch


def timing(method: str, size: int, *samples: float, engine: str = "tinytorch") -> Timing:
    """A timing with these samples, in microseconds."""
    return Timing(engine, method, size, tuple(sample * 1e-6 for sample in samples))


def near(middle: float, count: int = 21) -> list[float]:
    """Samples around a value, without chance."""
    return [middle * (1 + ((5 * at) % count - count // 2) / (50 * count)) for at in range(count)]


def made_up() -> list[Timing]:
    """What a machine might measure: one method that copies nothing, two that tie when there is much to copy."""
    medians = {
        "detach": (0.3, 0.3),
        "detach().clone()": (1.2, 280.0),
        "clone().detach()": (1.6, 281.0),
        "copy_": (2.0, 450.0),
    }
    timings = []
    for name, both in medians.items():
        for size, middle in zip((1, 10**6), both, strict=True):
            timings.append(timing(name, size, *near(middle)))
    return timings


class TestSamples:
    def test_each_lane_is_timed_once_a_round_in_another_order(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        order: list[tuple[str, int]] = []
        take = Lane.take_sample

        def note(self: Lane, chance: random.Random) -> None:
            order.append((self.method.name, self.size))
            take(self, chance)

        monkeypatch.setattr(Lane, "take_sample", note)
        made = race(["clone", "detach", "="], [1, 5], "plain", tinytorch, rounds=3).run()
        rounds = [order[at : at + 6] for at in (0, 6, 12)]
        assert len(order) == 18
        lanes = {(timing.method, timing.size) for timing in made.results}
        assert all(set(one) == lanes for one in rounds)
        assert rounds[0] != rounds[1] != rounds[2]
        assert [len(one.samples) for one in made.results] == [3] * 6
        assert all(sample > 0 for one in made.results for sample in one.samples)

    def test_nobody_is_asked_and_nothing_is_printed(
        self, engine: ModuleType, capsys: pytest.CaptureFixture[str]
    ) -> None:
        made = race(
            {"asks": "y = input()", "prints": "y = print(x)"}, sizes=[1], rounds=1, engine=engine
        )
        made.run()
        assert "asks raises RuntimeError: input() cannot be answered here" in made.report
        assert made.results[1].samples
        assert capsys.readouterr().out == ""

    def test_an_error_is_a_result(self, engine: ModuleType) -> None:
        made = race(["clone", "deepcopy"], [2], source="result", engine=engine, rounds=2).run()
        good, bad = made.results
        assert len(good.samples) == 2
        assert not bad.samples
        assert bad.error.startswith("RuntimeError: Only Tensors created explicitly by the user")
        assert made.ended == "finished"
        assert "deepcopy raises RuntimeError: Only Tensors" in made.report

    def test_what_is_timed_is_left_as_it_was(self) -> None:
        before = gc.isenabled(), warnings.filters[:]
        noisy = {"noisy": "import warnings\nwarnings.warn('no')\ny = x.clone()"}
        made = race(noisy, [3], engine=tinytorch, rounds=1).run()
        assert made.results[0].samples
        assert (gc.isenabled(), warnings.filters) == before

    @pytest.mark.torch
    def test_threads_are_given_back(self) -> None:
        torch = pytest.importorskip("torch")
        before = torch.get_num_threads()
        torch.set_num_threads(2)
        seen: list[int] = []
        torch.seen = lambda: seen.append(torch.get_num_threads())
        try:
            race({"look": "torch.seen()"}, [1], engine=torch, rounds=1).run()
            assert torch.get_num_threads() == 2
            assert set(seen) == {1}
        finally:
            del torch.seen
            torch.set_num_threads(before)

    def test_no_tensor_is_kept(self, engine: ModuleType) -> None:
        def alive() -> int:
            return sum(issubclass(type(one), engine.Tensor) for one in gc.get_objects())

        before = alive()
        made = race(["clone"], [4], engine=engine, rounds=1).run()
        assert alive() <= before
        assert made.results

    def test_what_one_method_does_to_x_does_not_reach_another(self) -> None:
        methods = {"grow": "x.resize_(len(x) + 1)", "look": "y = 1 / (len(x) == 2)"}
        grow, look = race(methods, [2], source="plain", engine=tinytorch, rounds=3).run().results
        assert len(grow.samples) == len(look.samples) == 3

    def test_median(self) -> None:
        assert timing("clone", 1, 4, 1, 3, 2, 5).median == 3e-6
        with pytest.raises(ValueError, match="no median for empty data"):
            _ = Timing("torch", "clone", 1).median


class Heap:
    """A machine on which only the place of the result decides how long a copy takes: half of all places are slow.

    Its heap gives the lowest place that is free, as real ones do: what asks for the same in turn gets the same places.
    """

    def __init__(self) -> None:
        self.used: dict[int, int] = {}
        self.now = 0.0
        self.slow = 0
        heap = self

        class Tensor:
            def __init__(self, size: int) -> None:
                ends = [0, *(at + used for at, used in heap.used.items())]
                self.at = min(end for end in ends if heap.free(end, size))
                heap.used[self.at] = size

            def __del__(self) -> None:
                del heap.used[self.at]

            def clone(self) -> "Tensor":
                made = Tensor(heap.used[self.at])
                heap.now += (2.07e-4 if made.at // 64 % 2 else 1e-4) * (1000 if heap.slow else 1)
                heap.slow = max(0, heap.slow - 1)
                return made

        self.engine = ModuleType("simulated")
        own = {"Tensor": Tensor, "empty": Tensor, "ones": lambda size, **_: Tensor(size)}
        vars(self.engine).update(vars(tinytorch) | own)

    def free(self, start: int, size: int) -> bool:
        return all(start + size <= at or at + used <= start for at, used in self.used.items())

    def clock(self) -> float:
        return self.now


class TestOffsets:
    """What holds for a whole race and is none of the code's doing must not decide it."""

    @pytest.fixture
    def heap(self, monkeypatch: pytest.MonkeyPatch) -> Heap:
        heap = Heap()
        monkeypatch.setattr("copylab.racing.time.perf_counter", heap.clock)
        return heap

    METHODS: ClassVar = {"a": "y = x.clone()", "b": "z = torch.empty(64)\ny = x.clone()"}

    def test_where_memory_lies_decides_nothing(self, heap: Heap) -> None:
        made = race(self.METHODS, [1000], source="plain", engine=heap.engine, seconds=1e6).run()
        assert made.ended == "finished"
        are_slow = {round(sample * 1e6) > 110 for one in made.results for sample in one.samples}
        assert are_slow == {True, False}
        assert "a and b cannot be told apart at 1,000 elements." in made.report

    def test_memory_that_stays_where_it_is_would(
        self, heap: Heap, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("copylab.racing._shift_memory", lambda *_: [])
        made = race(self.METHODS, [1000], source="plain", engine=heap.engine, seconds=1e6).run()
        assert "cannot be told apart" not in made.report

    def test_one_slow_moment_does_not_make_all_samples_short(self, heap: Heap) -> None:
        lane = Lane(heap.engine, copylab.Method("clone", "y = x.clone()"), 64, "plain")
        heap.slow = 2
        for number in range(2):
            lane.take_sample(random.Random(number))
        first, second = lane.samples
        assert first > 100 * second
        assert lane.calls_per_run > 1

    @pytest.mark.parametrize("size", [1, 1000, 1_000_000])
    def test_each_round_has_its_data_elsewhere(self, engine: ModuleType, size: int) -> None:
        places: list[int] = []
        vars(engine)["seen"] = places.append
        try:
            race({"look": "torch.seen(x.data_ptr())"}, [size], engine=engine).run()
        finally:
            del vars(engine)["seen"]
        moves = sum(one != other for one, other in itertools.pairwise(places))
        # Of 20: how many free places there are to choose from is the C library's affair.
        assert moves > 10


class TestCertainty:
    def test_a_row_against_itself(self) -> None:
        row = timing("a", 1, *near(5))
        assert not is_slower(row, row)

    def test_rounds_are_compared_with_each_other(self) -> None:
        drift = [1 + at for at in range(21)]  # the machine becomes slower and slower; both wait
        slow, fast = timing("a", 1, *(1.1 * t for t in drift)), timing("b", 1, *drift)
        assert is_slower(slow, fast)
        assert not is_slower(fast, slow)

    def test_a_small_difference_is_none(self) -> None:
        assert not is_slower(timing("a", 1, *[1.02] * 21), timing("b", 1, *[1.0] * 21))

    def test_few_rounds_say_nothing(self) -> None:
        for rounds, certain in ((7, False), (8, True)):
            slow, fast = timing("a", 1, *[9.0] * rounds), timing("b", 1, *[1.0] * rounds)
            assert is_slower(slow, fast) is certain

    @pytest.mark.parametrize(("rounds", "left_out"), [(7, -1), (8, 0), (12, 1), (21, 4), (30, 7)])
    def test_the_interval_is_that_of_the_sign_test(self, rounds: int, left_out: int) -> None:
        assert count_left_out(rounds) == left_out

    def test_ties(self) -> None:
        groups = find_ties([one for one in made_up() if one.size == 10**6])
        assert [[one.method for one in group] for group in groups] == [
            ["detach"],
            ["detach().clone()", "clone().detach()"],
            ["copy_"],
        ]


class TestWords:
    @pytest.mark.parametrize(
        ("seconds", "text"),
        [
            (8.5e-9, "8.5 ns"),
            (1e-6, "1 µs"),
            (1.17e-6, "1.17 µs"),
            (284.4e-6, "284 µs"),
            (0.0123, "12.3 ms"),
            (9.999e-4, "1 ms"),
            (75, "75 s"),
            (0, "0 s"),
        ],
    )
    def test_durations(self, seconds: float, text: str) -> None:
        assert format_seconds(seconds) == text

    def test_what_cannot_be_told_apart(self) -> None:
        assert describe_timings(made_up()) == [
            "clone().detach() and detach().clone() cannot be told apart at 1,000,000 elements."
        ]
        assert describe_timings([]) == []

    def test_equal_at_several_sizes(self) -> None:
        equal = [timing(name, size, *near(1)) for name in "ab" for size in (1, 10, 100)]
        assert describe_timings(equal) == ["a and b cannot be told apart from 1 to 100 elements."]
        without = [one for one in equal if one.size != 10] + [
            timing(name, 10, *near(us)) for name, us in (("a", 1.0), ("b", 2.0))
        ]
        assert describe_timings(without) == ["a and b cannot be told apart at 1 and 100 elements."]

    def test_few_rounds_are_not_called_a_tie(self) -> None:
        few = [Timing(one.engine, one.method, one.size, one.samples[:7]) for one in made_up()]
        assert describe_timings(few)[0] == "At 1 element nothing is certain after 7 rounds."
        assert "cannot be told apart" not in "".join(describe_timings(few))

    def test_the_table(self) -> None:
        broken = Timing("torch", "broken", 1, error="ValueError: no")
        text = make_table("torch", [*made_up(), broken, Timing("torch", "broken", 10**6)]).text()
        lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
        assert lines[0] == ["torch: median time of one call"]
        assert lines[1] == ["elements", "1", "1,000,000"]
        assert ["copy_", "2 µs", "450 µs"] in lines
        assert ["broken", "raises", "-"] in lines


class TestPlot:
    def test_it_is_the_same_every_time_and_well_formed(self) -> None:
        svg = draw_plot(made_up(), "tinytorch")
        assert svg == draw_plot(made_up(), "tinytorch")
        root = ET.fromstring(svg)
        words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        for word in ("tinytorch", "detach().clone()", "copy_", "1e6", "1 µs"):
            assert word in words

    def test_names_do_not_lie_upon_each_other(self) -> None:
        many = [timing(f"way {at}", size, *near(3)) for at in range(24) for size in (1, 100)]
        svg = draw_plot(many, "tinytorch")
        height = float(re.findall(r'height="(\d+)"', svg)[0])
        places = sorted(
            float(y) for y in re.findall(r'<text class="t mono" x="[\d.]+" y="([\d.]+)"', svg)
        )
        assert len(places) == 24
        assert all(low + 16 <= high for low, high in itertools.pairwise(places))
        assert places[-1] < height

    def test_hostile_names_are_text(self) -> None:
        name = '<script>alert(1)</script>\x00&"'
        svg = draw_plot([timing(name, 1, *near(3))], name)
        assert "<script" not in svg
        ET.fromstring(svg)

    def test_nothing_timed_yet(self) -> None:
        ET.fromstring(draw_plot([Timing("torch", "clone", 1)], "torch"))


class TestRace:
    def test_before_it_is_run(self) -> None:
        made = race()
        assert repr(made) == "Race(7 methods, 7 sizes)"
        assert made.results == ()
        assert made.ended == ""
        assert made.text == race().text
        assert made.html == race().html
        for one in made.methods:
            assert one.name in made.text
            assert one.code.splitlines()[-1] in made.text
        assert ".run() takes the times" in made.text
        assert "x = torch.ones(size, requires_grad=True)" in made.text

    def test_the_plan_does_not_know_what_is_installed(self) -> None:
        program = (
            "import sys; sys.modules['torch'] = None\nfrom copylab import race\nprint(race().text)"
        )
        root = Path(__file__).resolve().parents[2]
        path = os.pathsep.join([str(root), str(root / "widgets")])
        found = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONPATH": path},
        )
        assert found.stdout.rstrip("\n") == race().text

    def test_results(self) -> None:
        made = race(["clone", "copy_"], [1, 3], engine=tinytorch, rounds=2)
        assert made.run() is made
        assert made.ended == "finished"
        assert [(one.engine, one.method, one.size) for one in made.results] == [
            ("tinytorch", name, size) for size in (1, 3) for name in ("clone", "copy_")
        ]
        assert list(made.pictures) == ["tinytorch"]
        assert "clone" in made.pictures["tinytorch"].text
        assert made.report.startswith("The race is over: 2 rounds.")
        assert made.text == made.report
        again = made.run().results
        assert [len(one.samples) for one in again] == [2] * 4

    def test_code_of_ones_own(self) -> None:
        made = race(
            {"<b>": "y = x * 1", "broken": "y = x.nothing()"}, [3], engine=[tinytorch], rounds=1
        )
        assert "&lt;b&gt;" in made.html
        assert "<b>" not in made.html
        made.run()
        assert [bool(one.samples) for one in made.results] == [True, False]
        assert "<b>" not in made.html
        error = "broken raises AttributeError: 'Tensor' object has no attribute 'nothing'"
        assert error in made.report

    def test_the_time_is_up(self) -> None:
        made = race({"endless": "while True: pass"}, [1], engine=tinytorch, seconds=0.2).run()
        assert made.ended == "time"
        assert not made.results[0].samples
        assert "the time is up (seconds=0.2)" in made.report

    def test_interrupted(self) -> None:
        made = race(
            {"hit": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)"}, [1], engine=tinytorch
        ).run()
        assert made.ended == "interrupted"
        assert made.report.startswith("Interrupted after 0 rounds of 21.")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    @pytest.mark.parametrize(
        ("given", "error", "message"),
        [
            (
                {"methods": ["klone"]},
                ValueError,
                "there is no copy method 'klone'. Did you mean 'clone'?",
            ),
            ({"methods": []}, ValueError, "a race needs a method"),
            ({"sizes": []}, ValueError, "a race needs a size"),
            ({"sizes": [0]}, ValueError, "from 1 to 100,000,000, not 0"),
            ({"sizes": [True]}, ValueError, "not True"),
            ({"methods": {"a": "y ="}}, ValueError, "the code of 'a' is not Python"),
            ({"source": "leave"}, ValueError, "'leaf', 'result' or 'plain', not 'leave'"),
            ({"rounds": 0}, ValueError, "the limits must be positive"),
            ({"seconds": 0}, ValueError, "the limits must be positive"),
            ({"engine": "torch"}, TypeError, "engine must be a module with a Tensor"),
        ],
    )
    def test_bad_input(self, given: dict[str, Any], error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=re.escape(message)):
            race(**given)
