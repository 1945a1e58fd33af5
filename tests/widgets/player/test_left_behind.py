"""What a step leaves behind is said: tensors without a name, names that were one, graphs in lists."""

from types import ModuleType

import pytest
from copylab import Steps, steps

NET = "net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))\n"


def said(run: Steps, line: int) -> list[str]:
    """Return what the last step on a line changed."""
    return list(next(frame.changes for frame in reversed(run.frames) if frame.line == line))


def test_an_optimizer_that_holds_a_replaced_layer(engine: ModuleType) -> None:
    code = NET + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet[1] = torch.nn.Linear(2, 2)"
    run = steps(code, engine=engine)
    assert said(run, 2) == []
    assert said(run, 3)[2:] == [
        "opt still holds the former net.1.weight and net.1.bias.",
        "Version 1 from the start: making net.1.weight and net.1.bias took 1 operation in place.",
    ]
    assert said(run, 3)[2] in str(run)
    assert said(run, 3)[2] in run.text
    # Of a whole network, too, whose names alone fill all there is room for.
    large = "net = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(9)])\n"
    run = steps(large + code.splitlines()[1] + "\n" + large, engine=engine)
    assert said(run, 3)[0].startswith("opt still holds the former net.0.weight, net.0.bias")


def test_weights_that_were_tied(engine: ModuleType) -> None:
    code = """net[1].weight = net[0].weight
w = net[0].weight
net[1].weight = torch.nn.Parameter(w.detach().clone())
net[0].weight = net[1].weight
for p in net.parameters(): pass
"""
    run = steps(NET + code, engine=engine)
    assert said(run, 2)[-1].startswith("net.1.weight is now the same tensor object as")
    assert said(run, 4)[1:] == ["net.1.weight and net.0.weight, until now one tensor, are two."]
    assert said(run, 5)[1:] == ["net.0.weight and w, until now one tensor, are two."]
    # A loop's variable goes on to the next parameter by design.
    assert "until now" not in " ".join(said(run, 6))


def test_a_network_that_is_its_own_target(engine: ModuleType) -> None:
    code = (
        "import copy\ntarget = net\ntarget = copy.deepcopy(net)\ny = x = torch.ones(2)\nx = x + 1"
    )
    run = steps(NET + code, engine=engine)
    assert said(run, 3) == [
        "target has the same 4 tensor objects as net: one more name for each, nothing was copied."
    ]
    assert "until now" not in str(run), "a variable goes on to another object by design"


def test_variables_that_go_on_are_not_untied(engine: ModuleType) -> None:
    code = """def forward(x):
    x = net[0](x)
    return x
def batches():
    for i in range(2):
        b = torch.full((2,), float(i))
        yield b
for b in batches():
    best = out = forward(b)
    out = out * 2
for layer in net:
    best = layer(best)
net[0].weight = net[1].weight
w = net[0].weight
net[0].weight = torch.nn.Parameter(torch.zeros(2, 2))
net.append(net[0])
net[2] = torch.nn.Linear(2, 2)
buf = [torch.zeros(2), torch.ones(2), torch.ones(2)]
first = buf[0]
buf.pop(0)
"""
    run = steps(NET + code, engine=engine)
    pairs = "net.0.weight and net.1.weight, until now one tensor, are two"
    assert said(run, 16)[-1] == f"{pairs}."
    assert said(run, 18)[-2].endswith("until now one tensor, are two; so is 1 more pair.")
    lines = [frame.line for frame in run if "until now" in " ".join(frame.changes)]
    assert lines == [16, 18]


def test_a_leaf_and_memory_without_a_name(engine: ModuleType) -> None:
    code = """w = torch.ones(2, requires_grad=True)
h = w * 2
y = h * h
k = torch.zeros(2)
del h, k
y.sum().backward()
w = w - w.grad
def f(t):
    u = t * 1
    return u * u
z = f(w)
"""
    run = steps(code, engine=engine)
    assert said(run, 5) == [
        "h and k are gone.",
        "The memory of h is still there: MulBackward0 saved it for backward.",
    ]
    (unreachable,) = said(run, 7)[1:]
    assert unreachable.startswith(
        "The former w, a leaf that requires grad, has no name that steps sees; "
    )
    assert unreachable.endswith("a graph leads to it, and backward adds to its .grad.")
    # The variables of a function end with it as a matter of course.
    assert said(run, 11)[-1] == "t in f and u in f are gone."
    code = """x = torch.ones(2, requires_grad=True)
loss = (x * x).sum()
loss.backward()
x = (x + x.grad.sign()).detach().requires_grad_()
"""
    assert "The former x" not in str(steps(code, engine=engine)), "the graph is freed"


