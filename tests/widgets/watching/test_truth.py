"""What a watch says is so: the line that wrote, no other; and what it sees is what runs without it."""

import gc
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import copylab
import pytest
from copylab.watching.formulas import find_use
from copylab.watching.watched_memory import WHOLE_BYTES, memory_span

from tinytorch.viz import FormulaUse, graph

Line = str | None


def find_lines(program: Callable[[Any], Any], engine: Any) -> list[Line]:
    """Run a program under a watch; the code of the lines that its findings name."""
    with copylab.watch(silent="record") as watch:
        program(engine)
    return [finding.written and finding.written.code for finding in watch.findings]


def assign(engine: Any) -> None:
    h = engine.ones(500, requires_grad=True) * 2
    loss = (h * h).sum()
    address = h.data_ptr()
    h.data = h.data + 1
    innocent = [engine.zeros(500).add_(1)]
    while innocent[-1].data_ptr() != address and len(innocent) < 50:
        innocent.append(engine.zeros(500).add_(1))
    loss.backward()


def assign_equal(engine: Any) -> None:
    h = engine.ones(3, requires_grad=True) * 2
    loss = (h * h).sum()
    h.data = h.data.clone()
    h.data.mul_(1)
    loss.backward()


def write_after_assignment(engine: Any) -> None:
    h = engine.ones(3, requires_grad=True) * 2
    loss = (h * h).sum()
    h.data = h.data.clone()
    h.data.mul_(3)
    loss.backward()


def write_twice(engine: Any) -> None:
    h = engine.ones(3, requires_grad=True).exp()
    h.data.mul_(1)
    h.data.mul_(2)
    h.data.mul_(3)
    h.sum().backward()


def write_by_numpy(engine: Any) -> None:
    h = engine.ones(3, requires_grad=True).exp()
    h.data.mul_(1)
    h.detach().numpy()[:] = 0
    h.data.mul_(1)
    h.sum().backward()


@pytest.mark.parametrize(
    ("program", "lines"),
    [
        (assign, ["h.data = h.data + 1"]),
        (assign_equal, []),
        (write_after_assignment, ["h.data.mul_(3)"]),
        (write_twice, ["h.data.mul_(2)"]),
    ],
)
def test_the_line_that_wrote_is_named_and_no_other(
    program: Callable[[Any], Any], lines: list[Line], engine: Any
) -> None:
    attributes = set(vars(engine.Tensor))
    assert find_lines(program, engine) == lines
    assert set(vars(engine.Tensor)) == attributes


@pytest.mark.torch
def test_a_write_of_equal_values_is_not_to_blame_for_numpy() -> None:
    import torch

    assert find_lines(write_by_numpy, torch) == [None]


def test_each_backward_is_judged_and_counted(engine: Any) -> None:
    with copylab.watch(silent="record") as watch:
        h = engine.ones(3, requires_grad=True) * 2
        loss = (h * h).sum()
        h.data.mul_(2)
        loss.backward(retain_graph=True)
        for _ in range(100):
            loss.backward(retain_graph=True)
    assert [(finding.more, finding.times) for finding in watch.findings] == [(1, 1), (1, 100)]
    assert "It happened in 100 steps" in watch.findings[1].text
    assert "steps" not in watch.findings[0].text
    with copylab.watch(silent="raise"):
        h = engine.ones(3, requires_grad=True) * 2
        loss = (h * h).sum()
        h.data.mul_(2)
        for _ in range(2):
            with pytest.raises(copylab.GradientWarning):
                loss.backward(retain_graph=True)


torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
nn, F = torch.nn, torch.nn.functional


def under_both(program: Callable[[], Any]) -> list[str]:
    """What a program gives without a watch and under one."""
    results = []
    for block in (nullcontext(), copylab.watch(silent="record")):
        torch.manual_seed(0)
        with block:
            results.append(repr(program()))
    return results


def make_views() -> list[Any]:
    x = torch.ones(2, 3, requires_grad=True)
    ways: list[Callable[[], Any]] = [
        lambda: x.T,
        lambda: x.reshape(3, 2),
        lambda: x[:1].expand_as(x),
        lambda: x.chunk(2, 1)[0],
        lambda: x.narrow(0, 0, 1),
        lambda: torch.einsum("ij->ji", x),
        lambda: (x @ x.mT).view(4),
    ]
    with torch.inference_mode():
        results = [way() for way in ways]
        inference = torch.ones(2, 3)
    results += [torch.einsum("ij,kj->ki", inference, inference), inference.T]
    return [(y.requires_grad, y.is_inference(), y._is_view(), y.is_leaf) for y in results]


def multiply() -> list[Any]:
    x = torch.randn(4, 7, requires_grad=True)
    special = torch.tensor([float("inf"), 0.0, 3.0], requires_grad=True)
    (x.prod(1).sum() + x.prod() + special.prod() + special.prod(0)).backward()
    return [x.grad.tolist(), special.grad.tolist()]


