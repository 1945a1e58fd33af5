"""Backward on a result that requires no grad, under a watch: what is known, and where values left the graph."""

import re
import threading
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from copylab.doc import indent_text
from copylab.watching import watch
from copylab.watching.name_flow import Likelihood, NameFlow
from copylab.watching.places import Place
from watched_programs import run_with_lines

from tinytorch.viz import NO_GRAPH_FINDERS, explain, set_language

W = "w = torch.ones(3, requires_grad=True)\n"
CUT = "cut by .detach() or .data"
NUMBER = "made a number"
NEW_LEAF = "torch.tensor made a new leaf of numbers"
OFF = "grad mode was off"
SEEN = {
    "a number in torch.tensor": (
        W + "loss = torch.tensor((w * 2).sum().item())\nloss.backward()",
        [("w", NEW_LEAF, 2)],
    ),
    "a tensor in torch.tensor": (
        W + "p = (w * 2).sum()\nloss = torch.tensor(p, requires_grad=False)\nloss.backward()",
        [("w", NEW_LEAF, 3)],
    ),
    "detach": (
        W + "h = (w * 2).detach()\nloss = (h ** 2).sum()\nloss.backward()",
        [("w", CUT, 2)],
    ),
    "data": (
        W + "loss = (w.data ** 2).sum()\nloss.backward()",
        [("w", CUT, 2)],
    ),
    "no_grad": (
        W + "with torch.no_grad():\n    out = w * 2\nloss = (out ** 2).sum()\nloss.backward()",
        [("w", OFF, 2)],
    ),
    "argmax": (
        W + "pred = w.argmax()\nloss = (pred.float() - 1.).abs().mean()\nloss.backward()",
        [("w", "argmax has no derivative", 2)],
    ),
    "numpy": (
        W + "a = (w * 2).detach().numpy() ** 2\nloss = torch.from_numpy(a).sum()\nloss.backward()",
        [("w", CUT, 2)],
    ),
    "a sum of numbers": (
        W + "total = 0.\nfor i in range(3):\n    total += (w * i).sum().item()\n"
        "loss = torch.tensor(total)\nloss.backward()",
        [("w", NUMBER, 4)],
    ),
    "a module": (
        "net = torch.nn.Linear(3, 1)\nh = net(torch.ones(2, 3)).detach()\nloss = h.sum()\nloss.backward()",
        [("net.bias and net.weight", CUT, 2)],
    ),
    "a function that returns": (
        W + "def encode(x):\n    y = x * w\n    print('', end=str(y.sum().item())[:0])\n"
        "    return y.detach()\nloss = encode(torch.ones(3)).sum()\nloss.backward()",
        [("w", CUT, 5)],
    ),
    "a list that is filled": (
        W
        + "hs = []\nfor _ in range(2):\n    hs.append((w * 2).detach())\nloss = sum(hs).sum()\nloss.backward()",
        [("w", CUT, 4)],
    ),
    "indices beside what is cut": (
        "w = torch.ones(2, 3, requires_grad=True)\nh = w.max(1)[0].detach()\nloss = h.sum()\nloss.backward()",
        [("w", CUT, 2)],
    ),
    "several statements on a line": (
        W
        + "seen = 0.; h = (w * 2).detach()\nkept = w.sum().item()\nloss = h.sum()\nloss.backward(); w.grad = None",
        [("w", CUT, 2)],
    ),
    "autograd.grad": (
        W + "h = (w * 2).detach()\nloss = (h ** 2).sum()\ntorch.autograd.grad(loss, w)",
        [("w", CUT, 2)],
    ),
    "the second of two": (
        W + "first = (w * w).sum()\nloss = (w * 2).sum().detach()\n"
        "torch.autograd.backward([first, loss])",
        [("w", CUT, 3)],
    ),
}
"""For each program: the names, the way and the line that are told of each exit."""
NOT_SEEN = {
    "no leaf requires grad": "w = torch.ones(3)\nloss = (w * 2).sum()\nloss.backward()",
    "a frozen module": (
        "net = torch.nn.Linear(2, 1)\nfor p in net.parameters(): p.requires_grad_(False)\n"
        "loss = net(torch.ones(1, 2)).sum()\nloss.backward()"
    ),
}
NOTHING = "known    Nothing that this thread has computed under the watch required grad."
DOUBT = "Seen before; whether loss was computed from these values is not known:"
CALL = re.compile(
    r"^( *)((?:\w+\.)*backward\(\[first, loss\]|.+\.backward\(|.+\.grad\(loss)", re.MULTILINE
)
"""The line that asks for backward."""
CALL_WITH_INPUTS = re.compile(r"^(torch\.autograd\.grad\(|.*backward\(.*inputs=)", re.MULTILINE)
LOOP = (
    W
    + """
for step in range(4):
    loss = (w * w).sum()
    if step == 3:
        h = (w * 2).detach()
        loss = (h * h).sum()
    seen = (w * w).sum().item()
    print(end=str((w + 1).sum().item())[:0])
    loss.backward()
"""
)


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings(action="ignore"):  # PyTorch's own, of numbers and copies
        yield


