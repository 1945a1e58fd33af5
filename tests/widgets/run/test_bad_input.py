"""Code that goes wrong is stepped all the same, on both engines: it is said what happened, and nothing is lost."""

import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from copylab import Steps, steps
from copylab.run import surroundings

import tinytorch

# Most wait for a time limit, with either engine: the short runs leave them out.
pytestmark = pytest.mark.slow


def run(engine: ModuleType, code: str, seconds: float = 1.0) -> Steps:
    """Step the code after a line that makes a tensor, and check that this line's step is always there."""
    begun = time.monotonic()
    made = steps(f"kept = torch.ones(2)\n{code}", engine=engine, seconds=seconds)
    assert time.monotonic() - begun < seconds + 10
    assert made[0].changes == ("kept is a new tensor with a storage of its own.",)
    assert "storage of kept alone" in made.text
    assert len(made.html) < 2_000_000
    return made


def test_syntax(engine: ModuleType) -> None:
    made = steps("kept = torch.ones(2)\nkept += = 1", engine=engine)
    assert (made.ended, made[0].line) == ("syntax", 2)
    assert "nothing was run" in made.text


@pytest.mark.parametrize(
    ("code", "ended", "said"),
    [
        ("while True:\n    kept += 1", "steps", "An endless loop?"),
        ("while True:\n    pass", "steps", "An endless loop?"),
        ("def f():\n    f()\nf()", "steps", "that is the limit (max_steps=200)"),
        ("import time\ntime.sleep(60)", "time", "the time is up (seconds=1)"),
        ("[0 for _ in iter(int, 1)]", "time", "the time is up (seconds=1)"),
        (
            "while 1:\n    try:\n        [0 for _ in iter(int, 1)]\n    except BaseException:\n        pass",
            "time",
            "the time",
        ),
        ("import threading\nthreading.Event().wait()", "time", "the time is up"),
    ],
)
def test_endless(engine: ModuleType, code: str, ended: str, said: str) -> None:
    made = run(engine, code, 1 if ended == "time" else 30)
    assert made.ended == ended
    assert said in made.end


def import_slowly(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> Steps:
    """Step a program whose import takes longer than it may run."""
    (folder / "slow_to_import.py").write_text(body, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "slow_to_import", raising=False)
    made = steps("import slow_to_import\ndone = True", engine=tinytorch, seconds=0.3)
    assert made.ended == "time"
    return made


def test_no_module_is_left_half_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    body = "import time\nfor _ in range(10):\n    time.sleep(0.1)\nwhole = True"
    import_slowly(monkeypatch, tmp_path, body)
    assert sys.modules["slow_to_import"].whole


def test_an_import_that_never_ends_is_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(surroundings, "_SECONDS_FOR_IMPORTS", 0.5)
    begun = time.monotonic()
    import_slowly(monkeypatch, tmp_path, "while True:\n    pass")
    assert time.monotonic() - begun < 10
    assert "slow_to_import" not in sys.modules


def test_endless_recursion_that_is_not_stepped_into(engine: ModuleType) -> None:
    made = steps("def f():\n    f()\nf()", engine=engine, into=False)
    assert str(made[-1].error).startswith("RecursionError: maximum recursion depth exceeded")


@pytest.mark.parametrize(
    "code", ["print('x' * 10**8)", "for i in range(60):\n    print('y' * 10**5)", "'z' * 10**8"]
)
def test_huge_outputs(engine: ModuleType, code: str) -> None:
    made = run(engine, code, 10)
    assert "more characters, not shown" in made.text
    assert len(made.text) < 300_000


def test_input(engine: ModuleType) -> None:
    made = run(engine, "answer = input('your name? ')")
    sentence = "input() cannot be answered while the code is stepped: write the answer into the code instead"
    assert made[-1].error == f"RuntimeError: {sentence}"


def test_threads(engine: ModuleType) -> None:
    code = """
import threading
def work():
    kept.add_(1)
    print("from the thread")
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    made = run(engine, code, 10)
    assert "from the thread" in made.text
    assert "The code started 1 thread: threads are not stepped" in made.end
    assert any("The values of kept changed." in frame.changes for frame in made)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (
            "raise ValueError('</pre><script>alert(1)</script>')",
            "ValueError: </pre><script>alert(1)</script>",
        ),
        ("raise ValueError('\\x1b[31mred\\x1b[0m \\u202etxt')", "ValueError: red \\u202etxt"),
        ("raise type('<b>', (Exception,), {})('x' * 10**7)", "<b>: xxx"),
        (
            "class E(Exception):\n    def __str__(self):\n        raise SystemExit\nraise E",
            "E: <the message",
        ),
        ("class E(Exception):\n    __str__ = None\nraise E", "E: <the message"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        (
            "raise ExceptionGroup('several', [ValueError('a'), KeyError('b')])",
            "ExceptionGroup: several (2 sub-exceptions)",
        ),
        ("import sys\nsys.exit('bye')", "SystemExit: bye"),
        ("quit()", "SystemExit"),
    ],
)
def test_hostile_exceptions(engine: ModuleType, code: str, shown: str) -> None:
    made = run(engine, code, 5)
    assert made.ended == "error"
    assert str(made[-1].error).startswith(shown)
    assert len(str(made[-1].error)) < 5000
    assert "<script>alert" not in made.html
    assert "\u202e" not in made.text + made.html


@pytest.mark.parametrize(
    "code",
    [
        "class T:\n    def __repr__(self):\n        raise ValueError('no repr')\nT()",
        "class T:\n    def __getattr__(self, name):\n        raise RuntimeError\nt = T()",
        "import sys\nsys.stdout = None\nprint(1)",
        "import sys\nsys.stdout.close()\nprint(1)",
        "import builtins\nbuiltins.print = None",
        "globals().clear()",
        "del torch",
        "import gc\ngc.disable()\ngc.enable()",
        "import warnings\nwarnings.simplefilter('error')\nwarnings.warn('w')",
        "import sys\nsys.settrace(None)\nsys.setrecursionlimit(200)\nsys.setrecursionlimit(3000)",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)",
    ],
)
def test_whatever_else_it_does(
    engine: ModuleType, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import builtins

    monkeypatch.setattr(builtins, "print", print)  # put back what the code takes away
    made = run(engine, code, 5)
    assert made.ended in ("finished", "error")
    assert made.html
    assert steps("a = 1", engine=engine).ended == "finished"
