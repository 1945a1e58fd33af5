"""A watch's dispatch mode is off where PyTorch's own code runs, and on where the program's does."""

import inspect
import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import copylab
import pytest

torch: Any = pytest.importorskip("torch")


def leaf(*values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


def find_lines(program: Callable[[], Any]) -> list[str | None]:
    """Run a program under a watch; the code of the lines that its findings name."""
    with copylab.watch(silent="record") as watch:
        program()
        assert len(torch.utils._python_dispatch._get_current_dispatch_mode_stack()) == 1
    return [finding.written and finding.written.code for finding in watch.findings]


@contextmanager
def noting_operations(watch: Any) -> Iterator[list[str]]:
    """Note the operations that the mode of a watch sees."""
    mode = watch._attached[watch._thread]["torch"].mode
    seen, original = [], type(mode).__torch_dispatch__

    def dispatch(self: Any, func: Any, *args: Any) -> Any:
        seen.append(func.__name__)
        return original(self, func, *args)

    type(mode).__torch_dispatch__ = dispatch
    yield seen


def test_formulas_and_steps_run_without_the_mode() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    optimizer = torch.optim.Adam(net.parameters())
    with copylab.watch() as watch, noting_operations(watch) as seen:
        net(torch.ones(1, 2)).exp().sum().backward()
        assert "addmm.default" in seen
        assert not {"mm.default", "threshold_backward.default"} & set(seen)
        seen.clear()
        optimizer.step()
        assert not {"lerp_.Scalar", "addcdiv_.default", "sqrt.default"} & set(seen)
        net[0].weight.data.mul_(1)
        assert "mul_.Tensor" in seen
        # With create_graph the formulas save, too.
        torch.autograd.grad(net(torch.ones(1, 2)).exp().sum(), net[0].weight, create_graph=True)
        assert "mm.default" in seen
    assert not import_module("torch.optim.optimizer")._global_optimizer_pre_hooks
    assert "_register_hook" not in vars(torch.autograd.Function)


def write_in_hook_of_node() -> None:
    h = leaf(1.0, 2.0).exp()
    later = h.exp()
    later.grad_fn.register_hook(lambda *_: (h.data.mul_(2), None)[1])
    later.sum().backward()


def write_in_hook_that_reads() -> None:
    h = leaf(1.0, 2.0).exp()
    later = h.exp()

    def hook(_: Any) -> None:
        assert later.grad_fn._saved_result is not None
        h.data.mul_(2)

    later.register_hook(hook)
    later.sum().backward()


class WritesAfterReading(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        x.data.mul_(2)
        return grad


def write_in_function() -> None:
    WritesAfterReading.apply(leaf(1.0, 2.0).exp()).sum().backward()


def write_in_function_on_view() -> None:
    h = leaf(1.0, 2.0).exp()
    base = h * 1
    base[:1].copy_(WritesAfterReading.apply(h)[:1])
    base.sum().backward()


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (
            write_in_hook_of_node,
            "later.grad_fn.register_hook(lambda *_: (h.data.mul_(2), None)[1])",
        ),
        (write_in_hook_that_reads, "h.data.mul_(2)"),
        (write_in_function, "x.data.mul_(2)"),
        (write_in_function_on_view, "x.data.mul_(2)"),
    ],
)
def test_code_of_the_program_in_backward_is_seen(program: Callable[[], Any], line: str) -> None:
    assert find_lines(program) == [line]


class Doubling(torch.optim.SGD):
    """Writes to what it was given, besides."""

    other: Any = None

    def step(self, closure: Any = None) -> None:
        super().step(closure)
        self.other.data.mul_(2)


def write_by_step(w: Any, _: Any) -> None:
    torch.optim.SGD([w], 0.1).step()


def write_by_subclass(w: Any, h: Any) -> None:
    optimizer = Doubling([w], 0.0)
    optimizer.other = h
    optimizer.step()


def write_by_hook(w: Any, h: Any) -> None:
    optimizer = torch.optim.SGD([w], 0.0)
    optimizer.register_step_post_hook(lambda *_: h.data.mul_(2))
    optimizer.step()


def write_by_closure(w: Any, h: Any) -> None:
    torch.optim.SGD([w], 0.0).step(lambda: h.data.mul_(2))


def write_after_step_that_raised(w: Any, h: Any) -> None:
    optimizer = torch.optim.Adam([w], 0.1)
    w.grad = w.detach().to_sparse()
    with pytest.raises(RuntimeError, match="sparse"):
        optimizer.step()
    w.exp()  # a save ends the pause
    h.data.mul_(2)


def step_with_error(w: Any) -> None:
    optimizer = torch.optim.SGD([w], 0.0)
    optimizer.param_groups[0]["lr"] = None
    w.grad = torch.ones_like(w)
    optimizer.step()


def write_after_step_that_raised_in_hook(_: Any, h: Any) -> None:
    other = leaf(1.0, 2.0)
    other.register_post_accumulate_grad_hook(step_with_error)
    with pytest.raises(TypeError):
        other.sum().backward()
    leaf(1.0).exp()
    h.data.mul_(2)


def write_after_saves_in_backward(_: Any, h: Any) -> None:
    checkpoint = import_module("torch.utils.checkpoint").checkpoint
    loss = checkpoint(torch.exp, leaf(1.0, 2.0), use_reentrant=False).sum()
    with pytest.raises(TypeError):
        step_with_error(leaf(1.0, 2.0))
    loss.backward()  # saves again: what is put back there is gone after the node
    leaf(1.0).exp()
    h.data.mul_(2)


