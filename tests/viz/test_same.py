"""The same program gives the same picture and the same words under both engines."""

import importlib

import pytest
from viz.programs import PROGRAMS, run

from tinytorch.viz import graph, memory, snapshot


@pytest.mark.torch
@pytest.mark.parametrize("program", PROGRAMS)
def test_both_engines_give_identical_texts_and_pictures(program: str) -> None:
    seen = []
    for name in ("tinytorch", "torch"):
        names = run(program, importlib.import_module(name))
        snap = snapshot(names)
        seen.append((memory(snap).text, graph(snap).text, memory(snap).svg, graph(snap).svg, graph(snap).source))
        assert memory(names).text == seen[-1][0]
    assert seen[0] == seen[1]


@pytest.mark.torch
def test_changes_between_two_moments_are_told_alike() -> None:
    told = []
    for name in ("tinytorch", "torch"):
        engine = importlib.import_module(name)
        x = engine.tensor([1.0, 2.0])
        y = x.detach()
        before = snapshot(x=x, y=y)
        y.add_(1)
        z = x.clone()
        after = snapshot(since=before, x=x, z=z)
        told.append((memory(after, since=before).text, memory(after, since=before).svg))
    assert told[0] == told[1]
    assert "cell 0 was 1.0, cell 1 was 2.0" in told[0][0]
    assert "No longer there: y." in told[0][0]
