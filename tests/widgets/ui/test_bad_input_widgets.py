"""What goes wrong in the other widgets is said where one looks, and ends by itself, as it is and does in `steps`."""

from __future__ import annotations

import importlib
import os
import random
import signal
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from copylab import CopyLab, compare, exercise, facts, predict, race
from copylab.copying.methods import Method
from copylab.copying.sources import Source
from copylab.questions import ENDLESS, ENDS, outcome, value
from copylab.quiz.runs import QuizRun

import tinytorch

# Its name in the package is that of the function.
FACTS = importlib.import_module("copylab.copying.fact")
ENDLESS_CODE = "x = torch.ones(2)\nwhile True:\n    x += 1"


pytestmark = pytest.mark.usefixtures("progress_file")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestPredict:
    def test_code_that_does_not_end(self, engine: ModuleType) -> None:
        asked = predict(ENDLESS_CODE, [outcome()], engine=engine)
        assert ENDLESS in asked.text
        told = asked.commit([ENDS])
        assert told.right == 0
        assert "The program was stopped after 500 steps, and was still running." in told.text
        assert "still running" in told.html
        asked.reset()
        assert asked.commit([ENDLESS]).right == 1

    def test_where_nothing_can_go_on_for_ever_it_is_not_offered(self) -> None:
        asked = predict(
            "x = torch.ones(2)\nfor i in range(3):\n    x += 1", [outcome()], engine=tinytorch
        )
        assert ENDLESS not in asked.text

    def test_what_the_code_does_besides(self, engine: ModuleType) -> None:
        code = "x = torch.ones(2)\nopen('out.txt', 'w').close()\nx = torch.rand(2)"
        told = predict(code, [outcome()], engine=engine).commit([ENDS])
        assert "The code wrote to the file out.txt." in told.text
        assert "The code wrote to the file out.txt." in told.html
        assert "random" not in told.text, "random numbers are put back"

    def test_all_random_numbers_are_put_back(self, engine: ModuleType) -> None:
        code = "import random, numpy\nrandom.seed(1)\nnumpy.random.seed(1)\ntorch.manual_seed(1)\nx = torch.rand(2)"

        def states() -> tuple[str, ...]:
            numbers = np.random.get_state(legacy=True)  # noqa: NPY002  # it is the global state that is put back
            return (
                repr(random.getstate()),
                repr(tuple(map(str, numbers))),
                repr(engine.get_rng_state().tolist()),
            )

        before = states()
        predict(code, [value("x")], engine=engine).commit(["[1, 1]"])
        CopyLab(engine=engine).run(code)
        assert states() == before

    def test_an_interrupted_run_is_not_judged(self, engine: ModuleType) -> None:
        code = (
            "import os, signal\nx = torch.ones(2)\nif not os.path.exists('once'):\n"
            "    open('once', 'w').close()\n    os.kill(os.getpid(), signal.SIGINT)\nx += 1"
        )
        run = QuizRun(code, engine)
        with pytest.raises(
            RuntimeError, match="the run was interrupted, so there is nothing to compare with"
        ):
            _ = run.trace
        assert run.trace.ended == "finished", "nothing of the half run is kept"


