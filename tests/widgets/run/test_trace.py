"""Running a program line by line: which steps there are, what they print, how a run ends, what it leaves alone."""

import io
import signal
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from copylab.run.functions import program_from_function
from copylab.run.program import FILENAME, dedent_code
from copylab.run.run import Limits, RecordedRun
from interrupts import interrupt_at

ENGINE = types.ModuleType("some_engine")


def look(names: Mapping[str, Any]) -> dict[str, Any]:
    """What these tests see of a step: the plain variables."""
    return {
        name: value
        for name, value in names.items()
        if isinstance(value, int | str | float | None | list)
    }


def trace(
    code: str,
    namespace: Mapping[str, Any] | None = None,
    *,
    max_steps: int = 200,
    seconds: float = 20,
) -> RecordedRun:
    return RecordedRun(
        code, ENGINE, look, names=dict(namespace or {}), limits=Limits(max_steps, seconds)
    )


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> RecordedRun:
    return RecordedRun(program_from_function(function, args, kwargs), ENGINE, look)


def lines(made: RecordedRun) -> list[tuple[str, int]]:
    return [(step.kind, step.site.line) for step in made.steps]


def printed(made: RecordedRun) -> str:
    return "".join(text for step in made.steps for _, text in step.output)


class TestSteps:
    def test_every_statement_is_a_step(self) -> None:
        made = trace("a = 1\nb = a + 1; c = b\n\n# a comment\nd = (a,\n     b)\n")
        assert [step.site.source for step in made.steps] == [
            "a = 1",
            "b = a + 1",
            "c = b",
            "d = (a,\n     b)",
        ]
        assert [(step.site.line, step.site.end_line) for step in made.steps] == [
            (1, 1),
            (2, 2),
            (2, 2),
            (5, 6),
        ]
        assert made.steps[1].observation == {"a": 1, "b": 2}
        assert made.ended == "finished"

    def test_a_step_shows_what_is_there_after_its_line(self) -> None:
        made = trace("a = 1\na = 2\ndel a\n")
        assert [step.observation for step in made.steps] == [{"a": 1}, {"a": 2}, {}]

    def test_loops_show_each_turn_and_their_end(self) -> None:
        made = trace("for i in range(2):\n    a = i\nelse:\n    b = 9\nc = 1\n")
        assert lines(made) == [
            ("branch", 1), ("ran", 2), ("branch", 1), ("ran", 2), ("branch", 1), ("ran", 4), ("ran", 5),
        ]  # fmt: skip
        assert [step.observation.get("i") for step in made.steps[:3]] == [0, 0, 1]

    def test_while_shows_each_test(self) -> None:
        made = trace("n = 2\nwhile n:\n    n -= 1\n")
        assert lines(made) == [
            ("ran", 1), ("branch", 2), ("ran", 3), ("branch", 2), ("ran", 3), ("branch", 2),
        ]  # fmt: skip

    def test_break_continue_and_if(self) -> None:
        made = trace(
            "for i in range(9):\n    if i == 1:\n        break\n    elif i == 0:\n        continue\n"
        )
        assert [line for _, line in lines(made)] == [1, 2, 4, 5, 1, 2, 3]

    def test_a_call_goes_into_the_function_and_comes_back(self) -> None:
        made = trace('def f(t):\n    """Doc."""\n    u = t + 1\n    return u\ny = f(1)\n')
        assert lines(made) == [("ran", 1), ("call", 5), ("ran", 3), ("return", 4), ("back", 5)]
        assert made.steps[1].observation == {"t in f": 1}
        assert made.steps[3].observation == {"t in f": 1, "u in f": 2, "f()": 2}
        assert made.steps[4].observation == {"y": 2}

    def test_recursion_keeps_the_calls_apart(self) -> None:
        made = trace("def f(n):\n    if n:\n        f(n - 1)\nf(1)\n")
        assert {"n in f": 1, "n in f (call 2)": 0} in [step.observation for step in made.steps]

    def test_methods_generators_and_comprehensions(self) -> None:
        made = trace(
            "class A:\n    z = 1\n    def m(self):\n        return 3\n"
            "def g():\n    yield 1\n    yield 2\n"
            "b = [A().m() for _ in range(2)]\nc = list(g())\n"
        )
        assert made.ended == "finished"
        assert made.steps[-1].observation == {"b": [3, 3], "c": [1, 2]}
        assert lines(made)[:5] == [
            ("ran", 1),
            ("ran", 5),
            ("call", 8),
            ("return", 4),
            ("return", 4),
        ]

    def test_with_try_match_and_async(self) -> None:
        code = """
from __future__ import annotations
import contextlib
with contextlib.suppress(ValueError):
    a = 1
    raise ValueError("gone")
try:
    a = 2
finally:
    b = 3
match a:
    case 2:
        c = 4
    case _:
        c = 5
async def f():
    return
"""
        made = trace(dedent_code(code))
        assert made.ended == "finished"
        assert made.steps[-1].observation == {"a": 2, "b": 3, "c": 4}
        assert [line for _, line in lines(made)] == [2, 3, 4, 5, 7, 9, 10, 12, 15]

    def test_functions_and_what_they_close_over(self) -> None:
        total = 10

        def outer() -> Callable[[int], int]:
            count = 1

            def inner(step: int, *, times: int = 2) -> int:
                nonlocal count
                count += step * times
                return count + total

            return inner

        inner = outer()
        made = call(inner, 3)
        assert made.steps[0].observation["count"] == 7
        assert made.steps[-1].output == (("value", "17"),)
        assert inner(0) == 11, "the user's own cell is as it was"

    def test_defaults_are_not_computed_again(self) -> None:
        computed: list[int] = []

        def default() -> int:
            computed.append(1)
            return 5

        def function(a: int, b: int = default(), *, c: "Gone" = default()) -> int:  # type: ignore[name-defined]  # noqa: B008, F821
            return a + b + int(c)

        made = call(function, 1)
        assert made.steps[-1].output == (("value", "11"),)
        assert len(computed) == 2

    def test_a_method_with_super(self) -> None:
        class Base:
            def value(self) -> int:
                return 1

        class Derived(Base):
            def value(self) -> int:
                found = super().value()
                return found + 1

        made = call(Derived().value)
        assert [step.kind for step in made.steps] == ["call", "return", "back", "return"]
        assert made.steps[-1].output == (("value", "2"),)

    @pytest.mark.parametrize("wrong", [lambda: 1, len, 3, "x".join, type])
    def test_what_cannot_be_stepped_is_said(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match=r"steps\(\)"):
            program_from_function(wrong, (), {})

    def test_a_generator_cannot_be_stepped(self) -> None:
        def numbers() -> Any:
            yield 1

        with pytest.raises(TypeError, match="generator"):
            program_from_function(numbers, (), {})