def write_by_step_in_thread(w: Any, h: Any) -> None:
    thread = threading.Thread(target=write_by_step, args=(w, h))
    thread.start()
    thread.join()


class KeepsAttribute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x = x
        return x * 1

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.x


def write_to_attribute(w: Any, _: Any) -> None:
    kept = KeepsAttribute.apply(w)
    torch.optim.SGD([w], 0.1).step()
    kept.sum().backward()


@pytest.mark.parametrize(
    ("write", "line"),
    [
        (write_by_step, "torch.optim.SGD([w], 0.1).step()"),
        (write_by_subclass, "self.other.data.mul_(2)"),
        (write_by_hook, "optimizer.register_step_post_hook(lambda *_: h.data.mul_(2))"),
        (write_by_closure, "torch.optim.SGD([w], 0.0).step(lambda: h.data.mul_(2))"),
        (write_after_step_that_raised, "h.data.mul_(2)"),
        (write_after_step_that_raised_in_hook, "h.data.mul_(2)"),
        (write_after_saves_in_backward, "h.data.mul_(2)"),
        (write_by_step_in_thread, "torch.optim.SGD([w], 0.1).step()"),
        (write_to_attribute, "torch.optim.SGD([w], 0.1).step()"),
    ],
)
def test_the_line_of_a_step_is_named(write: Callable[[Any, Any], None], line: str) -> None:
    def program() -> None:
        w = leaf(1.0, 2.0)
        w.grad = torch.ones(2)
        h = w.exp()
        writes_parameter = write in (write_by_step, write_by_step_in_thread)
        loss = (w * w).sum() if writes_parameter else h.sum()
        write(w, h)
        with suppress(RuntimeError):  # of a parameter, stale
            loss.backward()

    assert find_lines(program) == [line]


def test_a_step_that_writes_to_gradients_is_named() -> None:
    def program() -> None:
        w, v = leaf(1.0, 2.0), leaf(3.0, 4.0)
        optimizer = torch.optim.SGD([w], 0.1, momentum=0.9, nesterov=True, foreach=True)
        w.grad = torch.ones(2)
        loss = (v * w.grad).sum()
        optimizer.step()
        with pytest.raises(RuntimeError, match="modified"):
            loss.backward()

    assert find_lines(program) == ["optimizer.step()"]


# Of each, all that has two choices is tried. LBFGS takes a closure, during which the mode is on.
_FLAGS = ("foreach", "maximize", "nesterov", "amsgrad", "centered")
_CHOICES = dict.fromkeys(_FLAGS, (False, True)) | {"weight_decay": (0, 0.1), "momentum": (0, 0.9)}
_OPTIMIZERS = [
    kind
    for kind in vars(torch.optim).values()
    if isinstance(kind, type)
    and issubclass(kind, torch.optim.Optimizer)
    and kind not in (torch.optim.Optimizer, torch.optim.LBFGS)
]


def list_state(optimizer: Any) -> list[Any]:
    """Return the tensors that a step could write to."""
    values = [value for state in optimizer.state.values() for value in state.values()]
    for group in optimizer.param_groups:
        values += [*group.values(), *group["params"], *(each.grad for each in group["params"])]
    return [value for value in values if isinstance(value, torch.Tensor)]


@pytest.mark.parametrize("kind", _OPTIMIZERS, ids=lambda kind: kind.__name__)
def test_what_a_step_writes_is_known(kind: Any) -> None:
    find_written = import_module("copylab.watching.mode_pauses")._find_written
    known = inspect.signature(kind.__init__).parameters
    choices = [name for name in _CHOICES if name in known]
    for values in itertools.product(*map(_CHOICES.__getitem__, choices)):
        options = dict(zip(choices, values, strict=True))
        if options.get("nesterov") and not options["momentum"]:
            continue  # refused
        w = torch.nn.Parameter(torch.ones(2, 2))
        optimizer = kind([w], lr=0.01, **options)
        for step in range(3):
            w.grad = torch.full((2, 2), (-1.0) ** step)
            if kind is torch.optim.SparseAdam:
                w.grad = w.grad.to_sparse()
            named = {id(tensor) for tensor in find_written(optimizer, torch.Tensor)}
            before = [(tensor, tensor._version) for tensor in list_state(optimizer)]
            optimizer.step()
            written = {id(tensor) for tensor, version in before if tensor._version != version}
            assert id(w) in written
            assert written <= named, options


def test_a_thread_may_start_while_another_one_steps() -> None:
    w = leaf(1.0)
    w.grad = torch.ones(1)
    optimizer = torch.optim.SGD([w], 0.1)
    started: list[int] = []

    def start_threads() -> None:
        for number in range(100):
            thread = threading.Thread(target=started.append, args=(number,))
            thread.start()
            thread.join()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with copylab.watch():
            starter = threading.Thread(target=start_threads)
            starter.start()
            while starter.is_alive():
                optimizer.step()
            starter.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(started) == 100


def test_after_a_step_that_raised_exits_are_seen() -> None:
    with copylab.watch() as watch:
        a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD([*a.parameters(), *b.parameters()], 0.1)
        with pytest.raises(TypeError):
            step_with_error(leaf(1.0))
        leaf(1.0).exp()
        b(a(torch.ones(1, 2)).detach()).sum().backward()
        optimizer.step()
    (missing,) = watch.missing_gradients
    assert ".detach()" in missing.causes[0]
