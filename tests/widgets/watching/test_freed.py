"""A graph that is gone through a second time, under a watch: which line leads back, and which one freed it."""

import re
from types import ModuleType
from typing import Any

import pytest
from copylab.doc import indent_text
from copylab.watching import watch
from copylab.watching.node_lines import _is_freed
from needs import torch_missing
from watched_programs import run_with_lines

from tinytorch.viz import explain

DEFAULT = """
w = torch.ones(1, requires_grad=True)
def run(x, total=torch.zeros(1)):
    total += (w * x).sum() ** 2
    total.backward()
run(torch.ones(1))
run(torch.ones(1))
"""
ATTRIBUTE = """
net = torch.nn.Linear(3, 1)
net.total = torch.zeros(())
for _ in range(3):
    loss = net(torch.ones(2, 3)).pow(2).mean()
    net.total = net.total + loss
    net.total.backward()
"""
HIDDEN_STATE = """
cell, h = torch.nn.Linear(6, 3), torch.zeros(2, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(3):
    h = torch.tanh(cell(torch.cat([torch.ones(2, 3), h], 1)))
    opt.zero_grad()
    h.pow(2).mean().backward()
    opt.step()
"""
LIST = """
w = torch.ones(3, requires_grad=True)
losses = []
for _ in range(3):
    losses.append((w * 2).pow(2).sum())
    total = sum(losses)
    total.backward()
"""
AVERAGE = """
w, ema = torch.ones(3, requires_grad=True), 0.0
for _ in range(3):
    loss = (w * w).sum()
    ema = 0.9 * ema + loss
    ema.backward()
"""
BUFFER = """
lin, state = torch.nn.Linear(3, 3), torch.zeros(3)
for _ in range(3):
    h = torch.tanh(lin(torch.ones(3)) + state)
    state.copy_(h)
    h.sum().backward()
"""
SHARED_TRUNK = """
w = torch.ones(3, requires_grad=True)
fake = (w * 2).tanh()
loss_of_judge = fake.exp().sum()
loss_of_judge.backward()
loss = fake.sum()
loss.backward()
"""
ONE_OF_TWO = """
w = torch.ones(3, requires_grad=True)
h = (w * 2).exp()
(w * w).sum().backward()
h.sum().backward()
(h * 2).sum().backward()
"""
RETAINED_FIRST = """
w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward(retain_graph=True)
loss.backward()
loss.backward()
"""
SHARED_VALUE = """
w = torch.ones(3, requires_grad=True)
value = (w * 2).exp()
loss_of_actor = (value * w).sum()
loss = (1 - value).sum()
loss_of_actor.backward()
loss.backward()
"""
BY_GRAD = """
w = torch.ones(3, requires_grad=True)
y = (w * w).sum()
torch.autograd.grad(y, w)
(y * 2).backward()
"""
GRAD_RAISES = """
w = torch.ones(3, requires_grad=True)
y = (w * w).sum()
y.backward()
torch.autograd.grad(y * 2, w)
"""
BACKWARD_OF_MODULE = """
w = torch.ones(3, requires_grad=True)
first = (w * w).sum()
second = w.exp().sum()
torch.autograd.backward([first, second])
torch.autograd.backward([w.sin().sum(), second])
"""
ONE_OF_THE_INPUTS = """
w, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
of_w = (w * w).sum()
of_v = (v * v).sum()
of_w.backward()
of_v.backward()
loss = of_w + of_v
torch.autograd.grad(loss, w)
"""
WITHOUT_ITS_NODE = """
w = torch.ones(3, requires_grad=True)
h = w * w
h.sum().backward()
y = h.exp().sum()
torch.autograd.grad(y, h, retain_graph=True)
y.backward(inputs=[h])
"""
PENALTY = """
net = torch.nn.Linear(3, 1)
x = torch.ones(2, 3, requires_grad=True)
score = torch.tanh(net(x)).sum()
(slope,) = torch.autograd.grad(score, x, create_graph=False)
(score + slope.pow(2).sum()).backward()
"""
FUNCTION = """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return x * s
    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * s, g * x
s, memory = torch.ones(3, requires_grad=True), torch.zeros(3)
for _ in range(2):
    memory = Scale.apply(memory + 1, s)
    memory.sum().backward()
"""
AVERAGE_OF_WEIGHTS = """
p, avg = torch.ones(3, requires_grad=True), torch.zeros(3)
for _ in range(3):
    avg = 0.9 * avg + 0.1 * p
    avg.sum().backward()
"""
AVERAGE_OF_LOSSES = """
w, running = torch.ones(3, requires_grad=True), torch.zeros(())
for _ in range(3):
    loss = (w * 2).sum()
    running = running * 0.9 + loss * 0.1
    running.backward()
"""
AVERAGES_IN_A_LIST = """
net = torch.nn.Linear(3, 3)
avg = [torch.zeros_like(p) for p in net.parameters()]
for _ in range(3):
    avg = [0.99 * a + 0.01 * p for a, p in zip(avg, net.parameters())]
    loss = sum(((a - p) ** 2).sum() for a, p in zip(avg, net.parameters()))
    loss.backward()
"""
RETAINED_NUMBERS = """
w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
loss.backward(retain_graph=True)
loss.backward()
loss.backward()
"""
TWO_LINES_OF_NUMBERS = """
w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
(w * 3).sum().backward()
loss.backward()
loss.backward()
"""
NUMBERS_GONE_THROUGH_NOW = """
w = torch.ones(3, requires_grad=True)
early = (w * 2).sum()
early.backward()
late = (w * 3).sum()
(w * w).sum().backward()
(late + early).backward()
"""
FOUND = {
    "a default argument": (DEFAULT, "total", (4, 5, 4, 5)),
    "an attribute of a module": (ATTRIBUTE, "net.total", (6, 7, 6, 7)),
    "a hidden state": (HIDDEN_STATE, "h", (5, 7, 5, 7)),
    "a list of losses": (LIST, "losses.0", (5, 7, 6, 7)),
    "a running average": (AVERAGE, "ema", (5, 6, 5, 6)),
    "a buffer that is written": (BUFFER, "h", (5, 6, 4, 6)),
    "two losses, one trunk": (SHARED_TRUNK, "fake", (3, 5, 6, 7)),
    "a backward between, elsewhere": (ONE_OF_TWO, "h", (3, 5, 6, 6)),
    "one that had retained it": (RETAINED_FIRST, "loss", (3, 5, None, 6)),
    "two losses, one value": (SHARED_VALUE, "loss", (3, 6, None, 7)),
    "a Function reads first": (FUNCTION, "memory", (13, 14, 13, 14)),
    "autograd.grad": (BY_GRAD, "y", (3, 4, 5, 5)),
    "a penalty without create_graph": (PENALTY, "score", (4, 5, 6, 6)),
    "an average of weights": (AVERAGE_OF_WEIGHTS, "avg", (4, 5, 4, 5)),
    "an average of losses": (AVERAGE_OF_LOSSES, "running", (5, 6, 5, 6)),
    "products with numbers, retained first": (RETAINED_NUMBERS, "loss", (3, 5, None, 6)),
}
FOUND_BY_FUNCTIONS = {
    "grad raises": (GRAD_RAISES, "y", (3, 4, 5, 5)),
    "one of two roots": (BACKWARD_OF_MODULE, "second", (4, 5, None, 6)),
    "the input that is asked for": (ONE_OF_THE_INPUTS, "of_w", (3, 5, 7, 8)),
    "an input that is no leaf": (WITHOUT_ITS_NODE, "h", (3, 4, 5, 7)),
}
"""Whatever calls the engine."""
RIGHT = [
    HIDDEN_STATE.replace("h], 1", "h.detach()], 1"),
    SHARED_TRUNK.replace("loss_of_judge.backward()", "loss_of_judge.backward(retain_graph=True)"),
    AVERAGE.replace("0.9 * ema", "0.9 * getattr(ema, 'item', lambda: 0.0)()"),
    "w = torch.ones(3, requires_grad=True)\n(w * 2).exp().sum().backward()\n(w * 3).exp().sum().backward()\n",
]


