"""A watch over tensors whose memory is not this computer's: bytes are compared on their device.

Here the CPU is treated as such a device, and a thread without code of the program's as one of the
engine's. `tools/on_cuda.py` compares on a GPU.
"""

import _thread
import sys
from collections.abc import Callable, Iterator
from typing import Any

import copylab
import pytest
from copylab.watching import device_bytes, watched_memory, watched_save
from copylab.watching.device_bytes import make_device_bytes
from copylab.watching.watched_memory import memory_span

from tinytorch.viz.read import checksums

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
COPIED = 1 << 11
"""In place of the megabyte up to which a copy is noted."""
LARGE = 1 << 22
"""In place of the 16 MB up to which all bytes are compared: the pieces of a larger tensor are 4 MB."""


@pytest.fixture(autouse=True)
def copy_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_bytes, "_COPIED_BYTES", COPIED)


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_memory, "IS_CPU_READ_BY_ADDRESS", False)


def negate_two(x: Any) -> None:
    x.view(-1)[2:4].neg_()


def negate_all(x: Any) -> None:
    x.neg_()


def exchange(x: Any) -> None:
    first = x.view(-1)[0].clone()
    x.view(-1)[0] = x.view(-1)[5]
    x.view(-1)[5] = first


def set_last(x: Any) -> None:
    x.view(-1)[-1] = 0


CHANGES = (negate_two, negate_all, exchange, set_last)


@pytest.mark.parametrize("size", [8, 1001, 3000])
def test_a_change_of_bytes_is_seen_and_equal_ones_are_equal(size: int) -> None:
    for dtype in (torch.float16, torch.float32, torch.float64, torch.complex64, torch.int8):
        x = (torch.arange(size) % 100 + 1).to(dtype)
        noted: Any = make_device_bytes(x, memory_span(x))
        assert bool(noted.copied) == (x.nbytes <= COPIED)
        equal = x.clone()
        assert noted.matches(equal, memory_span(equal)) is True
        for change in CHANGES:
            other = x.clone()
            change(other)
            assert noted.matches(other, memory_span(other)) is False, (dtype, change)
    conj = torch.ones(size, dtype=torch.complex64).conj()
    noted = make_device_bytes(conj, memory_span(conj))
    assert noted.matches(conj, memory_span(conj))


def test_gaps_belong_to_others_and_of_large_ones_pieces_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(device_bytes, "WHOLE_BYTES", LARGE)
    for dtype in (torch.float16, torch.float64):
        x = torch.ones(400, 300, dtype=dtype)
        column = x[:, 3]
        noted: Any = make_device_bytes(column, memory_span(column))
        x[:, 4] = 5
        assert noted.matches(column, memory_span(column)) is True
        x[7, 3] = 5
        assert noted.matches(column, memory_span(column)) is False
    large = torch.zeros(LARGE // 4 + 100_001)
    noted = make_device_bytes(large, memory_span(large))
    large[0] = 1
    assert noted.matches(large, memory_span(large)) is False
    # A storage that was shrunk is neither read nor made larger.
    large.untyped_storage().resize_(100)
    assert noted.matches(large, memory_span(large)) is None
    assert large.untyped_storage().nbytes() == 100


def write_data(h: Any) -> None:
    h.data.mul_(3)


def write_same(h: Any) -> None:
    h.data.mul_(1)


def write_same_and_others(h: Any) -> None:
    h.data.mul_(1)
    h.data.neg_()


def write_by_numpy(h: Any) -> None:
    h.detach().numpy()[1] = 7


def give_other_memory(h: Any) -> None:
    h.data = h.data.clone() + 1


WRITES = (write_data, write_same, write_same_and_others, write_by_numpy, give_other_memory)


def describe_watch(write: Callable[[Any], None], size: int) -> list[str]:
    """All that is said of a program in which something is written to before backward."""
    x = torch.arange(size, dtype=torch.float32, requires_grad=True)
    with copylab.watch(silent="record") as watch:
        h = x * 2
        loss = (h * h).sum()
        write(h)
        said = [copylab.explain(loss).text]
        loss.backward()
    return [*said, watch.text]


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(3, marks=pytest.mark.stress),
        200,
        pytest.param(3000, marks=pytest.mark.stress),
    ],
)
def test_the_same_is_said_as_on_the_cpu(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for write in WRITES:
        expected = describe_watch(write, size)
        with monkeypatch.context() as patch:
            patch.setattr(watched_memory, "IS_CPU_READ_BY_ADDRESS", False)
            assert describe_watch(write, size) == expected
        # All but one write to other values.
        assert ("changed" in expected[1]) == (write is not write_same)


@pytest.mark.usefixtures("on_device")
def test_where_waiting_is_forbidden_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_save, "can_wait_for", lambda _: False)
    monkeypatch.setattr(checksums, "can_wait_for", lambda _: False)
    # Noted before it was forbidden, as where a graph is made before a capture, or meanwhile.
    for noted in (False, True):
        with monkeypatch.context() as patch, copylab.watch(silent="record") as watch:
            x = torch.ones(3, requires_grad=True)
            patch.setattr(watched_save, "can_wait_for", lambda _, noted=noted: noted)
            h = x * 2
            loss = (h * h).sum() + (x * x).sum()
            patch.undo()
            monkeypatch.setattr(watched_memory, "IS_CPU_READ_BY_ADDRESS", False)
            h.data.mul_(1)
            said = copylab.explain(loss)
            loss.backward()
        assert said.verdict == "runs, not compared"
        assert "it is on cpu, which must not be waited for now" in said.text
        (finding,) = watch.findings
        assert finding.silent
        assert not finding.was_compared
        assert "Its values could not be compared" in finding.text


