"""Verdicts before backward, compared with what backward then does."""

import gc
import threading
import warnings
from types import ModuleType
from typing import Any

import pytest
from viz.programs import run

import tinytorch
from tinytorch.viz import explain, graph, memory, snapshot
from tinytorch.viz.wording import catalogue


def test_what_would_run_runs(engine: ModuleType) -> None:
    names = run("x = torch.ones(3, requires_grad=True)\nloss = (x * x).sum()", engine)
    said = explain(names, since=snapshot(names))
    assert said.verdict == "runs"
    assert said.text == (
        "loss.backward() would run. It adds to x.grad.\nWhat was saved holds the bytes of the earlier look."
    )
    alone = explain(names)
    assert alone.verdict == "runs, not compared", "nobody knows whether x was written through .data"
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


def test_what_has_no_name_is_called_by_none(engine: ModuleType) -> None:
    a = engine.ones(3, requires_grad=True)
    said = explain(a.exp().add_(1).sum())
    assert "ExpBackward0 saved its result at version 0, now at 1" in said.text


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
    with engine.no_grad():
        y = (x.clone().requires_grad_() * 2).sum()
    assert "or was computed while grad mode was off" in explain(y).text
    with pytest.raises(RuntimeError, match="does not require grad"):
        x.backward()
    y = engine.ones(3, requires_grad=True) * 2
    assert "y has 3 elements" in explain(y).text
    with pytest.raises(RuntimeError, match="scalar outputs"):
        y.backward()


def test_a_backward_that_adds_to_no_grad_is_one_sentence_in_all_languages(
    engine: ModuleType,
) -> None:
    x = engine.ones(2, requires_grad=True)
    out = (x * 2).sum()
    x.requires_grad_(False)
    said = {}
    try:
        for language in ("en", "zh", "ko"):
            catalogue.set_language(language)
            said[language] = str(explain(out)).splitlines()[0]
    finally:
        catalogue.set_language(None)
    assert said == {
        "en": "out.backward() would run. It adds to no .grad.",
        "zh": "out.backward() 可以运行，但没有哪个 .grad 会得到梯度。",  # noqa: RUF001
        "ko": "out.backward()는 문제없이 실행되지만, 그래디언트가 더해지는 .grad는 없습니다.",
    }


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