def test_a_tensors_losses_keeps_their_graphs(engine: ModuleType) -> None:
    code = """w = torch.ones(2, requires_grad=True)
losses, values, parts = [], [], []
for i in range(3):
    loss = (w * w).sum()
    parts.append((w * 2).exp().sum())
    loss.backward()
    losses.append(loss)
    values.append(loss.item())
"""
    run = steps(code, engine=engine)
    keeps = "losses keeps {} numbers with their graphs, which backward has been through, at least "
    rounds = [frame.changes for frame in run if frame.line == 7]
    assert [keeps.format(2) in " ".join(changes) for changes in rounds] == [False, True, False]
    assert run.end.startswith(keeps.format(3) + "in part: .item() keeps a number alone.")
    assert "parts keeps" not in str(run), "no backward has been through them"
    assert "until now one tensor" not in str(run)
    code = """w = torch.ones(2, requires_grad=True)
for i in range(2):
    terms = [(w * w).sum(), w.exp().sum()]
    sum(terms).backward()
h = w * w
metrics = [h.sum(), h.mean()]
h.exp().sum().backward()
for term in [(w * w).sum(), w.exp().sum()]:
    term.backward()
"""
    assert "keeps" not in str(steps(code, engine=engine)), "one loss has its terms at once"


def test_parameters_that_backward_did_not_reach(engine: ModuleType) -> None:
    code = """net[0].bias.requires_grad_(False)
for i in range(2):
    h = net[0](torch.ones(1, 2)).detach()
    loss = net[1](h).exp().sum()
    loss.backward()
other = torch.nn.Linear(2, 2)
for p in [other.weight]:
    p.grad = torch.ones(2, 2)
"""
    run = steps(NET + code, engine=engine)
    sentence = "net.0.weight still has no .grad: backward did not reach it."
    rounds = [frame.changes for frame in run if frame.line == 6]
    assert [sentence in changes for changes in rounds] == [True, False]
    assert "other.bias still" not in str(run), "no backward was meant to"
    code = """opt = torch.optim.SGD(net.parameters(), lr=0.1)
for layer in [net[0], net[1], net[0]]:
    loss = layer(torch.ones(1, 2)).exp().sum()
    opt.zero_grad()
    loss.backward()
"""
    run = steps(NET + code, engine=engine)
    rounds = [frame.changes for frame in run if frame.line == 6]
    assert ["still have no .grad" in " ".join(changes) for changes in rounds] == [
        True,
        False,
        False,
    ]


def test_what_is_computed_without_grad_mode(engine: ModuleType) -> None:
    code = """x = torch.ones(2)
with torch.no_grad():
    y = x * 2
    w = torch.ones(2, requires_grad=True)
    z = (w - 1) * 2
    n = w > 0
    q = torch.zeros(3)
v = w.view(2)
w.data = torch.zeros(2)
"""
    run = steps(code, engine=engine)
    assert "graph" not in said(run, 3)[0], "there was nothing that requires grad"
    off = "with a storage of its own; it is not on the graph (grad mode is off)."
    assert said(run, 5) == [f"z is a new tensor {off}"]
    assert said(run, 6) == ["n is a new tensor with a storage of its own."]
    assert said(run, 7) == ["q is a new tensor with a storage of its own."]
    assert said(run, 9)[0].endswith("now has another storage; the former one is left to v.")


