"""Watches of what PyTorch compares no version of: attributes of a Function, hooks, gradients given to a hook."""

import weakref
from collections.abc import Callable
from typing import Any

import copylab
import numpy as np
import pytest

from tinytorch.viz import explain

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
nn = torch.nn


class Keep(torch.autograd.Function):
    """Keeps its result and both inputs as attributes, and writes to the result before it returns."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.y, ctx.inputs = x * w, {"x": x, "w": w}
        ctx.y.mul_(2)
        return ctx.y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.inputs["w"] * 2, g * ctx.inputs["x"] * 2


class InPlace(torch.autograd.Function):
    """Doubles the gradient in place."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:  # noqa: ARG004
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:  # noqa: ARG004
        return g.mul_(2)


class Count(torch.autograd.Function):
    """Counts its calls in a buffer that it keeps."""

    @staticmethod
    def forward(ctx: Any, x: Any, calls: Any) -> Any:
        ctx.calls = calls
        calls.add_(1)
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        ctx.calls.add_(1)
        return g, None


def ones() -> Any:
    return torch.ones(3, requires_grad=True)


def checkpoint(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    import torch.utils.checkpoint

    return torch.utils.checkpoint.checkpoint(function, *args, use_reentrant=False, **options)


def result_kept() -> None:
    y = Keep.apply(ones(), ones())
    y.data.zero_()
    y.sum().backward()


def input_kept() -> None:
    w = ones()
    y = Keep.apply(ones(), w)
    with torch.no_grad():
        w.mul_(3)
    y.sum().backward()


def given_other_memory() -> None:
    w = torch.ones(3)
    unchanged = w.detach()
    y = Keep.apply(ones(), w)
    w.data = torch.zeros(3)
    y.sum().backward()
    assert unchanged.sum() == 3


def given_other_memory_by_set() -> None:
    w = torch.ones(3)
    y = Keep.apply(ones(), w)
    w.set_(torch.zeros(3))
    y.sum().backward()


def kept_by_numpy() -> None:
    y = Keep.apply(ones(), ones())
    y.sum()
    y.detach().numpy()[:] = 0
    y.sum().backward()


def parameter_of_checkpoint() -> None:
    net = nn.Linear(3, 3)
    loss = checkpoint(lambda v: net(v).tanh().exp(), ones()).sum()
    net.weight.data.mul_(2)
    loss.backward()


def number_of_checkpoint() -> None:
    scale = torch.tensor(2.0)
    loss = checkpoint(lambda v: (v * scale).exp(), ones()).sum()
    scale.fill_(3)
    loss.backward()


def other_random_numbers() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(), nn.Linear(3, 1))
    checkpoint(net, torch.ones(9, 3), preserve_rng_state=False).sum().backward()


def kept_on_cpu() -> None:
    with torch.autograd.graph.save_on_cpu():
        h = ones() * 2
        loss = (h * h).sum()
    h.zero_()
    loss.backward()


def given_other_memory_on_cpu() -> None:
    w = ones()
    with torch.autograd.graph.save_on_cpu():  # which keeps the tensor itself
        loss = (w * w).sum()
    w.data = w.data * 3
    loss.backward()


FOUND = {
    result_kept: ("y was changed after KeepBackward had kept it as ctx.y", "y.data.zero_()"),
    input_kept: ("w was changed after KeepBackward had kept it as ctx.inputs['w']", "w.mul_(3)"),
    given_other_memory: (
        "a tensor was changed after KeepBackward had kept it as ctx.inputs['w']",
        None,
    ),
    given_other_memory_by_set: (
        "a tensor was changed after KeepBackward had kept it as ctx.inputs['w']",
        None,
    ),
    kept_by_numpy: ("y was changed after KeepBackward had kept it as ctx.y", None),
    parameter_of_checkpoint: (
        (
            f"net.weight was changed by line {parameter_of_checkpoint.__code__.co_firstlineno + 3} "
            "before checkpoint computed again what ExpBackward0 saved."
        ),
        "net.weight.data.mul_(2)",
    ),
    number_of_checkpoint: ("checkpoint gives ExpBackward0 other values than it saved", None),
    other_random_numbers: ("checkpoint gives AddmmBackward0 other values than it saved", None),
    kept_on_cpu: (
        "h was changed after MulBackward0 had saved it inside of save_on_cpu.",
        "h.zero_()",
    ),
    given_other_memory_on_cpu: (
        "w was changed after MulBackward0 had saved it inside of save_on_cpu.",
        "w.data = w.data * 3",
    ),
}


