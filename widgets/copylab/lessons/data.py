"""`.data`: the pair with detach, a protected display, a counted update, and a wrong gradient made on purpose."""

from __future__ import annotations

from .. import Question, predict
from ..looks import grad, values
from ..questions import (
    gradient,
    outcome,
    requires_grad,
    same_counter,
    same_storage,
    version,
)
from ..quiz import (
    ArgumentSource,
    CheckedFact,
    QuizRun,
    follows_numbers,
    graph_leads_back,
    has_grad,
    is_leaf_with_grad,
    left_grad_to_backward,
    needs_no_grad,
    quote_number,
    recommend_detached_clone,
    sends_gradient,
    share_no_cells,
    shows_values,
    was_gone_through,
    was_written,
)
from ..wording import gettext, gettext_noop
from . import task

past = predict(
    """
    a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    out = a.sigmoid()
    d = out.data
    d.zero_()
    out.sum().backward()
    """,
    [
        same_storage("out", "d"),
        same_counter("out", "d", wrong={"yes": "shared memory, shared counter"}),
        requires_grad("d", wrong={"yes": ".data keeps the gradient"}),
        version("out", wrong={"1": ".data is detach"}),
        outcome(wrong={"line 5 raises an error": ".data is detach"}),
        gradient("a", wrong={"[0.197, 0.105, 0.045]": "no error, right gradient"}),
    ],
    key="data/past",
    title="A write through .data before backward",
)

_RIGHT = gettext_noop("the right gradient")
_WRONG = gettext_noop("a wrong gradient")
_ERROR = gettext_noop("an error")
_NOT_SAVED = gettext_noop("No node has saved `z`: `backward` does not read the zeros.")


def _ask_for_effect(write: str, *, wrong: dict[str, ArgumentSource]) -> Question:
    """Ask what `backward` gives if a write comes between lines 2 and 3."""

    def run_with_write(run: QuizRun) -> QuizRun:
        # By its text, and not by a number: it is the only line that has it.
        return run.run_variant(run.code.replace("z.sum()", f"{write}\nz.sum()"))

    def find_effect(run: QuizRun) -> str:
        written = run_with_write(run)
        if written.trace.error is not None:
            return _ERROR
        return _RIGHT if written.gradient("x") == run.gradient("x") else _WRONG

    def because(run: QuizRun) -> str:
        written = run_with_write(run)
        version = written.tensor("x").version
        if written.trace.error is not None:
            return gettext(
                "With `{write}`, `x._version` is {version}, and the node of `z` has saved `x` at version 0: `backward` raises.",
                write=write,
                version=version,
            )
        sentence = gettext_noop(
            "With `{write}`, `x._version` is {version}, and `x.grad` is {value}: the node of `z` has saved `x`, and the write did not change `x`."
        )
        if written.value("x") != run.value("x"):
            sentence = gettext_noop(
                "With `{write}`, `x._version` is {version}, and `x.grad` is {value}: the node of `z` has saved `x` at version 0, finds it at 0, and reads the zeros."
            )
        return gettext(
            sentence,
            write=write,
            version=version,
            value=quote_number(written.gradient("x")),
        )

    return Question(
        lambda: gettext(
            "With `{write}` between lines 2 and 3: what does `backward` give?", write=write
        ),
        (_RIGHT, _WRONG, _ERROR),
        answer=find_effect,
        wrong=wrong,
        because=because,
        name=f"effect of {write}",
        change=run_with_write,
        kind="effect",
        subject=(write,),
    )


