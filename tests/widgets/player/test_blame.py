"""In stepped code the frame of a failed or wrong backward names the line that wrote."""

import re
from types import ModuleType

import pytest
from copylab import steps
from copylab.code_marks import CodeWords

import tinytorch
from tinytorch.viz.wording.catalogue import set_language

STALE = """
a = torch.tensor([1., 2., 3.], requires_grad=True)
out = a.sigmoid()
c = out.detach()
c.zero_()
out.sum().backward()
""".strip()


def test_a_stale_saved_tensor(engine: ModuleType) -> None:
    made = steps(STALE, engine=engine)
    *before, last = made
    assert all(frame.explanation == () for frame in before)
    saved = (
        "SigmoidBackward0 saved its result (out) on line 2, out = a.sigmoid(). out was written to afterwards, on "
        "line 4, c.zero_(). out and c share that memory and its version counter."
    )
    way_out = "Way out: write to a copy (c.clone()), or write after backward."
    assert last.explanation == (saved, way_out)
    assert all(sentence in made.text for sentence in last.explanation)
    assert "was written to afterwards, on line 4" in made.html


def test_the_way_out_is_for_the_tensor_that_was_written(engine: ModuleType) -> None:
    for write, copied in (("w += 1", "w"), ("best += 1", "best"), ("best.add_(w.item())", "best")):
        code = (
            "w = torch.tensor([1.0], requires_grad=True)\nbest = w.detach()\nz = w * w\n"
            f"with torch.no_grad():\n    {write}\nz.backward()"
        )
        way_out = steps(code, engine=engine)[-1].explanation[-1]
        assert way_out.startswith(f"Way out: write to a copy ({copied}.clone())"), write


def test_a_gradient_that_is_silently_wrong(engine: ModuleType) -> None:
    last = steps(STALE.replace("detach", "data").replace("data()", "data"), engine=engine)[-1]
    assert last.error is None
    assert (
        "on line 4, c.zero_(). The version counter did not count that, so no error was raised, and the gradient was computed from the new values."
        in last.explanation[0]
    )
    assert last.explanation[1].startswith(
        "Way out: write to a copy (out.detach().clone()); a write through out.detach()"
    )


@pytest.mark.parametrize("repeats", [True, False])
def test_the_harm_is_said_in_numbers_where_it_is_done(engine: ModuleType, *, repeats: bool) -> None:
    code = STALE.replace("detach()", "data")
    code += "\nprint(a.grad)"
    # Over names of the user's there is no second run: it would write into them once more.
    *_, write, backward, _ = steps(code, engine=engine, namespace=None if repeats else {})
    (alarm,) = write.alarms
    assert alarm.title == "A gradient will be wrong, without an error"
    assert alarm.sentences[-1] == "The backward on line 5 will use the new values."
    (later,) = backward.alarms
    values = (
        "[0, 0, 0]; from the values as they were when saved, it would be [0.1966, 0.105, 0.04518]."
    )
    foretold, harm = f"The gradient of a will be {values}", f"The gradient of a is {values}"
    assert (alarm.sentences[0] == foretold) is repeats
    assert (later.sentences[0] == harm) is repeats
    assert later.sentences[-1].startswith("Way out: ")


def test_a_coming_error_is_an_alarm(engine: ModuleType) -> None:
    made = steps(STALE, engine=engine)
    assert [frame.number for frame in made if frame.alarms] == [4]
    (alarm,) = made[3].alarms
    assert alarm.severity == "error"
    assert "backward will raise an error" in alarm.sentences[0]
    assert made.text.count(alarm.sentences[0]) == 1


def test_a_write_before_the_save_is_not_blamed(engine: ModuleType) -> None:
    code = "x = torch.ones(3, requires_grad=True)\nd = x.data\nd.mul_(2)\ny = (x * x).sum()\ny.backward()"
    last = steps(code, engine=engine)[-1]
    assert last.explanation == ()
    assert "x.grad is set: [4, 4, 4]." in last.changes


