"""Memory that came free is handed out again: only when nobody looks at it any more, not too much, not for too long."""

import copy
import gc
import io
import itertools
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch
from tinytorch import buffers

N = 100_000  # float32 elements: large enough to be kept
KIND = np.dtype(np.float32)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start and end without free blocks, and give none back only because the machine is slow."""
    monkeypatch.setattr(buffers, "IDLE_SECONDS", 600.0)
    buffers.forget()
    yield
    buffers.forget()


def tensor_of(value: float, n: int = N) -> tinytorch.Tensor:
    """A large tensor in memory that is taken back: the result of a kernel."""
    return tinytorch.full((n,), value) * 1.0


def scribble(rounds: int = 4) -> list[tinytorch.Tensor]:
    """Make large results, which take whatever blocks are free and overwrite them."""
    return [tensor_of(-1.0) for _ in range(rounds)]


def address(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]


def test_a_freed_block_is_handed_out_again() -> None:
    first = buffers.empty((N,), KIND)
    where = address(first)
    assert buffers.kept_bytes() == 0
    del first
    assert buffers.kept_bytes() >= 4 * N
    assert address(buffers.empty((N,), KIND)) == where
    assert address(buffers.empty((4, N // 4), KIND)) == where


def test_results_lie_in_kept_memory() -> None:
    a = tensor_of(1.0)
    p = a.data_ptr()
    del a
    assert buffers.kept_bytes() >= 4 * N
    assert p in {t.data_ptr() for t in scribble(1)}


def test_small_arrays_are_left_to_numpy() -> None:
    assert buffers.empty((10,), KIND).flags.owndata
    assert not buffers.empty((N,), KIND).flags.owndata


def test_an_array_starts_aligned_and_is_as_large_as_asked() -> None:
    for shape in ((N,), (7, 11_111), (3, 5, 20_001), (1_000_000,), (2, 600_000)):
        for kind in (np.float32, np.float64, np.int64, np.uint8):
            a = buffers.empty(shape, np.dtype(kind))
            assert a.shape == shape
            assert a.flags.c_contiguous
            assert a.flags.writeable
            assert a.flags.aligned
            a[...] = 1
            assert a.sum() == a.size


# Whoever looks at the memory keeps it: each of these makes something out of a tensor that dies, and what it sees later
# must still be the tensor's values. `see` reads them out of it.

HOLDERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "numpy()": (lambda t: t.numpy(), np.asarray),
    "numpy() of a slice": (lambda t: t.numpy()[10:20], np.asarray),
    "numpy() reshaped, transposed": (lambda t: t.numpy().reshape(100, -1).T[3:5], np.asarray),
    "a NumPy view of another dtype": (lambda t: t.numpy().view(np.int32), lambda a: a.view(np.float32)),
    "a scalar's array": (lambda t: t.numpy()[5:6].reshape(()), np.asarray),
    "__array__": (lambda t: np.asarray(t), np.asarray),
    "np.from_dlpack of numpy()": (lambda t: np.from_dlpack(t.numpy()), np.asarray),
    "memoryview": (lambda t: memoryview(t.numpy()), np.asarray),
    "memoryview of a memoryview": (lambda t: memoryview(memoryview(t.numpy()))[7:9], lambda m: np.array(m)),
    "np.frombuffer": (lambda t: np.frombuffer(t.numpy(), np.float32), np.asarray),
    "np.ndarray over it": (lambda t: np.ndarray((3,), np.float32, t.numpy(), 40), np.asarray),
    "as_strided": (lambda t: np.lib.stride_tricks.as_strided(t.numpy(), (4,), (8,)), np.asarray),
    "a subclass's view": (lambda t: t.numpy().view(np.recarray), np.asarray),
    "a masked array": (lambda t: np.ma.asarray(t.numpy()), np.asarray),
    "an iterator over it": (lambda t: t.numpy().flat, lambda f: f[:5]),
    "from_numpy": (lambda t: tinytorch.from_numpy(t.numpy()), lambda t: t.numpy()),
    "as_tensor": (lambda t: tinytorch.as_tensor(t.numpy()[::2]), lambda t: t.numpy()),
    "detach": (lambda t: t.detach(), lambda t: t.numpy()),
    ".data": (lambda t: t.data, lambda t: t.numpy()),
    "a view": (lambda t: t.view(100, -1)[3], lambda t: t.numpy()),
    "a view of a view": (lambda t: t.view(100, -1).t()[5:6, ::3], lambda t: t.numpy()),
    "an element": (lambda t: t[77], lambda t: t.numpy()),
    "expand": (lambda t: t[:1].expand(5), lambda t: t.numpy()),
    "unbind": (lambda t: t.view(10, -1).unbind(), lambda ts: ts[3].numpy()),
    "copy.copy": (copy.copy, lambda t: t.numpy()),
    "untyped_storage": (lambda t: t.untyped_storage(), lambda s: np.array(s.tolist()[:8], np.uint8).view(np.float32)),
    "a slice of the storage": (lambda t: t.untyped_storage()[8:16], lambda s: np.array(s.tolist(), np.uint8).view(np.float32)),
    "the storage of a view": (lambda t: t[5:].untyped_storage(), lambda s: np.array(s.tolist()[:4], np.uint8).view(np.float32)),
    "set_": (lambda t: tinytorch.empty(0).set_(t), lambda t: t.numpy()),
    "another tensor's .data": (lambda t: _with_data(t), lambda t: t.numpy()),
    "a pickle out of band": (lambda t: _out_of_band(t.numpy()), lambda held: pickle.loads(held[0], buffers=held[1])),
    "a saved tensor": (lambda t: (t * tinytorch.ones(N, requires_grad=True)), lambda y: y.grad_fn._saved_self.numpy()),
    "a saved result": (lambda t: t.requires_grad_().mul(0).exp().add(0), lambda y: y.grad_fn.next_functions[0][0]._saved_result.detach().numpy() + 2.5),
    "a closure": (lambda t: _closure(t.numpy()), lambda f: f()),
    "a cycle of references": (lambda t: _in_a_cycle(t.numpy()), lambda c: c[0]),
}  # fmt: skip


def _with_data(t: tinytorch.Tensor) -> tinytorch.Tensor:
    other = tinytorch.zeros(3)
    other.data = t
    return other


def _out_of_band(a: np.ndarray) -> tuple[bytes, list]:
    out: list = []
    return pickle.dumps(a, 5, buffer_callback=out.append), out


def _closure(a: np.ndarray) -> Callable[[], np.ndarray]:
    return lambda: a


def _in_a_cycle(a: np.ndarray) -> list:
    cycle: list = [a]
    cycle.append(cycle)
    return cycle


@pytest.mark.parametrize("name", HOLDERS)
def test_memory_that_somebody_looks_at_is_not_handed_out(name: str) -> None:
    hold, see = HOLDERS[name]
    for value in (3.5, 4.5):
        t = tensor_of(value)
        held = hold(t)
        del t
        gc.collect()
        new = scribble()
        seen = np.array(see(held))
        assert seen.size
        assert (seen == value).all() or name == "a saved result"
        if name == "a saved result":
            assert (seen == 3.5).all()
        del new, held, seen
        gc.collect()
        assert buffers.kept_bytes() > 0  # and when it is let go, it does come back


@pytest.mark.torch
def test_torch_arrays_over_it_keep_it() -> None:
    torch = pytest.importorskip("torch")
    t = tensor_of(3.5)
    held = torch.from_numpy(t.numpy())
    shared = torch.utils.dlpack.from_dlpack(t.numpy())
    del t
    new = scribble()
    assert held.tolist() == [3.5] * N
    assert shared.tolist() == [3.5] * N
    held += 1
    assert all((n.numpy() == -1).all() for n in new)


def test_addresses_of_living_tensors_differ() -> None:
    living: list[tinytorch.Tensor] = []
    rng = np.random.default_rng(0)
    for step in range(400):
        if living and rng.random() < 0.5:
            del living[int(rng.integers(len(living)))]
        else:
            living.append(tensor_of(float(step), int(rng.integers(40_000, 50_000))))
        ranges = sorted((t.data_ptr(), t.data_ptr() + t.nbytes) for t in living)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ranges))


def test_random_programs_see_what_they_would_see_without_reuse() -> None:
    """Views, NumPy arrays, writes in place and deaths in any order: each holder against a copy of its own."""
    rng = np.random.default_rng(1)
    held: list[tuple[Any, np.ndarray]] = []
    for step in range(600):
        what = rng.integers(6)
        if what == 0 or not held:
            t = tensor_of(float(step), 40_000)
            held.append((t, t.numpy().copy()))
        elif what == 1:
            t, copied = held[int(rng.integers(len(held)))]
            a = t.numpy() if isinstance(t, tinytorch.Tensor) else t
            held.append((a[5:-5:2], copied[5:-5:2].copy()))
        elif what == 2:
            t, copied = held[int(rng.integers(len(held)))]
            if isinstance(t, tinytorch.Tensor):
                held.append((t.narrow(0, 3, t.numel() - 3), copied[3:].copy()))
        elif what == 3:
            t, copied = held[int(rng.integers(len(held)))]
            if isinstance(t, tinytorch.Tensor):
                held.append((t * 2.0, copied * 2))
        else:
            del held[int(rng.integers(len(held)))]
        if step % 20 == 0:
            for t, copied in held:
                assert np.array_equal(t.numpy() if isinstance(t, tinytorch.Tensor) else t, copied)


def test_threads_never_get_the_same_memory() -> None:
    wrong: list[str] = []

    def work(number: int) -> None:
        kept = []
        for step in range(150):
            t = tensor_of(number * 1000.0 + step, 50_000)
            kept.append((t, number * 1000.0 + step))
            if len(kept) > 3:
                kept.pop(0)
            for held, value in kept:
                a = held.numpy()
                if a[0] != value or a[-1] != value or a[12_345] != value:
                    wrong.append(f"{a[0]} instead of {value}")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_arrays_that_die_in_a_collection_come_back() -> None:
    cycle = _in_a_cycle(tensor_of(1.0).numpy())
    del cycle
    before = buffers.kept_bytes()
    gc.collect()
    assert buffers.kept_bytes() > before


def test_no_more_is_kept_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "MOST_BYTES", 4_000_000)
    many = [buffers.empty((int(n),), KIND) for n in np.linspace(40_000, 300_000, 40)]
    oldest = address(many[0])
    while many:
        many.pop(0)
        assert 0 < buffers.kept_bytes() <= 4_000_000
    assert address(buffers.empty((300_000,), KIND)) != oldest
    buffers.empty((2_000_000,), KIND)
    assert buffers.kept_bytes() <= 4_000_000


def test_what_lies_idle_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "IDLE_SECONDS", 0.05)
    monkeypatch.setattr(buffers._FREE, "watch", None)
    buffers.empty((N,), KIND)
    assert buffers.kept_bytes() > 0
    end = time.monotonic() + 5
    while buffers.kept_bytes() and time.monotonic() < end:
        time.sleep(0.01)
    assert buffers.kept_bytes() == 0


_IN_A_PROCESS = """
import os, tinytorch, time
from tinytorch import buffers
def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096
{0}
"""


def in_a_process(code: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-c", _IN_A_PROCESS.format(code)], capture_output=True, text=True, check=False, timeout=60
    )
    assert answer.stderr == ""
    assert answer.returncode == 0
    return answer.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_system_gets_the_memory_back() -> None:
    told = in_a_process(
        "buffers.IDLE_SECONDS = 0.1\n"
        "t = [tinytorch.ones(10_000_000) * 2.0 for _ in range(4)]\n"
        "full = resident(); del t; kept = buffers.kept_bytes()\n"
        "time.sleep(0.5)\n"
        "print(full - resident() > 150_000_000, kept > 150_000_000, buffers.kept_bytes())"
    )
    assert told == "True True 0\n"


def test_a_process_ends_in_silence_with_large_tensors_alive() -> None:
    for code in (
        "t = tinytorch.ones(1_000_000) * 2.0\nprint('end')",
        "t = tinytorch.ones(1_000_000) * 2.0\nu = t * 2.0\ndel u\nkeep = [t]; keep.append(keep)\nprint('end')",
        "import atexit\nt = [tinytorch.ones(1_000_000) * 2.0]\natexit.register(t.clear)\nprint('end')",
        "import tinytorch.ops.core as c\nc.kept = tinytorch.ones(1_000_000) * 2.0\nprint('end')",
    ):
        assert in_a_process(code) == "end\n"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
def test_a_forked_child_has_memory_of_its_own() -> None:
    told = in_a_process(
        "import warnings; warnings.simplefilter('ignore')\n"
        "t = tinytorch.ones(1_000_000) * 2.0\nu = t * 1.0; del u\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    t.add_(1); v = t * 1.0; w = v * 1.0; del v, w\n"
        "    os._exit(0 if float(t.sum()) == 3e6 and buffers.kept_bytes() else 1)\n"
        "_, status = os.waitpid(pid, 0)\n"
        "print(status, float(t.sum()))"
    )
    assert told == "0 2000000.0\n"


def test_pickled_and_saved_tensors_come_back_whole() -> None:
    t = tensor_of(3.5)
    file = io.BytesIO()
    tinytorch.save(t, file)
    data = pickle.dumps(t.numpy())
    deep = copy.deepcopy(t)
    del t
    scribble()
    file.seek(0)
    assert (tinytorch.load(file).numpy() == 3.5).all()
    assert (pickle.loads(data) == 3.5).all()
    assert (deep.numpy() == 3.5).all()


def test_where_no_thread_can_start_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(buffers._FREE, "watch", None)
    buffers.empty((N,), KIND)
    assert buffers.kept_bytes() == 0
