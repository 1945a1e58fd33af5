"""`race`: the samples are taken in turns, what is said of them follows from them, and it can be stopped at any time.

No test here depends on how long anything takes: times are made up, and of real ones only their number is looked at.
"""

import asyncio
import gc
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import copylab
import pytest
from copylab import Race, race
from copylab.timing.clock import Clocked, Timings, _Runner
from copylab.timing.plan import Plan, planned
from copylab.timing.plot import draw, short, span
from copylab.timing.racing import times
from copylab.timing.samples import Lane, Ratio, Timing, ratio, ties
from copylab.timing.words import duel, duration, findings

import tinytorch
from tinytorch.viz.render.style import fixed


def timing(method: str, size: int, *samples: float, engine: str = "tinytorch") -> Timing:
    """A timing with these samples, in microseconds."""
    return Timing(Lane(engine, method, size), tuple(sample * 1e-6 for sample in samples))


def near(middle: float, count: int = 21) -> list[float]:
    """Samples around a value, without chance."""
    return [middle * (1 + ((5 * at) % count - count // 2) / (50 * count)) for at in range(count)]


def made_up() -> list[Timing]:
    """What a machine might measure: one method that copies nothing, two that tie when there is much to copy."""
    times = {
        "detach": (0.3, 0.3),
        "detach().clone()": (1.2, 280.0),
        "clone().detach()": (1.6, 281.0),
        "copy_": (2.0, 450.0),
    }
    return [
        timing(name, size, *near(us))
        for name, both in times.items()
        for size, us in zip((1, 10**6), both, strict=True)
    ]


class TestSamples:
    def test_each_lane_is_timed_once_a_round_in_another_order(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        order: list[Lane] = []
        take = _Runner.take

        def note(self: _Runner, plan: Plan, chance: random.Random) -> None:
            order.append(self.lane)
            take(self, plan, chance)

        monkeypatch.setattr(_Runner, "take", note)
        plan = planned(["clone", "detach", "="], [1, 5], "plain", tinytorch, rounds=3, seconds=60)
        timings = Timings(plan, plan.found_engines())
        done = list(timings.take())
        rounds = [order[at : at + 6] for at in (0, 6, 12)]
        assert len(order) == 18
        assert all(set(one) == {timing.lane for timing in timings.taken} for one in rounds)
        assert rounds[0] != rounds[1] != rounds[2]
        assert done == sorted(done)
        assert done[-1] == 1
        assert [len(one.samples) for one in timings.taken] == [3] * 6
        assert all(sample > 0 for one in timings.taken for sample in one.samples)

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
        x = tinytorch.ones(3, requires_grad=True)
        clocked = Clocked(
            copylab.Method("noisy", "import warnings\nwarnings.warn('no')\ny = x.clone()"),
            tinytorch,
        )
        assert clocked.sample(x) > 0
        assert (gc.isenabled(), warnings.filters) == before
        assert x._version == 0
        assert x.grad is None

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

    def test_quantiles(self) -> None:
        one = timing("clone", 1, 4, 1, 3, 2, 5)
        assert one.median == 3e-6
        assert one.quartiles == pytest.approx((2e-6, 4e-6))
        with pytest.raises(ValueError, match="no median for empty data"):
            _ = Timing(Lane("torch", "clone", 1)).median


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
        monkeypatch.setattr("copylab.timing.clock.time.perf_counter", heap.clock)
        return heap

    METHODS: ClassVar = {"a": "y = x.clone()", "b": "z = torch.empty(64)\ny = x.clone()"}

    def test_where_memory_lies_decides_nothing(self, heap: Heap) -> None:
        made = race(self.METHODS, [1000], source="plain", engine=heap.engine, seconds=1e9).run()
        assert made.ended == "finished"
        assert {round(sample * 1e6) > 110 for one in made.results for sample in one.samples} == {
            True,
            False,
        }
        assert "At 1,000 elements, a and b cannot be told apart" in made.report

    def test_memory_that_stays_where_it_is_would(
        self, heap: Heap, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("copylab.timing.clock.scattered", lambda *_: [])
        made = race(self.METHODS, [1000], source="plain", engine=heap.engine, seconds=1e9).run()
        assert " is the quickest: " in made.report

    def test_one_slow_moment_does_not_make_all_samples_short(self, heap: Heap) -> None:
        clocked = Clocked(copylab.Method("clone", "y = x.clone()"), heap.engine)
        heap.slow = 2
        first, second = (clocked.sample(heap.engine.ones(64)) for _ in range(2))
        assert first > 100 * second
        assert clocked.repeats > 1

    @pytest.mark.parametrize("size", [1, 1000, 1_000_000])
    def test_each_round_has_its_data_elsewhere(self, engine: ModuleType, size: int) -> None:
        places: list[int] = []
        vars(engine)["seen"] = places.append
        try:
            race({"look": "torch.seen(x.data_ptr())"}, [size], engine=engine).run()
        finally:
            del vars(engine)["seen"]
        moves = sum(one != other for one, other in itertools.pairwise(places))
        assert (
            moves > 10
        )  # of 20: how many free places there are to choose from is the C library's affair


class TestCertainty:
    def test_a_row_against_itself(self) -> None:
        one = timing("a", 1, *near(5))
        assert ratio(one, one) == Ratio(1, 1, 1)
        assert not ratio(one, one).apart

    def test_rounds_are_compared_with_each_other(self) -> None:
        drift = [1 + at for at in range(21)]  # the machine becomes slower and slower, for both
        slow, fast = timing("a", 1, *(1.1 * t for t in drift)), timing("b", 1, *drift)
        assert ratio(slow, fast).slower
        assert ratio(fast, slow).faster
        assert ratio(slow, fast).middle == pytest.approx(1.1)

    def test_a_small_difference_is_none(self) -> None:
        assert not ratio(timing("a", 1, *[1.02] * 21), timing("b", 1, *[1.0] * 21)).apart

    def test_few_rounds_say_nothing(self) -> None:
        seven, eight = (
            ratio(timing("a", 1, *[9.0] * n), timing("b", 1, *[1.0] * n)) for n in (7, 8)
        )
        assert not seven.apart
        assert eight.slower

    @pytest.mark.parametrize(("count", "left_out"), [(8, 0), (12, 1), (21, 4), (30, 7)])
    def test_the_interval_is_that_of_the_sign_test(self, count: int, left_out: int) -> None:
        found = ratio(timing("a", 1, *range(1, count + 1)), timing("b", 1, *[1] * count))
        assert (found.low, found.high) == pytest.approx((1 + left_out, count - left_out))

    def test_ties(self) -> None:
        groups = ties([one for one in made_up() if one.lane.size == 10**6])
        assert [[one.lane.method for one in group] for group in groups] == [
            ["detach"],
            ["detach().clone()", "clone().detach()"],
            ["copy_"],
        ]


AT_MOST = (
    "At 1,000,000 elements, detach().clone() and clone().detach() cannot be told apart: about 280 µs each. "
    "Times as long: copy_ 1.6."
)
AT_ONE = (
    "At 1 element, detach().clone() is the quickest that copies: 1.2 µs. "
    "Times as long: clone().detach() 1.3, copy_ 1.7."
)
ORDERS = (
    "detach().clone() against clone().detach(): detach().clone() is quicker at 1 element (400 ns or 1.33 times at 1); "
    "at 1,000,000 elements the two cannot be told apart."
)


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
        assert duration(seconds) == text

    def test_findings(self) -> None:
        assert findings(made_up()) == [
            "detach takes as long for 1,000,000 elements as for 1: the elements are not copied.",
            AT_MOST,
            AT_ONE,
            ORDERS,
        ]
        assert findings([]) == []

    def test_few_rounds_are_not_called_a_tie(self) -> None:
        few = [Timing(one.lane, one.samples[:7]) for one in made_up()]
        assert "At 1 element nothing is certain after 7 rounds." in findings(few)
        assert "cannot be told apart" not in draw(few, "tinytorch", span(few))

    def test_few_elements_prove_nothing(self) -> None:
        few = [timing(name, size, *near(1)) for name in ("clone", "detach") for size in (1, 1000)]
        assert "not copied" not in " ".join(findings(few))

    def test_duel(self) -> None:
        assert duel(made_up(), "copy_", "detach").startswith(
            "copy_ against detach: detach is quicker at 1 and 1,000,000"
        )
        three = [
            timing(name, size, *near(us))
            for name, us in (("a", 1.0), ("b", 2.0))
            for size in (1, 10, 100)
        ]
        assert (
            duel(three, "a", "b")
            == "a against b: a is quicker from 1 to 100 elements (1 µs or 2.00 times at 1)."
        )
        with pytest.raises(ValueError, match="'view' was not timed; timed were detach, "):
            duel(made_up(), "view", "detach")

    def test_everything_stands_in_the_text(self) -> None:
        text = times("torch", made_up()).text()
        assert "\ncopy_\n  1 element: 2 µs (" in text
        assert text.count("1,000,000 elements: ") == 4


class TestPicture:
    @pytest.mark.parametrize("theme", ["light", "dark", "print"])
    def test_it_is_the_same_every_time_and_well_formed(self, theme: str) -> None:
        svg = fixed(draw(made_up(), "tinytorch", span(made_up())), theme)
        assert svg == fixed(draw(made_up(), "tinytorch", span(made_up())), theme)
        assert "var(" not in svg
        root = ET.fromstring(svg)
        words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        for word in (
            "tinytorch",
            "detach().clone()",
            "copy_",
            "1M",
            "1 µs",
            "280 µs",
            "cannot be told apart",
        ):
            assert word in words
        assert len(re.findall(r'class="mark q0"', svg)) == 3, (
            "one for each size, one beside the name"
        )
        assert ("var(--tt-" in svg) is (theme is None)

    def test_names_do_not_lie_upon_each_other(self) -> None:
        many = [timing(f"way {at}", size, *near(3)) for at in range(24) for size in (1, 100)]
        svg = draw(many, "tinytorch", span(many))
        height = float(re.findall(r'height="(\d+)"', svg)[0])
        places = sorted(
            float(y) for y in re.findall(r'<text class="t mono" x="[\d.]+" y="([\d.]+)"', svg)
        )
        assert len(places) == 24
        assert all(low + 16 <= high for low, high in itertools.pairwise(places))
        assert places[-1] < height

    def test_hostile_names_are_text(self) -> None:
        name = '<script>alert(1)</script>\x00&"'
        svg = draw([timing(name, 1, *near(3))], name, (-7, -3))
        assert "<script" not in svg
        ET.fromstring(svg)

    @pytest.mark.parametrize(
        ("size", "text"),
        [(1, "1"), (999, "999"), (1000, "1k"), (1500, "1.5k"), (4096, "4,096"), (10**6, "1M")],
    )
    def test_sizes(self, size: int, text: str) -> None:
        assert short(size) == text

    def test_nothing_timed_yet(self) -> None:
        waiting = [Timing(Lane("torch", "clone", 1))]
        ET.fromstring(draw(waiting, "torch", span(waiting)))


async def over(made: Race) -> None:
    """Wait until the race is over."""
    ended = asyncio.Event()
    made.observe(lambda _: ended.set(), "ended")
    if made.running:
        await ended.wait()


class TestRace:
    def test_before_it_is_started(self) -> None:
        made = race()
        assert repr(made) == "Race(7 methods, 7 sizes)"
        assert made.results == ()
        assert made.ended == ""
        assert made.text == race().text
        assert made.html == race().html
        for one in made.plan.methods:
            assert one.name in made.text
            assert one.code.splitlines()[-1] in made.text
        assert "Start or .run() takes the times" in made.text
        assert "x = torch.ones(size, requires_grad=True)" in made.text
        made.close()

    def test_the_twins_do_not_know_what_is_installed_or_was_timed(self) -> None:
        made = race(["clone"], [1], engine=tinytorch, rounds=1)
        before = made.text, made.html, repr(made)
        made.run()
        assert (made.text, made.html, repr(made)) == before
        for said in (made.text, made.html):
            assert "They are never the same twice, so they are not shown here" in said
            assert not re.search(r"[Nn]othing is timed|\byet\b", said), "this race was run"
        program = (
            "import sys; sys.modules['torch'] = None\nfrom copylab import race\nprint(race().text)"
        )
        found = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=_env()
        )
        assert found.stdout.rstrip("\n") == race().text

    def test_traits(self) -> None:
        made = race(["clone", "copy_"], [1, 3], engine=tinytorch, rounds=2)
        seen: dict[str, list[object]] = {"running": [], "ended": []}
        for name, values in seen.items():
            made.observe(lambda change, values=values: values.append(change["new"]), name)
        assert made.run() is made
        assert seen == {"running": [True, False], "ended": ["finished"]}
        assert made.progress == 1
        assert [one.lane for one in made.results] == [
            Lane("tinytorch", name, size) for size in (1, 3) for name in ("clone", "copy_")
        ]
        assert list(made.pictures) == ["tinytorch"]
        assert "clone" in made.pictures["tinytorch"].text
        assert made.report.startswith("The race is over: 2 rounds.")
        assert made.duel("clone", "x.copy_()").startswith("tinytorch: clone against copy_: ")

    def test_code_of_ones_own(self) -> None:
        made = race(
            {"<b>": "y = x * 1", "broken": "y = x.nothing()"}, [3], engine=[tinytorch], rounds=1
        ).run()
        assert [bool(one.samples) for one in made.results] == [True, False]
        assert "&lt;b&gt;" in made.html
        assert "<b>" not in made.html + made._shown.html
        assert (
            "broken raises AttributeError: 'Tensor' object has no attribute 'nothing'"
            in made.report
        )

    def test_stopped_between_portions(self) -> None:
        made = race(["clone"], [1], engine=tinytorch, rounds=5_000)
        made._open()
        for at, _ in enumerate(made._laps(), 1):
            if at == 3:
                made.stop()
        assert made.ended == "stopped"
        assert len(made.results[0].samples) == 3
        assert made._shown.says.startswith("Stopped after 3 rounds of 5,000.")
        assert made.button.description == "Race again"

    def test_stopped_as_soon_as_a_portion_has_begun(self) -> None:
        made = race({"endless": "while True: pass"}, [1], engine=tinytorch, seconds=20)

        def stop() -> None:
            while not made._since:
                time.sleep(0.001)
            made.stop()

        threading.Thread(target=stop).start()
        assert made.run().ended == "stopped"

    def test_the_time_is_up(self) -> None:
        made = race({"endless": "while True: pass"}, [1], engine=tinytorch, seconds=0.2).run()
        assert made.ended == "time"
        assert not made.results[0].samples
        assert "the time is up (seconds=0.2)" in made.report

    def test_the_limit_does_not_hit_a_cell_that_runs_meanwhile(self) -> None:
        made = race(["clone"], [1], engine=tinytorch, rounds=100_000, seconds=0.2)
        made._open()
        laps = made._laps()
        next(laps)
        handler = signal.signal(
            signal.SIGINT, signal.default_int_handler
        )  # as the kernel does around a cell
        time.sleep(0.4)
        signal.signal(signal.SIGINT, handler)
        assert list(laps) == []
        assert made.ended == "time"

    def test_interrupted(self) -> None:
        made = race(
            {"hit": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)"}, [1], engine=tinytorch
        ).run()
        assert made.ended == "interrupted"
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def test_an_engine_that_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tinytorch, "empty", lambda _size: 1 / 0)
        made = race(["clone"], [1], engine=tinytorch).run()
        assert made.ended == "error"
        assert "The race could not be run: ZeroDivisionError" in made._shown.html

    def test_in_a_notebook_it_runs_beside_the_cells(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # Without a clock: a sample that raises, a minute that passes and an interrupt would each end in other numbers.
        monkeypatch.setattr(Clocked, "sample", lambda *_: 1e-6)

        async def use() -> tuple[object, ...]:
            made = race(["clone"], [1], engine=tinytorch, rounds=100_000)
            made.button.click()
            assert made.running
            with pytest.raises(RuntimeError, match="already on"):
                made.run()
            made.start()  # a second click in a hurry changes nothing
            for _ in range(20):  # in the first of them the race begins
                await asyncio.sleep(0)
            said = made.button.description
            made.button.click()
            await over(made)
            return said, made.ended, [(one.error, len(one.samples)) for one in made.results]

        assert asyncio.run(use()) == ("Stop", "stopped", [("", 19)])

    def test_stop_before_it_came_to_it(self) -> None:
        async def use() -> str:
            made = race(["clone"], [1], engine=tinytorch)
            made.start()
            made.stop()
            await over(made)
            return made.ended

        assert asyncio.run(use()) == "stopped"

    def test_again(self) -> None:
        made = race(["clone"], [1], engine=tinytorch, rounds=2).run()
        first = made.results
        made.button.click()
        assert made.ended == "finished"
        assert made.results[0].lane == first[0].lane
        assert len(made.results[0].samples) == 2

    def test_closed_while_it_runs(self) -> None:
        async def use() -> str:
            made = race(["clone"], [1], engine=tinytorch, rounds=100_000)
            made.start()
            await asyncio.sleep(0)
            made.close()
            await over(made)
            return made.ended

        assert asyncio.run(use()) == "stopped"

    def test_help_teaches(self, capsys: pytest.CaptureFixture[str]) -> None:
        race().help()
        text = capsys.readouterr().out
        for word in ("Start", "r.run()", "cannot be told apart", "r.results", "r.stop()"):
            assert word in text

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


def _env() -> dict[str, str]:
    root = Path(__file__).resolve().parents[3]
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "widgets")])}
