"""The scope of a watch: engines imported while it lasts, threads started while it lasts, and nothing after its end."""

import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import copylab
import pytest

import tinytorch

TRAIN = """
import torch
net = torch.nn.Linear(3, 1)
x = torch.ones(2, 3, requires_grad=True)
loss = net(x).sum()
for p in net.parameters():
    p.data.clamp_(-0.001, 0.001)
loss.backward()
"""

# In each, train.py is run, and `watched` is the watch whose findings are printed.
LATE = {
    "under runpy": """
import importlib.util, runpy, sys
from copylab import watch
before = list(sys.meta_path)
with watch(silent="record") as watched:
    assert importlib.util.find_spec("torch").name == "torch"
    runpy.run_path("train.py", run_name="__main__")
assert sys.meta_path == before
assert "exec_module" not in vars(sys.modules["torch"].__loader__)
torch = sys.modules["torch"]
assert torch._C._len_torch_dispatch_stack() == 0
assert torch._C._autograd._top_saved_tensors_default_hooks(True) is None
""",
    "in the middle of blocks and of an outer watch": """
import contextlib, importlib
from copylab import watch
with watch(silent="record") as outer, watch(silent="record") as watched:
    with contextlib.ExitStack() as stack:
        torch = importlib.import_module("torch")
        stack.enter_context(torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t))
        stack.enter_context(torch.utils._python_dispatch.TorchDispatchMode.__new__(
            type("Mode", (torch.utils._python_dispatch.TorchDispatchMode,),
                 {"__torch_dispatch__": lambda self, op, types, args=(), kwargs=None: op(*args, **(kwargs or {}))})))
        (torch.ones(2, requires_grad=True) ** 2).sum().backward()
    import train
assert not outer.findings
assert torch._C._len_torch_dispatch_stack() == 0
assert torch._C._autograd._top_saved_tensors_default_hooks(True) is None
""",
    "in a thread": """
import threading, warnings
from copylab import watch
warnings.simplefilter("error")
with watch(silent="record") as watched:
    thread = threading.Thread(target=__import__, args=("train",))
    thread.start()
    thread.join()
""",
}


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(TRAIN)
    (folder / "main.py").write_text(program)
    return subprocess.run(
        [sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.torch
@pytest.mark.parametrize(
    "way",
    # PyTorch is imported anew for each: one on each change, all of them once a week.
    [pytest.param(way, marks=[pytest.mark.stress] * (way != "in a thread")) for way in LATE],
)
def test_torch_may_be_imported_later(way: str, tmp_path: Path) -> None:
    said = run(
        LATE[way] + "print([finding.names for finding in watched.findings])\nprint(watched.text)",
        tmp_path,
    )
    assert said.stdout.startswith("[('net.weight',"), said.stdout + said.stderr
    assert "train.py:7  p.data.clamp_(-0.001, 0.001)" in said.stdout
    elsewhere = "PyTorch was not watched in the thread that began this watch: it was imported in another thread"
    assert (elsewhere in said.stdout) is (way == "in a thread")
    assert not said.stderr


@pytest.mark.torch
def test_what_was_never_attached_is_said(tmp_path: Path) -> None:
    program = """
import sys, torch
from copylab import watch
aside = sys.modules.pop("torch")
with watch() as watched:
    sys.modules["torch"] = aside
    import train
print(watched)
"""
    said = run(program, tmp_path)
    assert "Nothing was checked" in said.stdout
    assert "PyTorch was not watched in the thread that began this watch" in said.stdout
    assert "main.py:5: UserWarning: PyTorch was not watched" in said.stderr


@pytest.mark.torch
def test_an_import_goes_on_where_it_cannot_be_watched(tmp_path: Path) -> None:
    program = """
from copylab import watch
from copylab.watching.on_torch import TorchHooks
def refuse(self):
    raise AttributeError("of another release")
TorchHooks.attach = refuse
with watch() as watched:
    import train
print(watched)
"""
    said = run(program, tmp_path)
    assert "PyTorch could not be watched: AttributeError: of another release." in said.stdout
    assert "main.py:7: UserWarning: PyTorch could not be watched" in said.stderr


def spoil(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    y.data.zero_()
    z.sum().backward()


class Spoiler(threading.Thread):
    def __init__(self, torch: Any) -> None:
        super().__init__()
        self.torch = torch

    def run(self) -> None:
        spoil(self.torch)


def by_thread(torch: Any) -> None:
    thread = threading.Thread(target=spoil, args=(torch,))
    thread.start()
    thread.join()


def by_subclass(torch: Any) -> None:
    thread = Spoiler(torch)
    thread.start()
    thread.join()


def by_timer(torch: Any) -> None:
    thread = threading.Timer(0, spoil, args=(torch,))
    thread.start()
    thread.join()


def by_pool(torch: Any) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(spoil, torch).result()


def by_thread_of_a_thread(torch: Any) -> None:
    thread = threading.Thread(target=by_thread, args=(torch,))
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    "start", [by_thread, by_subclass, by_timer, by_pool, by_thread_of_a_thread]
)
def test_threads_that_it_sees_start_are_watched(
    engine: ModuleType, start: Callable[[Any], None]
) -> None:
    before = threading.Thread.start
    with copylab.watch(silent="record") as watch:
        start(engine)
    assert [finding.node for finding in watch.findings] == ["MulBackward0"]
    assert threading.Thread.start is before


def test_findings_of_several_threads_are_counted_each(engine: ModuleType) -> None:
    threads, rounds = 4, 30
    start = threading.Barrier(threads)

    def work() -> None:
        start.wait()
        for _ in range(rounds):
            spoil(engine)

    with copylab.watch(silent="record") as watch, ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work) for _ in range(threads)]:
            done.result()
    (finding,) = watch.findings
    factors = 2
    assert (finding.more, finding.times) == (factors - 1, threads * rounds)
    assert watch.read_count == factors * threads * rounds


