"""Code in a process of its own: the same steps, and whatever the code does, those so far and a sentence."""

import os
import re
import threading
import time
from pathlib import Path

import pytest
from copylab import Steps, steps

import tinytorch
from tinytorch.viz.wording import catalogue

CODE = "def f(t):\n    return t * 2\nx = torch.ones(2, requires_grad=True)\nfor k in range(2):\n    x = f(x)\nx[5]"
SWALLOWS = "x = 1\nwhile True:\n    try:\n        [0 for _ in iter(int, 1)]\n    except BaseException:\n        pass"


def isolated(code: str, seconds: float = 10.0) -> Steps:
    return steps(code, engine=tinytorch, isolated=True, seconds=seconds, max_steps=30)


@pytest.mark.parametrize("name", ["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def test_the_steps_are_the_same(name: str) -> None:
    engine = pytest.importorskip(name)
    away, here = (steps(CODE, engine=engine, isolated=one) for one in (True, False))
    assert (away.ended, away.end, away.text) == (here.ended, here.end, here.text)
    assert away.html == here.html


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        ("os._exit(3)", "3"),
        ("os.abort()", "-6"),
        (
            "os.closerange(0, 100)",
            "(1|120)",
        ),  # 120 where Python could not write what it had buffered
        (
            "[os.write(fd, b'junk' * 9) for fd in range(1, 20) if os.path.exists(f'/proc/self/fd/{fd}')]",
            "-?\\d+",
        ),
    ],
)
def test_the_code_ends_the_process(ends: str, status: str) -> None:
    made = isolated(f"import os\nx = torch.ones(2)\n{ends}\ny = 2")
    assert made.ended == "died"
    assert "x is a new tensor" in " ".join(made[1].changes)
    assert len(made._run.texts) == 1
    pattern = (
        rf"After \d steps nothing more .* \(exit status {status}\)\. The steps so far are kept\."
    )
    assert re.fullmatch(pattern, made.end)


@pytest.mark.parametrize(
    "code",
    [
        "x = 1\nimport re\nre.match('(a+)+b', 'a' * 60)",
        "x = 1\nimport signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n"
        + SWALLOWS,
        "x = 1\nimport os, time\nos.fork()\ntime.sleep(60)",
    ],
)
def test_what_nothing_else_ends_is_ended(code: str) -> None:
    began, threads = time.monotonic(), threading.active_count()
    made = isolated(code, seconds=0.3)
    assert made.ended == "time"
    assert made.end.startswith("Stopped after ")
    assert made[0].source == "x = 1"
    assert time.monotonic() - began < 30
    for _ in range(100):
        time.sleep(0.01 * (threading.active_count() > threads))
    assert threading.active_count() <= threads


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    code = f"import subprocess\np = subprocess.Popen(['sleep', '60'])\nopen({str(noted)!r}, 'w').write(str(p.pid))"
    made = isolated(code)
    assert made.ended == "finished"
    ended = Path(f"/proc/{noted.read_text()}/status")
    for _ in range(100):
        if not ended.exists() or "zombie" in ended.read_text():
            break
        time.sleep(0.05)
    else:
        pytest.fail("it still runs")


def test_nothing_reaches_the_session() -> None:
    made = isolated(
        "import os, sys\nos.environ['COPYLAB_LEFT'] = '1'\nsys.setrecursionlimit(50_000)\ntorch.manual_seed(3)"
    )
    assert "COPYLAB_LEFT" not in os.environ
    assert "environment variables: COPYLAB_LEFT" in made.end
    assert "draw" not in made.end


def test_it_speaks_the_language() -> None:
    catalogue.use_language("zh")
    there = isolated("import os\nos.environ['COPYLAB_LEFT'] = '1'").end
    assert there
    assert "The code" not in there


def test_what_cannot_go_there_is_said() -> None:
    for args in ({"namespace": {"x": 1}}, {"into": [tinytorch]}):
        with pytest.raises(TypeError, match="isolated=True is for code given as a string"):
            steps("y = 1", isolated=True, **args)
    with pytest.raises(TypeError, match="isolated=True is for code given as a string"):
        steps(isolated, isolated=True)
    with pytest.raises(ValueError, match="into names g"):
        steps("y = 1", isolated=True, into="g")
