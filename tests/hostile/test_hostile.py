"""The attacks, in short: `python tests/hostile/WHICH.py --help` says how to run them at length."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from hostile import calls, files, leaks


def test_files_written_to_do_harm() -> None:
    tried, failed = files.attack(trials=150, seed=1)
    assert tried > 190
    assert not failed


def test_the_attack_on_files_sees_what_is_wrong() -> None:
    assert files.tried(b"") == ""
    files.CALLED.append("something")
    assert files.tried(files.good()) == "something was called or changed"


def test_calls_with_odd_arguments() -> None:
    """In a process of its own: some of what it calls changes settings of the process, which is no fault."""
    command = [sys.executable, calls.__file__, "--trials", "2000", "--seed", "1"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "2000 tried, 0 failed", done.stdout + done.stderr
    assert done.returncode == 0


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
