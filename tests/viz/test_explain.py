"""What is said before backward is what backward then does."""

from types import ModuleType

import pytest
from viz.programs import run

from tinytorch.viz import explain, graph, memory, snapshot


def test_what_would_run_runs(engine: ModuleType) -> None:
    names = run("x = torch.ones(3, requires_grad=True)\nloss = (x * x).sum()", engine)
    said = explain(names, since=snapshot(names))
    assert said.verdict == "runs"
    assert said.text == (
        "loss.backward() would run. It adds to x.grad.\nWhat was saved holds the bytes of the earlier look."
    )
    alone = explain(names)
    assert alone.verdict == "unknown", "nobody knows whether x was written through .data"
    assert "2 saved tensors (x) were not compared with an earlier look" in alone.text
    names["loss"].backward()


def test_stale_names_the_node_the_tensor_and_who_shares_it(engine: ModuleType) -> None:
    names = run("stale", engine)
    names["loss"] = names["out"].sum()
    said = explain(names)
    assert said.verdict == "raises"
    (finding,) = said.findings
    assert (finding.kind, finding.sharing) == ("stale", ("out", "c"))
    assert "SigmoidBackward0 saved its result (out) at version 0, now at 1" in said.text
    assert "(c.clone())" in finding.way_out
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        names["loss"].backward()


def test_a_write_past_the_counter_is_warned_of(engine: ModuleType) -> None:
    names = run("data", engine)
    names["loss"] = names["out"].sum()
    said = explain(names)
    assert said.verdict == "may be wrong"
    assert "would run, but may give a wrong gradient" in said.text
    assert "own counter C3 has counted 1 write" in said.text
    names["loss"].backward()
    assert names["a"].grad.tolist() == [0.0, 0.0, 0.0], "silently wrong, as said"


def test_a_second_backward_is_foreseen(engine: ModuleType) -> None:
    names = run("gradient", engine)
    said = explain(names)
    assert said.verdict == "raises"
    assert "retain_graph=True" in said.text
    with pytest.raises(RuntimeError, match="second time"):
        names["y"].backward()


def test_no_grad_and_no_scalar(engine: ModuleType) -> None:
    x = engine.ones(3)
    assert "x requires no grad" in explain(x).text
    with pytest.raises(RuntimeError, match="does not require grad"):
        x.backward()
    y = engine.ones(3, requires_grad=True) * 2
    assert "y has 3 elements" in explain(y).text
    with pytest.raises(RuntimeError, match="scalar outputs"):
        y.backward()


def test_nothing_to_explain() -> None:
    assert explain({}).verdict == "raises"
    assert explain({}).text == "There is no tensor that backward could be called on."


def test_parts_of_the_graph_that_backward_does_not_reach_do_not_count(engine: ModuleType) -> None:
    names = run("stale", engine)
    other = engine.ones(1, requires_grad=True)
    loss = (other * 2).sum()
    assert explain(loss=loss, other=other).verdict == "runs"
    assert "STALE" in graph(names).text
    assert "In trouble" in memory(names).text