def test_a_write_between_the_pieces_of_a_large_tensor_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (watched_memory, watched_save):
        monkeypatch.setattr(module, "WHOLE_BYTES", LARGE)
    x = torch.ones(LARGE // 4 + 100_000, requires_grad=True)
    for values, said in ((slice(4_100, 4_101), "could not be compared"), (slice(0, 1), "changed")):
        with copylab.watch(silent="record") as watch:
            h = x * 2
            loss = (h * h).sum()
            h.data[values].zero_()
            loss.backward()
        assert said in watch.findings[0].title
        assert "h.data[values].zero_()" in watch.findings[0].lines


def test_of_a_large_tensor_no_more_is_said_than_was_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (watched_memory, watched_save):
        monkeypatch.setattr(module, "WHOLE_BYTES", LARGE)
    large, x = torch.ones(LARGE // 4 + 100_000), torch.ones((), requires_grad=True)
    with copylab.watch(silent="record") as watch:
        loss = (large * x).sum()
        for writes in (False, True):
            if writes:
                large.numpy()[4_100] = 7  # between two pieces
            said = copylab.explain(loss, large=large)
            assert said.verdict == "runs, not compared"
            assert "(large) was compared with the save in pieces or not at all" in said.text
            picture = copylab.graph(loss, large=large).text
            assert "large, live at version 0" in picture
            assert "unchanged" not in picture
        loss.backward()
    assert "was as it was saved" not in watch.text
    assert "1 saved tensor under this watch; no change was found." in watch.text
    assert "1 of them is so large that only pieces of it were compared" in watch.text


def test_what_is_empty_is_as_it_was() -> None:
    with copylab.watch() as watch:
        (torch.ones(0, 3, requires_grad=True).exp() * 2).sum().backward()
    assert watch.read_count
    assert "could not be compared" not in watch.text


# -- threads of the engine -------------------------------------------------------------


def run_as_engine(watch: Any, function: Callable[[], Any]) -> Iterator[BaseException]:
    """Run a function in a thread without frames of the program's; yield what it raises."""
    hooks = watch.find_torch_hooks()
    names: dict[str, Any] = {
        "hooks": hooks,
        "autograd": torch._C._autograd,
        "function": function,
        "done": _thread.allocate_lock(),
        "errors": [],
    }
    source = """
def run():
    autograd._push_saved_tensors_default_hooks(hooks.pack, hooks.unpack)
    try:
        function()
    except Exception as error:
        errors.append(error)
    finally:
        autograd._pop_saved_tensors_default_hooks()
        done.release()
"""
    exec(compile(source, torch.__file__, "exec"), names)
    names["done"].acquire()
    # By `threading` the watch would come along.
    _thread.start_new_thread(names["run"], ())
    assert names["done"].acquire(timeout=30)  # the line that waits
    yield from names["errors"]


def test_backward_in_a_thread_of_the_engine_is_told_from_the_line_that_waits() -> None:
    x = torch.ones(3, requires_grad=True)
    with copylab.watch(silent="record") as watch:
        hidden = x * 2
        loss = (hidden * hidden).sum()
        hidden.data.mul_(3)
        assert list(run_as_engine(watch, loss.backward)) == []
    (finding,) = watch.findings
    assert "hidden" in finding.names
    assert finding.backward is not None
    assert "the line that waits" in finding.backward.code
    assert (finding.more, finding.times) == (1, 1)
    with copylab.watch(silent="raise") as watch:
        hidden = x * 2
        loss = (hidden * hidden).sum()
        hidden.data.mul_(3)
        (error,) = run_as_engine(watch, loss.backward)
    assert isinstance(error, copylab.GradientWarning)
    # It was raised where the thread that waits sees it.
    assert watch.take_findings_of_other_threads() == []


def test_a_graph_of_a_backward_in_a_thread_of_the_engine() -> None:
    import torch.utils.checkpoint

    assert sys.modules["torch.utils.checkpoint"]  # once it is there, its frames are looked for
    x = torch.ones(3, requires_grad=True)
    found: list[Any] = []
    with copylab.watch(silent="record") as watch:
        loss = x.exp().tanh().sum()

        def differentiate() -> None:
            found.extend(torch.autograd.grad(loss, x, create_graph=True))

        assert list(run_as_engine(watch, differentiate)) == []
        found[0].exp().sum().backward()
    assert watch.findings == []