writes = predict(
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = x * x
    z.sum().backward()
    """,
    [
        _ask_for_effect(
            "z.data.zero_()", wrong={_WRONG: _NOT_SAVED, _ERROR: "every write breaks backward"}
        ),
        _ask_for_effect(
            "x.data.zero_()", wrong={_RIGHT: "no error, right gradient", _ERROR: ".data is detach"}
        ),
        _ask_for_effect(
            "z.detach().zero_()", wrong={_WRONG: _NOT_SAVED, _ERROR: "every write breaks backward"}
        ),
        _ask_for_effect(
            "x.detach().zero_()",
            wrong={_RIGHT: "detach copies", _WRONG: "detach has its own counter"},
        ),
    ],
    key="data/writes",
    title="Four writes before backward",
)


@task(
    "data/display",
    "`shown` should hold `out` in percent, without requiring grad, and `out` should not change. Change one line.",
    about="`out` in percent",
    start="a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nout = a.sigmoid()\nshown = out.data\nshown.mul_(100)",
    hints=["`mul_` writes. Into whose cells?", "Cut the graph, and copy: two calls."],
    solution="out = a.sigmoid()\nshown = out.detach().clone()\nshown.mul_(100)",
    wrong={
        "out = a.sigmoid()\nshown = out.detach()\nshown.mul_(100)": "out and shown look at the same cells",
        "out = a.sigmoid()\nshown = out.clone()\nshown.mul_(100)": "so shown requires grad, too: its node is MulBackward0",
        "out = a.sigmoid()\nshown = out.detach().clone()": "shown shows [0.731059, 0.880797, 0.952574]",
        "out = a.sigmoid().detach()\nshown = out * 100": "out requires no grad",
        "out = a.sigmoid()\nout.data.mul_(100)\nshown = out.detach().clone()": "out shows [73.1059, 88.0797, 95.2574]",
        "a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nout = a.sigmoid()\nshown = torch.tensor([73.1059, 88.0797, 95.2574])": "shown shows [73.1059, 88.0797, 95.2574]",
    },
    right="`shown` has cells of its own and no history, so `out` stays as it was.",
)
def counted(a, out, shown):
    yield graph_leads_back(out=out, a=a)
    yield share_no_cells(out=out, shown=shown)
    yield needs_no_grad(shown=shown)
    yield shows_values([0.73106, 0.8808, 0.95257], out=out)
    yield shows_values([73.106, 88.08, 95.257], shown=shown)
    yield follows_numbers(
        "[1.0, 2.0, 3.0]",
        "[0.0, 0.0, 0.0]",
        lambda shown: shows_values([50, 50, 50], shown=shown),
    )
    yield recommend_detached_clone(out=out)


@task(
    "data/update",
    "The gradient of `w * w` at 4 is 8, but the program finds 6. `w` should go from 4 to 3, `w.grad` should be `[8]`, "
    "and the write should be counted.",
    about="an update that is counted",
    given="w = torch.tensor([4.0], requires_grad=True)\nloss = (w * w).sum()\n",
    start="w.data -= 1.0\nloss.backward()",
    hints=[
        "Which of the last two lines has to come first?",
        "A write that is counted and not recorded: look for `no_grad` in this lesson.",
    ],
    solution="loss.backward()\nwith torch.no_grad():\n    w -= 1.0",
    wrong={
        "loss.backward()": "w shows [4]",
        "loss.backward()\nw.data -= 1.0": "w._version is 0",
        "loss.backward()\nw = w - 1.0": "computes w, so w is not a leaf: its node is SubBackward0",
        "loss.backward()\nw = w.detach() - 1.0": "w requires no grad",
        "with torch.no_grad():\n    w -= 1.0": "w.grad is None",
    },
    right="the gradient is the one at 4, and the write to 3 was counted.",
)
def update(w):
    yield is_leaf_with_grad(w=w)
    yield has_grad([8], w=w)
    yield shows_values([3], w=w)
    yield was_written(w=w)


@task(
    "data/silent",
    "Add one line, so that `backward` raises no error, but computes `[200]` for `x.grad` where `[6]` would be right. "
    "`y` should still be 9.",
    about="a wrong gradient on purpose",
    given="x = torch.tensor([3.0], requires_grad=True)\n",
    start="y = (x * x).sum()\ny.backward()",
    hints=[
        "The node reads the value of `x` when `backward` runs. Which value gives 200?",
        "Write 100 into `x` between the second line and the third, past the counter.",
    ],
    solution="y = (x * x).sum()\nx.data.fill_(100.0)\ny.backward()",
    wrong={
        "y = (x * x).sum()\ny.backward()\nx.data.fill_(100.0)": "which is right",
        "y = (x * x).sum()\nx.detach().fill_(100.0)\ny.backward()": "x.grad is None",
        "x.data.fill_(100.0)\ny = (x * x).sum()\ny.backward()": "y shows 10000",
        "y = (x * x).sum()\nx.data.fill_(200.0)\ny.backward()": "x.grad is [400]",
        "y = (x * x).sum()\ny.backward(torch.tensor(100 / 3))": "for which backward() does not compute [200]",
        "y = (x * x).sum()\ny.backward()\nx.grad = torch.tensor([200.0])": "line 4 of your cell writes x.grad itself",
    },
    right="`x.grad` is 200, and the gradient of `y` at 3 is 6: `x.grad` is wrong, and nothing says so.",
)
def silent(x, y):
    yield shows_values(9, y=y)
    yield graph_leads_back(y=y, x=x)
    # Before the next fact, which would say only that it should be 200.
    yield CheckedFact(grad(x) != [6], gettext("`x.grad` is `[6]`, which is right. Do some harm."))
    yield has_grad([200], x=x)
    yield sends_gradient([200], y=y, x=x)
    yield was_gone_through(y=y)
    yield left_grad_to_backward(x=x)
    yield CheckedFact(
        values(x) == [100],
        gettext(
            "`x` shows {value}, for which `backward()` does not compute `[200]`. Add one line that writes into `x`, and no other.",
            value=quote_number(values(x)),
        ),
        gettext("`x` shows `[100]`, and `x._version` is {version}.", version=x._version),
    )
