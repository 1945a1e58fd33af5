"""`pytest --copylab-watch`: what it sees of a test, and what it says at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENGINES = ["tinytorch", pytest.param("torch", marks=pytest.mark.torch)]

GRAPHS = """
import threading
import unittest

import pytest
import {engine} as torch


def made():
    w = torch.ones(3, requires_grad=True)
    h = w * 2
    return h, (h * h).sum()


def spoil(h, y):
    h.data.mul_(3)
    y.backward()


def test_right():
    made()[1].backward()

def test_wrong():
    spoil(*made())

@pytest.fixture
def graph():
    return made()

def test_made_in_a_fixture(graph):
    spoil(*graph)

@pytest.fixture(scope="module")
def shared():
    w = torch.ones(3, requires_grad=True)
    h = w * 2
    return h, (h * h).sum()

def test_right_by_itself(shared):
    shared[1].backward(retain_graph=True)

def test_that_writes(shared):
    shared[0].data.mul_(3)

def test_that_meets_the_write(shared):
    shared[1].backward(retain_graph=True)

def test_that_meets_it_again(shared):
    shared[1].backward(retain_graph=True)

def test_in_a_thread():
    thread = threading.Thread(target=lambda: spoil(*made()))
    thread.start()
    thread.join()

@pytest.fixture
def spoiled_at_the_end():
    graph = made()
    yield
    spoil(*graph)

def test_with_a_teardown(spoiled_at_the_end):
    pass

def test_that_expects_it():
    with pytest.raises(UserWarning, match="h.data.mul_"):
        spoil(*made())

class TestMethods:
    def setup_method(self):
        self.graph = made()

    def test_made_in_setup_method(self):
        spoil(*self.graph)

class TestCase(unittest.TestCase):
    def setUp(self):
        self.graph = made()

    def test_made_in_set_up(self):
        spoil(*self.graph)

@pytest.mark.skip
def test_skipped():
    pass
"""

FOUND = {
    "FAILED test_graphs.py::test_wrong",
    "FAILED test_graphs.py::test_made_in_a_fixture",
    "FAILED test_graphs.py::test_that_meets_the_write",
    "FAILED test_graphs.py::test_that_meets_it_again",
    "FAILED test_graphs.py::test_in_a_thread",
    "ERROR test_graphs.py::test_with_a_teardown",
    "FAILED test_graphs.py::TestMethods::test_made_in_setup_method",
    "FAILED test_graphs.py::TestCase::test_made_in_set_up",
}
COUNTED = "copylab watch: watched 12 tests, 13 saved tensors read, 1 tests read none"


def run(folder: Path, *options: str) -> str:
    """What pytest says of the tests in a folder, as a user runs it who has this plugin and pytest-xdist."""
    plugins = ["-p", "copylab.watching.plugin", "-p", "xdist.plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, "--rootdir", ".", *options]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=alone
    ).stdout


def failed(said: str) -> set[str]:
    return {
        line.partition(" - ")[0]
        for line in said.splitlines()
        if line.startswith(("FAILED ", "ERROR "))
    }


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("options", [[], pytest.param(["-n1"], marks=pytest.mark.stress)])
def test_a_test_fails_wherever_its_graph_was_made(
    engine: str, options: list[str], tmp_path: Path
) -> None:
    (tmp_path / "test_graphs.py").write_text(GRAPHS.format(engine=engine))
    said = run(tmp_path, "--copylab-watch", *options)
    assert failed(said) == FOUND, said
    assert COUNTED in said.splitlines()
    assert "GradientWarning" in said
    assert "Nothing was checked in a test that read none: no backward ran in it" in said


@pytest.mark.parametrize("engine", ENGINES)
def test_a_failed_test_shows_no_frame_of_the_watch(engine: str, tmp_path: Path) -> None:
    (tmp_path / "test_graphs.py").write_text(GRAPHS.format(engine=engine))
    said = run(tmp_path, "--copylab-watch", "-k", "test_wrong")
    assert failed(said) == {"FAILED test_graphs.py::test_wrong"}
    assert "y.backward()" in said
    assert "copylab/watching" not in said


def test_without_the_option_nothing_is_watched(tmp_path: Path) -> None:
    (tmp_path / "test_graphs.py").write_text(GRAPHS.format(engine="tinytorch"))
    said = run(tmp_path)
    assert failed(said) == {"FAILED test_graphs.py::test_that_expects_it"}
    assert "copylab" not in said.replace("copylab.watching", "")


@pytest.mark.stress
@pytest.mark.torch
def test_the_first_test_may_import_torch(tmp_path: Path) -> None:
    text = """
def test_{number}():
    import torch
    w = torch.ones(3, requires_grad=True)
    h = w * 2
    y = (h * h).sum()
    h.data.mul_(3)
    y.backward()
"""
    (tmp_path / "test_late.py").write_text(text.format(number=1) + text.format(number=2))
    said = run(tmp_path, "--copylab-watch")
    assert failed(said) == {"FAILED test_late.py::test_1", "FAILED test_late.py::test_2"}