class TestOutput:
    def test_print_warning_and_last_value(self) -> None:
        made = trace(
            "import warnings, sys\nprint('a')\nwarnings.warn('w <b>')\nprint('e', file=sys.stderr)\n'last'\n"
        )
        assert [step.output for step in made.steps] == [
            (),
            (("out", "a\n"),),
            (("warning", "UserWarning: w <b>"),),
            (("err", "e\n"),),
            (("value", "'last'"),),
        ]

    @pytest.mark.parametrize("code", ["1;", "None", "a = 1", "if True:\n    1", "1\na = 2"])
    def test_no_value_where_a_notebook_shows_none(self, code: str) -> None:
        assert printed(trace(code)) == ""

    def test_a_long_output_is_cut_and_says_so(self) -> None:
        made = trace("print('x' * 10_000_000)\nprint('y')\n")
        text = printed(made)
        assert len(text) < 5000
        assert "9,996,001 more characters, not shown" in text
        assert made.steps[1].output == (("out", "y\n"),)

    def test_many_outputs_are_cut_in_all(self) -> None:
        made = trace("for i in range(90):\n    print('z' * 5000)\n")
        assert len(printed(made)) < 120_000

    def test_addresses_and_control_characters_do_not_show(self) -> None:
        assert (
            printed(trace("print(object(), '\\x1b[31mred\\x1b[0m\\x00')"))
            == "<object object at 0x...> red\n"
        )

    def test_a_lone_string_is_a_value(self) -> None:
        assert printed(trace("'only'")) == "'only'"

    def test_input_and_breakpoint_explain_themselves(self) -> None:
        for code in ("name = input('?')", "breakpoint()"):
            made = trace(code)
            assert made.ended == "error"
            assert "stepped" in str(made.steps[0].error)


