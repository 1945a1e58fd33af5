"""`print(steps(...))` and `copylab steps train.py`: what each line changed, and nothing else."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from copylab import steps
from copylab.course.command import main
from copylab.player import SECONDS, print_steps
from copylab.run import LIMITS

SPOILED = """x = torch.ones(2, requires_grad=True)
torch.is_tensor(x)
y = x.exp()
y.data.mul_(2)
y.sum().backward()
"""


def test_print_says_what_each_line_changed_and_nothing_else(engine: ModuleType) -> None:
    run = steps(SPOILED, engine=engine)
    lines = str(run).splitlines()
    assert lines[:2] == [
        "line 1: x = torch.ones(2, requires_grad=True)",
        "  x is a new tensor with a storage of its own; it is a leaf that requires grad.",
    ]
    assert not any("line 2:" in line for line in lines), "it changed nothing"
    assert "  The values of y changed." in lines
    assert lines[-1].startswith(
        "  Way out: write to a copy (y.detach().clone()); a write through y.detach()"
    )
    assert len(lines) < 14 < len(run.text.splitlines())
    assert repr(run) == "Steps(5 lines, 5 steps, ended='finished')"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "line 1: 1 / 0  (error)\nThe error on line 1 ended the run."),
        ("", "There is no statement in this code"),
        ("f(", "line 1: f(  (error)"),
    ],
)
def test_print_says_how_it_ended(code: str, said: str) -> None:
    assert str(steps(code)).startswith(said)


def test_a_file_is_stepped_as_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr("copylab.player.program.is_installed", lambda _: None)
    (tmp_path / "beside.py").write_text("n = 3\n")
    program = tmp_path / "train.py"
    program.write_text(
        "import sys, beside, torch\nx = torch.ones(beside.n)\nfor n in sys.argv[1:]:\n    x = x + int(n)\n"
    )
    page = tmp_path / "page.html"
    before = sys.argv, sys.path[:]
    assert print_steps(str(program), ["1", "2"], rounds=1, report=str(page)) == 0
    assert (sys.argv, sys.path) == before
    printed = capsys.readouterr().out
    assert "line 4: x = x + int(n)" in printed
    assert "Before this, 1 more round of the loop ran in one go." in printed
    assert printed.endswith("It ran on tinytorch, as PyTorch is not installed.\n")
    assert "</html>" in page.read_text("utf-8")
    program.write_text(SPOILED)
    assert print_steps(str(program), []) == 1
    program.write_text("1 / 0")
    assert print_steps(str(program), []) == 1
    assert print_steps(str(tmp_path / "nowhere.py"), []) == 2
    assert print_steps(str(program), [], rounds=0) == 2
    assert print_steps(str(program), [], report=str(tmp_path / "page.txt")) == 2
    assert "the name must end in .html" in capsys.readouterr().err


def test_the_limits_that_a_run_names_are_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("copylab.player.program.is_installed", lambda _: False)
    program = tmp_path / "train.py"
    program.write_text("x = torch.ones(2)\nwhile True:\n    x = x + 1\n")
    for options, status, said in (
        (["--seconds", "0.5", "--max-steps", "100000"], 0, "the time is up (seconds=0.5)"),
        (["--max-steps", "4"], 0, "that is the limit (max_steps=4)"),
        (["--seconds", "0"], 2, "must be positive"),
    ):
        monkeypatch.setattr(sys, "argv", ["copylab", "steps", *options, str(program)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == status
        assert said in "".join(capsys.readouterr())
    assert LIMITS.seconds < SECONDS, "a program imports and trains, which a cell need not"
