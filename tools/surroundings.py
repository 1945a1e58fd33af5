"""Run the unit stage in odd surroundings: other languages, folders, orders, homes.

    python tools/surroundings.py                             all of them: three runs of the stage
    python tools/surroundings.py plain+order                 these two at once
    python tools/surroundings.py folder home -- tests/viz    one after the other, with these
                                                             arguments for pytest

Each runs in a copy of the tree. Ends with 1 if a test fails. `order` shuffles the tests;
COPYLAB_ORDER=SEED brings back the order that was printed.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from mutations import copy_project, python_path

UNIT = ("tests", "--ignore=tests/browser", "--numprocesses=2")
SURROUNDINGS: dict[str, dict[str, str]] = {
    "plain": {"LANG": "C", "LC_ALL": "C"},
    "german": {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"},
    # Its offset is not in whole hours: 12:45.
    "zone": {"TZ": "Pacific/Chatham"},
    "narrow": {"COLUMNS": "40", "LINES": "10"},
    # Below a file, where not even root can write.
    "home": {},
    # Sets of texts have another order with each seed.
    "seed0": {"PYTHONHASHSEED": "0"},
    "seed1": {"PYTHONHASHSEED": "1"},
    "seed2": {"PYTHONHASHSEED": "4294967295"},
    # With blanks and letters that are not ASCII in its name.
    "folder": {},
    "order": {},
}
TOGETHER = ("folder+zone+narrow+seed0", "german+home+seed1", "plain+order+seed2")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle the tests across files; pytest calls this, because the module is its plugin."""
    random.Random(os.environ["COPYLAB_ORDER"]).shuffle(items)


def do_tests_fail(names: list[str], arguments: list[str], folder: Path) -> bool:
    """Return True if a test fails in these surroundings; raises KeyError for an unknown one."""
    tree = copy_project(folder / ("Übungen, 张量 (copy 2)" if "folder" in names else "copylab"))
    environment = os.environ | {"PYTHONPATH": python_path(tree)}
    for name in names:
        environment |= SURROUNDINGS[name]
    if "home" in names:
        (folder / "file").touch()
        environment["HOME"] = str(folder / "file" / "home")
    # Few machines have German. Without localedef the names alone are: Python falls back to C.
    if "german" in names and shutil.which("localedef"):
        subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], check=True
        )
        environment["LOCPATH"] = str(folder)
    if "order" in names:
        environment.setdefault("COPYLAB_ORDER", str(random.randrange(10**6)))
        print(f"COPYLAB_ORDER={environment['COPYLAB_ORDER']}", flush=True)
        arguments = ["-p", "surroundings", *arguments]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=tree, env=environment, check=False).returncode != 0


def main(arguments: list[str]) -> int:
    """Run the tests in each of the surroundings; return the exit status."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    pytest_arguments = arguments[end + 1 :] or list(UNIT)
    failed = []
    for together in arguments[:end] or TOGETHER:
        print(f"-- {together}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            if do_tests_fail(together.split("+"), pytest_arguments, Path(folder)):
                failed.append(together)
    print(f"failed: {', '.join(failed)}" if failed else "passed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