def fail_in_checkpoint() -> str:
    net, x = nn.Linear(3, 3), torch.randn(2, 3, requires_grad=True)
    h = x * 1
    y = torch.utils.checkpoint.checkpoint(lambda v: net(v).tanh(), h, use_reentrant=False)
    h.mul_(2)
    with pytest.raises(RuntimeError) as error:
        y.sum().backward()
    return str(error.value)


@pytest.mark.parametrize("program", [make_views, multiply, fail_in_checkpoint])
def test_what_runs_is_what_runs_without_it(program: Callable[[], Any]) -> None:
    import torch.utils.checkpoint  # noqa: F401

    without, under = under_both(program)
    assert under == without


def test_what_was_not_seen_is_counted() -> None:
    from torch.utils.checkpoint import checkpoint

    net, x = nn.Linear(3, 3), torch.randn(2, 3, requires_grad=True)
    enter = torch.autograd.graph.saved_tensors_hooks.__enter__
    with copylab.watch(silent="record") as watch:
        loss = checkpoint(lambda v: net(v).tanh(), x, use_reentrant=False).sum()
        with torch.autograd.graph.save_on_cpu():
            loss = loss + x.exp().sum()
        loss.backward()
        torch.func.grad(lambda v: (v * net.weight).exp().sum())(torch.ones(3))
    assert torch.autograd.graph.saved_tensors_hooks.__enter__ is enter
    assert watch.text == (
        "Backward has read 5 saved tensors under this watch; each was as it was saved. torch.func ran once: what was saved meanwhile was not seen.\n\n"
        "check_gradients(step, net) measures whether hooks and Functions give the right gradient."
    )


def test_hooks_that_the_program_disables_are_not_said_to_be_of_torch_func() -> None:
    x = torch.ones(3, requires_grad=True)
    with copylab.watch(silent="record") as watch:
        with torch.autograd.graph.disable_saved_tensors_hooks("none in here"):
            x.exp().sum().backward()
        x.exp().sum().backward()
    assert watch.text.partition("\n\n")[0].endswith(
        "disable_saved_tensors_hooks ran once: what was saved meanwhile was not seen."
    )


def from_layer(layer: Any, x: Any, name: str) -> Callable[[], tuple[Any, Any, list[Any]]]:
    def run() -> tuple[Any, Any, list[Any]]:
        result = layer(x)
        result = result[0] if isinstance(result, tuple) else result
        weights = torch.linspace(0, 1, result.numel()).view(result.shape)
        return (result * weights).sum(), getattr(layer, name), list(layer.parameters())

    return run


def from_input(function: Callable[[Any], Any]) -> Callable[[], tuple[Any, Any, list[Any]]]:
    def run() -> tuple[Any, Any, list[Any]]:
        x = torch.linspace(-2, 2, 32).view(1, 2, 4, 4).requires_grad_()
        h = x * 1
        result = function(h)
        weights = torch.linspace(0, 1, result.numel()).view(result.shape)
        return (result * weights).sum(), h, [x]

    return run


UNREAD = [
    from_layer(nn.Conv2d(1, 2, 3), torch.ones(1, 1, 5, 5), "weight"),
    from_layer(nn.LSTM(3, 2), torch.ones(2, 3, 3), "bias_ih_l0"),
    from_layer(nn.LayerNorm(3), torch.ones(2, 3), "bias"),
    from_layer(nn.BatchNorm1d(3), torch.ones(4, 3), "running_mean"),
    *map(
        from_input,
        [
            lambda h: F.max_pool2d(h, 2),
            lambda h: F.avg_pool2d(h, 2),
            lambda h: F.adaptive_avg_pool2d(h, 2),
            lambda h: F.pad(h, (1, 1, 1, 1), "reflect"),
            lambda h: h.gather(1, torch.zeros(1, 1, 4, 4, dtype=torch.long)),
            lambda h: h.cummax(1)[0],
            lambda h: h.masked_select(h.detach() > 0),
        ],
    ),
]
COMPARED = [
    from_input(lambda h: h.clamp(-9, 9)),
    from_input(torch.abs),
    from_input(F.leaky_relu),
    from_input(lambda h: torch.maximum(h, torch.full_like(h, -99.0))),
]


@pytest.mark.parametrize(("programs", "count"), [(UNREAD, 0), (COMPARED, 1)])
def test_no_wrong_gradient_is_claimed_where_the_formula_reads_no_values(
    programs: list[Callable[[], tuple[Any, Any, list[Any]]]], count: int
) -> None:
    for run in programs:
        gradients = []
        for factor in (1.0, 0.5):
            with copylab.watch(silent="record") as watch:
                loss, tensor, leaves = run()
                tensor.data.mul_(factor).add_(factor - 1 if count == 0 else 0)
                for leaf in leaves:
                    leaf.grad = None
                # Of a backward with arguments the gradients are not computed in both ways before.
                loss.backward(*[torch.ones_like(loss)] * count)
            gradients.append([leaf.grad.tolist() for leaf in leaves])
        assert gradients[0] == gradients[1]
        assert len(watch.findings) == count
        for finding in watch.findings:
            assert "unless they are the same as before, the gradient is wrong" in finding.title