@pytest.mark.parametrize("what", FOUND | FOUND_BY_FUNCTIONS)
def test_the_lines_are_those_of_the_program(engine: ModuleType, what: str) -> None:
    source, name, lines = (FOUND | FOUND_BY_FUNCTIONS)[what]
    watched, error, _ = run_with_lines(engine, source)
    assert "a second time" in str(error)
    (finding,) = watched.findings
    found: Any = finding
    places = (found.made, found.freed, found.carried, found.backward)
    assert tuple(place and place.line for place in places) == lines
    assert finding.title.startswith(f"{name} ")
    assert not finding.silent
    (note,) = error.__notes__
    assert finding.lines in note.replace("\n  ", "\n")
    assert "retain_graph=True" in finding.way_out


@pytest.mark.parametrize("what", FOUND)
def test_explain_has_the_same_lines_before_it_raises(engine: ModuleType, what: str) -> None:
    said: list[str] = []
    # On the line of backward, so that the numbers of all lines stay.
    call = re.compile(r"^( *)(.+)\.backward\(", re.MULTILINE)
    source = call.sub(r"\1said(\2); \2.backward(", FOUND[what][0])
    watched, error, _ = run_with_lines(
        engine, source, said=lambda loss: said.append(str(explain(loss)))
    )
    assert error is not None
    lines = watched.findings[0].lines.partition("\nreached")[0]
    assert indent_text(lines, "    ") in said[-1]
    assert not any("made  " in text for text in said[:-1])


