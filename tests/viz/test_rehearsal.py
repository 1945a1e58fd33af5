"""Code of the program's own that is rehearsed with stand-ins: what is known of it, and that nothing happens."""

import contextlib
from types import ModuleType
from typing import Any

import copylab
import pytest

import tinytorch
from tinytorch.viz import explain
from tinytorch.viz.read.rehearsal import StandIn, rehearse_call

kept: list[Any] = []
by_name: dict[str, Any] = {}
scale = 2.0
weight = tinytorch.ones(3)


def appends(grad: Any) -> None:
    kept.append(grad)
    by_name["last"] = grad
    print(grad)


def clips(grad: Any) -> Any:
    masked = grad.clone()
    masked[grad < 0] = 0
    return masked.clamp(-1, max=1) * scale


def refuses(grad: Any) -> Any:
    raise ValueError(grad)


def loops(grad: Any) -> Any:
    for _ in range(3):
        grad = grad * 2
    return grad


def catches(grad: Any) -> Any:
    try:
        return grad * 2
    except ValueError:
        return None


def counts(grad: Any) -> None:  # noqa: ARG001
    global scale  # noqa: PLW0603
    scale += 1


@pytest.mark.parametrize(
    "hook",
    [
        loops,
        catches,
        counts,
        lambda grad: grad.sum(),
        lambda grad: grad[0],
        lambda grad: grad.mul_(2),
        lambda grad: grad or None,
        lambda grad: grad.to("cpu"),
        lambda grad: clips(grad),  # noqa: PLW0108
        lambda grad: grad == grad,  # noqa: PLR0124
        refuses,
        lambda grad: grad if appends is clips else None,
        lambda grad: grad * (1 / 0),
        lambda grad: grad * 7 ** (10**8),
        lambda grad: ("x" * 10**9, grad)[1],
        lambda grad: (grad,) * 10**9,
        lambda grad: grad if grad.device.type == "cpu" else None,
        lambda grad: grad.sizes,
        lambda grad: grad / grad.shape.numel(),
        lambda grad: grad.clamp(1, min=2),
        lambda grad: f"{grad!r}",
        lambda grad, factor=2: grad * factor,
        lambda grad: grad * weight,
        lambda grad: kept[grad],
        lambda grad: __import__("os"),  # noqa: ARG005
    ],
)
def test_what_is_not_known_is_not_said(hook: Any) -> None:
    assert rehearse_call(hook, [StandIn(None, "")], may_act=True) is None
    assert scale == 2.0


def test_what_is_known_is_said_and_nothing_happens(capsys: pytest.CaptureFixture[str]) -> None:
    gradient = StandIn((2, 3), "float32", "cpu")
    outcome = rehearse_call(appends, [gradient], may_act=True)
    assert outcome is not None
    assert outcome.value is None
    assert (kept, by_name, capsys.readouterr().out) == ([], {}, "")
    assert rehearse_call(appends, [gradient]) is None
    outcome = rehearse_call(clips, [gradient])
    assert outcome is not None
    assert outcome.value.sizes == (2, 3)
    assert outcome.value.dtype == "float32"


def test_shapes_are_those_of_arithmetic() -> None:
    wide, tall, row = (StandIn(sizes, "float32", "cpu") for sizes in ((2, 3), (3, 2), (3,)))
    for function, sizes in (
        (lambda a, b, c: a @ b, (2, 2)),  # noqa: ARG005
        (lambda a, b, c: a.T.mul(b) + 1, (3, 2)),  # noqa: ARG005
        (lambda a, b, c: 2 * c - a / len(b), (2, 3)),
        (lambda a, b, c: (a > 0) * a, (2, 3)),  # noqa: ARG005
    ):
        outcome = rehearse_call(function, [wide, tall, row])
        assert outcome is not None
        assert outcome.value.sizes == sizes
    assert rehearse_call(lambda a, b: a * b, [wide, tall]) is None
    assert rehearse_call(lambda a, b: a - (b > 0), [wide, wide]) is None
    assert rehearse_call(lambda a, b: a * b, [wide, StandIn((2, 3), "float64", "cpu")]) is None


