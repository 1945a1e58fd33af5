"""Code of the program's own that is rehearsed with stand-ins: what is known of it, and that nothing happens."""

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
        (lambda ctx, grad: (grad / 0 * (1 / 0), None), "unknown"),  # noqa: ARG005
        (lambda ctx, grad: (grad.sum(), None), "unknown"),  # noqa: ARG005
        (lambda ctx, grad: (None, None), "unknown"),  # noqa: ARG005
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


def test_hooks_of_arithmetic_are_decided(engine: ModuleType) -> None:
    x, w = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    h = x + w
    h.register_hook(clips) if engine.__name__ == "torch" else x.register_hook(clips)
    w.register_hook(appends)
    assert explain(h.sum()).verdict == "runs"
    assert not kept
    w.register_hook(refuses)
    assert explain(h.sum()).verdict == "unknown"
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
        "ScaledBackward keeps its ctx.weight (a view of h). It does not hold the bytes" in said.text
    )
    assert "(written by test_rehearsal.py, line" in said.text


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