def test_in_a_loop_each_line_once_and_only_after_the_save(engine: ModuleType) -> None:
    code = """
w = torch.ones(2, requires_grad=True)
h = w * 1
h.mul_(3)
y = (h * h).sum()
for i in range(3):
    h.add_(1)
y.backward()
""".strip()
    last = steps(code, engine=engine)[-1]
    assert last.error is not None
    assert last.explanation[0] == (
        "MulBackward0 saved its second input (h) on line 4, y = (h * h).sum(). h was written to afterwards, on line 6, h.add_(1)."
    )


def test_inside_of_a_function(engine: ModuleType) -> None:
    code = """
def loss_of(v):
    e = v.exp()
    e += 1
    return e.sum()
x = torch.ones(2, requires_grad=True)
loss = loss_of(x)
loss.backward()
""".strip()
    last = steps(code, engine=engine)[-1]
    assert "ExpBackward0 saved its result" in last.explanation[0]
    assert "written to afterwards, on line 3, e += 1." in last.explanation[0]


@pytest.mark.parametrize(
    ("lines", "reason", "way_out"),
    [
        (
            "y = (x * x).sum(); y.backward(); y.backward()",
            "MulBackward0 freed its saved second input in an earlier backward",
            "compute the result anew",
        ),
        (
            "y = x * x; y.sum().backward(); (y * 2).sum().backward()",
            "MulBackward0 freed its saved second input in an earlier backward",
            "compute the result anew",
        ),
        ("y = x * 2; y.backward()", "y has 2 elements", "call y.sum().backward()"),
        ("y = x.detach().sum(); y.backward()", "y requires no grad", "call requires_grad_()"),
        ("w = x.detach(); w.backward()", "w requires no grad", "call requires_grad_()"),
    ],
)
def test_a_backward_that_is_refused_for_another_reason(
    engine: ModuleType, lines: str, reason: str, way_out: str
) -> None:
    code = "x = torch.ones(2, requires_grad=True); " + lines
    *before, last = steps(code.replace("; ", "\n"), engine=engine)
    assert all(frame.explanation == () for frame in before)
    said, out = last.explanation
    assert said.startswith(reason)
    assert out.startswith(f"Way out: {way_out}")


def test_other_errors_are_left_alone(engine: ModuleType) -> None:
    code = "x = torch.ones(2, requires_grad=True)\ny = x * x\n"
    for line in ("y.numpy()", "y.view(3)", "y.backward(torch.ones(3))", "z"):
        last = steps(code + line, engine=engine)[-1]
        assert last.error is not None
        assert last.explanation == ()


SILENT = """
x = torch.tensor([1., 2., 3.], requires_grad=True)
h = x.exp()
z = h.sum()
{write}
z.backward({keep})
""".strip()


@pytest.mark.parametrize("keep", ["", "retain_graph=True"])
@pytest.mark.parametrize(
    "write", ["h.data.mul_(5)", "h.detach().numpy()[:] = 0", "h.untyped_storage().fill_(0)"]
)
def test_a_write_that_no_counter_saw_is_found_by_the_bytes(
    write: str, keep: str, engine: ModuleType
) -> None:
    made = steps(SILENT.format(write=write, keep=keep), engine=engine)
    saved = made[2].pictures["graph"].text
    assert "saved result: h, live at version 0, unchanged" in saved
    written = made[3].pictures["graph"].text
    assert (
        "saved result: h, live at version 0, but CHANGED UNSEEN: backward computes from the new values"
        in written
    )
    last = made[-1]
    assert last.error is None
    assert last.explanation[0] == (
        f"ExpBackward0 saved its result (h) on line 2, h = x.exp(). The same memory was changed afterwards on line 4, "
        f"{write}. The version counter did not count that, so no error was raised, and the gradient was computed from the new values."
    )


def test_a_write_that_changed_nothing_is_not_blamed(engine: ModuleType) -> None:
    made = steps(SILENT.format(write="h.data.mul_(1)", keep=""), engine=engine)
    assert made[-1].explanation == ()
    assert "CHANGED UNSEEN" not in made[3].pictures["graph"].text