@pytest.mark.parametrize("what", SEEN)
def test_the_lines_on_which_values_left_are_told(engine: ModuleType, what: str) -> None:
    source, exits = SEEN[what]
    watched, error, _ = run_with_lines(engine, source)
    assert "does not require grad and does not have a grad_fn" in str(error)
    (finding,) = watched.findings
    found: Any = finding
    assert finding.title == (
        "loss requires no grad: backward has no graph to go through. PyTorch raises an error."
    )
    doubt, *rows, reached = finding.lines.splitlines()
    assert doubt == DOUBT
    assert len(found.exits) == len(rows) == len(exits)
    for row, (names, way, line) in zip(rows, exits, strict=True):
        assert row.startswith(f"left     {names}: {way}")
        assert f":{line}  {source.splitlines()[line - 1].strip()}"[:40] in row
    assert reached.startswith("reached  ")
    (note,) = error.__notes__
    assert indent_text(finding.lines) in note
    assert not finding.silent
    assert finding.lines.splitlines()[1] in finding.text
    assert "loss</code>" in finding.html


@pytest.mark.parametrize("what", SEEN)
def test_explain_has_the_same_lines_before_it_raises(engine: ModuleType, what: str) -> None:
    said: list[str] = []
    source = CALL.sub(r"\1said(loss); \2", SEEN[what][0])
    watched, _, _ = run_with_lines(
        engine, source, said=lambda loss: said.append(str(explain(loss)))
    )
    lines = watched.findings[0].lines.partition("\nreached")[0]
    assert "loss requires no grad: backward has no graph to go through." in said[0]
    assert indent_text(lines, "    ") in said[0]
    assert "Also seen" not in said[0]
    assert not NO_GRAPH_FINDERS


INPUTS = {
    "cut by detach": (
        W + "k = (w * 3).detach()\nh = (w * 2).detach()\nloss = (h * k * w).sum()\n"
        "torch.autograd.grad(loss, h)",
        "h",
        f"left     w: {CUT} in {{file}}:3  h = (w * 2).detach()",
    ),
    "the second of two": (
        W + "h = (w * 2).detach()\nloss = (h * w).sum()\ntorch.autograd.grad(loss, [w, h])",
        "h",
        f"left     w: {CUT} in {{file}}:2  h = (w * 2).detach()",
    ),
    "no_grad": (
        W
        + "with torch.no_grad():\n    h = w * 2\nloss = (h * w).sum()\ntorch.autograd.grad(loss, h)",
        "h",
        f"left     w: {OFF} in {{file}}:2  with torch.no_grad():",
    ),
    "never asked for": (
        W + "x = torch.ones(3)\nloss = (x * w).sum()\ntorch.autograd.grad(loss, x)",
        "x",
        "known    x was last set at {file}:2  x = torch.ones(3)",
    ),
    "frozen": (
        (
            "net = torch.nn.Linear(3, 1)\nnet.weight.requires_grad_(False)\n"
            "loss = net(torch.ones(2, 3)).sum()\ntorch.autograd.grad(loss, list(net.parameters()))"
        ),
        "net.weight",
        "known    net.weight was last set at {file}:2  net.weight.requires_grad_(False)",
    ),
    "of integers": (
        W + "k = torch.arange(3)\nloss = (k * w).sum()\ntorch.autograd.grad(loss, k)",
        "k",
        "known    It is of dtype int64: only floating point and complex tensors can require grad.",
    ),
    "of the method": (
        W + "h = (w * 2).detach()\nloss = (h * w).sum()\nloss.backward(inputs=[h])",
        "h",
        f"left     w: {CUT} in {{file}}:2  h = (w * 2).detach()",
    ),
    "of the method, alone": (
        W + "x = torch.ones(3)\nloss = (x * w).sum()\nloss.backward(inputs=x)",
        "x",
        "known    x was last set at {file}:2  x = torch.ones(3)",
    ),
    "of the method, the second of a generator": (
        W + "x = torch.ones(3)\nloss = (x * w).sum()\n"
        "loss.backward(inputs=(tensor for tensor in [w, x]))",
        "x",
        "known    x was last set at {file}:2  x = torch.ones(3)",
    ),
    "of the function": (
        W + "x = torch.ones(3)\nloss = (x * w).sum()\n"
        "torch.autograd.backward([loss, loss], inputs=[w, x])",
        "x",
        "known    x was last set at {file}:2  x = torch.ones(3)",
    ),
}
"""For each program: the input that requires no grad, and the last row before the line that asks."""


