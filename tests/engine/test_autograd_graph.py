"""Graphs as objects: of any depth, freed as soon as nobody holds them, walked by several threads."""

from __future__ import annotations

import gc
import threading
import tracemalloc
import weakref

import pytest

import tinytorch as torch
from tinytorch.autograd import gradient_tensors

DEEP = 50_000  # far beyond what recursion could bear; a million takes the same path


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 1


def chain(step, x, length=DEEP):
    y = x
    for _ in range(length):
        y = step(y)
    return y


@pytest.mark.parametrize(
    ("step", "slope"),
    [
        pytest.param(lambda y: y + 1, 1.0, id="add"),
        pytest.param(lambda y: y.view(3), 1.0, id="view", marks=pytest.mark.stress),
        pytest.param(lambda y: y * 1.0, 1.0, id="mul", marks=pytest.mark.stress),
        pytest.param(lambda y: Double.apply(y), 1.0, id="Function", marks=pytest.mark.stress),
    ],
)
def test_a_deep_graph_runs_backward_and_is_freed(step, slope):
    x = torch.ones(3, requires_grad=True)
    y = chain(step, x, DEEP)
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [slope] * 3
    assert torch.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist() == [slope] * 3
    first = weakref.ref(y.grad_fn)
    del y
    assert first() is None


def test_a_chain_takes_linear_memory_and_backward_frees_what_was_saved():
    x = torch.ones(3, requires_grad=True)
    tracemalloc.start()
    try:
        y = chain(lambda t: t + 1, x, 20_000)
        for_adding = tracemalloc.get_traced_memory()[0] / 20_000
        del y
        left = tracemalloc.get_traced_memory()[0] / 20_000
    finally:
        tracemalloc.stop()
    assert for_adding < 450, f"{for_adding:.0f} bytes a node"
    assert left < 20, f"{left:.0f} bytes a node are left"
    y = x * 1
    saved = weakref.ref((y * y).grad_fn._saved_self)
    z = y * y
    z.sum().backward()
    del y
    assert saved() is None


def test_backward_lets_go_of_gradients_that_it_has_summed():
    x = torch.ones(64, 1024, requires_grad=True)
    y = x
    for factor in [torch.ones(1024, requires_grad=True) * 2.0 for _ in range(4)]:
        y = y * factor
    loss = y.sum()
    del y
    tracemalloc.start()
    try:
        loss.backward()
        peak = tracemalloc.get_traced_memory()[1] / x.nbytes
    finally:
        tracemalloc.stop()
    # What arrived at a product, and its two gradients. That of the factor is then summed to a row.
    assert peak < 3.5, f"{peak:.2f} times the memory of x"


def test_a_deep_graph_of_writes_runs_backward():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    for _ in range(5_000):
        y[:1].mul_(1.0)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def _written(x):
    y = x * 1
    part = y[:1]
    part.mul_(2)
    return y, part, part.grad_fn


def _hooked(x):
    y = x.sigmoid()
    y.register_hook(lambda grad: grad)
    y.grad_fn.register_hook(lambda *grads: None)
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    return y


def _packed(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        return x.sigmoid() * x


def _differentiated(x):
    y = x.sigmoid()
    torch.autograd.grad(y.sum(), x, create_graph=True)
    return y


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x * 2, lambda x: x.sigmoid(), lambda x: x.view(-1), lambda x: x.unbind(), Double.apply, _written,
        _hooked, _packed, _differentiated, lambda x: (x * 1).sigmoid_(), lambda x: x.softmax(0), lambda x: x[:2][:1],
    ],
)  # fmt: skip
def test_graphs_hold_no_cycles(make):
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(3, requires_grad=True)
        out = make(x)
        out = [
            t for t in (out if isinstance(out, tuple) else (out,)) if isinstance(t, torch.Tensor)
        ]
        alive = (
            [weakref.ref(t) for t in out] + [weakref.ref(t.grad_fn) for t in out] + [weakref.ref(x)]
        )
        del out, x
        assert [ref() for ref in alive] == [None] * len(alive)
    finally:
        gc.enable()


def test_threads_have_modes_hooks_and_walks_of_their_own():
    x = torch.ones(4, requires_grad=True)
    seen: dict[int, tuple] = {}

    def work(name):
        seen[name] = (torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        leaf = torch.full((4,), float(name + 1), requires_grad=True)
        for _ in range(20):
            leaf.grad = None
            (leaf * leaf * x.detach()).sum().backward()
        seen[name] += (leaf.grad.tolist(),)

    def pack(t):
        raise AssertionError("hooks of another thread")

    with torch.inference_mode(), torch.autograd.graph.saved_tensors_hooks(pack, pack):
        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert seen == {name: (True, False, [2.0 * (name + 1)] * 4) for name in range(4)}


def test_a_context_takes_attributes_of_any_name():
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.edges, ctx.saved, ctx.hooks, ctx.outputs, ctx.seq = (
                "edges",
                "saved",
                "hooks",
                "outputs",
                "seq",
            )
            ctx.shape, ctx.dtype, ctx.device, ctx.metas = x.shape, x.dtype, x.device, 4
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert (ctx.edges, ctx.saved, ctx.hooks, ctx.outputs, ctx.seq) == (
                "edges",
                "saved",
                "hooks",
                "outputs",
                "seq",
            )
            assert (ctx.shape, ctx.metas) == (grad.shape, 4)
            return grad * ctx.saved_tensors[0]

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Keeps.apply(x).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]


