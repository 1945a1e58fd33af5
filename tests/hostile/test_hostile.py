"""The attacks, in short: `python tests/hostile/WHICH.py --help` says how to run them at length."""

from __future__ import annotations

import os
import subprocess
import sys

from hostile import calls, files


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