def test_a_thread_in_the_program_raises_as_without_it() -> None:
    seen: list[Any] = []

    def fail() -> None:
        raise ZeroDivisionError

    def lines() -> list[str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(threading, "excepthook", seen.append)
            thread = threading.Thread(target=fail)
            thread.start()
            thread.join()
        trace, files = seen.pop().exc_traceback, []
        while trace is not None:
            files.append(trace.tb_frame.f_code.co_name)
            trace = trace.tb_next
        return files

    alone = lines()
    with copylab.watch():
        assert lines() == alone


def test_a_thread_that_outlives_it_is_let_go(engine: ModuleType) -> None:
    with ThreadPoolExecutor(1) as pool:
        with copylab.watch(silent="raise") as watch, pytest.raises(copylab.GradientWarning):
            pool.submit(spoil, engine).result()
        assert len(watch.findings) == 1
        with warnings.catch_warnings(action="error"):
            pool.submit(spoil, engine).result()
        result = pool.submit(lambda: engine.ones(3, requires_grad=True).exp()).result()
    assert result.grad_fn._raw_saved_result.unpack_hook is None if engine is tinytorch else True
    assert len(watch.findings) == 1


def test_a_thread_started_before_is_not_watched(engine: ModuleType) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with copylab.watch() as watch:
            pool.submit(spoil, engine).result()
    assert not watch.findings
    assert watch.text.startswith(
        "Nothing was checked: backward has read no saved tensor under this watch."
    )
    assert (
        "in threads that were started before" in watch.text
        or "no operation of tinytorch" in watch.text
    )


def type_of_saved(torch: Any) -> str:
    """The type of what the innermost hooks keep of a saved tensor."""
    result = torch.ones(3, requires_grad=True).exp()
    kept = result.grad_fn._raw_saved_result.data
    return type(kept).__name__


@pytest.mark.parametrize("first", ["the program's", "the watch"])
@pytest.mark.parametrize("last", ["the program's", "the watch"])
def test_blocks_may_end_in_any_order(engine: ModuleType, first: str, last: str) -> None:
    def mine() -> Any:
        return engine.autograd.graph.saved_tensors_hooks(
            lambda t: [t.detach()], lambda packed: packed[0]
        )

    blocks: dict[str, Any] = {"the program's": mine(), "the watch": copylab.watch()}
    outer = mine()
    outer.__enter__()
    other = next(name for name in blocks if name != first)
    blocks[first].__enter__()
    blocks[other].__enter__()
    blocks[next(name for name in blocks if name != last)].__exit__(None, None, None)
    if last == "the program's":
        assert type_of_saved(engine) == "list"
    blocks[last].__exit__(None, None, None)
    assert type_of_saved(engine) == "list"
    outer.__exit__(None, None, None)
    assert type_of_saved(engine) == "Tensor"


@pytest.mark.torch
@pytest.mark.parametrize(
    "order", ["watch mode watch mode", "mode watch mode watch", "watch mode mode watch"]
)
def test_modes_may_end_in_any_order(order: str) -> None:
    import torch
    from torch.utils import _python_dispatch as dispatch

    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            ran.append(func)
            return func(*args, **(kwargs or {}))

    ran: list[Any] = []
    blocks: dict[str, Any] = {"watch": copylab.watch(), "mode": Mode()}
    *begun, then, finally_ = order.split()
    for name in begun:
        blocks[name].__enter__()
    torch.ones(3)
    assert ran
    blocks[then].__exit__(None, None, None)
    ran.clear()
    torch.ones(3)
    if begun[0] == "watch":  # else PyTorch has taken the mode on top for the one that ends
        assert bool(ran) is (finally_ == "mode")
    blocks[finally_].__exit__(None, None, None)
    assert not torch._C._len_torch_dispatch_stack()
    assert not dispatch.is_in_torch_dispatch_mode()


@pytest.mark.torch
def test_it_may_begin_in_inference_mode() -> None:
    import torch

    with torch.inference_mode(), copylab.watch():
        assert torch.ones(3).is_inference()


@pytest.mark.torch
def test_func_transforms_work_under_two_watches() -> None:
    import torch

    def slope(x: Any) -> Any:
        return torch.func.grad(lambda t: (t * t).sum())(x)

    with copylab.watch(), copylab.watch():
        assert slope(torch.ones(3)).tolist() == [2, 2, 2]
    assert slope(torch.ones(3)).tolist() == [2, 2, 2]


def test_another_tool_may_wrap_the_start_of_threads() -> None:
    original = threading.Thread.start
    try:
        with copylab.watch():
            ours = threading.Thread.start

            def wrapped(self: threading.Thread) -> None:
                ours(self)

            threading.Thread.start = wrapped  # type: ignore[method-assign]
        assert threading.Thread.start is wrapped
        with copylab.watch(silent="record") as watch:
            by_thread(tinytorch)
        assert watch.read_count == 2
    finally:
        threading.Thread.start = original  # type: ignore[method-assign]