def test_only_what_that_backward_reaches_is_blamed(engine: ModuleType) -> None:
    code = """
w = torch.ones(2, requires_grad=True)
h = w * 1
a = (h * h).sum()
b = h.exp()
c = b.sum()
h.add_(1)
b.mul_(2)
c.backward()
""".strip()
    last = steps(code, engine=engine)[-1]
    assert last.error is not None
    assert [line.partition(" ")[0] for line in last.explanation] == ["ExpBackward0", "Way"]
    assert "on line 7, b.mul_(2)" in last.explanation[0]


def test_a_step_before_backward_is_one_cause(engine: ModuleType) -> None:
    code = """
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
loss = (net(torch.ones(1, 2)) ** 2).sum()
opt.step()
loss.backward()
""".strip()
    last = steps(code, engine=engine)[-1]
    assert len(last.explanation) == 2
    assert "was written to afterwards, on line 5, opt.step()." in last.explanation[0]
    assert (
        last.explanation[1]
        == "Way out: call backward before that write, or compute the result again after it."
    )


PAST_COUNTER = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
out = a.sigmoid()
d = out.data
d.zero_()
out.sum().backward()
"""


@pytest.mark.parametrize("language", ["en", "zh", "ko"])
def test_code_in_an_alarm_is_in_code_type(language: str) -> None:
    set_language(language)
    try:
        page, text = (
            steps(PAST_COUNTER, engine=tinytorch).html,
            steps(PAST_COUNTER, engine=tinytorch).text,
        )
    finally:
        set_language("en")
    alarms = re.findall(r'<div class="cl-alarm.*?</div>', page)
    codes = re.findall("<code[^>]*>(.*?)</code>", " ".join(alarms))
    lines = ["out = a.sigmoid()", "d.zero_()", "out.detach().clone()", "SigmoidBackward0"]
    assert {*lines, "a", "out", "backward", "[0, 0]"} <= {*codes}
    assert "`" not in text, "in words it is plain"


def test_code_of_an_error_and_a_users_own_marks() -> None:
    raising = (
        "a = torch.ones(2, requires_grad=True)\nh = a.exp()\nh += 1 * 1 * 1\nh.sum().backward()"
    )
    page = steps(raising, engine=tinytorch).html
    assert "on line 3, <code>h += 1 * 1 * 1</code>." in page
    assert "on line 2, <code>h = a.exp()</code>." in page
    words = CodeWords({"x += 1"}, {"a"})
    assert words.mark_code("A gradient of a is a sum.") == "A gradient of `a` is a sum."
    assert words.mark_code("result(a)을 한 번") == "result(`a`)을 한 번"
    assert words.mark_code("e.g. PyTorch, x += 12.") == "e.g. PyTorch, x += 12."


SPOILED = "x = torch.ones(2, requires_grad=True)\nh = x.exp()\nh.data.mul_(2)\n"
"""A graph that would give a wrong gradient, and that no backward below but some visits."""
W = "w = torch.ones(2, requires_grad=True)\n"


@pytest.mark.parametrize(
    ("code", "is_wrong"),
    [
        ("y = torch.ones(1, requires_grad=True)\ny.backward()", False),
        (W + "(w + 1).sum().backward()", False),
        (W + "w.sin().sum().backward(retain_graph=True)", False),
        (W + "def go(w):\n    l = (w + 1).sum()\n    l.backward()\ngo(w)", False),
        ("h.sum().backward(retain_graph=True)", True),
        ("h.sum().backward()\nx.grad = None\nh = x + 0\nh.sum().backward()", True),
        ("def go(h):\n    l = h.sum()\n    l.backward(retain_graph=True)\ngo(h)", True),
        (W + "x.grad = torch.ones(2)\n(h * w).sum().backward(retain_graph=True)", True),
    ],
)
def test_a_backward_over_another_graph_is_not_blamed(
    engine: ModuleType, code: str, *, is_wrong: bool
) -> None:
    made = steps(SPOILED + code, engine=engine)
    said = [sentence for frame in made for sentence in frame.explanation]
    assert any("the gradient was computed from" in sentence for sentence in said) == is_wrong
