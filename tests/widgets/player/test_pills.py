"""A program that is changed in its player: by other copies, which a page stores, and by hand."""

import json
import sys
from collections.abc import Iterator
from html import unescape
from types import ModuleType
from typing import Any

import pytest
from copylab import Steps, steps
from copylab.player.live import StepsWidget
from copylab.run.self_contained import is_self_contained

import tinytorch

CODE = """\
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
d = y.detach()
d += 10
y.sum().backward()
"""
WHERE = "instead of detach on line 3"
SAYS = {
    "=": f"= {WHERE}: d is the same tensor as y; d.requires_grad is now True, not False.",
    "clone": f"clone {WHERE}: y is now [3, 6], not [13, 16]; d shares no memory with y; "
    "d.requires_grad is now True, not False; and 1 more.",
    "detach().clone()": f"detach().clone() {WHERE}: y is now [3, 6], not [13, 16]; "
    "d shares no memory with y; version of y is now 0, not 1.",
    ".data": f".data {WHERE}: d shares memory with y, but not the version counter; "
    "version of y is now 0, not 1.",
    "deepcopy": "deepcopy instead of detach on line 4: it now raises RuntimeError on line 4.",
}


def read_pills(html: str) -> Any:
    return json.loads(unescape(html.partition('data-pills="')[2].partition('"')[0]))


def say_exchange(made: Steps, name: str) -> str:
    """Put another method in the place of the first copy; return what is said of it."""
    pills = made.run_other_copies({0: name})._make_pills()
    assert pills is not None
    assert pills.says_at_end.startswith(pills.says[:-1])
    return pills.says_at_end


def test_what_is_left_out_is_not_called_nothing() -> None:
    code = "a = torch.tensor(2.0, requires_grad=True)\ny = a * 10\nz = 3 * {}\nz.backward()"
    cut = "a = torch.tensor(2.0, requires_grad=True)\nz = (a * a.detach()).sum()\nz.backward()"
    assert say_exchange(steps(cut, engine=tinytorch), "=").startswith(
        "without detach on line 2: a.grad is now 4, not 2"
    )
    plain = steps(code.format("y.clone()"), engine=tinytorch)
    assert say_exchange(plain, "=").startswith("without clone on line 3")


def test_that_two_storages_share_nothing_is_said_once() -> None:
    """That a view of x shares no memory with y, too, says nothing new."""
    code = "x = torch.tensor([1.0, 2.0, 3.0])\ny = x\nz = x[1:]\nv = x[:1]\nz[0] = 50.0"
    said = say_exchange(steps(code, engine=tinytorch, level="counter"), "clone")
    assert said == (
        "clone instead of = on line 2: y is now [1, 2, 3], not [1, 50, 3]; "
        "y shares no memory with x; version of y is now 0, not 1."
    )


@pytest.fixture
def widget() -> Iterator[StepsWidget]:
    made = steps(CODE, engine=tinytorch).live()
    made.sent = []
    made.send = made.sent.append
    yield made
    made.close()


def ask(widget: StepsWidget, **content: Any) -> Any:
    """Ask as a view does; return what its pills are then."""
    widget._handle_message(widget, content, [])
    return read_pills(widget.form)


def test_a_page_stores_what_other_copies_do() -> None:
    made = steps(CODE, engine=tinytorch)
    pack = json.loads(made.html.partition('<script type="application/json">')[2].partition("<")[0])
    pills = read_pills(made.html)
    names = pills["offered"]
    assert (pills["own"], pills["bare"], pills["lines"]) == (["detach"], [], [3])
    assert "code" not in pills, "there is nobody to run it"
    assert [names[int(number)] for number in pack["texts"]["form"]] == list(SAYS)
    forms = dict(made._make_stored_forms())
    assert {names[n]: form.pills and form.pills.says_at_end for n, form in forms.items()} == SAYS
    drawn = [number for number in pack["texts"]["memory svg"] if int(number) > 1000]
    assert len(drawn) < sum(len(form.parts) for form in forms.values()), "what is equal, once"