@pytest.mark.parametrize("program", FOUND)
def test_what_nobody_checks_is_compared(program: Callable[[], None]) -> None:
    title, line = FOUND[program]
    with copylab.watch(silent="record") as watch:
        program()
    finding = watch.findings[0]
    assert finding.title.startswith(title)
    assert finding.silent
    assert (finding.written and finding.written.code) == line
    assert len(watch.findings) == 1
    with pytest.raises(copylab.GradientWarning), copylab.watch(silent="raise"):
        program()


def test_an_index_that_was_written_unseen_is_read() -> None:
    with copylab.watch(silent="record"):
        x, w = ones(), torch.ones(4, 2, requires_grad=True)
        i = torch.tensor([0, 1])
        for loss in (
            (x.gather(0, i) * torch.tensor([1.0, 2.0])).sum(),
            (w.index_select(-2, i) * torch.tensor([[1.0], [2.0]])).sum(),
            (x[i] * torch.tensor([1.0, 2.0])).sum(),
        ):
            i.data.copy_(torch.tensor([0, 2]))
            said = copylab.explain(loss)
            assert (said.verdict, "goes to other places" in said.text) == ("may be wrong", True)
            i.data[1] = 99
            assert copylab.explain(loss).verdict == "raises"
            with pytest.raises((RuntimeError, IndexError)):
                loss.backward()
            i.data.copy_(torch.tensor([0, 1]))


def test_what_hooks_have_packed_lives_no_longer_than_its_node() -> None:
    hooks = torch.autograd.graph
    for block in (hooks.save_on_cpu(), hooks.saved_tensors_hooks(lambda t: t, lambda t: t)):
        with copylab.watch(silent="record"), block:
            memory = np.ones(3, "f4")
            reference, w = weakref.ref(memory), ones()
            y, later = w * torch.from_numpy(memory), w * w
            del memory
            assert reference() is not None
            del y
            assert reference() is None, block
            later.sum().backward()


def test_what_is_computed_again_is_told_once() -> None:
    with copylab.watch(silent="record") as watch:
        other_random_numbers()
    assert "no line that was seen" in watch.text
    assert "1 more of its saved tensors differs." in watch.text
    assert "keep preserve_rng_state=True" in watch.text


def right() -> list[Any]:
    x, w = ones(), ones()
    net = nn.Sequential(
        nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Dropout(), nn.Linear(3, 1)
    )
    loss = checkpoint(net, torch.randn(5, 3)).sum() + Keep.apply(x, w).sum()
    calls = torch.zeros(1)
    loss = loss + Count.apply(Count.apply(x, calls), calls).sum()
    with torch.autograd.graph.save_on_cpu():
        loss = loss + x.exp().sum()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.sign(), lambda t: t):
        loss = loss + x.exp().sum()  # a hook that compresses: what it gives back is meant
    loss.backward()
    return [x.grad, w.grad, *(parameter.grad for parameter in net.parameters())]


def test_right_programs_have_no_finding_and_the_same_gradients() -> None:
    torch.manual_seed(0)
    without = right()
    node = torch.autograd.function.BackwardCFunction
    torch.manual_seed(0)
    with copylab.watch(silent="raise") as watch:
        under = right()
    assert all(torch.equal(a, b) for a, b in zip(without, under, strict=True))
    assert not watch.findings
    assert "1 of " in watch.text
    assert (
        "saved tensors was not seen, inside of hooks of the program's own: saved_tensors_hooks (1)"
        in watch.text
    )
    assert "__setattr__" not in vars(node)
    assert not [
        name for name in vars(Keep.apply(ones(), ones()).grad_fn) if name not in ("y", "inputs")
    ]