class TestErrors:
    def test_an_error_stands_at_its_line(self) -> None:
        made = trace("a = 1\nb = a / 0\nc = 2\n")
        assert made.ended == "error"
        assert made.steps[-1].kind == "error"
        assert made.steps[-1].site.line == 2
        assert made.steps[-1].error == "ZeroDivisionError: division by zero"

    def test_an_error_in_a_function_stands_at_the_innermost_line(self) -> None:
        made = trace("def f():\n    x = 1\n    raise KeyError(x)\nf()\n")
        assert lines(made)[-1] == ("error", 3)
        assert made.steps[-1].observation == {"x in f": 1}

    def test_an_error_between_two_lines(self) -> None:
        made = trace(
            "def g():\n    yield 1\n    raise ValueError('late')\nclass A: pass\nfor i in g():\n    a = i\n"
        )
        assert (made.steps[-1].error, made.steps[-1].site.line) == ("ValueError: late", 3)
        made = trace(
            "class C:\n    def __exit__(self, *_): raise OSError('out')\n    def __enter__(self): 0\n"
            "with C():\n    a = 1\n"
        )
        assert made.steps[-1].error == "OSError: out"

    def test_a_caught_error_is_shown_and_the_run_goes_on(self) -> None:
        made = trace("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    a = str(e)\nb = 2\n")
        assert lines(made) == [("error", 2), ("branch", 3), ("ran", 4), ("ran", 5)]
        assert made.steps[0].caught
        assert made.ended == "finished"

    def test_hostile_exceptions(self) -> None:
        made = trace("class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E\n")
        assert made.steps[-1].error == "E: <the message of this exception could not be read>"
        made = trace(
            "raise type('<script>', (Exception,), {})('</pre><img onerror=x>' + 'y' * 10**6)"
        )
        assert str(made.steps[-1].error).startswith("<script>: </pre>")
        assert len(str(made.steps[-1].error)) < 5000

    @pytest.mark.parametrize(
        ("code", "error"),
        [
            ("raise SystemExit(3)", "SystemExit: 3"),
            ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ],
    )
    def test_what_ends_a_program_does_not_end_us(self, code: str, error: str) -> None:
        made = trace(code)
        assert (made.ended, made.steps[-1].error) == ("error", error)

    @pytest.mark.parametrize(
        ("code", "line", "caret"),
        [
            ("a = 1\nb = = 2\n", 2, "b = = 2\n    ^\n"),
            ("def f(:\n", 1, "^"),
            ("return 1", 1, "outside function"),
            ("\tx = (", 1, ""),
        ],
    )
    def test_a_syntax_error_stands_at_its_line_with_a_caret(
        self, code: str, line: int, caret: str
    ) -> None:
        made = trace(code)
        assert made.ended == "syntax"
        step = made.steps[0]
        assert (step.kind, step.site.line) == ("syntax", line)
        assert caret in str(step.error)
        assert "SyntaxError" in str(step.error) or "IndentationError" in str(step.error)

    def test_empty_code(self) -> None:
        for code in ("", "\n\n", "# only a comment"):
            made = trace(code)
            assert (made.steps, made.ended) == ((), "finished")


class TestLimits:
    def test_an_endless_loop_stops_at_the_step_limit(self) -> None:
        made = trace("n = 0\nwhile True:\n    n += 1\n", max_steps=7)
        assert (len(made.steps), made.ended) == (7, "steps")

    def test_exactly_enough_steps(self) -> None:
        assert trace("a = 1\nb = 2\n", max_steps=2).ended == "finished"

    @pytest.mark.parametrize(
        "code",
        [
            "while True:\n    try:\n        pass\n    except:\n        pass",
            "while True:\n    try:\n        raise ValueError\n    except BaseException:\n        continue",
            "def f():\n    f()\nf()",
        ],
    )
    def test_nothing_holds_up_the_limit(self, code: str) -> None:
        assert trace(code, max_steps=20).ended == "steps"

    @pytest.mark.parametrize(
        "code",
        [
            "import time\ntime.sleep(60)",
            "[0 for _ in iter(int, 1)]",
            "import time\ntry:\n    time.sleep(60)\nexcept BaseException:\n    time.sleep(60)",
        ],
    )
    def test_the_time_limit_stops_a_line(self, code: str) -> None:
        start = time.monotonic()
        made = trace(code, seconds=0.2)
        assert made.ended == "time"
        assert time.monotonic() - start < 5
        assert made.steps[-1].kind in ("stopped", "branch")

    def test_the_time_limit_between_steps_in_another_thread(self) -> None:
        found: list[RecordedRun] = []
        code = "import time\nwhile True:\n    time.sleep(0.05)\n"
        worker = threading.Thread(target=lambda: found.append(trace(code, seconds=0.2)))
        worker.start()
        worker.join(10)
        assert found[0].ended == "time"

    @pytest.mark.parametrize(
        "code",
        [
            "a = 1\nimport time\ntime.sleep(60)",
            "a = 1\nwhile True:\n    try:\n        [0 for _ in iter(int, 1)]\n    except BaseException:\n        pass",
        ],
    )
    def test_an_interrupt_keeps_the_steps_so_far(self, code: str) -> None:
        interrupt_at(FILENAME, code.count("\n", 0, code.rindex("(")) + 1)
        made = trace(code)
        assert made.ended == "interrupted"
        assert made.steps[0].observation == {"a": 1}

    def test_an_interrupt_while_looking_waits_for_the_look(self) -> None:
        looks: list[int] = []

        def slow(names: Mapping[str, Any]) -> None:
            signal.raise_signal(signal.SIGINT) if len(names) == 1 else None
            looks.append(len(names))

        made = RecordedRun("a = 1\nb = 2\n", ENGINE, slow)
        assert made.ended == "interrupted"
        assert len(looks) >= 2