def make_function(engine: Any, run_backward: Any) -> Any:
    class Scaled(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.save_for_backward(x)
            ctx.factor, ctx.weight = factor, x.detach()
            return x * x * factor

    Scaled.backward = staticmethod(run_backward)
    return Scaled


@pytest.mark.parametrize(
    ("run_backward", "verdict"),
    [
        (
            lambda ctx, grad: (grad * ctx.saved_tensors[0] * 2 * ctx.factor, None),
            "runs, not compared",
        ),
        (lambda ctx, grad: (grad * ctx.weight * ctx.factor, None), "runs, not compared"),
        (lambda ctx, grad: (grad.clamp(-1, 1), None), "runs"),  # noqa: ARG005
        (lambda ctx, grad: (grad if ctx.needs_input_grad[0] else None, None), "unknown"),
        (lambda ctx, grad: [grad * 2, None], "unknown"),  # noqa: ARG005
        (lambda ctx, grad: (grad * len(ctx.weight), None), "runs"),
        (lambda ctx, grad: grad, "raises"),  # noqa: ARG005
        (lambda ctx, grad: (grad, None, grad), "raises"),  # noqa: ARG005
        (lambda ctx, grad: (grad / 0 * (1 / 0), None), "raises"),  # noqa: ARG005
        (lambda ctx, grad: (grad * ctx.factor[0], None), "unknown"),
        (lambda ctx, grad: (grad * ctx.weight[0], None), "unknown"),
        (lambda ctx, grad: (grad * ctx.saved_tensors[1], None), "unknown"),
        (lambda ctx, grad: (grad * ctx.saved_tensors[0][0][0], None), "unknown"),
        (lambda ctx, grad: (grad.sum(), None), "unknown"),  # noqa: ARG005
        (lambda ctx, grad: (None, None), "runs"),  # noqa: ARG005
        (lambda ctx, grad: (grad * ctx.no_such_attribute, None), "unknown"),
    ],
)
def test_a_backward_of_arithmetic_is_decided(
    engine: ModuleType, run_backward: Any, verdict: str
) -> None:
    x = engine.ones(3, requires_grad=True)
    loss = make_function(engine, run_backward).apply(x, 2.0).sum()
    assert explain(loss, x=x).verdict == verdict
    if verdict == "raises":
        with pytest.raises((RuntimeError, ZeroDivisionError)):
            loss.backward()
    elif verdict != "unknown":
        loss.backward()
    else:
        with contextlib.suppress(Exception):  # it may
            loss.backward()


def test_hooks_of_arithmetic_are_decided(engine: ModuleType) -> None:
    x, w = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    h = x + w
    h.register_hook(clips) if engine.__name__ == "torch" else x.register_hook(clips)
    w.register_hook(appends)
    assert explain(h.sum()).verdict == "runs"
    assert not kept
    w.register_hook(refuses)
    said = explain(h.sum())
    assert said.verdict == "unknown"
    assert "refuses (test_rehearsal.py:" in said.text
    with pytest.raises(ValueError, match="tensor"):
        h.sum().backward()
    kept.clear()
    by_name.clear()


def test_a_gradient_is_added_to_one_that_was_saved(engine: ModuleType) -> None:
    def make_loss(*, adds_first: bool) -> tuple[Any, Any]:
        x, w = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
        x.grad = engine.ones(3)
        # Backward visits the newest node first.
        first = (x + 1).sum() if not adds_first else (w * x.grad).sum()
        second = (w * x.grad).sum() if not adds_first else (x + 1).sum()
        return first + second, x

    loss, x = make_loss(adds_first=True)
    said = explain(loss, x=x)
    assert said.verdict == "raises"
    assert "x.grad, to which backward adds in place before it reaches MulBackward0" in said.text
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    loss, x = make_loss(adds_first=False)
    assert explain(loss, x=x).verdict == "runs, not compared"
    loss.backward()


@pytest.mark.parametrize(
    ("find_number", "verdict"),
    [
        (lambda grad: grad[0], "raises"),
        (lambda grad: grad.view(3)[1], "raises"),
        (lambda grad: grad[1].detach(), "raises"),
        (lambda grad: grad[2:].squeeze(0), "raises"),
        (lambda grad: grad[0].data, "unknown"),
        (lambda grad: grad.data[0], "unknown"),
        (lambda grad: grad[0].clone(), "runs, not compared"),
        (lambda grad: grad.sum(), "runs, not compared"),
        (lambda grad: float(grad[0]), "runs"),
    ],
)
@pytest.mark.parametrize("has_names", [False, True])
def test_a_gradient_is_added_to_one_of_which_a_number_was_saved(
    engine: ModuleType, find_number: Any, verdict: str, has_names: bool
) -> None:
    x, w = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    x.grad = engine.ones(3)
    loss = (w * find_number(x.grad)).sum() + (x + 1).sum()
    assert explain(loss, **({"x": x} if has_names else {})).verdict == verdict
    try:
        loss.backward()
    except RuntimeError:
        assert verdict == "raises"
    else:
        assert verdict != "raises"


def test_a_gradient_without_dimensions_and_its_aliases(engine: ModuleType) -> None:
    ways: list[tuple[Any, str]] = [
        (lambda grad: grad, "raises"),
        (lambda grad: grad.detach(), "raises"),
        (lambda grad: grad.view(1)[0], "raises"),
        (lambda grad: grad.data, "unknown"),
        (lambda grad: grad.clone(), "runs, not compared"),
    ]
    for make_alias, verdict in ways:
        x, w = engine.tensor(1.0, requires_grad=True), engine.ones(3, requires_grad=True)
        x.grad = engine.tensor(1.0)
        loss = (w * make_alias(x.grad)).sum() + (x + 1)
        assert explain(loss).verdict == verdict
        with pytest.raises(RuntimeError) if verdict == "raises" else contextlib.nullcontext():
            loss.backward()


@pytest.mark.torch
def test_no_version_is_checked_of_a_saved_gradient_that_a_hook_has_packed() -> None:
    import torch

    finders: list[Any] = [lambda grad: grad[:1], lambda grad: grad[0]]
    for find in finders:
        x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        x.grad = torch.ones(3)
        with torch.autograd.graph.save_on_cpu():
            first = (w * find(x.grad)).sum()
        loss = first + (x + 1).sum()
        assert explain(loss).verdict == "unknown"
        loss.backward()


@pytest.mark.torch
def test_what_a_function_keeps_on_ctx_is_compared_under_a_watch() -> None:
    import torch

    def run_backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.weight, None

    with copylab.watch(silent="record"):
        h = torch.ones(3, requires_grad=True) * 1
        loss = make_function(torch, run_backward).apply(h, 2.0).sum()
        assert explain(loss, h=h).verdict == "runs"
        h.data.mul_(2)
        said = explain(loss, h=h)
    assert said.verdict == "may be wrong"
    assert (
        "ScaledBackward keeps its ctx.weight (a view of h). Its bytes are not the same" in said.text
    )
    assert "(written to by test_rehearsal.py, line" in said.text


@pytest.mark.torch
@pytest.mark.parametrize(
    ("block", "write", "verdict"),
    [
        (lambda v: v.exp(), lambda h: h.data.add_(1), "may be wrong"),
        (lambda v: (v * v).sin() * 2.0, lambda h: h.detach().numpy().fill(3), "may be wrong"),
        (lambda v: v.exp(), lambda h: h.data.mul_(1), "runs"),
        (lambda v: v.exp(), lambda h: h.add_(1), "raises"),
        (lambda v: v * 2.0, lambda h: h.data.add_(1), "runs"),
        (lambda v: v.exp(), lambda h: setattr(h, "data", h.data[:1]), "unknown"),
        (lambda v: v.exp(), lambda h: setattr(h, "data", h.data.t()), "unknown"),
        (lambda v: v.exp(), lambda h: setattr(h, "data", h.data + 1), "may be wrong"),
        (lambda v: v.exp().sum(), lambda h: h.data.add_(1), "unknown"),
        (lambda v: v.exp() * scale, lambda h: h.data.add_(1), "unknown"),
    ],
)
def test_a_checkpoint_whose_input_was_written_unseen(block: Any, write: Any, verdict: str) -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    def backward(*, writes: bool, keeps: bool = False) -> tuple[str, Any, str]:
        x = torch.ones(2, 3, requires_grad=True)
        h = x * 2
        loss = block(h).sum() if keeps else checkpoint(block, h, use_reentrant=False).sum()
        if writes:
            write(h)
        said = explain(loss, h=h)
        try:
            loss.backward()
        except RuntimeError as error:
            return said.verdict, str(error), said.text
        return said.verdict, x.grad.tolist(), said.text

    with copylab.watch(silent="record"):
        said, found, text = backward(writes=True)
    assert said == verdict
    _, wanted, _ = backward(writes=False, keeps=True)
    if verdict == "runs":
        assert found == wanted
    elif verdict == "may be wrong":
        assert isinstance(found, list)
        assert found != wanted
        assert "<lambda> (test_rehearsal.py:" in text
        assert ", line" not in text or "(written to by test_rehearsal.py, line " in text
    elif verdict == "raises":
        assert "modified by an inplace operation" in found


@pytest.mark.torch
def test_a_leaf_that_was_given_other_memory_is_not_compared() -> None:
    import torch

    with copylab.watch(silent="record") as watch:
        x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        h = x.tanh().exp()
        h.data.add_(0.7)
        loss = (h * w).sum()
        with torch.no_grad():
            x.set_(torch.rand(3))
        assert explain(loss, x=x).verdict == "may be wrong"
        loss.backward()
    assert [finding.silent for finding in watch.findings] == [True]


@pytest.mark.torch
def test_a_checkpoint_of_arithmetic_is_decided_under_a_watch() -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    def scaled(v: Any) -> Any:
        return v.exp() * 2.0

    def reads(v: Any) -> Any:
        return v.exp() * scale  # which may have been another number in forward

    def drops(v: Any) -> Any:
        return torch.dropout(v, 0.5, train=True)

    for use_reentrant in (False, True):
        for block, verdict in ((scaled, "runs"), (reads, "unknown"), (drops, "unknown")):
            with copylab.watch(silent="record"):
                x = torch.ones(3, requires_grad=True)
                loss = checkpoint(block, x, use_reentrant=use_reentrant).sum()
                assert explain(loss).verdict == verdict
                loss.backward()


def _exponential(v: Any) -> Any:
    return v.exp()


@pytest.mark.torch
@pytest.mark.parametrize("what", ["as it was", "code", "context", "frozen", "detached"])
def test_a_checkpoint_that_may_do_otherwise_is_not_known(what: str) -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    def square(v: Any) -> Any:
        return v * v

    contexts = (contextlib.nullcontext(), torch.no_grad())
    options: Any = {"context_fn": lambda: contexts} if what == "context" else {}
    with copylab.watch(silent="record"):
        w = torch.ones(3, requires_grad=True)
        h = w if what == "frozen" else w * 2
        loss = checkpoint(square, h, use_reentrant=False, **options).sum()
        if what == "code":
            square.__code__ = _exponential.__code__
        elif what == "frozen":
            w.requires_grad_(False)
        elif what == "detached":
            h.detach_()
        assert explain(loss).verdict == ("runs" if what == "as it was" else "unknown")
        # In a watch the frozen leaf is unpacked as one that requires grad, in a plain program it is not.
        if what in ("code", "context", "detached"):
            with pytest.raises(RuntimeError):
                loss.backward()


@pytest.mark.torch
@pytest.mark.parametrize("what", ["as it was", "code", "code, set twice", "function", "frozen"])
def test_a_reentrant_checkpoint_that_may_do_otherwise_is_not_known(what: str) -> None:
    """One of another code gave the gradient of that, and was said to run with what was saved."""
    import torch
    from torch.utils.checkpoint import checkpoint

    def square(v: Any) -> Any:
        return v * v

    code = square.__code__
    with copylab.watch(silent="record"):
        w = torch.ones(3, requires_grad=True)
        h = w if what == "frozen" else w * 2
        loss = checkpoint(square, h, use_reentrant=True).sum()
        if what.startswith("code"):
            square.__code__ = _exponential.__code__
        if what == "code, set twice":
            square.__code__ = code
        elif what == "function":
            loss.grad_fn.next_functions[0][0].run_function = _exponential
        elif what == "frozen":
            w.requires_grad_(False)
        is_same = what in ("as it was", "code, set twice")
        assert explain(loss).verdict == ("runs" if is_same else "unknown")
        loss.backward()
        # In a watch the frozen leaf is unpacked as one that requires grad, in a plain program it is not.
        assert what == "frozen" or (w.grad.tolist() == [8.0] * 3) == is_same


@pytest.mark.torch
def test_without_a_watch_nobody_knows_what_a_reentrant_checkpoint_has_run() -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    def square(v: Any) -> Any:
        return v * v

    x = torch.ones(3, requires_grad=True)
    loss = checkpoint(square, x, use_reentrant=True).sum()
    assert explain(loss).verdict == "unknown"
    with copylab.watch(silent="record"):
        assert explain(loss).verdict == "unknown"


def _make_stop(engine: ModuleType) -> Any:
    class Stop(engine.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:  # noqa: ARG004
            return x * w

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:  # noqa: ARG004
            return None, grad

    return Stop


def test_where_a_function_returns_none_no_gradient_is_said_to_arrive(engine: ModuleType) -> None:
    x, w = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    h = x.exp()
    loss = _make_stop(engine).apply(h, w).sum()
    earlier = copylab.snapshot(loss, x=x, w=w, h=h)
    h.data.mul_(2)  # nobody reads it
    said = explain(loss, x=x, w=w, h=h, since=earlier)
    assert said.verdict == "runs"
    assert "It adds to w.grad." in said.text
    assert (
        "No gradient arrives at x: StopBackward returns None for an input on the way" in said.text
    )
    x.grad = engine.zeros(1).expand(3)  # nothing is added to it
    assert explain(loss, x=x).verdict == "unknown"
    x.grad = None
    loss.backward()
    assert x.grad is None
    assert w.grad is not None


@pytest.mark.parametrize("fault", ["stale", "freed", "moved", "hook"])
def test_what_is_behind_none_raises_all_the_same(fault: str, engine: ModuleType) -> None:
    x, w = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    h = x.exp()
    loss = _make_stop(engine).apply(h, w).sum()
    if fault == "stale":
        h.detach().add_(1)
    elif fault == "freed":
        h.sum().backward()
    elif fault == "moved":
        x.requires_grad_(False)
        x.mul_(w)
    else:
        h.register_hook(lambda grad: grad * 2)  # it is given None
    said = explain(loss, x=x, w=w)
    # Arithmetic on a gradient is rehearsed with a gradient.
    assert said.verdict == ("unknown" if fault == "hook" else "raises")
    with pytest.raises((RuntimeError, TypeError)):
        loss.backward()