@pytest.mark.parametrize("source", RIGHT)
def test_a_right_program_has_no_finding_and_the_same_gradients(
    engine: ModuleType, source: str
) -> None:
    watched, error, names = run_with_lines(engine, source)
    assert error is None
    assert watched.findings == []
    engine.manual_seed(0)
    alone: dict[str, Any] = {"torch": engine}
    exec(source, alone)
    find_leaf = "w if 'w' in globals() else cell.weight"
    assert eval(find_leaf, names).grad.tolist() == eval(find_leaf, alone).grad.tolist()


def test_averages_in_a_list_have_their_lines(engine: ModuleType) -> None:
    watched, _, _ = run_with_lines(engine, AVERAGES_IN_A_LIST)
    found: Any = watched.findings[0]
    places = (found.made, found.freed, found.carried, found.backward)
    assert [place.line for place in places] == [5, 7, 5, 7]


@pytest.mark.parametrize("source", [TWO_LINES_OF_NUMBERS, NUMBERS_GONE_THROUGH_NOW])
def test_a_product_with_a_number_that_two_lines_may_have_freed_is_not_told(
    engine: ModuleType, source: str
) -> None:
    """Nobody is told that it is read: PyTorch calls no hooks for the number."""
    watched, error, _ = run_with_lines(engine, source)
    assert "a second time" in str(error)
    assert watched.findings == []


def test_more_backwards_than_are_kept_leave_nothing_certain(engine: ModuleType) -> None:
    source = (
        "w = torch.ones(3, requires_grad=True)\nloss = (w * 2).sum()\nloss.backward()\n"
        "for _ in range({count}): (w * 3).sum().backward(retain_graph=_ % 2 > 0)\nloss.backward()"
    )
    for count, found_count in ((0, 1), (1, 0), (2_100, 0)):
        watched, _, _ = run_with_lines(engine, source.format(count=count))
        assert len(watched.findings) == found_count


def test_a_node_that_had_nothing_to_save_is_not_freed(engine: Any) -> None:
    w, other = engine.ones(3, requires_grad=True), engine.ones(3)
    with watch(silent="record"):
        assert not _is_freed(engine.addcmul(w, other, other).grad_fn)


