"""The same program gives the same picture and the same words under both engines."""

import importlib

import pytest
from viz.looked import ALL, looked

from tinytorch.viz import graph, memory, snapshot


@pytest.mark.torch
@pytest.mark.parametrize("program", ALL)
def test_both_engines_give_identical_texts_and_pictures(program: str) -> None:
    seen = []
    for name in ("tinytorch", "torch"):
        snap, since = looked(program, importlib.import_module(name))
        drawn, graphed = memory(snap, since=since), graph(snap, since=since)
        seen.append((drawn.text, graphed.text, drawn.svg, graphed.svg, graphed.source))
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