def test_a_page_stores_them_of_a_loop_at_a_level() -> None:
    """Rounds have pictures of their own, which come before those of other runs."""
    code = "w = torch.ones(2)\nfor _ in range(2):\n    v = w.detach()\n    v += 1"
    made = steps(code, engine=tinytorch, level="names")
    pack = json.loads(made.html.rpartition('type="application/json">')[2].partition("<")[0])
    assert len(pack["texts"]["form"]) > 1
    numbers = [int(number) for number in pack["texts"]["memory svg"]]
    assert numbers == sorted(numbers)
    said = {form.pills.says_at_end for _, form in made._make_stored_forms() if form.pills}
    assert ".data instead of detach on line 3." in said, "the rest is not taught yet"
    assert any(
        each.endswith("w is now [1, 1], not [3, 3]; v is now [2, 2], not [3, 3].") for each in said
    )
    assert not any("requires_grad" in each or "grad is" in each for each in said)
    assert any(len(made) < number < 1000 for number in numbers)
    assert numbers[-1] > 1000


def test_a_display_changes_nothing_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing notes a write to a tensor of another module: what is imported decides."""
    mine = ModuleType("mine")
    w, calls = tinytorch.zeros(2), list[int]()
    vars(mine).update(w=w, calls=calls)
    monkeypatch.setitem(sys.modules, "mine", mine)
    code = "from mine import w, calls\nk = w.detach()\nk += 1\ncalls.append(1)"
    made = steps(code, engine=tinytorch)
    assert '"form":' not in made.html
    assert (w.tolist(), calls) == ([1, 1], [1])
    says = say_exchange(made, "clone")
    assert says.endswith("values are not compared: they may differ from run to run.")


SELF_CONTAINED = (
    "import copy, torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self): self.w = x",
    "from math import pi\nfor a, (b, *c) in [(x * pi, [1, 2])]: (d := copy.copy(a)).add_(b)\nimport copy",
    "with torch.no_grad():\n    w = [torch.ones(2)]\n    w[0].data += 1\n    w[0] += 1",
    "try: f()\nexcept NameError as error: print(error)\ndef f(*a, **k): return [i for i in a], k",
)
REACHES_OUT = (
    "import mine",
    "import __main__",
    "from . import w",
    "from torch import *",
    "import urllib.request",
    "import os.path",
    "from torch import hub",
    "import collections\ncollections.cnt += 1",
    "import collections as c\nd = c\nd.cnt = 1",
    "import math\nw = math.w\nw += 1",
    "import math\ndel math.w[0]",
    "T = torch.Tensor\nT.w = 1",
    "type(torch.ones(2)).w = 1",
    "def f(m): m.w = 1\nf(torch)",
    "torch.backends.w = 1",
    "torch.__dict__['w'] += 1",
    "get_ipython().user_ns['w'] += 1",
    "exec('import mine')",
    "x = torch.tensor(float(id(torch.ones(2))))",
    "x = torch.empty(2)",
    "import numpy as np\nx = np.random.default_rng().random()",
    "w += 1",
)


def test_a_text_tells_whether_a_program_reaches_out() -> None:
    alone = [code for code in SELF_CONTAINED if is_self_contained(f"x = torch.ones(2)\n{code}")]
    assert alone == list(SELF_CONTAINED)
    assert not [code for code in REACHES_OUT if is_self_contained(code)]


WRONG = "a gradient is now wrong, and no error says so"
SILENT = (
    "x = torch.tensor([1.0], requires_grad=True)\ny = x.exp()\nd = y.detach()\nd += 10\n"
    "y.sum().backward()"
)
MESSAGE = "x = torch.ones(2)\ny = x.clone()\nx += 1\nraise ValueError(int(y[0]))"
OTHER_PLACE = "x = torch.ones(2)\ny = x.clone()\nx += 1\nif y[0] == 1:\n    1 / 0\n1 / 0"


@pytest.mark.parametrize(
    ("code", "name", "differences"),
    [
        (
            SILENT,
            ".data",
            f"it no longer raises RuntimeError on line 5; {WRONG}.",
        ),
        (MESSAGE, "=", "it still raises ValueError on line 4, but with another message."),
        (MESSAGE, "deepcopy", "it still raises ValueError on line 5."),
        (
            OTHER_PLACE,
            "=",
            "it now raises ZeroDivisionError on line 6, and not ZeroDivisionError on line 5.",
        ),
        # Equal numbers of two names are not all that a program can do.
        ("x = torch.ones(2)\ny = x.clone()\nk = y.is_leaf", "detach().clone()", ""),
        (
            "import random\nx = torch.tensor([random.random()])\ny = x.clone()",
            "=",
            "y is the same tensor as x; values are not compared: they may differ from run to run.",
        ),
    ],
)
def test_what_an_exchange_changed(code: str, name: str, differences: str) -> None:
    says = say_exchange(steps(code, engine=tinytorch), name)
    assert says.partition(": ")[2] == differences


def function() -> object:
    x = tinytorch.ones(2)
    return x.clone()


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("x = torch.ones(2)\nprint(x)", {}),
        ("x = torch.rand(2)\ny = x.clone()", {}),
        ("x = torch.ones(2)\n" + "y = x.clone()\n" * 30, {}),
        ("y = x.clone()", {"namespace": {"x": tinytorch.ones(2)}}),
        (function, {}),
        ("x = (", {}),
    ],
)
def test_nothing_is_stored_of_what_is_not_to_run_again(code: Any, options: Any) -> None:
    """No copies, random numbers, many steps, the user's tensors, a function, no Python."""
    made = steps(code, engine=tinytorch, **options)
    assert '"form":' not in made.html
    assert (made._make_pills() is None) is (bool(options) or callable(code))