@pytest.mark.parametrize("what", INPUTS)
def test_an_input_without_a_graph_has_its_line(engine: ModuleType, what: str) -> None:
    source, name, row = INPUTS[what]
    said: list[str] = []
    told = CALL_WITH_INPUTS.sub(rf"said({name}); \1", source)
    watched, error, _ = run_with_lines(
        engine, told, said=lambda tensor: said.append(str(explain(it=tensor)))
    )
    assert str(error).startswith(
        (
            "One of the differentiated Tensors does not require grad",
            "can't retain_grad on Tensor that has requires_grad=False",
        )
    )
    (finding,) = watched.findings
    found: Any = finding
    assert finding.title == (
        f"{name} requires no grad: no gradient can be computed for it. PyTorch raises an error."
    )
    assert finding.way_out == "Call requires_grad_() on it before anything is computed from it."
    *_, last, reached = finding.lines.splitlines()
    assert last.startswith(row.format(file=found.backward.file)[:90])
    assert reached.startswith("reached  ")
    assert "torch.autograd.grad(" in reached or "inputs=" in reached
    assert indent_text(finding.lines) in error.__notes__[0]
    assert "it requires no grad: backward has no graph to go through." in said[0]
    for text in finding.lines.splitlines()[:-1]:
        if text.startswith("left"):
            assert text in said[0]


def test_an_input_that_a_function_was_handed_is_named_as_there(engine: ModuleType) -> None:
    source = W + (
        "h = (w * 2).detach()\ndef ask(loss, of):\n    return torch.autograd.grad(loss, of)\n"
        "ask((h * w).sum(), h)"
    )
    watched, _, _ = run_with_lines(engine, source)
    (finding,) = watched.findings
    assert finding.title.startswith("of requires no grad: ")
    assert "h = (w * 2).detach()" in finding.lines


def test_a_hook_that_asks_what_has_no_gradient_to_keep_one_has_no_finding(
    engine: ModuleType,
) -> None:
    source = W + (
        "x = torch.ones(3)\nh = w * 2\nh.register_hook(lambda grad: x.retain_grad())\n"
        "(h * x).sum().backward(inputs=[w])"
    )
    watched, error, _ = run_with_lines(engine, source)
    assert "can't retain_grad" in str(error)
    assert watched.findings == []


def test_an_input_that_is_not_used_has_no_finding(engine: ModuleType) -> None:
    source = W + "v = torch.ones(3, requires_grad=True)\ntorch.autograd.grad((w * w).sum(), v)"
    watched, error, _ = run_with_lines(engine, source)
    assert "appears to not have been used" in str(error)
    assert watched.findings == []


@pytest.mark.parametrize("what", NOT_SEEN)
def test_where_no_line_was_seen_it_is_said_what_is_known(engine: ModuleType, what: str) -> None:
    watched, error, _ = run_with_lines(engine, NOT_SEEN[what])
    (finding,) = watched.findings
    known = [NOTHING]
    if "net" in NOT_SEEN[what]:
        known += ["known    No parameter in sight requires grad (net.weight and net.bias)."]
    assert finding.lines.splitlines()[:-1] == known
    assert finding.lines in error.__notes__[0].replace("\n  ", "\n")
    assert finding.way_out == "Call requires_grad_() on the leaf before computing."