class TestNothingElseChanges:
    def test_the_users_names(self) -> None:
        mine = {"x": 1, "y": [1], "__name__": "mine"}
        trace("x = 5\nz = 1\ny.append(2)\n", mine)
        assert mine == {"x": 1, "y": [1, 2], "__name__": "mine"}

    def test_only_names_that_the_code_mentions_are_looked_at(self) -> None:
        made = trace("b = a\nglobals()['<c>'] = 3\n", {"a": 1, "other": 2})
        assert made.before == {"a": 1}
        assert made.steps[-1].observation == {"a": 1, "b": 1, "<c>": 3}

    def test_the_marks_do_not_show(self) -> None:
        made = trace("g = sorted(globals())\nl = [n for n in locals() if 'copylab' in n]\n")
        assert made.steps[-1].observation["g"] == ["__builtins__", "__name__", "torch"]
        assert made.steps[-1].observation["l"] == []

    def test_streams_filters_tracers_and_handlers(self) -> None:
        def tracer(*_: Any) -> None:
            return None

        out, err, handler, filters = (
            sys.stdout,
            sys.stderr,
            signal.getsignal(signal.SIGINT),
            list(warnings.filters),
        )
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            for code in ("print(1)", "1 / 0", "while True: pass", "b = = 1"):
                trace(code, max_steps=9)
                assert sys.gettrace() is tracer
        finally:
            sys.settrace(before)
        assert (sys.stdout, sys.stderr, signal.getsignal(signal.SIGINT)) == (out, err, handler)
        assert list(warnings.filters) == filters

    def test_prints_of_a_thread_that_was_there_before(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        screen = io.StringIO()
        monkeypatch.setattr(sys, "stdout", screen)
        go, done = threading.Event(), threading.Event()

        def work() -> None:
            go.wait(10)
            print("from before")
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        made = trace("go.set()\ndone.wait(10)\nprint('mine')\n", {"go": go, "done": done})
        thread.join(10)
        assert screen.getvalue() == "from before\n"
        assert printed(made) == "mine\n"

    def test_threads_of_the_program_are_not_stepped_but_heard(self) -> None:
        code = "import threading\ndef f():\n    a = 1\n    print(a)\nt = threading.Thread(target=f)\nt.start()\nt.join()\n"
        made = trace(code)
        assert [line for _, line in lines(made)] == [1, 2, 5, 6, 7]
        assert printed(made) == "1\n"

    def test_a_function_that_outlives_the_run_works(self) -> None:
        kept: list[Callable[[], int]] = []
        made = trace("def f():\n    a = 2\n    return a\nkept.append(f)\n", {"kept": kept})
        assert kept[0]() == 2
        assert len(made.steps) == 2

    def test_nothing_is_kept_alive(self) -> None:
        import gc
        import weakref

        class Thing:
            pass

        found: list[weakref.ref[Thing]] = []
        trace(
            "def f():\n    t = Thing()\n    found.append(weakref.ref(t))\n    raise ValueError\nf()\n",
            {"Thing": Thing, "found": found, "weakref": weakref},
        )
        gc.collect()
        assert found[0]() is None


class TestEngine:
    def test_the_engine_is_torch(self) -> None:
        made = trace("import torch as t\nsame = str(t is torch)\nname = torch.__name__\n")
        assert made.steps[-1].observation == {"same": "True", "name": "some_engine"}

    def test_submodules_come_from_the_engine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        nn = types.ModuleType("some_engine.nn")
        nn.Linear = 7  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "some_engine", ENGINE)
        monkeypatch.setitem(sys.modules, "some_engine.nn", nn)
        monkeypatch.setattr(ENGINE, "nn", nn, raising=False)
        made = trace(
            "import torch.nn as nn\nfrom torch.nn import Linear\nimport torch.nn\na = torch.nn.Linear\n"
        )
        assert made.steps[-1].observation == {"Linear": 7, "a": 7}