def test_gradients_are_not_held_after_backward():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    held = []
    y.register_hook(lambda grad: held.append(weakref.ref(grad)))
    y.sum().backward()
    assert held[0]() is None


def test_the_forward_trace_names_the_users_lines_alone():
    with torch.autograd.set_detect_anomaly(True):
        y = torch.sqrt(torch.tensor([-1.0], requires_grad=True))
        trace = "".join(y.grad_fn.metadata["traceback_"])
        with (
            pytest.warns(UserWarning, match="Error detected in SqrtBackward0") as said,
            pytest.raises(
                RuntimeError,
                match=r"Function 'SqrtBackward0' returned nan values in its 0th output\.",
            ),
        ):
            y.sum().backward()
    assert "y = torch.sqrt(" in trace
    assert "tinytorch/" not in trace.replace("\\", "/")
    assert trace in str(said[0].message)


def test_a_gradient_that_goes_nowhere_is_not_looked_at_for_nan() -> None:
    leaf = torch.tensor([0.5, -1.5], requires_grad=True)
    with torch.no_grad():
        view = leaf.view(2)  # requires grad and is a leaf, but nothing accumulates for it
    y = view.sqrt()
    assert y.grad_fn.next_functions == ((None, 0),)
    with torch.autograd.set_detect_anomaly(True):
        y.sum().backward()
    assert view.grad is None and leaf.grad is None


def test_the_gradient_of_relu_is_no_view() -> None:
    x = torch.eye(2, requires_grad=True)
    (gradient,) = torch.autograd.grad(x.relu(), x, torch.ones(2, 2))
    assert gradient.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert not gradient._is_view()
    assert gradient._base is None


def test_anomaly_mode_shows_frames_of_the_user_alone() -> None:
    with torch.autograd.set_detect_anomaly(True):
        x = torch.tensor([-1.0], requires_grad=True)
        made = (x.sqrt() * x).exp().grad_fn
    for node in (made, made.next_functions[0][0]):
        # Further out are those of whoever runs the tests.
        innermost = node.metadata["traceback_"][-1]
        assert (
            f'File "{__file__}"' in innermost
            and "set_detect" not in innermost
            and ".exp()" in innermost
        )


def test_a_gradient_that_was_captured_is_not_added_to() -> None:
    x, y = (torch.ones(3, requires_grad=True) for _ in range(2))
    c = x * 1
    late = c * 3
    passed_on = c + torch.zeros(3)
    for captured in (y * 1, (y * 1).view(3)):
        total = ((captured + passed_on) + late * 2) * 2
        found = torch.autograd.grad(total, (captured, c, x), torch.ones(3), retain_graph=True)
        assert [g.tolist() for g in found] == [[2.0] * 3, [14.0] * 3, [14.0] * 3]


def test_memory_is_noted_only_where_another_gradient_may_look_at_it() -> None:
    w, x = torch.ones(3, 2, requires_grad=True), torch.ones(4, 2)
    (x @ w.t()).sum().backward()
    assert gradient_tensors._HOLDERS == {}
    # The node of the sum sends one array to both: what `view` makes of it is not alone.
    v, b = torch.ones(3, 2, requires_grad=True), torch.ones(6, requires_grad=True)
    ((v.view(6) + b) * 2).sum().backward()
    assert len(gradient_tensors._HOLDERS) == 1
    del v, b
    assert gradient_tensors._HOLDERS == {}


class CallsBackward(torch.autograd.Function):
    """Its backward calls backward of a node like itself, as often as its number says."""

    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_() - 1
        return ctx.x.detach()

    @staticmethod
    def backward(ctx, grad):
        if ctx.x > 0:
            with torch.enable_grad():
                CallsBackward.apply(ctx.x).sum().backward()
        return grad


def deepest_backward_inside_backward():
    """Return how many walks fit into each other before Python's stack is full."""
    for depth in range(1, 1000):
        x = torch.tensor(float(depth), requires_grad=True)
        try:
            CallsBackward.apply(x).sum().backward()
        except RecursionError:
            return depth
    raise AssertionError("no depth was too large")


def test_hooks_that_packed_something_before_do_not_make_later_walks_less_deep(monkeypatch):
    depths = []
    for threads in (set(), {1}):
        monkeypatch.setattr("tinytorch.autograd.engine.PACKED_BEFORE", threads)
        depths.append(deepest_backward_inside_backward())
    assert depths[0] == depths[1] > 50