def backward_with(hook: Callable[[Any], Any], *, is_shared: bool) -> str:
    a, b = ones() * 1, ones() * 1
    b.register_hook(hook)
    with copylab.watch(silent="record") as watch:
        (((a + b) if is_shared else b * 2) ** 2).sum().backward()
    return watch.text


def test_a_hook_that_writes_into_a_gradient_of_two() -> None:
    said = "wrote into the gradient that it was given, once (test_unchecked.py, line"

    def set_first(g: Any) -> None:
        g[0] = 0

    for hook in (lambda g: g.mul_(0), lambda g: g.detach().mul_(0), set_first):
        assert said in backward_with(hook, is_shared=True)
        assert said not in backward_with(hook, is_shared=False)
    assert said not in backward_with(lambda g: g * 0, is_shared=True)
    for is_shared in (True, False):
        x = ones()
        with copylab.watch() as watch:
            first = x * 1  # what was computed last gets its gradient first
            y = InPlace.apply(x)
            (((first + y) if is_shared else y) ** 2).sum().backward()
        assert (said in watch.text) == is_shared


def test_hooks_that_clip_gradients_of_their_own_are_left_alone() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
    for parameter in net.parameters():
        parameter.register_hook(lambda g: g.clamp_(-1, 1))
    net[0].register_full_backward_hook(lambda module, given, out: None)  # noqa: ARG005
    with copylab.watch() as watch:
        net(torch.ones(4, 3, requires_grad=True)).sum().backward()
    assert watch.text.startswith("Backward has read")
    assert "wrote into" not in watch.text


def test_a_reentrant_checkpoint_is_counted() -> None:
    from torch.utils.checkpoint import checkpoint as any_checkpoint

    net = nn.Linear(3, 3)
    with copylab.watch() as watch:
        any_checkpoint(net, ones(), use_reentrant=True).sum().backward()
    assert (
        "1 reentrant checkpoint ran again: it was not seen whether it read the same" in watch.text
    )


def test_looks_read_through_the_hooks_of_a_watch() -> None:
    with copylab.watch(), torch.autograd.graph.save_on_cpu():
        h = ones() * 2
        loss = (h * h).sum()
        text = copylab.graph(loss).text
        assert "saved self: T" in text or "saved self: h" in text
        loss = checkpoint(torch.exp, h).sum()
        assert "backward runs the checkpointed exp again" in copylab.explain(loss).text


@pytest.mark.parametrize(("factor", "is_changed"), [(1, False), (2, True)])
def test_of_a_large_attribute_a_write_is_no_change(
    monkeypatch: pytest.MonkeyPatch, factor: float, is_changed: bool
) -> None:
    from copylab.watching import watched_memory, watched_save

    # Of a larger tensor only pieces are compared: what was written between them is not known.
    for module in (watched_memory, watched_save):
        monkeypatch.setattr(module, "WHOLE_BYTES", 1 << 10)
    w = torch.ones(1 << 12)
    with copylab.watch(silent="record") as watch:
        y = Keep.apply(torch.ones(1 << 12, requires_grad=True), w)
        loss = y.sum()
        w.mul_(factor)
        loss.backward()
    (finding,) = watch.findings
    assert finding.was_compared is is_changed
    assert ("was changed after" in finding.title) is is_changed
    assert ("unless the same values were written" in finding.title) is not is_changed
    assert "ctx.save_for_backward" in watch.text


def test_explain_inside_of_a_watch_sends_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is compared in pieces and was written it said: ask inside of a watch."""
    from copylab.watching import watched_memory, watched_save

    for module in (watched_memory, watched_save):
        monkeypatch.setattr(module, "WHOLE_BYTES", 1 << 10)
    w, x = torch.ones(1 << 12), torch.ones(1 << 12, requires_grad=True)
    with copylab.watch(silent="record"):
        loss = (x * w).sum()
        said = explain(loss)
        assert said.verdict == "runs, not compared"
        assert "was compared with the save in pieces or not at all" in said.text
        assert "Way out" not in said.text
        w.data.mul_(1)
        said = explain(loss)
        assert said.verdict == "runs, not compared"
        assert "it was written to inside of the watch" in said.text
        assert "Way out" not in said.text
    alone = explain((x * w).sum())
    assert "ask inside of `with copylab.watch():`" in alone.text