def test_what_is_read_for_a_log_is_not_blamed(engine: ModuleType) -> None:
    watched, _, _ = run_with_lines(engine, LOOP)
    (finding,) = watched.findings
    rows = [row for row in finding.lines.splitlines() if row.startswith("left")]
    assert len(rows) == 1
    assert ":6  h = (w * 2).detach()" in rows[0]


def test_what_is_read_for_a_log_is_told_where_nothing_else_was_seen(engine: ModuleType) -> None:
    source = LOOP.replace("h = (w * 2).detach()", "h = torch.ones(3)")
    watched, _, _ = run_with_lines(engine, source)
    rows = watched.findings[0].lines.splitlines()
    assert [row[:4] for row in rows] == ["Seen", "left", "left", "reac"]


def test_what_left_since_the_last_backward_comes_first(engine: ModuleType) -> None:
    source = W + (
        "h = (w * 2).detach()\n(w * w).sum().backward()\ng = (w * 3).detach()\n"
        "loss = (g * h).sum()\nloss.backward()"
    )
    watched, _, _ = run_with_lines(engine, source)
    found: Any = watched.findings[0]
    assert [": ".join(each.place.split(":")[-1:]).split()[1] for each in found.exits] == ["g", "h"]


def test_at_most_four_lines_are_told(engine: ModuleType) -> None:
    lines = [f"h{k} = (w * {k}).detach()" for k in range(9)]
    names = " + ".join(f"h{k}" for k in range(9))
    source = W + "\n".join([*lines, f"loss = ({names}).sum()", "loss.backward()"])
    watched, _, _ = run_with_lines(engine, source)
    found: Any = watched.findings[0]
    assert len(found.exits) == 4
    assert "h8 =" in found.exits[0].place


@pytest.mark.parametrize(
    ("loss", "fact"),
    [
        (
            "(w * 2).argmax()",
            "It is of dtype int64: only floating point and complex tensors can require grad.",
        ),
        (
            "make_in_inference(w)",
            "It was made in inference mode, where no graph is recorded.",
        ),
    ],
)
def test_what_the_tensor_itself_says_is_certain(engine: Any, loss: str, fact: str) -> None:
    def make_in_inference(w: Any) -> Any:
        with engine.inference_mode():
            return (w * 2).sum()

    source = W + f"loss = {loss}\nloss.backward()"
    watched, _, names = run_with_lines(engine, source, make_in_inference=make_in_inference)
    assert watched.findings[0].lines.startswith(f"known    {fact}\n")
    # Alone, too.
    assert f"    {fact}\n" in str(explain(loss=names["loss"]))


def test_grad_mode_that_is_off_at_the_call_is_told(engine: ModuleType) -> None:
    fact = "Grad mode is off on the line that asks for backward."
    source = W + "with torch.no_grad():\n    loss = (w * w).sum()\n    loss.backward()"
    watched, _, _ = run_with_lines(engine, source)
    rows = watched.findings[0].lines.splitlines()
    assert rows[0] == f"known    {fact}"
    assert rows[2].startswith(f"left     w: {OFF}")
    assert fact not in str(explain(engine.ones(1)))


def test_a_graph_of_before_the_watch_is_not_said_to_have_been_seen(engine: ModuleType) -> None:
    w = engine.ones(3, requires_grad=True)
    loss = (w * 2).detach().sum()
    with watch(silent="record") as watched:
        (w * w).sum().backward()
        with pytest.raises(RuntimeError):
            loss.backward()
    (finding,) = watched.findings
    assert finding.lines.startswith(
        "known    No line was seen on which values that require grad left the graph.\n"
    )


def test_the_same_error_again_is_the_same_finding(engine: ModuleType) -> None:
    source = W + (
        "for _ in range(3):\n    loss = (w * 2).detach().sum()\n    try: loss.backward()\n"
        "    except RuntimeError: pass"
    )
    watched, error, _ = run_with_lines(engine, source)
    (finding,) = watched.findings
    assert error is None
    assert (finding.times, finding.more) == (3, 0)
    assert "It happened 3 times." in finding.text


