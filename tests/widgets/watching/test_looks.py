"""Looks at a graph under a watch: pictures and `explain` say all that they say without one."""

from contextlib import nullcontext
from typing import Any

import copylab
import pytest

from tinytorch.viz.read import doubts


@pytest.fixture(autouse=True)
def _no_hooks_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubts, "_count_hooks_on_graphs", lambda *_: 0)


def look_at_stale(engine: Any) -> dict[str, str]:
    """A result, an input and a leaf, written after they were saved."""
    x, weight = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    factor = engine.ones(3)
    result = x.sigmoid()
    product = (result * factor).sum()
    step = (weight * weight).sum()
    result.zero_()
    factor.add_(1)
    with engine.no_grad():
        weight.add_(1)
    named = {"result": result, "factor": factor, "product": product}
    return {
        "graph": copylab.graph(named).text,
        "memory": copylab.memory(named).text,
        "explain": str(copylab.explain(named)),
        "after a step": str(copylab.explain(step=step, weight=weight)),
    }


def test_what_is_stale_is_known_by_name_under_a_watch(engine: Any) -> None:
    texts = {}
    for context in (nullcontext(), copylab.watch()):
        with context:
            texts[isinstance(context, copylab.Watch)] = look_at_stale(engine)
    assert texts[True] == texts[False]
    assert "saved result: result, STALE" in texts[True]["graph"]
    assert "A tensor without a name" not in texts[True]["memory"]
    assert "factor.clone()" in texts[True]["explain"]
    assert "weight, a leaf that requires grad, was written since" in texts[True]["after a step"]


def test_bytes_of_saved_lists_are_compared_under_a_watch(engine: Any) -> None:
    x, index = engine.ones(2, 2, requires_grad=True), engine.tensor([0])
    with copylab.watch():
        picked = x[index, index]
        assert (
            copylab.graph(picked, index, x).text.count(": index, live at version 0, unchanged") == 2
        )
        index.data.add_(1)
        assert copylab.graph(picked, index, x).text.count("WRITTEN UNSEEN") == 2
