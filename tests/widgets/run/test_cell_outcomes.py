"""How the cells of a notebook ended: by the names that they set."""

from types import SimpleNamespace
from typing import Any

import pytest
from copylab.run.cell_outcomes import CellOutcome, CellOutcomes, find_names_set


def end_cell(
    outcomes: CellOutcomes,
    source: str,
    error: BaseException | None = None,
    cell: str | None = None,
) -> None:
    info = SimpleNamespace(raw_cell=source, cell_id=cell)
    outcomes._forget_names_set_anew(info)
    before = error if isinstance(error, SyntaxError) else None
    outcomes._note_cell(
        SimpleNamespace(info=info, error_before_exec=before, error_in_exec=error or None)
    )


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x = 1\ny, (z, *w) = x, x\nv += 1", "v w x y z"),
        ("for t in (1,):\n    s = t\nwith open(s) as file: pass", "file s t"),
        ("def double(t):\n    u = t\n    return u", "double"),
        ("x.grad = 3\nh[0] = 1\nprint(y == x)\n[q for q in x]", ""),
        ("%%time\nx = 1", "x"),
        ("x = torch.tensor(6.0\ny, z = None\nw -= 1\n", "w x y z"),
        ("def double(t)\n    return t\nprint(a == b)", "double"),
        ("\0", ""),
    ],
)
def test_the_names_that_a_cell_sets(source: str, names: str) -> None:
    assert " ".join(sorted(find_names_set(source))) == names


def test_the_last_cell_that_set_all_of_them() -> None:
    outcomes = CellOutcomes()
    assert outcomes.find_last(["x", "y"]) is None
    end_cell(outcomes, "x = 1\ny = 2")
    end_cell(outcomes, "z = x\nprint(y)", ValueError())
    assert outcomes.find_last(["x", "y"]) == CellOutcome("x = 1\ny = 2", "")
    end_cell(outcomes, "x = 1\ny = (2", SyntaxError("no end"))
    assert outcomes.find_last(["x", "y"]) == CellOutcome("x = 1\ny = (2", "SyntaxError", "no end")
    end_cell(outcomes, "x = 3")
    assert outcomes.find_last(["x", "y"]) is None, "two cells: which of them is meant?"
    assert outcomes.find_last(["x"]) == CellOutcome("x = 3", "")
    end_cell(outcomes, "x = [1].clon()", AttributeError())
    assert outcomes.find_last(["x"]) == CellOutcome("x = [1].clon()", "AttributeError")
    outcomes._forget_names_set_anew(SimpleNamespace(raw_cell="x = [1].copy()\ncheck()"))
    assert outcomes.find_last(["x"]) is None, "a cell that runs still has no error yet"


def test_what_a_cell_made_is_kept_for_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    now: dict[str, Any] = {}
    shell = SimpleNamespace(events=SimpleNamespace(register=lambda *_: None), user_ns=now)
    monkeypatch.setattr("copylab.run.cell_outcomes.running_shell", lambda: shell)
    outcomes = CellOutcomes()
    outcomes.follow_shell(["x", "y"])
    for value, source, cell in (
        (1, "x = y = 1", "first"),
        (2, "x = y = z = 2", "second"),
        (3, "x = 3", "third"),
        (4, "x = y = 4", None),
    ):
        now |= {"x": value, "y": value, "z": value}
        end_cell(outcomes, source, cell=cell)
    kept = [run.variables for run in outcomes.list_runs(["x", "y"])]
    assert kept == [{"x": 1, "y": 1}, {"x": 2, "y": 2}], "and no z: nobody asks for it"
    assert not outcomes.list_runs(["z"])
    # Whoever asks for one of them gets that one, whatever others have had kept of the same cell.
    assert [run.variables for run in outcomes.list_runs(["y"])] == [{"y": 1}, {"y": 2}]
    assert not outcomes.list_names_set_apart(["x", "y"])
    end_cell(outcomes, "y = (3", SyntaxError(), cell="first")
    assert len(outcomes.list_runs(["x", "y"])) == 1, "its earlier run is no longer what it says"
    assert outcomes.list_names_set_apart(["x", "y"]) == ["y"]


def test_a_shell_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[Any] = []
    events = SimpleNamespace(register=lambda *entry: registered.append(entry))
    shell = SimpleNamespace(events=events)
    outcomes = CellOutcomes()
    for running in (None, shell, shell):
        monkeypatch.setattr(
            "copylab.run.cell_outcomes.running_shell", lambda running=running: running
        )
        outcomes.follow_shell()
    assert registered == [
        ("pre_run_cell", outcomes._forget_names_set_anew),
        ("post_run_cell", outcomes._note_cell),
    ]