def test_a_write_to_cells_that_are_not_drawn(engine: ModuleType) -> None:
    code = """x = torch.zeros(100)
v, t = x[40:60], x.view(10, 10).t()
x.data[50] = 7
x[50] = 8
x[50] = 8
q, r = x[30:40], x[70:80]
del x, t
q[5] = 3
r.data[6] = 3
c = torch.zeros(50, dtype=torch.int64)
c.data[30] = 1
"""
    run = steps(code, engine=engine)
    changed = "The values of {} changed, in cells that are not drawn."
    assert said(run, 3) == [
        changed.format("x and t"),
        "The version counters of x and t did not count it: autograd cannot see this write.",
    ]
    assert said(run, 4)[1:] == [changed.format("x and t")]
    assert len(said(run, 5)) == 1, "the same value"
    some = "Memory that v, q and r may read changed, in cells that are not drawn."
    assert said(run, 8)[1:] == [some]
    assert said(run, 9) == [
        some,
        "The version counters of v, q and r did not count it: autograd cannot see this write.",
    ]
    assert said(run, 11)[0] == changed.format("c")
    given = engine.zeros(100)
    run = steps("x.data[50] = 1", engine=engine, namespace={"x": given, "y": given[:9]})
    assert run.end == "The code wrote into what was passed in: x."


def test_it_is_said_why_a_line_had_to_copy(engine: ModuleType) -> None:
    code = """
m = torch.arange(6.).view(2, 3)
t = m.t()
r = t.reshape(6)
q = m.reshape(6)
c = m.T.contiguous()
e = (m * 2).reshape(6)
y = torch.ones(0, 3).t().reshape(0)
def f(box):
    flat = box.w.detach().t().reshape(6)
    same = box.w.reshape(6)
class Box:
    w = None
box = Box()
box.w = m
f(box)
""".strip()
    sentences = [sentence for frame in steps(code, engine=engine) for sentence in frame.changes]
    assert [sentence for sentence in sentences if sentence.startswith("Copied")] == [
        "Copied: t cannot be viewed with shape (6,).",
        "Copied: m.T is not contiguous.",
        "Copied: box.w.detach().t() cannot be viewed with shape (6,).",
    ]


LOST = {
    "h[h < 0].mul_(0.1)": "h[h < 0] has memory of its own",
    "h[[0, 1]][0] = 5": "h[[0, 1]] has memory of its own",
    "h[h < 0][0] += 1": "h[h < 0] has memory of its own",
    "h.clone().detach().zero_()": "h.clone().detach() has memory of its own",
    "h.t().reshape(4)[:2].fill_(1)": "h.t().reshape(4)[:2] has memory of its own",
    "h.double().add_(1)": "h.double() has memory of its own",
    "w.clone().register_hook(print)": "w.clone() is another tensor than w",
    "w[0].register_hook(print)": "w[0] is another tensor than w",
}
NOT_LOST = (
    "h[0].mul_(0.1)",
    "h.view(4)[:2].zero_()",
    "h[h < 0] *= 0.1",
    "h.float().add_(1)",
    "h.data.mul_(2)",
    "h.detach().zero_()",
    "h[h < 0].requires_grad_()",
    "kept.append(h.clone().zero_())",
    "k = h.clone().zero_()",
    "tensors[0].zero_()",
    "w.register_hook(print)",
    "w.contiguous().register_hook(print)",
    "tensors[1].register_hook(print)",
    "h.clone()",
)


@pytest.mark.parametrize("inside", [False, True], ids=["", "in a function"])
@pytest.mark.parametrize("line", [*LOST, *NOT_LOST])
def test_what_is_done_to_a_tensor_that_is_gone_is_in_vain(
    engine: ModuleType, line: str, inside: bool
) -> None:
    head = "h = torch.tensor([[-1., 2.], [3., -4.]])\nw = torch.ones(2, requires_grad=True)\n"
    code = f"{head}tensors, kept = [h, w], []\n{line}"
    if inside:
        code = "def f(h, w, tensors, kept):\n    {}\n{}\nf(h, w, tensors, kept)".format(
            line, code.rpartition("\n")[0]
        )
    run = steps(code, engine=engine)
    said = [each for frame in run.frames for each in frame.changes if each.startswith("In vain: ")]
    assert [each.removeprefix("In vain: ").startswith(LOST.get(line, "?")) for each in said] == [
        True
    ] * (line in LOST)


def test_a_name_in_vain_is_that_of_the_function(engine: ModuleType) -> None:
    code = "x = torch.ones(2)\ndef f(x):\n    x.pop().zero_()\nf([torch.ones(2)])"
    run = steps(code, engine=engine)
    assert not [each for frame in run.frames for each in frame.changes if "In vain" in each]