def test_a_watch_changes_neither_the_error_nor_what_is_right(engine: ModuleType) -> None:
    w = engine.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError) as alone:
        w.detach().sum().backward()
    with watch() as watched:
        with pytest.raises(RuntimeError) as under_watch:
            w.detach().sum().backward()
        (w * w).sum().backward()
    assert str(under_watch.value) == str(alone.value)
    assert len(watched.findings) == 1


def test_an_expression_of_a_thousand_terms_is_not_followed(engine: ModuleType) -> None:
    source = W + f"h = (w * 2).detach()\nk = 0{' + 1' * 950}\nloss = h.sum()\nloss.backward()"
    watched, _, _ = run_with_lines(engine, source)
    assert "h = (w * 2).detach()" in watched.findings[0].lines


def test_what_goes_wrong_in_a_finding_leaves_the_error_as_it_is(
    engine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise KeyError("asked")

    monkeypatch.setattr("copylab.watching.observer.find_why_no_graph", fail)
    watched, error, _ = run_with_lines(engine, SEEN["detach"][0])
    assert "does not require grad" in str(error)
    assert watched.findings == []


def test_another_thread_has_its_own_last_backward(engine: ModuleType) -> None:
    source = W + (
        "h = (w * 2).detach()\ndef learn(): (w * w).sum().backward()\n"
        "t = threading.Thread(target=learn); t.start(); t.join()\n"
        "loss = h.sum()\nloss.backward()"
    )
    watched, _, _ = run_with_lines(engine, source, threading=threading)
    assert "h = (w * 2).detach()" in watched.findings[0].lines


@pytest.mark.parametrize("language", ["zh", "ko"])
def test_it_is_said_in_other_languages(engine: ModuleType, language: str) -> None:
    set_language(language)
    for source in (SEEN["detach"][0], NOT_SEEN["a frozen module"]):
        watched, _, _ = run_with_lines(engine, source)
        (finding,) = watched.findings
        english = "requires no grad: backward|Seen before|known  |left  |in sight|computed"
        assert not re.search(english, finding.text)
        assert "loss</code>" in finding.html


FLOW = """
def forward(self, x):
    self.last = x.item()
    print(x.item())
    y = x.detach()
    z = x.item()
    return y

def train(net, pbar):
    for x, target in pbar:
        out = net(x)
        pbar.set_postfix(loss=out.item())
        history.append(out.item())
        chosen = target[out.argmax(1)]
        if out.item() > 3:
            break
        loss = (
            out - chosen
        ).sum()
        loss.backward()
"""


@pytest.mark.parametrize(
    ("lines", "likelihood"),
    [
        ((5, 11), Likelihood.NAMED),  # what is returned, and goes to `out`
        ((6, 11), Likelihood.ELSEWHERE),  # a name that is not returned
        ((4, 11), Likelihood.ELSEWHERE),
        ((3, 11), Likelihood.UNKNOWN),  # an attribute may be read elsewhere
        ((5, 12), Likelihood.ELSEWHERE),
        ((11,), Likelihood.NAMED),
        ((12,), Likelihood.ELSEWHERE),
        ((13,), Likelihood.ELSEWHERE),
        ((14,), Likelihood.NAMED),
        ((15,), Likelihood.ELSEWHERE),
        ((18,), Likelihood.NAMED),
        ((20,), Likelihood.NAMED),
    ],
)
def test_the_source_says_what_leads_to_the_loss(
    tmp_path: Any, lines: tuple[int, ...], likelihood: Likelihood
) -> None:
    file = tmp_path / "flow.py"
    file.write_text(FLOW)
    places = [Place(str(file), line, "forward" if line < 8 else "train") for line in lines]
    flow = NameFlow([Place(str(file), 20, "train"), Place(str(file), 99, "<module>")])
    assert flow.judge(places) is likelihood


def test_without_source_nothing_is_said_of_a_line() -> None:
    flow = NameFlow([Place("<gone>", 3, "<module>")])
    assert flow.judge([Place("<gone>", 1, "<module>")]) is Likelihood.UNKNOWN