CAUSES = {
    "an optimizer's step": (
        (
            "net = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(20)])\n"
            "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet(torch.ones(1, 2)).sum().backward()\n"
            "loss = net(torch.ones(1, 2)).sum()\nopt.step()"
        ),
        "stale",
        19,
        "call backward before that write, or compute the result again after it",
    ),
    "a leaf written in no_grad": (
        "x = torch.ones(2, requires_grad=True)\nloss = (x * x).sum()\nwith torch.no_grad(): x[0] = 5",
        "stale",
        2,
        "call backward before that write",
    ),
    "a hidden state": (
        (
            "h = torch.zeros(2)\nw = torch.ones(2, requires_grad=True)\nfor _ in range(3):\n"
            "    h = torch.tanh(h + w)\n    loss = h.sum()\n    if _ == 1: loss.backward()"
        ),
        "freed",
        2,
        "detach() what is carried over from the earlier computation, as a hidden state",
    ),
    "a graph used twice": (
        "x = torch.ones(2, requires_grad=True)\nloss = x.exp().sin().exp().sum()\nloss.backward()",
        "freed",
        3,
        "compute the result anew",
    ),
    "a running loss": (
        (
            "x = torch.ones(2, requires_grad=True)\nloss = 0\nfor _ in range(3):\n"
            "    one = x.exp().sum()\n    one.backward()\n    loss = loss + one"
        ),
        "freed",
        3,
        "add up loss.detach() or loss.item()",
    ),
    "an activation": (
        "x = torch.ones(2, requires_grad=True)\nh = x.exp()\nloss = (h * h).sum()\nh.detach().zero_()",
        "stale",
        3,
        "write to a copy (h.clone()), or write after backward",
    ),
    "two of one graph": (
        "x = torch.ones(2, requires_grad=True)\nh = x.exp().sin()\nloss = h.sum()\nother = h.mean()",
        "freed",
        2,
        "add them up and call backward once",
    ),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_one_finding_for_each_cause_with_its_way_out(cause: str, engine: ModuleType) -> None:
    code, kind, count, way_out = CAUSES[cause]
    names = run(code, engine)
    said = explain(names)
    assert said.verdict == "raises"
    (finding,) = [one for one in said.findings if one.kind == kind]
    assert len(finding.saved_entries) == count
    assert way_out in finding.way_out
    assert len(said.text) < 800
    with pytest.raises(RuntimeError):
        [names[name].backward() for name in ("loss", "other") if name in names]


def test_many_causes_are_told_as_a_few(engine: ModuleType) -> None:
    names = run(
        "x = torch.ones(2, requires_grad=True)\nhs = []\nfor _ in range(9): hs.append(x.exp())\nloss = sum(hs).sum()",
        engine,
    )
    for h in names["hs"]:
        h.detach().zero_()
    said = explain(loss=names["loss"])
    assert len(said.findings) == 9
    assert said.text.count("ExpBackward0") == 4
    assert said.text.endswith("And 5 more causes.")


def test_unseen_writes_to_all_weights_are_one_cause(engine: ModuleType) -> None:
    net = engine.nn.Sequential(*[engine.nn.Linear(2, 2) for _ in range(9)])
    loss = net(engine.ones(1, 2)).sum()
    before = snapshot(loss=loss, net=net)
    for weight in net.parameters():
        weight.data.sub_(0.5)
    said = explain(loss=loss, net=net, since=before)
    assert said.verdict == "may be wrong"
    (finding,) = said.findings
    assert len(finding.saved_entries) == 8
    assert (
        finding.way_out == "call backward before that write, or compute the result again after it"
    )


def test_other_indexes_raise_or_send_the_gradient_elsewhere(engine: ModuleType) -> None:
    x, index, factor = engine.ones(4, requires_grad=True), engine.tensor([0, 1]), engine.tensor([2])
    mask = engine.tensor([True, False, True, False])
    losses = {"index": x[index], "mask": x[mask], "factor": x * factor}
    losses = {name: loss.sum() for name, loss in losses.items()}
    before = {name: snapshot(loss=loss) for name, loss in losses.items()}
    index.numpy()[:], mask.numpy()[:], factor.numpy()[:] = [7, 0], True, 3
    for name, loss in losses.items():
        (finding,) = explain(loss, since=before[name]).findings
        selects = "raises an error where that does not fit" in finding.sentence
        assert selects == (name != "factor")
        try:
            loss.backward()
        except (IndexError, RuntimeError, ValueError):
            assert selects
        else:
            assert name == "factor"


def test_two_threads_that_number_their_nodes_alike() -> None:
    torch = pytest.importorskip("torch")
    made: list[Any] = []
    for value in (1.0, 2.0):
        x = torch.full((3,), value, requires_grad=True)
        thread = threading.Thread(target=lambda x=x: made.append(x.exp()))
        thread.start()
        thread.join()
    loss = sum(made).sum()
    assert explain(loss, since=snapshot(loss)).verdict == "runs, not compared", (
        "nobody knows which node was which"
    )


def test_of_complex_numbers_abs_reads_more_than_signs() -> None:
    torch = pytest.importorskip("torch")
    for dtype, is_partly_read in ((torch.complex64, False), (torch.float32, True)):
        x = torch.ones(2, dtype=dtype, requires_grad=True)
        (node,) = [each for each in snapshot(x.abs()).nodes if each.saved]
        assert node.saved[0].is_partly_read == is_partly_read


def test_what_is_not_compared_and_why() -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(3, requires_grad=True, device="meta")
    loss = x.exp().sum()
    said = explain(loss, since=snapshot(loss))
    assert said.verdict == "runs, not compared"
    assert "cannot be compared with an earlier look: it is on meta" in said.text


def test_hooks_of_tinytorch_are_none_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x, net = tinytorch.ones(3, requires_grad=True), tinytorch.nn.Linear(3, 1)
    y = x * 2
    kept = [
        x.register_hook(print),
        x.register_post_accumulate_grad_hook(print),
        y.register_hook(print),
    ]
    node: Any = y.grad_fn
    kept += [
        node.register_hook(print),
        node.register_prehook(print),
        net.register_forward_hook(print),
    ]
    gone = torch.ones(3, requires_grad=True)
    for one in kept:  # as if both engines had counted alike
        hooks: Any = one.hooks_dict_ref()
        hooks[gone.register_hook(print).id] = print
    w = torch.ones(3, requires_grad=True)
    del gone
    gc.collect()
    assert explain(w.sum()).verdict == "runs"
    w.register_hook(print)
    assert explain(w.sum()).verdict == "unknown"


@pytest.mark.parametrize("action", ["error", "ignore"])
@pytest.mark.parametrize("what", ["other strides", "same strides", "a row", "a leaf with gaps"])
def test_a_gradient_whose_strides_are_warned_of_may_raise(
    what: str, action: Any, engine: ModuleType
) -> None:
    """Under -W error the first backward of a process raised, and was said to run."""
    leaf = engine.ones(2, 3, requires_grad=True)
    leaf.grad = engine.zeros(2, 3) if what == "same strides" else engine.zeros(3, 2).t()
    if what == "a row":
        leaf = engine.ones(1, 3, requires_grad=True)
        leaf.grad = engine.zeros(3, 1).t()
    elif what == "a leaf with gaps":
        leaf = engine.ones(2, 6)[:, ::2].detach().requires_grad_()
        leaf.grad = engine.ones(2, 6)[:, ::2]
    loss = (leaf * 2).sum()
    with warnings.catch_warnings(action=action):
        doubted = action == "error" and what in ("other strides", "a leaf with gaps")
        assert explain(loss).verdict == ("unknown" if doubted else "runs")
        assert explain(loss, run=True).verdict == ("unknown" if doubted else "runs")
        try:
            loss.backward()
            raised = False
        except UserWarning:
            raised = True
    assert not raised or doubted  # of all in a process one is warned of


def test_a_filter_for_other_warnings_raises_no_doubt(engine: ModuleType) -> None:
    leaf = engine.ones(2, 3, requires_grad=True)
    leaf.grad = engine.zeros(3, 2).t()
    loss = (leaf * 2).sum()
    with warnings.catch_warnings(action="ignore"):
        warnings.filterwarnings("error", message="something else")
        warnings.filterwarnings("error", category=DeprecationWarning)
        assert explain(loss).verdict == "runs"
        warnings.filterwarnings("error", message="grad and param")
        assert explain(loss).verdict == "unknown"


def test_a_counter_that_was_put_back_counts_no_writes(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    h = x * 2
    h.add_(1)
    out = h.exp().sum() + (h * h).sum()
    engine._C._autograd._unsafe_set_version_counter((h,), (0,))
    said = str(explain(out))
    assert "at version 1, now at 0 (and 1 more saved tensor)." in said
    assert "time since" not in said
    assert "times since" not in said
    h.add_(1), h.add_(1), h.add_(1)
    assert "at version 1, now at 3: it has been written to 2 times since" in str(explain(out, h=h))
