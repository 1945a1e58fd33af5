"""A watch's dispatch mode is off where PyTorch's own code runs, and on where the program's does."""

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
