"""`copylab watch` over several processes: ranks, their one page, and what a program forks."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from copylab import check_gradients
from copylab.ranks import Rank, find_rank
from copylab.watching import processes, program, watch

import tinytorch

RANKS = """
import os, time, tinytorch
rank = int(os.environ["RANK"])
while rank and not os.path.exists("begun"):
    time.sleep(0.05)  # ranks meet before they train
open("begun", "w").close()
x = tinytorch.ones(2, requires_grad=True)
y = x.exp()
if rank:
    y.data.mul_(2)
y.sum().backward()
if not rank:
    time.sleep(1)  # rank 1 has ended by then
    open("model", "w").write("whole")
"""
FORKS = """
import os, tinytorch
x = tinytorch.ones(2, requires_grad=True)
y = x.exp()
if leaving := os.fork():
    ending = os.fork()
if not (leaving and ending):
    y.data.mul_(2)
y.sum().backward()
if not leaving:
    os._exit(0)  # as a worker of a DataLoader ends
if ending:
    print("parent", os.waitpid(leaving, 0)[1], os.waitpid(ending, 0)[1])
"""


def start(folder: Path, source: str, **environment: str) -> subprocess.Popen[str]:
    (folder / "train.py").write_text(source, "utf-8")
    return subprocess.Popen(
        [sys.executable, "-m", "copylab", "watch", "--report", "page.html", "train.py"],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ranks_write_one_page_and_do_not_cut_each_other_off(tmp_path: Path) -> None:
    ranks = [start(tmp_path, RANKS, RANK=rank, WORLD_SIZE="2") for rank in "01"]
    # As a launcher does, which stops all ranks when one fails.
    ranks[1].wait()
    assert (tmp_path / "model").read_text() == "whole"
    errors = [rank.communicate()[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 1], errors
    assert "copylab watch: rank 0: Backward has read 1 saved tensor" in errors[0]
    assert "copylab watch: rank 1: " in errors[1]
    assert "\n  rank     1 of 2\n" in errors[1]
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Found by rank 1:" in page
    assert "train.py:10  y.data.mul_(2)" in page
    assert "<strong>rank 0</strong>: Backward has read 1 saved tensor" in page
    names = ["begun", "model", "page.html", "train.py"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_what_a_forked_child_finds_is_reported_by_its_parent(tmp_path: Path) -> None:
    parent = start(tmp_path, FORKS)
    printed, error = parent.communicate()
    assert parent.returncode == 1, error
    assert printed == "parent 0 0\n"
    assert error.startswith("copylab watch: Backward has read 1 saved tensor")
    found = re.findall(
        r"^copylab watch: Found by process \d+ and process \d+:\n  y ", error, re.MULTILINE
    )
    assert len(found) == 1, error
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("Found by process ") == 1
    assert "train.py:8  y.data.mul_(2)" in page
    assert "Backward has read 1 saved tensor under this watch; it was as it was saved." in page


def find_something(watched: Any) -> None:
    x = tinytorch.ones(2, requires_grad=True)
    with watched:
        y = x.exp()
        y.data.mul_(2)
        y.sum().backward()


def test_a_rank_that_is_killed_has_left_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    page = tmp_path / "page.html"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for rank, process in (("1", gone.pid), ("0", os.getpid())):
        monkeypatch.setenv("RANK", rank)
        with monkeypatch.context() as patched:
            patched.setattr(os, "getpid", lambda process=process: process)
            watched = watch(silent="record")
            last = processes.RunReports(watched, str(page), "copylab watch: <b>.py")
            find_something(watched)
    # What a larger run before has left does not belong to this one.
    (last.folder / "rank-7.json").write_bytes((last.folder / "rank-0.json").read_bytes())
    (last.folder / "rank-2.json").write_text("[1, 2]", "utf-8")
    last.write(processes.ENDED)
    last.wait_for_other_ranks()
    text = page.read_text("utf-8")
    assert "<title>copylab watch: &lt;b&gt;.py</title>" in text
    assert "Found by rank 0 and rank 1:" in text
    assert text.count("y.data.mul_(2)") == 1
    assert "<strong>rank 1</strong>: 1 finding. It had not come to its end" in text
    assert "<strong>rank 0</strong>: 1 finding.</p>" in text
    assert "Nothing is known here about 1 rank" in text
    last.close()
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_rank_is_known_without_asking_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_rank() is None
    for rank, size, expected in (
        ("1", "2", Rank(1, 2)),
        ("0", "1", None),
        ("one", "2", None),
        ("2", "2", None),
    ):
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("WORLD_SIZE", size)
        assert find_rank() == expected


def test_a_gradient_of_several_ranks_is_not_called_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    p = tinytorch.ones(2, requires_grad=True)
    p.register_hook(lambda gradient: gradient / 2)  # as an average over two ranks
    calls = []

    def step(scale: float = 1.0) -> Any:
        calls.append(scale)
        return (p * p).sum() * scale

    assert not check_gradients(step, p)
    (alone,) = check_gradients(step, p).slopes
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    check = check_gradients(step, p)
    assert (alone.verdict, check.slopes[0].verdict) == ("differs", "several processes")
    assert "averaged over processes is not the slope" in check.text
    # Nor is it called right: here, as where two ranks have equal data, the average is one's own.
    q = tinytorch.ones(2, requires_grad=True)
    check = check_gradients(lambda: tinytorch.dot(q, q), q)
    assert check.slopes[0].verdict == "several processes"
    assert not check
    # One rank must not leave a step out that the others wait in.
    del calls[:]
    (slope,) = check_gradients(lambda: step(float("nan")), p).slopes
    assert slope.verdict == "not finite"
    assert len(calls) == 7


def test_a_launcher_gets_a_watch_before_its_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch.distributed.run")
    ran: list[Any] = []

    def run(launcher: str, arguments: list[str], *, is_module: bool) -> int:
        assert is_module
        assert launcher not in sys.modules  # runpy would warn of "unpredictable behaviour"
        ran.append((launcher, arguments))
        return 0

    monkeypatch.setattr(program, "_run_as_main", run)
    options = ["--nproc-per-node", "2", "--standalone"]
    program.run_watched("torchrun", [*options, "train.py", "--epochs", "1"], report="page.html")
    launcher = "torch.distributed.run"
    watched = ["-m", "copylab", "watch", "--report", "page.html", "train.py", "--epochs", "1"]
    assert ran.pop() == (launcher, [*options, *watched])
    program.run_watched(launcher, [*options, "-m", "package.train"], is_module=True)
    assert ran.pop() == (launcher, [*options, "-m", "copylab", "watch", "-m", "package.train"])
    assert program.run_watched("torchrun", ["--no-python", "train.sh"]) == 2
    assert "only Python programs are watched" in capsys.readouterr().err
    assert ran == []


@pytest.mark.stress
@pytest.mark.parametrize("ranks", [2, 4])
def test_training_over_ranks_is_as_without_a_watch(tmp_path: Path, ranks: int) -> None:
    pytest.importorskip("torch.distributed.run")
    launcher = ["torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    file = Path(__file__).with_name("ranks_program.py")
    command = [sys.executable, "-m", *launcher, str(file), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    for rank in range(ranks):
        facts = json.loads((tmp_path / f"{rank}.json").read_text("utf-8"))
        ways = {
            way: fact for way, fact in facts.items() if isinstance(fact, list) and fact[0] is True
        }
        assert len(ways) == 10, facts
        assert set(map(tuple, ways.values())) == {(True, 0, True)}, facts
        assert facts.get("looks", 0) == (10 if rank == 0 else 0)
        assert facts["check ddp"] == facts["check dtensor"] == ["several processes"]
        assert not facts["growth"]
        assert facts["gathered"]
        layer = "other.weight" if rank else "out.weight"
        assert facts["own"] == [layer, f"rank     {rank} of {ranks}"]


@pytest.mark.stress
def test_the_launcher_is_watched(tmp_path: Path) -> None:
    pytest.importorskip("torch.distributed.run")
    (tmp_path / "train.py").write_text(RANKS.replace("tinytorch", "torch"), "utf-8")
    command = [sys.executable, "-m", "copylab", "watch", "--report", "page.html", "torchrun"]
    ran = subprocess.run(
        [*command, "--standalone", "--nproc-per-node", "2", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 1
    assert "\n  rank     1 of 2\n" in ran.stderr
    assert (tmp_path / "model").read_text() == "whole"
    assert "Found by rank 1:" in (tmp_path / "page.html").read_text("utf-8")
    assert not (tmp_path / "page.html.ranks").exists()