def test_what_was_made_before_the_watch_is_not_known(engine: ModuleType) -> None:
    w = engine.ones(3, requires_grad=True)
    loss = (w * w).sum()
    loss.backward()
    with watch(silent="record") as watched, pytest.raises(RuntimeError, match="a second time"):
        (loss * 2).backward()
    assert watched.findings == []


def test_an_error_of_another_kind_is_left_as_it_is(engine: ModuleType) -> None:
    w = engine.ones(3, requires_grad=True)
    with watch(silent="record") as watched, pytest.raises(RuntimeError) as caught:
        (w * w).backward()
    assert watched.findings == []
    assert not getattr(caught.value, "__notes__", [])


def make_node_with_hooks(engine: ModuleType, calls: list[str]) -> Any:
    """Return a node whose saved tensors hooks of the program's own pack and unpack."""

    def note_unpacked(packed: Any) -> Any:
        calls.append("unpacked")
        return packed

    w = engine.ones(3, requires_grad=True)
    with engine.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, note_unpacked):
        return (w * w).grad_fn


def test_whether_a_node_is_freed_is_asked_without_hooks_of_the_program(engine: ModuleType) -> None:
    calls: list[str] = []
    with watch(silent="record"):
        node = make_node_with_hooks(engine, calls)
    assert not _is_freed(node)
    assert calls == []


def test_nodes_that_have_saved_by_a_watch_are_told_freed_from_kept(engine: Any) -> None:
    class Double(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2 * ctx.saved_tensors[0] / ctx.saved_tensors[0]

    with watch(silent="record"):
        w = engine.ones(3, requires_grad=True)
        results = [w * w, Double.apply(w), engine.cat([w, w]).prod()]
        for result in results:
            result.sum().backward(retain_graph=True)
            assert not _is_freed(result.grad_fn)
            result.sum().backward()
            assert _is_freed(result.grad_fn)


THREAD = """
import threading
def work():
    v = torch.ones(3, requires_grad=True)
    for _ in range(node_count):
        v * v
node_count = {count}
t = threading.Thread(target=work); t.start(); t.join()
"""


@pytest.mark.parametrize("count", [0, 5])
def test_a_thread_whose_nodes_have_other_numbers_does_not_matter(
    engine: ModuleType, count: int
) -> None:
    numbers = "v = torch.ones(3, requires_grad=True)\nfor _ in range(20): v * v\n"
    watched, _, _ = run_with_lines(engine, numbers + THREAD.format(count=count) + SHARED_TRUNK)
    (finding,) = watched.findings
    assert finding.lines.splitlines()[0].endswith("fake = (w * 2).tanh()")


@pytest.mark.torch
@pytest.mark.parametrize("is_joined", [True, False])
def test_nodes_of_threads_that_may_have_the_same_numbers_are_not_told_apart(
    is_joined: bool,
) -> None:
    """PyTorch numbers the nodes of each thread for itself."""
    torch: Any = pytest.importorskip("torch", reason=torch_missing())
    count = torch._C._autograd._get_sequence_nr() + 100
    thread = THREAD.format(count=count)
    if not is_joined:
        thread = thread.replace("v * v\n", "v * v\n    made.set(); done.wait()\n")
        thread = thread.replace("t.join()", "made.wait()")
        thread = thread.replace(
            "def work", "made = threading.Event()\ndone = threading.Event()\ndef work"
        )
    watched, error, names = run_with_lines(torch, thread + SHARED_TRUNK)
    if not is_joined:
        names["done"].set()
        names["t"].join()
    assert error is not None
    assert watched.findings == []


def test_anomaly_mode_goes_on_beside_a_watch(engine: ModuleType) -> None:
    """In tinytorch both hear of each node."""
    with watch(silent="record") as watched:
        with engine.autograd.set_detect_anomaly(True):
            w = engine.ones(3, requires_grad=True)
        loss = (w * w).sum()
        loss.backward()
        with pytest.raises(RuntimeError):
            loss.backward()
    assert len(watched.findings) == 1
