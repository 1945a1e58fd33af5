"""The attacks, in short: `python tests/hostile/WHICH.py --help` says how to run them at length."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from copylab.watching.watched_save import WatchedSave
from hostile import calls, leaks, length, memory, oracle

import tinytorch

pytestmark = pytest.mark.stress


@pytest.mark.parametrize(("attack", "trials"), [(calls, 2000), (memory, 5000)])
def test_attacks_that_change_the_process(attack: ModuleType, trials: int) -> None:
    """Each in a process of its own, with a limit to its memory."""
    command = [sys.executable, str(attack.__file__), "--trials", str(trials), "--seed", "1"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == f"{trials} tried, 0 failed", done.stdout + done.stderr
    assert done.returncode == 0


def test_the_attack_on_memory_sees_what_is_wrong() -> None:
    attack, guarded = memory.Attack(0), memory.Guarded(random.Random(0))
    attack.guards.append(guarded)
    attack.look()
    assert not attack.failed
    guarded.whole[memory.GUARD - 1] = 0
    attack.look()
    assert attack.failed == {"a guard was written to": 1}
    cells = np.zeros(3)
    assert not memory.outside(cells[::2])
    assert memory.outside(np.lib.stride_tricks.as_strided(cells, (4,)))


def test_an_empty_array_shows_nothing_of_what_lies_around_it() -> None:
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 0"):
        tinytorch.from_numpy(np.arange(10.0)[5:5]).as_strided((4,), (1,), 0)


def test_nothing_is_left_of_pictures_widgets_and_steps() -> None:
    command = [sys.executable, leaks.__file__, "--part", "0.001"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.count("MB. Nothing is left.") == 3, done.stdout + done.stderr


def test_what_is_left_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    kept: list[bytes] = []

    def opens(number: int) -> int:
        opened.append(leaks.MAKERS[0]())
        return number

    def keeps(number: int) -> int:
        kept.append(os.urandom(10**7))
        return number

    monkeypatch.setitem(leaks.KINDS, "widgets", (opens, 10))
    assert leaks.attack("widgets", 1)[2].startswith("comms, widgets, threads:")
    monkeypatch.setitem(leaks.KINDS, "steps", (keeps, 10))
    assert leaks.attack("steps", 1)[2].endswith("more memory")
    for widget in opened:
        widget.close()


def test_every_look_ends_soon(engine: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not length.attack(engine, 0.002)
    monkeypatch.setattr(length, "SECONDS", 0)
    assert length.attack(engine, 0.001) == list(length.looks(engine, 0.001))


@pytest.mark.torch
def test_what_is_said_of_random_programs_is_so(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    counts = oracle.attack(torch, 100, seed=5)
    assert list(filter(oracle.is_fault, counts)) == []
    assert min(counts[f"backward: {so}"] for so in ("raises", "right", "wrong gradient")) >= 5
    # An `explain` that is always sure, and a watch that believes every tensor.
    with monkeypatch.context() as patch:
        patch.setattr(oracle, "explain", lambda *_, **__: SimpleNamespace(verdict="runs"))
        patch.setattr(WatchedSave, "has_changed", False)
        faults = list(filter(oracle.is_fault, oracle.attack(torch, 40, seed=5, most_shown=0)))
    assert any(fault.startswith("wrong: explain alone says 'runs'") for fault in faults)
    assert "missed: watch, a wrong gradient" in faults