class TestCompare:
    def test_a_copy_that_does_not_end(
        self, engine: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(FACTS, "SECONDS", 0.3)
        made = compare(Method("mine", "while True:\n    y = x"), "clone", engine=engine)
        assert str(made["mine"]["raises"].answer).startswith("Stopped: it ran for more than")
        assert made["mine"]["same_storage"].why.startswith("the copy was not made: Stopped")
        assert made["clone"]["same_storage"].answer is False
        assert "<code>mine</code> <small>Stopped</small>" in made.html

    def test_it_is_asked_anew_the_next_time(
        self, engine: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        slow = Method("slow", "import time; time.sleep(0.1)\ny = x")
        monkeypatch.setattr(FACTS, "SECONDS", 0.05)
        assert facts(slow, engine=engine)["same_tensor"].answer is None
        monkeypatch.setattr(FACTS, "SECONDS", 60.0)
        assert facts(slow, engine=engine)["same_tensor"].answer is True

    @pytest.mark.parametrize("code", ["raise SystemExit(3)", "import sys\nsys.exit('<b>')"])
    def test_a_copy_that_would_end_the_session(self, engine: ModuleType, code: str) -> None:
        made = compare(Method("mine", code), engine=engine)
        assert str(made["mine"]["raises"].answer).startswith("SystemExit")
        assert "<b>" not in made.html.replace("<b>SystemExit", "")

    def test_interrupted(self, engine: ModuleType) -> None:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            compare(Method("mine", "while True:\n    y = x"), engine=engine)


class TestCopyLab:
    def test_what_the_program_does_besides(self, engine: ModuleType) -> None:
        lab = CopyLab(engine=engine)
        lab.run("open('out.txt', 'w').close()")
        for told in (lab.text, lab.html):
            assert "The code wrote to the file out.txt." in told
        assert "The program is run anew for each look, and does this again." in lab.html
        lab.undo()
        assert "out.txt" not in lab.html

    def test_a_long_output_can_be_scrolled_with_the_keyboard(self, engine: ModuleType) -> None:
        lab = CopyLab(engine=engine)
        lab.run("print('row\\n' * 1000)")
        assert '<pre tabindex="0" role="region" aria-label="Printed">row' in lab.html

    def test_a_method_that_does_not_end(self, engine: ModuleType) -> None:
        lab = CopyLab(method=Method("mine", "while True:\n    y = x"), engine=engine)
        assert "The copy was not made" in lab.text or "the program was stopped" in lab.text
        lab.method = "clone"
        assert lab.verdicts["same_storage"] is False


class Leaving:
    """What somebody may have left in a variable."""

    def __eq__(self, other: object) -> bool:
        raise SystemExit("eq")

    def __hash__(self) -> int:
        return 1


class Cut(Leaving):
    def __eq__(self, other: object) -> bool:
        raise KeyboardInterrupt

    __hash__ = Leaving.__hash__


class TestExercise:
    @pytest.mark.parametrize(
        ("thing", "said"),
        [
            (Leaving(), "Not yet: looking at it raises `SystemExit: eq`"),
            (Cut(), "Not attempted: the check was interrupted before it had an answer."),
        ],
    )
    def test_whatever_is_in_the_way_is_said(self, thing: object, said: str) -> None:
        part = exercise("t/leaving", "do", lambda t: None if t == 1 else "no", solution="t = 1")
        assert str(part.check({"t": thing})) == said

    def test_an_endless_check_is_interrupted(self) -> None:
        def endless(t: Any) -> None:
            while t:
                pass

        part = exercise("t/endless", "do", endless, solution="t = 1")
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        assert part.check({"t": 1}).state == "not attempted"


class Mute(Exception):  # noqa: N818  # its name is what is shown
    def __str__(self) -> str:
        raise RuntimeError("no words")


class TestRace:
    def test_what_is_raised_is_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("builtins.Mute", Mute, raising=False)
        lanes = {"leaves": "raise SystemExit", "mute": "raise Mute", "copy": "y = x.clone()"}
        made = race(lanes, sizes=[2], engine=tinytorch, rounds=2, seconds=30).run()
        assert made.ended == "finished"
        errors = {timing.method: timing.error for timing in made.results}
        assert errors["leaves"] == "SystemExit"
        assert errors["mute"].startswith("Mute: <the message of this exception")
        assert not errors["copy"]

    def test_what_did_not_come_to_an_end_raised_no_error(self) -> None:
        lanes = {"endless": "while True: pass", "raises": "y = 1 / 0", "copy": "y = x.clone()"}
        made = race(lanes, sizes=[2], engine=tinytorch, rounds=30, seconds=1).run()
        assert made.ended == "time"
        endless = next(timing for timing in made.results if timing.method == "endless")
        assert (endless.samples, endless.error) == ((), "")
        assert "endless raises" not in made.report


class TestTensors:
    """Tensors of PyTorch that have no plain numbers: what they are is said, and the way out."""

    # Some of these are on their way out of PyTorch.
    @pytest.mark.torch
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_what_has_no_stand_in(self) -> None:
        torch: Any = pytest.importorskip("torch")
        parts = [torch.ones(2), torch.ones(3)]
        cases = {
            "its layout is sparse_coo; x.to_dense()": torch.eye(3).to_sparse(),
            "it is nested; x.unbind()": torch.nested.nested_tensor(parts, layout=torch.jagged),
            "a meta tensor has no values": torch.ones(3, device="meta"),
            "it is quantised (qint8); x.dequantize()": torch.quantize_per_tensor(
                torch.ones(3), 0.1, 0, torch.qint8
            ),
            "try x.to(torch.float32)": torch.ones(3).to(torch.float8_e4m3fn),
            "try x.to(torch.int64)": torch.ones(3).to(torch.uint16),
            "try x.to(torch.complex64)": torch.ones(3, dtype=torch.complex32),
        }
        for said, tensor in cases.items():
            for make in (CopyLab, lambda x: compare("clone", source=x)):
                with pytest.raises(ValueError) as caught:  # noqa: PT011  # the words are compared below
                    make(tensor)
                assert said in str(caught.value)

    @pytest.mark.torch
    def test_in_what_a_stand_in_differs(self) -> None:
        torch: Any = pytest.importorskip("torch")

        class Mine(torch.Tensor):
            pass

        with torch.inference_mode():
            inferred = torch.ones(2)
        twisted = torch.ones(2, dtype=torch.complex64).conj()
        assert "a plain tensor and no Mine" in Source.of(torch.ones(2).as_subclass(Mine)).note
        assert "not an inference tensor" in Source.of(inferred).note
        assert "turns a sign" in Source.of(twisted).note
        assert Source.of(torch.nn.Parameter(torch.ones(2))).note == ""

    def test_a_large_tensor_over_one_place_stays_over_one_place(self, engine: ModuleType) -> None:
        large = engine.ones(1).expand(1000, 1000)
        source = Source.of(large)
        assert source.overlaps
        assert source.make(engine).stride() == (0, 0)
        rows = Source.of(engine.arange(1000.0).expand(1000, 1000)).make(engine)
        assert rows.stride() == (0, 1)
        assert rows.tolist()[0] == rows.tolist()[1]


def anything(t: Any) -> None:
    """Checks nothing."""
    del t


class TestTeachers:
    """What those who write exercises get wrong is said, and what they are used to works."""

    @pytest.mark.parametrize(
        ("check", "given", "verdict"),
        [
            (lambda t: (t == 1).all(), "t = torch.ones(2)", "Right: "),
            (
                lambda t: (t == 1).all(),
                "t = torch.zeros(2)",
                "Not yet: this is not what was asked for.",
            ),
            (lambda t: np.bool_(t.sum() == 2), "t = torch.ones(2)", "Right: "),
            (lambda t: t == 1, "t = torch.ones(2)", "Not yet: looking at it raises "),
        ],
    )
    def test_what_a_check_may_return(
        self, engine: ModuleType, check: Any, given: str, verdict: str
    ) -> None:
        part = exercise("t/check", "do", check, solution=given, engine=engine)
        names: dict[str, Any] = {"torch": engine}
        exec(given, names)
        assert str(part.check(names)).startswith(verdict)

    def test_a_check_may_assert(self) -> None:
        def asserts(t: Any) -> None:
            if t <= 0:
                raise AssertionError
            assert t == 1, f"t is {t}, not 1."

        part = exercise("t/assert", "do", asserts, solution="t = 1")
        assert str(part.check({"t": 2})) == "Not yet: t is 2, not 1."
        assert str(part.check({"t": 0})) == "Not yet: this is not what was asked for."
        assert part.check({"t": 1})
        assert part.verify()

    def test_a_solution_that_raises_is_found(self, engine: ModuleType) -> None:
        part = exercise("t/raises", "do", anything, solution="t = 1 / 0", engine=engine)
        assert "FAULT: 't = 1 / 0' raises ZeroDivisionError: division by zero" in str(part.verify())
        begun = exercise("t/raises", "do", anything, start="t = y", solution="t = 1", engine=engine)
        assert "FAULT: 't = y' raises NameError: name 'y' is not defined" in str(begun.verify())

    def test_one_hint_is_a_hint(self) -> None:
        part = exercise("t/hint", "do", anything, hints="Look.", solution="t = 1", also="t = 2")
        assert (part.hints, part.also) == (("Look.",), ("t = 2",))

    def test_what_is_no_definition(self) -> None:
        with pytest.raises(TypeError, match=r"wrong a dict"):
            exercise("t/wrong", "do", anything, solution="t = 1", wrong=["t = 2"])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="code must be a string of Python, not function"):
            predict(lambda: None)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"copylab\.looks has functions of the same names"):
            predict("x = torch.ones(1)\ny = x", [True])  # type: ignore[list-item]