def test_a_formula_that_reads_values_is_not_excused() -> None:
    with copylab.watch(silent="record") as watch:
        x = torch.randn(1, 1, 5, 5, requires_grad=True)
        conv = nn.Conv2d(1, 2, 3)
        y = conv(x)
        save = y.grad_fn._raw_saved_weight.data
        assert find_use(y.grad_fn, save) is FormulaUse.VALUES
        assert find_use(conv(x.detach()).grad_fn, save) is FormulaUse.VALUES, "of another node"
        conv.weight.data.mul_(2)
        y.sum().backward()
    assert [finding.names[0] for finding in watch.findings] == ["conv.weight"]
    del save
    gc.collect()


def test_a_save_knows_where_the_memory_of_its_tensor_is_now() -> None:
    with copylab.watch(silent="record"):
        y = torch.ones(3, requires_grad=True) * 1
        z = y * y
        save = z.grad_fn._raw_saved_self.data
        before = memory_span(y)
        assert save.span == before
        y.data = torch.zeros(3)
        assert save.span == memory_span(y) != before
    del save
    gc.collect()


def test_of_what_is_compared_in_pieces_the_first_write_is_kept_if_it_changed_nothing() -> None:
    with copylab.watch(silent="record"):
        y = torch.ones(WHOLE_BYTES // 4 + 1, requires_grad=True) * 1
        small = torch.ones(3, requires_grad=True) * 1
        results = [each * each for each in (y, small)]
        saves = [result.grad_fn._raw_saved_self.data for result in results]
        y.data.mul_(1)
        small.data.mul_(1)
        assert saves[0].is_sampled
        assert [save.first_changing_write is None for save in saves] == [False, True]
    del saves
    gc.collect()


# -- what backward does is what it does without a watch ----------------------------


def try_backward(engine: Any, run: Callable[[Any], Any]) -> str:
    """Return the gradient of a leaf after a program, or the error that it raised."""
    leaf = engine.ones(2, requires_grad=True)
    try:
        run(leaf)
    except RuntimeError as error:
        return str(error)
    return str(leaf.grad)


def test_a_function_is_given_a_tensor_that_was_detached_in_place(engine: Any) -> None:
    class Square(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * grad * x

    def detach_input(leaf: Any, square: Callable[[Any], Any]) -> None:
        h = leaf * 3
        y = square(h)
        h.detach_()
        assert y.grad_fn.next_functions
        assert ("DETACHED" in graph(y=y).text) == (square != Square.apply)
        y.sum().backward()

    for square, answer in ((Square.apply, "18"), (lambda h: h * h, "detached in-place")):
        answers = []
        for block in (nullcontext(), copylab.watch(silent="record")):
            with block:
                answers.append(try_backward(engine, lambda leaf: detach_input(leaf, square)))  # noqa: B023
        assert answers[0] == answers[1]
        assert answer in answers[0]


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_stale_nested_tensor_raises_the_error_of_pytorch() -> None:
    def write_nested(leaf: Any) -> None:
        rows = [leaf * 2, leaf[:1] * 3]
        h = torch.nested.as_nested_tensor(rows, layout=torch.strided) * 2.0
        y = (h * h).to_padded_tensor(0.0)
        h.mul_(2.0)
        looks.append("saved other: " in (text := graph(y=y).text) and text.count("STALE") == 2)
        y.sum().backward()

    answers: list[str] = []
    looks: list[bool] = []
    for block in (nullcontext(), copylab.watch(silent="record")):
        with block:
            answers.append(try_backward(torch, write_nested))
    assert answers[0] == answers[1]
    assert "is at version 1; expected version 0" in answers[0]
    assert looks == [True, True]


@pytest.mark.parametrize("look", [copylab.memory, copylab.graph, copylab.explain])
def test_a_look_of_a_hook_is_no_read_of_backward(engine: Any, look: Callable[..., Any]) -> None:
    def run(hook: Callable[..., None]) -> tuple[int, int]:
        with copylab.watch(silent="record") as watch:
            x = engine.tensor([1.0, 2.0], requires_grad=True)
            y = x * 2
            z = y * y
            loss = z.exp().sum()
            z.register_hook(lambda _: hook(loss, watch))
            y.data.mul_(3)
            loss.backward()
        return watch.read_count, len(watch.findings)

    def look_at(loss: Any, watch: Any) -> None:
        before = watch.read_count, list(watch.findings)
        assert look(loss).text
        assert (watch.read_count, watch.findings) == before

    assert run(look_at) == run(lambda *_: None)