def test_the_kernel_runs_other_copies_and_keeps_the_step(widget: StepsWidget) -> None:
    first = widget.steps
    assert read_pills(widget.form)["code"] == CODE.rstrip()
    pills = ask(widget, do="copy", chosen=["deepcopy"], step=3)
    assert pills["says"] == "deepcopy instead of detach on line 4."
    assert pills["ends"] == SAYS["deepcopy"]
    assert (pills["lines"], pills["added"], widget.step) == ([4], 1, 4), "below the import"
    assert pills["chosen"] == ["deepcopy"]
    assert widget.steps.code.startswith("import copy\n")
    # An answer that is no choice, from whatever page, is none.
    for chosen in (["detach"], ["no such"], [], [3, {}]):
        ask(widget, do="copy", chosen=chosen, step=9)
        assert widget.steps is first
    assert widget.step == len(first), "no further than the end"
    assert widget.sent == [{"problem": ""}] * 5


def test_a_program_is_edited_and_is_as_it_was_again(widget: StepsWidget) -> None:
    first = widget.steps
    pills = ask(widget, do="edit", code="a = torch.ones(2)\nb = a.clone(", step=2)
    assert pills["edited"]
    assert (widget.steps.ended, widget.step) == ("syntax", 1)
    pills = ask(widget, do="edit", code="a = torch.ones(2)\nb = a.clone()", step=2)
    assert pills["own"] == ["clone"]
    # Of an edited program the copies can be exchanged, too.
    assert ask(widget, do="copy", chosen=["="], step=2)["edited"]
    assert widget.steps[1].changes[0].startswith("b is the same tensor")
    ask(widget, do="reset", step=4)
    assert (widget.steps, widget.step) == (first, 4)
    assert widget.text == first.text


def test_a_change_that_cannot_be_run_is_answered() -> None:
    code = "def f(a):\n    return a.clone()\nx = f(torch.ones(2))"
    made: Steps = steps(code, engine=tinytorch, into="f")
    widget = made.live()
    sent: list[Any] = []
    widget.send = sent.append
    ask(widget, do="edit", code="x = 1", step=1)
    assert "into names f" in sent[0]["problem"]
    assert widget.steps is made
    widget.close()
