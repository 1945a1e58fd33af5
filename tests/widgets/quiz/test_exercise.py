"""Exercises: checks that never raise and change nothing, and that are tested themselves."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from copylab.lessons.clinic import rounds
from copylab.lessons.clinic_gradients import (
    data_update,
    running_loss,
    write_before,
)
from copylab.lessons.clone import readings
from copylab.looks import grad, is_tensor, node_of, same_counter, same_storage, values
from copylab.quiz.checked_facts import (
    CheckedFact,
    are_tensors,
    follows_numbers,
    got_gradients,
    graph_leads_back,
    has_grad,
    is_leaf_with_grad,
    is_still_of_line,
    is_tensor_list,
    know_source,
    leads_back_once,
    left_grad_to_backward,
    needs_no_grad,
    sends_gradient,
    share_no_cells,
    shows_number,
    shows_values,
    was_freed,
    was_gone_through,
    was_left_alone,
    was_written,
)
from copylab.quiz.diagnosis import Counterevidence, Diagnosis
from copylab.quiz.exercises import Exercise, Verdict, exercise, wrong
from copylab.quiz.progress import find_note
from copylab.quiz.verify import mutate_program
from copylab.run import CELL_OUTCOMES, CellOutcome, describe_error
from copylab.wording import set_language

import tinytorch

START = "x = torch.arange(6)\nt = None"
SOLUTION = "t = x[2:4].clone()"


pytestmark = pytest.mark.usefixtures("progress_file")


def plain(said: object) -> str:
    """Return what is said without the marks of code."""
    return str(said).replace("`", "")


def check(x: Any, t: Any) -> str | None:
    if same_storage(x, t):
        return "t still looks at the storage of x."
    if values(t) != [2, 3]:
        wrong(f"t shows {values(t)}.")
    return None


def make(check: Any = check, **changes: Any) -> Exercise:
    given: dict[str, Any] = {
        "hints": ["A slice picks a part.", "What `copies` a view?"],
        "solution": SOLUTION,
        "wrong": {"t = x[2:4]": "storage of x", "t = x[2:5].clone()": "shows [2, 3, 4]"},
        "start": START,
    }
    return exercise("mine/part", "`t` shall show **[2, 3]**.", check, **given | changes)


# ---- the three verdicts


def test_the_cell_that_set_the_variables_counts(
    monkeypatch: pytest.MonkeyPatch, engine: ModuleType
) -> None:
    part = make(engine=engine, start="x = torch.arange(6)\nt = x[2:4]")
    x = engine.arange(6)
    names = {"x": x, "t": x[2:4]}
    monkeypatch.setattr("copylab.quiz.exercises.notebook_names", lambda: names)
    for source, error, state, said in (
        (part.start + "  # mine", "", "not attempted", "as it was at the start"),
        ("x = torch.arange(6)\nt = x.narrow(0, 2, 2)", "", "wrong", "the storage of x"),
        ("x = torch.arange(6)\nt = (x", "SyntaxError", "wrong", "raised SyntaxError"),
    ):
        outcome = CellOutcome(source, error)
        monkeypatch.setattr(CELL_OUTCOMES, "by_name", dict.fromkeys(names, outcome))
        verdict = part.check(names)
        assert (verdict.state, said in plain(verdict.says)) == (state, True), verdict
        # Other variables are not those that the cell has set.
        assert part.check(dict(names)).state == "not attempted"
    del names["t"]
    assert "raised SyntaxError" in plain(part.check(names)), "it was run: not `Run your cell first`"
    names["t"] = x[2:4].clone()
    assert part.check(names).state == "wrong", "right, and of an earlier run"
    assert part.check(dict(names)).state == "right"


LEAF = "a = torch.ones(2, requires_grad=True)\n"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (
            f"{LEAF}h = a.clone()\na += 1",
            "line 3 of your cell writes into `a`, a leaf that requires grad. A recorded write would make the leaf a result.",
        ),
        (
            f"{LEAF}h = a[:1]\nh.fill_(2.0)",
            "line 3 of your cell writes into `h`, a view of a leaf that requires grad. A recorded write through a view",
        ),
        (
            f"{LEAF}h = a.clone()\na[0] = 2.0",
            "line 3 of your cell writes into `a[0]`, a view of a leaf that requires grad.",
        ),
        (
            f"{LEAF}h = a.clone()\na[a > 0] = 2.0",
            "line 3 of your cell writes into `a`, a leaf that requires grad.",
        ),
        (
            f"{LEAF}h = a.exp()\nh += 1\nloss = h.sum()\nloss.backward()",
            (
                "`ExpBackward0` saved its result (`h`) on line 2, `h = a.exp()`. `h` was written to "
                "afterwards, on line 3, `h += 1`."
            ),
        ),
        (
            f"{LEAF}h = (a * a).sum()\nh.backward()\nh.backward()",
            "your cell calls `backward` twice, in line 3 and line 4. `MulBackward0` freed its saved second input in an earlier `backward` without retain_graph=True (and 1 more saved tensor).",
        ),
        (f"{LEAF}h = a ** 2 * a\nh.backward()", "`h` has 2 elements"),
        (
            f"{LEAF}h = (a * a).sum()\nfor _ in range(3): h.backward(retain_graph=_ < 1)",
            "line 3 of your cell calls `backward` again, and comes to what an earlier call has freed. `MulBackward0` freed",
        ),
        (
            f"{LEAF}h = a.detach()\n(h * h).sum().backward()",
            "what `a.detach()` in line 2 of your cell gives has no history. So `backward` has no graph to go through.",
        ),
        (
            f"{LEAF}h = 1.0\nfor _ in range(2):\n    h = (a * h).detach().clone()\n    (h * h).sum().backward()",
            "what `(a * h).detach()` in line 4 of your cell gives has no history.",
        ),
        (
            f"{LEAF}h = a.data * 2\nh.sum().backward()",
            "what `a.data` in line 2 of your cell gives has no history.",
        ),
        (
            f"{LEAF}h = torch.tensor(a.sum().item() * 2)\nh.backward()",
            "what `torch.tensor(a.sum().item() * 2)` in line 2 of your cell gives has no history.",
        ),
        (
            f"{LEAF}with torch.no_grad():\n    h = a.sum()\nh.backward()",
            "inside `with torch.no_grad()` in line 2 of your cell nothing is recorded. So `backward` has no graph",
        ),
        # Without it, the second `backward` runs, and then `a.grad` of a result is None.
        (
            f"{LEAF}for _ in range(2):\n    (a * a).sum().backward()\n    with torch.no_grad():\n        a = a - a.grad",
            "inside `with torch.no_grad()` in line 4 of your cell nothing is recorded. So `backward` has no graph",
        ),
        # Without either, `backward` would begin.
        (
            f"{LEAF}h = a.detach() * a.data\nh.sum().backward()",
            "nothing that comes from `a.detach()` (line 2) and `a.data` (line 2) of your cell has a history.",
        ),
        (
            f"{LEAF}h = a.detach() * a.detach()\nh.sum().backward()",
            "what `a.detach()` in line 2 of your cell gives has no history.",
        ),
        # One behind the other: which it was is not known.
        (
            f"{LEAF}h = a.detach()\nh = h.data * 2\nh.sum().backward()",
            "`h` requires no grad: it was not computed from a tensor that does",
        ),
    ],
)
def test_a_cell_that_raised_is_told_why(engine: ModuleType, source: str, why: str) -> None:
    part = make(lambda a, h: a is h, engine=engine, solution="a = 1; h = 1", start="", wrong={})
    verdict = part.judge_cell(source, engine)
    assert verdict.state == "wrong"
    ended = "your cell raised `RuntimeError` when it was last run. Fix it, and run it again."
    assert verdict.says.startswith(f"{ended} Why: {why}")
    assert "Way out" not in verdict.says, "that may be the exercise"
    assert str(verdict) == f"Not yet: {verdict.says}"
    code = "<code>RuntimeError</code>"
    assert verdict.html().count(code) == 1
    assert len(re.findall("<code[ >]", verdict.html())) == verdict.says.count("`") // 2


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            f"{LEAF}h = a.numpy()",
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        ),
        (f"{LEAF}h = a.fill(1)", "'Tensor' object has no attribute 'fill'"),
        (f"{LEAF}h = b", "name 'b' is not defined"),
        ("a = h = (1", "'(' was never closed (line 1)"),
    ],
)
def test_an_error_without_a_known_reason_is_told_in_its_own_words(
    engine: ModuleType, source: str, says: str
) -> None:
    """`x.numpy()[0] = 100.0` was told that it raised, and not what it said."""
    part = make(lambda a, h: a is h, engine=engine, solution="a = 1; h = 1", start="", wrong={})
    with pytest.raises(Exception, match=re.escape(says.partition(" (line")[0])) as raised:
        exec(compile(source, "12345.py", "exec"), {"torch": engine})
    cell = CellOutcome.from_description(source, describe_error(raised.value))
    verdict = part._judge_variables({"a": 1, "h": 1}, engine, cell)
    assert verdict.says.endswith(f"Fix it, and run it again. The error says: `{says}`")
    assert "Why: " not in verdict.says


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (f"{LEAF}h = a.retain_grad()", "`h` is None: that is what `a.retain_grad()` gives."),
        (f"{LEAF}h = a[5]", "your cell raised `IndexError` when it was last run."),
        ("a = h = (1", "your cell raised `SyntaxError` when it was last run."),
    ],
)
def test_a_program_of_ones_own_is_an_attempt(engine: ModuleType, source: str, says: str) -> None:
    """It was "Not attempted" where it came to none of the names, or to None."""
    part = make(lambda a, h: a is h, engine=engine, solution="a = 1; h = 1", start="", wrong={})
    verdict = part.judge_cell(source, engine)
    assert verdict.state == "wrong"
    assert verdict.says.startswith(says)


def test_what_tinytorch_lacks_is_no_fault_of_the_learner() -> None:
    part = make(lambda a, h: a is h, engine=tinytorch, solution="a = 1; h = 1", start="", wrong={})
    verdict = part.judge_cell("a = h = torch.ones(1).expm1()", tinytorch)
    assert "tinytorch has no `expm1`, and PyTorch may have it." in verdict.says


def test_a_long_error_ends_with_a_word(engine: ModuleType) -> None:
    part = make(lambda a, h: a is h, engine=engine, solution="a = 1; h = 1", start="", wrong={})
    verdict = part.judge_cell(f"a = h = 1\nraise ValueError({'word ' * 99!r})", engine)
    assert verdict.says.endswith("word word ...`")


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        (
            "a.grad.zero_()",
            "in line 3 of your cell `a.grad` is None, which has no `zero_`: no gradient",
        ),
        (
            "a.retain_grad().sum()",
            "in line 3 of your cell `a.retain_grad()` is None, which has no `sum`.",
        ),
        ("h = 0.0 + h.sum().item", "`h.sum().item` without `()` calls nothing."),
        # Which of the two it is, is not known.
        ("(a.grad.sum() + h.grad.sum()).backward()", ""),
    ],
)
def test_what_is_none_in_a_line_is_named(engine: ModuleType, rest: str, why: str) -> None:
    part = make(lambda a, h: a is h, engine=engine, solution="a = 1; h = 1", start="", wrong={})
    says = part.judge_cell(f"{LEAF}h = a * 2\n{rest}", engine).says
    assert ("Why: " in says) is bool(why)
    assert why in says


def test_what_nothing_asked_for_is_told_so(engine: ModuleType) -> None:
    part = make(lambda a, h: a is h, engine=engine, solution="a = 1; h = 1", start="", wrong={})
    none = "`h` was computed from no tensor that requires grad, so `backward`"
    for source, is_told in (
        (f"{LEAF}b = torch.ones(2) * 2\nh = (b * b).sum()\nh.backward()", True),
        # What a function makes of a tensor is not known, nor what a list holds.
        ("a = torch.ones(2)\nh = (a.detach() * torch.tensor(2.0)).sum()\nh.backward()", True),
        ("a = torch.ones(2)\nf = lambda t: t * 1\nh = f(a).sum()\nh.backward()", False),
        (f"{LEAF}b = [1.0]\nh = a.argmax() * b[0]\nh.backward()", False),
        (f"{LEAF}h = a.argmax()\nh.backward()", False),
    ):
        assert (none in part.judge_cell(source, engine).says) is is_told, source


@pytest.mark.parametrize(
    ("source", "fact", "says"),
    [
        (
            f"{LEAF}h = a.detach() * 2",
            lambda a, h: graph_leads_back(h=h, a=a),
            "what `a.detach()` in line 2 of your cell gives has no history. `h` requires no grad",
        ),
        (
            f"{LEAF}h = torch.tensor([each.item() for each in a], requires_grad=True) * 2",
            lambda a, h: graph_leads_back(h=h, a=a),
            "what `torch.tensor([each.item() for each in a], requires_grad=True)` in line 2 of your cell gives has no history. `h` has no node",
        ),
        (
            f"{LEAF}with torch.no_grad():\n    h = a * 2",
            lambda a, h: graph_leads_back(h=h, a=a),
            "inside `with torch.no_grad()` in line 2 of your cell nothing is recorded. `h` requires no grad",
        ),
        (
            f"{LEAF}h = a * 2\na = torch.zeros(2, requires_grad=True)",
            lambda a, h: graph_leads_back(h=h, a=a),
            "since `a = torch.zeros(2, requires_grad=True)`, `a` is another tensor. `h` has no node",
        ),
        (
            f"{LEAF}h = a.detach() * a.data",
            lambda a, h: graph_leads_back(h=h, a=a),
            "nothing that comes from `a.detach()` (line 2) and `a.data` (line 2) of your cell has a history. `h`",
        ),
        # One behind the other: which it was is not known.
        (
            f"{LEAF}h = a.detach()\nh = h.data",
            lambda a, h: graph_leads_back(h=h, a=a),
            "`h` requires no grad: `backward` cannot get from it to `a`.",
        ),
        (
            f"{LEAF}h = a.detach()",
            lambda _, h: is_leaf_with_grad(h=h),
            "what `a.detach()` in line 2 of your cell gives has no history. `h` requires no grad; it should be a leaf that requires grad.",
        ),
        (
            f"{LEAF}h = a * 2",
            lambda _, h: is_leaf_with_grad(h=h),
            "line 2 of your cell computes `h`, so `h` is not a leaf: its node is `MulBackward0`.",
        ),
        (
            f"{LEAF}h = a.sum()\na.data += 1",
            lambda a, _: was_written(a=a),
            "line 3 of your cell writes through `.data`, and the counter of `a` does not count that.",
        ),
        (
            f"{LEAF}h = a * a\nh.sum().backward(retain_graph=True)",
            lambda _, h: was_freed(h=h),
            "your cell calls `backward` with `retain_graph`, so the nodes behind `h` keep",
        ),
        (
            f"{LEAF}h = a * a",
            lambda _, h: was_freed(h=h),
            "no line of your cell calls `backward`. So no gradient went through the nodes behind `h`.",
        ),
    ],
)
def test_a_refusal_begins_with_what_the_cell_did(
    engine: ModuleType, source: str, fact: Callable[..., CheckedFact], says: str
) -> None:
    variables: dict[str, Any] = {"torch": engine}
    exec(source, variables)
    with know_source(source):
        found = fact(variables["a"], variables["h"])
    assert not found.holds
    assert found.no.startswith(says)


def test_only_what_runs_alone_is_run_again_for_the_reason(engine: ModuleType) -> None:
    part = make(lambda a, h: a is h, engine=engine, solution="a = 1; h = 1", start="", wrong={})
    written: list[int] = []
    source = f"{LEAF}h = 1\nwritten.append(1)\na += 1"
    lost = f"{LEAF}h = a.detach() * 2\n"
    for cell, has_reason in (
        # A run without it tells which cut it was.
        (CellOutcome(f"{lost}m = lambda t: t.sum()\nm(h).backward()", "RuntimeError"), True),
        (CellOutcome(f"{lost}(a * h).detach().sum().backward()", "RuntimeError"), True),
        # Of one behind the other, it is not known which.
        (CellOutcome(f"{lost}m = lambda t: t.data.sum()\nm(h).backward()", "RuntimeError"), False),
        (CellOutcome(f"{lost}((a * h).detach() * a.data).sum().backward()", "RuntimeError"), True),
        (CellOutcome(f"{lost}(h * torch.ones(2)).sum().backward()", "RuntimeError"), True),
        (CellOutcome(source, "RuntimeError"), False),
        (CellOutcome(f"{LEAF}h = 1\na += 1", "RuntimeError"), True),
        (CellOutcome(f"{LEAF}h = 1\na += 1", "KeyboardInterrupt"), False),
        (CellOutcome("a = h = (1", "SyntaxError"), False),
        (CellOutcome("a = h = 1\nprint(b)", "NameError"), False),
    ):
        verdict = part._judge_variables({"a": 1, "h": 1}, engine, cell)
        assert ("Why: " in verdict.says) is has_reason, cell
    assert not written


@pytest.fixture
def run_cell(
    monkeypatch: pytest.MonkeyPatch, engine: ModuleType
) -> Iterator[Callable[[str, str | None], None]]:
    """Run a cell of a notebook as IPython does, with its events; its second argument is the cell's id."""
    listeners: dict[str, Any] = {}
    names: dict[str, Any] = {"torch": engine}
    shell = SimpleNamespace(events=SimpleNamespace(register=listeners.__setitem__), user_ns=names)
    monkeypatch.setattr("copylab.quiz.exercises.notebook_names", lambda: names)
    monkeypatch.setattr("copylab.run.cell_outcomes.running_shell", lambda: shell)

    def run(source: str, cell: str | None) -> None:
        info = SimpleNamespace(raw_cell=source, cell_id=cell)
        listeners["pre_run_cell"](info)
        raised = None
        try:
            exec(source, names)
        except Exception as error:  # noqa: BLE001  # IPython reports any
            raised = error
        result = SimpleNamespace(info=info, error_before_exec=None, error_in_exec=raised)
        listeners["post_run_cell"](result)

    yield run
    CELL_OUTCOMES.shell = None


def test_a_picture_of_the_run_before_is_named_beside_a_right_verdict(
    run_cell: Callable[[str, str | None], None],
) -> None:
    """The fault stayed in view, with "one tensor, 3 names", beside a green "Right"."""
    rounds.live()
    start, look = rounds.start, "memory(grads=grads, scale=scale)"
    names = CELL_OUTCOMES.shell.user_ns
    names["memory"] = lambda **_: None
    again = "Run the cell of `memory(grads=grads, scale=scale)` again: what it shows is of the run before."
    run_cell(start, "1")
    run_cell(look, "2")
    assert again not in rounds.check(names).says, "it is not right yet"
    run_cell(rounds.code, "1")
    verdict = rounds.check(names)
    assert verdict.state == "right"
    assert verdict.says.endswith(again)
    for other in ("memory(x=7)", "print(memory)", "%time memory(grads=1)"):
        names["print"] = names["memory"]
        with contextlib.suppress(SyntaxError):
            run_cell(other, "3")
        assert rounds.check(names).says.endswith(again), other
    run_cell(look, "2")
    verdict = rounds.check(names)
    assert verdict.state == "right"
    assert "again" not in verdict.says
    run_cell("old = 1", "4")
    assert "again" not in rounds.check(names).says


ANOTHER = "decay = torch.tensor(0.5, requires_grad=True)\nout = decay * 1"
OF_THE_SAME_NAMES = "rows = [torch.zeros(3) for _ in range(4)]\nfor row in rows:\n    row.fill_(7)\nlogits, *_, out = rows"


@pytest.mark.parametrize("has_ids", [True, False])
def test_another_exercise_has_set_the_same_names_since(
    run_cell: Callable[[str, str | None], None], has_ids: bool
) -> None:
    another = exercise(
        "test/another",
        "`out` is half.",
        check=lambda decay, out: is_tensor(decay) and is_tensor(out),
        solution=ANOTHER,
    )
    for each in (write_before, another):
        each.live()
    seven, twelve, five = ("7", "12", "5") if has_ids else (None, None, None)
    names = CELL_OUTCOMES.shell.user_ns
    run_cell(write_before.code, seven)
    assert write_before.check(names).state == "right"
    run_cell(ANOTHER, twelve)
    verdict = write_before.check(names)
    if has_ids:
        assert verdict.state == "right"
        run_cell(OF_THE_SAME_NAMES, five)
        assert write_before.check(names).state == "right", "that one has set all of its names"
    else:
        assert "The run that set `out` did not set `logits`: put all" in verdict.says
    run_cell(write_before.code.replace("out + 1", "out + 2"), seven)
    run_cell(ANOTHER, twelve)
    said = write_before.check(names).says.replace("`", "")
    assert ("out shows [4.71828, 9.38906]" in said) is has_ids, (
        "not yet, in the exercise's own cell"
    )
    run_cell(write_before.code, None)
    assert write_before.check(names).state == "right", "as it is now, in a cell without an id"
    run_cell(write_before.code, seven)
    run_cell(write_before.start + "\nraise KeyError", seven)
    run_cell("out = 1", None)
    assert write_before.check(names).state == "wrong", "an earlier run of that cell is forgotten"


def test_another_exercise_looks_at_more_of_the_same_cell(
    run_cell: Callable[[str, str | None], None],
) -> None:
    CELL_OUTCOMES.follow_shell(["param", "factor", "loss"])  # as one that looks at all of them
    names = CELL_OUTCOMES.shell.user_ns
    for patient, wrong_answer, said in (
        (data_update, data_update.code.replace("0.1", "0.2"), "param shows [1.44]"),
        (running_loss, running_loss.start + " * 2", "total shows 28"),
    ):
        patient.live()
        run_cell(wrong_answer, patient.key)
        assert said in plain(patient.check(names).says)
        run_cell(patient.code, patient.key)
        run_cell("param = factor = loss = 1", "of another program")
        assert patient.check(names).state == "right", "what its own cell made"


def test_a_program_in_two_cells(run_cell: Callable[[str, str | None], None]) -> None:
    write_before.live()
    names = CELL_OUTCOMES.shell.user_ns
    run_cell(write_before.start, "7")
    run_cell("out = logits.exp() + 1\nout.sum().backward()", "below")
    assert write_before.check(names).state == "right"


def test_a_gradient_that_was_put_there_by_hand(engine: ModuleType) -> None:
    a = engine.tensor(3.0, requires_grad=True)
    for result, sends, leads_once in (
        (a * 4, "", True),
        (a * a * 4, "through y, a gets the gradient 24; it should be 4", False),
        (a * 3, "through y, a gets the gradient 3; it should be 4", True),
        (engine.stack([a * 3, a.detach()]), "", True),
    ):
        fact = sends_gradient(4, y=result, a=a)
        assert fact.holds is not bool(sends)
        assert sends in plain(fact.no)
        assert leads_back_once(y=result, a=a).holds is leads_once
    assert "2 paths lead from y back to a" in plain(leads_back_once(y=a * a, a=a).no)
    assert leads_back_once(y=a.detach() + 0, a=a).holds is False
    on_the_way = a * 4
    on_the_way.retain_grad()
    assert sends_gradient(4, y=on_the_way * 1, a=a).holds
    assert on_the_way.grad is None
    freed = a * a
    freed.backward()
    assert sends_gradient(1, y=freed, a=a).holds, "it cannot be computed any more: not known"
    assert a.grad == 6, "a look adds nothing"
    assert was_gone_through(y=freed).holds
    no_backward = was_gone_through(y=a * a)
    assert not no_backward.holds
    assert "no `backward` went through" in no_backward.no
    kept = a * a
    kept.backward(retain_graph=True)
    assert not was_gone_through(y=kept).holds, "no tensor tells"
    for source, is_told in (
        ("kept.backward(retain_graph=True)", True),
        ("torch.autograd.backward(kept, retain_graph=keeps)", True),
        ("kept.backward(retain_graph=False)", False),
        ("retain_graph = True\na.grad = 6", False),
        ("%time kept.backward(retain_graph=True)", False),
    ):
        with know_source(source):
            assert was_gone_through(y=kept).holds is is_told, source
            assert not was_freed(y=kept).holds
    set_by_hand = a * 2
    set_by_hand.grad = engine.tensor(4.0)
    assert "was set by hand" in has_grad(4, y=set_by_hand).no
    assert not has_grad(4, y=set_by_hand).holds
    called: list[Any] = []
    hooked = a * 3
    handle = hooked.register_hook(called.append)
    assert sends_gradient(4, y=hooked + 1, a=a).holds, "its hook would run: not known"
    assert not called
    handle.remove()
    assert not sends_gradient(4, y=hooked + 1, a=a).holds


@pytest.mark.parametrize(
    ("source", "is_left"),
    [
        ("", True),
        ("y.backward()", True),
        ("y.backward()\nx.grad *= 2", False),
        ("y.backward()\nx.grad[0] = 2", False),
        ("y.backward()\nx.grad.mul_(2)", False),
        ("y.backward()\nx.grad: object = 2", False),
        ("x.grad = torch.autograd.grad(y, x)[0]", False),
        ("x.grad = torch.tensor(1.0)\ny.backward()", True),
        ("y = x * 2\nx.grad = None", True),
        ("x.grad.zero_()", True),
        ("other.grad = 2\nprint(x.grad + 1)", True),
        ("%time x.grad = 2", True),
    ],
)
def test_a_gradient_that_the_program_wrote_is_not_from_backward(source: str, is_left: bool) -> None:
    with know_source(source):
        fact = left_grad_to_backward(x=None)
    assert fact.holds is is_left
    assert "`x.grad`" in fact.no or is_left


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("y = x * 2", "no line of your cell calls `backward`."),
        ("y = x * 2\ny.backward", "`y.backward` without `()` calls nothing."),
        ("", ""),
        ("y.backward()", ""),
        ("torch.autograd.backward(y)", ""),
        ("%time y = 2", ""),
    ],
)
def test_a_cell_without_backward_is_told_so(engine: ModuleType, source: str, told: str) -> None:
    with know_source(source):
        fact = has_grad(12, x=engine.tensor(6.0, requires_grad=True))
    expected = "`x.grad` is None; it should be 12."
    assert fact.no == f"{told} {expected}".strip()


def test_a_kept_graph_may_be_gone_through_several_times(engine: ModuleType) -> None:
    a = engine.tensor([3.0, 1.0], requires_grad=True)
    total = (a * 4).sum()
    assert not sends_gradient([12, 12], y=total, a=a).holds
    with know_source("total.backward(retain_graph=True)"):
        assert sends_gradient([12, 12], y=total, a=a).holds
        assert not sends_gradient([6, 6], y=total, a=a).holds


@pytest.mark.parametrize(
    ("source", "comes_through_y"),
    [
        ("y = x.clone()\ny.backward(torch.tensor(12.0))", "12"),
        ("y = x.clone()\ny.backward(gradient=torch.tensor(12.0))", "12"),
        ("y = x.clone()\ntorch.autograd.backward(y, torch.tensor(12.0))", "12"),
        ("y = x.view(1)\ntorch.autograd.backward([y], grad_tensors=[torch.tensor([12.0])])", "12"),
        ("y = x.clone()\nfor _ in range(12):\n    y.backward()", "12"),
        ("y = x + x\n(y * 6).backward()", "12"),
        ("y = x.clone()\nopen\ny.backward(torch.tensor(12.0))", "12"),  # not known: not run again
        ("y = x.clone()\ny.backward(torch.tensor(5.0))", "5"),
        ("y = x.clone()\nopen\ny.backward(None)", "1"),
        ("y = x.clone()\nopen\ntorch.autograd.backward(y)", "1"),
        ("y = x.clone()\ny.backward()\n(x * 11).backward()", "1"),
        ("y = x + x\n(y + x * 10).backward()", "2"),
        ("y = x + x\n(x * 12).backward()", "2"),
    ],
)
def test_what_the_program_gave_to_a_result_is_counted(
    engine: ModuleType, source: str, comes_through_y: str
) -> None:
    """A gradient that was passed to `backward` was taken for 1, and 12 refused as 1."""
    source = f"x = torch.tensor(6.0, requires_grad=True)\n{source}"
    variables: dict[str, Any] = {"torch": engine}
    exec(source, variables)
    before = variables["x"].grad.tolist()
    with know_source(source):
        fact = sends_gradient(12, y=variables["y"], x=variables["x"])
    assert fact.holds is (comes_through_y == "12")
    told = f"through `y`, `x` gets the gradient {comes_through_y}; it should be 12."
    assert fact.holds or fact.no == told
    assert variables["x"].grad.tolist() == before


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "h = a * a\nh.backward()\nh = a * a",
            "line 4 of your cell, `h = a * a`, gives `h` another tensor after the call of `backward`",
        ),
        (
            "h = a * a\n(a * a).backward()",
            "the nodes behind `h` still have what they saved: no `backward` of your cell went through them.",
        ),
        ("%time h.backward()", "or `retain_graph=True` kept it"),
    ],
)
def test_a_kept_graph_is_blamed_on_what_the_cell_has(
    engine: ModuleType, source: str, told: str
) -> None:
    """`retain_graph` was named to a cell that did not have it."""
    a = engine.tensor(2.0, requires_grad=True)
    with know_source(f"a = torch.tensor(2.0, requires_grad=True)\n{source}"):
        fact = was_freed(h=a * a)
    assert not fact.holds
    assert told in fact.no
    assert ("retain_graph" in fact.no) is ("retain_graph" in told)


@pytest.mark.parametrize(
    ("answer", "state", "is_tried"),
    [
        ("y = x.clone()", "right", True),
        ("# as torch.tensor([1.0])\ny = x.clone()", "right", True),
        ("y = torch.tensor((1.0,))", "wrong", True),
        # Which of the two is the program's own is not known.
        ("y = torch.tensor([1.0])", "right", False),
        # It is not run a second time.
        ("print(open(__file__))\ny = x.clone()", "right", False),
    ],
)
def test_numbers_that_were_typed_in_do_not_follow_others(
    answer: str, state: str, is_tried: bool
) -> None:
    start = "x = torch.tensor([1.0])\n"

    def check(y: Any) -> Iterator[CheckedFact]:
        yield are_tensors(y=y)
        yield follows_numbers("[1.0]", "[3.0]", lambda y: shows_values([3], y=y))

    with know_source(start + answer):
        verdict = exercise("test/follows", "Copy `x`.", check, solution="y = 1").check(
            {"y": tinytorch.ones(1)}
        )
    assert verdict.state == state, verdict
    assert ("instead of `[1.0]`" in verdict.says) == (state == "wrong"), "what is right is done"
    with know_source(start + answer):
        fact = follows_numbers("[1.0]", "[3.0]", lambda y: shows_values([5], y=y))
    assert fact.holds is not is_tried, "it is tried"


def test_the_beginning_of_a_call_is_said_with_its_end() -> None:
    def check(y: Any) -> Iterator[CheckedFact]:
        yield are_tensors(y=y)
        yield follows_numbers("tensor(1.0", "tensor(3.0", lambda y: shows_number(3, y=y))

    task = exercise("test/follows", "Copy `x`.", check, solution="y = 1")
    with know_source("x = torch.tensor(1.0, requires_grad=True)\ny = torch.tensor([1.0])"):
        verdict = task.check({"y": tinytorch.ones(1)})
    assert "with `tensor(3.0, ...)` instead of `tensor(1.0, ...)`," in verdict.says


_LEAF = "x = torch.tensor([1.0], requires_grad=True)"


@pytest.mark.parametrize(
    ("rest", "is_same", "gradients"),
    [
        ("with torch.no_grad():\n    x += 1\n(x * 2).backward()", True, 1),
        ("(x * 2).backward()\nx.grad = None\n(x * 2).backward()", True, 2),
        ("y = x\nx = y.clone()", False, 0),
        ("x = x.detach()", False, 0),
        # They have the line twice, or raise, or are not run again: nothing is held against them.
        (_LEAF, None, None),
        ("x = x * 2\nx.no_such_thing", None, None),
        ("print(open(__file__))\nx = x * 2", None, None),
    ],
)
def test_a_second_run_tells_one_tensor_from_another_and_counts_gradients(
    rest: str, is_same: bool | None, gradients: int | None
) -> None:
    x = tinytorch.ones(1)
    with know_source(f"{_LEAF}\n{rest}"):
        assert is_still_of_line(_LEAF, x=x).holds is (is_same is not False)
        for least in (1, 2):
            fact = got_gradients(least, _LEAF, x=x)
            assert fact.holds is (gradients is None or gradients >= least)
        says = plain(was_written(x=x).no)
    assert ("is another tensor" in says) is (is_same is False), says
    assert ("does not count" in says) is (is_same is not False), says


def test_a_write_that_was_taken_back_was_a_write(engine: ModuleType) -> None:
    a, b = engine.ones(2), engine.ones(2)
    assert was_left_alone(a=a, b=b).holds
    b += 1
    b -= 1
    fact = was_left_alone(a=a, b=b)
    assert not fact.holds
    assert plain(fact.no).startswith("b._version is 2; it should be 0: b was written to")


def test_numbers_typed_into_a_cell_without_the_first_line_are_noticed(
    run_cell: Callable[[str, str | None], None],
) -> None:
    readings.live()
    names = CELL_OUTCOMES.shell.user_ns
    first, _, rest = readings.code.partition("\n")
    typed_in = "kept = [torch.full((2,), n) for n in (1.0, 2.0, 3.0)]"
    for cells, state in (
        ((readings.start, typed_in), "wrong"),
        ((typed_in, first), "wrong"),
        ((first, typed_in), "wrong"),
        ((first, rest), "right"),
        ((readings.start, first, rest), "right"),
    ):
        for source in cells:
            run_cell(source, None)
        verdict = readings.check(names)
        assert verdict.state == state, (cells, verdict)
        is_told = "instead of reading = torch.zeros(2)" in plain(verdict.says)
        assert is_told is (state == "wrong"), cells


def test_a_page_shows_what_the_last_check_said(
    monkeypatch: pytest.MonkeyPatch, engine: ModuleType
) -> None:
    published: list[tuple[dict[str, Any], bool]] = []
    seen_when_stored: list[bool] = []
    part = make(engine=engine)
    live = part.live()
    said = "that is what was asked for"

    def publish(bundle: dict[str, Any], *, update: bool = False, **_: Any) -> None:
        published.append((bundle, update))
        seen_when_stored.append("Solved" in live.card.html)

    monkeypatch.setattr("IPython.display.publish_display_data", publish)
    x = engine.arange(6)
    part.check({"x": x, "t": x[2:4]})
    assert not published, "it was not displayed yet"
    live._ipython_display_()
    part.check({"x": x, "t": x[2:4].clone()})
    (_, _), (twin, is_update), (after, is_update_after) = published
    assert (is_update, is_update_after) == (False, True)
    assert said in after["text/html"]
    assert said not in twin["text/html"]
    assert twin["text/plain"] == after["text/plain"], "what a check of notebooks compares"
    assert seen_when_stored == [False, False, False], "a page saved at its sight has it"
    assert "Solved" in live.card.html
    live.close()
    # Another kernel: the notes say that it was solved, its cells have not been run.
    again = make(engine=engine)
    assert "Solved earlier" in again.live().card.html
    again.check({"x": x, "t": x[2:4]})
    assert "✖ Not yet (solved earlier)" in again.live().card.html


def test_not_attempted_wrong_right(engine: ModuleType) -> None:
    part = make(engine=engine)
    x = engine.arange(6)
    for names, said in [
        ({}, "Not attempted: there is no variable x yet. Run your cell first."),
        ({"x": x}, "Not attempted: there is no variable t yet. Run your cell first."),
        ({"x": x, "t": None}, "Not attempted: t is still None."),
        ({"x": x, "t": ...}, "Not attempted: t is still ..."),
        ({"x": x, "t": x[2:4]}, "Not yet: t still looks at the storage of x."),
        ({"x": x, "t": x[:2].clone()}, "Not yet: t shows [0, 1]."),
        ({"x": x, "t": x[2:4].clone()}, "Right: that is what was asked for."),
    ]:
        assert plain(part.check(names)) == said
    assert part.check({"x": x, "t": engine.tensor([2, 3])})


def test_only_a_right_answer_is_true(engine: ModuleType) -> None:
    x = engine.arange(6)
    given: list[dict[str, Any]] = [
        {},
        {"x": x, "t": None},
        {"x": x, "t": x[2:4]},
        {"x": x, "t": x[2:4].clone()},
    ]
    assert [bool(make(engine=engine).check(names)) for names in given] == [
        False,
        False,
        False,
        True,
    ]


def _facts(t: Any, x: Any) -> Iterator[CheckedFact]:
    yield are_tensors(t=t)
    for _ in range(2):
        yield share_no_cells(t=t, x=x)
    yield shows_values([2, 3], t=t).with_objection("t is [2, 3] no more.")


def test_facts_are_told_as_they_were_seen(engine: ModuleType) -> None:
    part = make(_facts, engine=engine)
    x = engine.arange(6)
    for t, said in [
        (3, "Not yet: t is of type int; it should be a tensor."),
        (x, "Not yet: t and x are one tensor."),
        (
            x[2:4],
            "Not yet: t and x look at the same cells: a write through one is seen in the other.",
        ),
        (x[2:5] + 0, "Not yet: t is [2, 3] no more."),
        (x[2:4] + 0, "Right: t and x have no cell in common. t shows [2, 3]."),
    ]:
        assert plain(part.check({"x": x, "t": t})) == said


def test_rows_of_one_storage_are_apart(engine: ModuleType) -> None:
    x = engine.arange(6).view(3, 2)
    assert same_storage(x[0], x[1])
    assert share_no_cells(a=x[0], b=x[1], c=x[2]).holds
    assert share_no_cells(a=x.t()[0], b=x.t()[1]).holds
    assert not share_no_cells(a=x[1:], b=x[:2]).holds
    assert not share_no_cells(a=x[0].expand(3, 2), b=x[0, 1]).holds
    assert not share_no_cells(a=x, b=engine.from_numpy(x.numpy())).holds


def test_where_facts_say_nothing_the_exercise_does(engine: ModuleType) -> None:
    def said(t: Any, *facts: Callable[..., CheckedFact], right: str = "") -> str:
        part = exercise(
            "k",
            "task",
            check=lambda t: (fact(t=t) for fact in facts),
            solution="t = 1",
            right=right,
        )
        return str(part.check({"t": t}))

    assert said(engine.ones(1), are_tensors) == "Right: that is what was asked for."
    assert (
        said(engine.ones(1), partial(shows_values, [1]), right="Well done.") == "Right: Well done."
    )
    assert (
        said(object(), partial(shows_values, 1))
        == "Not yet: `t` shows <object object at 0x...>; it should show 1."
    )


def test_what_can_be_seen_of_gradients(engine: ModuleType) -> None:
    a = engine.ones(2, requires_grad=True)
    b = a * 3
    b.sum().backward()
    held = [
        is_leaf_with_grad(a=a),
        graph_leads_back(b=b, a=a),
        has_grad([3, 3], a=a),
        needs_no_grad(d=b.detach()),
        needs_no_grad(n=3.0),
    ]
    assert all(fact.holds and fact.yes for fact in held)
    not_counted = "the counter of a does not count a write through .data, through NumPy or into another tensor."
    for fact, said in [
        (is_leaf_with_grad(b=b), "b is not a leaf: its node is MulBackward0."),
        (
            is_leaf_with_grad(d=b.detach()),
            "d requires no grad; it should be a leaf that requires grad.",
        ),
        (graph_leads_back(a=a, b=a), "a is b itself, under a second name."),
        (graph_leads_back(b=b, c=a * 1), "b has no node that leads to c."),
        (
            graph_leads_back(d=b.detach(), a=a),
            "d requires no grad: backward cannot get from it to a.",
        ),
        (
            has_grad([3, 3], b=b),
            "b.grad is None: a result keeps its gradient only if retain_grad() was called before backward().",
        ),
        (has_grad([3], a=a), "a.grad is [3, 3]; it should be [3]."),
        (
            needs_no_grad(b=b),
            "b was computed from a tensor that requires grad, so b requires grad, too: its node is MulBackward0.",
        ),
        (needs_no_grad(a=a), "a requires grad."),
        (was_written(a=a), f"{not_counted} a._version is 0; it should be at least 1."),
        (is_tensor_list(2, k=a), "k is of type Tensor; it should be a list."),
        (is_tensor_list(2, k=[a]), "the length of k is 1; it should be 2."),
    ]:
        assert (fact.holds, plain(fact.no)) == (False, said)


def test_the_callers_variables_are_looked_at() -> None:
    import tinytorch

    names = {"part": make(), "torch": tinytorch}
    exec(START + "\nfirst = part.check()\n" + SOLUTION + "\nlast = part.check()", names)
    assert (names["first"].state, names["last"].state) == ("not attempted", "right")  # type: ignore[attr-defined]


def test_as_at_the_start_is_not_attempted(engine: ModuleType) -> None:
    start = "r = torch.zeros(2)\nkept = []\nfor _ in range(2):\n    r += 1\n    kept.append({})"
    part = exercise(
        "k",
        "Keep both.",
        lambda kept, r: "one storage" if same_storage(kept[0], r) else None,
        start=start.format("r"),
        solution=start.format("r.clone()"),
        wrong={start.format("r.detach()"): "one storage"},
        engine=engine,
    )
    names: dict[str, Any] = {"torch": engine}
    exec(start.format("r"), names)
    assert str(part.check(names)) == "Not attempted: everything is as it was at the start."
    names = {"torch": engine}
    exec(start.format("r.detach()"), names)
    assert part.check(names).state == "wrong"
    assert part.verify(engine)


def _keeps(keep: Any, torch: Any) -> str | None:
    x = torch.ones(1)
    return "keep gives x itself" if keep(x) is x else None


def test_a_function_of_the_start_is_known_again() -> None:
    start = "def keep(x):\n    return x\n"
    part = exercise(
        "k",
        "Mend keep.",
        _keeps,
        start=start,
        solution="def keep(x):\n    return x.clone()",
        wrong={"def keep(x):\n    y = x\n    return y": "x itself"},
    )
    assert part.verify()
    names: dict[str, Any] = {}
    exec(start, names)
    assert part.check(names).state == "not attempted"


# ---- a check never raises, and changes nothing


class Hostile:
    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("no comparing <b>here</b>")

    def __hash__(self) -> int:
        raise RuntimeError("no hash")

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no attributes")

    def __iter__(self) -> Any:
        raise SystemExit


THINGS: list[Callable[[], Any]] = [
    Hostile,
    lambda: [Hostile()],
    object,
    str,
    lambda: 3,
    lambda: {"a": [1]},
    lambda: lambda: 1,
    lambda: type,
    lambda: float("nan"),
]


@pytest.mark.parametrize("make_thing", THINGS)
def test_whatever_learners_make_is_no_crash(make_thing: Callable[[], Any]) -> None:
    thing = make_thing()

    def picky(x: Any, t: Any) -> str | None:
        return None if t[0] == x and sorted(t) else "no"

    for part in (make(), make(picky)):
        for names in ({"x": thing, "t": thing}, {"x": 1, "t": thing}):
            verdict = part.check(names)
            assert isinstance(verdict, Verdict)
            assert verdict.state == "wrong"
            assert " at 0x7" not in str(verdict)


def test_an_error_in_a_function_of_the_learner_names_that() -> None:
    def double(x: int) -> Any:
        return int("nonsense", x)

    part = Exercise(
        "test/double", "`double`.", lambda double: double(10) == 20, solution="double = None"
    )
    says = str(part.check({"double": double}))
    assert says.startswith("Not yet: calling `double` raises `ValueError: invalid literal")


def test_an_error_in_the_check_becomes_a_sentence() -> None:
    verdict = make(lambda t: t.nothing).check({"x": 1, "t": 2})
    assert (
        str(verdict)
        == "Not yet: looking at it raises `AttributeError: 'int' object has no attribute 'nothing'`"
    )


def test_a_check_is_quiet(
    capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    import warnings

    def loud(x: Any, t: Any) -> None:
        print(x, t)
        warnings.warn("loud", stacklevel=1)

    assert make(loud).check({"x": 1, "t": 2})
    assert capsys.readouterr().out == ""
    assert not recwarn.list


def test_a_look_leaves_tensors_and_random_numbers_alone(engine: ModuleType) -> None:
    x = engine.arange(6.0).requires_grad_()
    t = x[2:4]
    engine.manual_seed(1)
    state = engine.get_rng_state().tolist()
    make(engine=engine, start="x = torch.rand(6)\nt = None").check({"x": x, "t": t})
    assert (x._version, t._version, x.grad, t.grad_fn.name()) == (0, 0, None, "SliceBackward0")
    assert engine.get_rng_state().tolist() == state


def test_looks(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    y = x * 1
    y.retain_grad()
    y.sum().backward()
    assert same_storage(x, x.detach())
    assert not same_storage(x, x.clone())
    assert not same_storage(x, 3)
    assert same_counter(x, x.detach())
    assert not same_counter(x, x.data)
    assert grad(x) == grad(y) == [1.0, 1.0]
    assert grad(x.clone()) is None
    assert grad(7) is None
    assert (node_of(y), node_of(x), node_of(None)) == ("MulBackward0", None, None)
    assert values(x) == [1.0, 1.0]


# ---- hints and solution


def test_hints_in_stages_and_the_solution() -> None:
    part = make()
    said = [str(part.hint()) for _ in range(3)]
    assert said == [
        (first := "Hint 1 of 2: A slice picks a part."),
        (both := f"{first}\n\nHint 2 of 2: What `copies` a view?"),
        f"{both}\n\nThere is no further hint.",
    ]
    assert str(part.hint(1)) == said[0]
    assert "<code>copies</code>" in part.hint(2).html()
    assert str(part.solution()) == "One solution:\n\nt = x[2:4].clone()"
    for number in (0, 3, -1):
        with pytest.raises(ValueError, match="has 2 hints, and no hint"):
            part.hint(number)
    with pytest.raises(ValueError, match="no hints"):
        make(hints=()).hint()


def test_progress_is_noted(progress_file: Path, engine: ModuleType) -> None:
    part = make(engine=engine)
    x = engine.arange(6)
    part.check({"x": x, "t": None})
    part.verify(engine)
    assert not progress_file.exists()
    part.hint(2)
    part.hint(1)
    part.check({"x": x, "t": x})

    def kept() -> Any:
        return json.loads(progress_file.read_text("utf-8"))["exercises"]["mine/part"]

    assert kept() == {"state": "wrong", "hints": 2}
    part.check({"x": x, "t": x[2:4].clone()})
    part.check({"x": x, "t": x})
    part.hint()
    part.solution()
    assert kept() == {"state": "right", "hints": 2}, "what is looked at afterwards is no help"


def test_that_the_solution_was_seen_before_is_noted(progress_file: Path) -> None:
    part = make()
    part.solution()
    assert json.loads(progress_file.read_text("utf-8"))["exercises"]["mine/part"] == {
        "state": "begun",
        "hints": 0,
        "solution": True,
    }


# ---- verify finds what is wrong with an exercise


def test_a_good_exercise_is_verified(engine: ModuleType) -> None:
    found = make().verify(engine)
    assert found, found
    assert (
        str(found)
        == "Verified: start, solution, 2 wrong answers, 3 of 3 changed solutions noticed."
    )


def changes(x: Any, t: Any) -> str | None:
    t.add_(0)
    return check(x, t)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (
            {"check": lambda t: None if is_tensor(t) else "no"},
            "no change of the solution is noticed",
        ),
        ({"check": lambda t: f"never {len(t)}"}, "the solution does not pass: Not yet: never 2"),
        ({"check": changes}, "the check changes what it looks at"),
        ({"wrong": {"t = x[2:4]": "shows"}}, "should be told 'shows'"),
        ({"wrong": {"t = torch.tensor([2, 3])": "storage"}}, "and gets: Right"),
        ({"wrong": {"t = None": "None"}}, "and gets: Not attempted"),
        ({"wrong": {"t = x[2:4]": "x", "t = x[1:4]": "x"}}, "get the same words"),
        ({"start": "x = torch.arange(6)\nt = x"}, ""),
        ({"solution": "raise ValueError"}, "the solution does not pass: Not attempted"),
        ({"solution": "while True: pass"}, "the solution does not pass"),
        (
            {"start": "x = torch.arange(6)\nt = None\nt = 3\nimport os\nt = os.urandom(9)"},
            "the start is not seen",
        ),
    ],
)
def test_a_bad_exercise_is_found(
    monkeypatch: pytest.MonkeyPatch, engine: ModuleType, changed: dict[str, Any], fault: str
) -> None:
    monkeypatch.setattr("copylab.quiz.attempts.SECONDS", 0.5)
    found = make(**changed).verify(engine)
    assert bool(found) is not bool(fault), found
    assert fault in str(found)


def test_bad_definitions() -> None:
    for check in ("x == t", lambda: True):
        with pytest.raises(TypeError):
            make(check)
    with pytest.raises(TypeError, match="wrong a dict"):
        make(wrong=["t = x[2:4]"])
    with pytest.raises(SyntaxError):
        make(solution="t = x[2:4].clone(")
    with pytest.raises(SyntaxError):
        make(wrong={"t = (": "x"})


def _asserts(t: Any, torch: Any) -> None:
    assert t is not torch, "t is the engine."
    assert t == [1], f"t is {t!r}, line one.\nLine two."


def test_what_a_check_asserts_is_said() -> None:
    part = exercise("k", "task", check=_asserts, solution="t = [1]")
    assert part.names == ("t",)
    assert str(part.check({"t": 2})) == "Not yet: t is 2, line one."
    assert part.check({"t": [1]})


# ---- mutate_program


def test_each_mutation_is_another_program() -> None:
    code = "a = torch.ones(2, requires_grad=True)\nb = a.clone()\nb += 1\nif b.sum() > 2:\n    c = b ** 3\n"
    found = dict(mutate_program(code))
    texts = list(found.values())
    assert len(set(texts)) == len(texts) >= 14
    assert code.strip() not in texts
    for text in texts:
        compile(text, "<mutation>", "exec")
    for what in (
        "without `.clone()`",
        "`b += 1` not in place",
        "`b ** 3` becomes `b * 3`",
        "without `requires_grad=`",
    ):
        assert any(what in name for name in found), what


# ---- shown


def test_the_twins_are_the_task_and_never_the_solution() -> None:
    part = make(title="One <more>")
    assert part.text.startswith("One <more>: `t` shall show [2, 3].")
    assert "One &lt;more&gt;" in part.html
    assert "<strong>[2, 3]</strong>" in part.html
    assert part.html.count("<details>") == 2
    for page in (part.text, part.html, repr(part)):
        assert "x[2:4]" not in page
    assert repr(part) == "Exercise('mine/part', 2 hints)"
    before = part.text, part.html
    part.hint()
    part.check({"x": 1, "t": 2})
    assert (part.text, part.html) == before


def test_a_teacher_can_switch_solutions_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYLAB_SOLUTIONS", "off")
    assert make().solution().text() == "Solutions are not shown here."


def test_help_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    make().help()
    assert "check()" in capsys.readouterr().out


# ---- with buttons


def make_diagnosed(**changes: Any) -> Exercise:
    asked = Diagnosis(
        choices=("memory is shared", "the graph is cut"),
        right="memory is shared",
        because="`t` is a view of `x`.",
        holds=lambda x, t: t.data_ptr() == x.data_ptr(),
        against={
            "the graph is cut": Counterevidence(
                "`x` requires no grad.", lambda x: not x.requires_grad
            )
        },
    )
    return exercise(
        "t/diagnosed",
        "`t` should have memory of its own.",
        check=lambda x, t: t.data_ptr() != x.data_ptr(),
        start="x = torch.ones(2)\nt = x[:]",
        solution="t = x.clone()",
        diagnosis=asked._replace(**changes),
    )


def test_what_is_wrong_can_be_chosen_before_the_program_is_run() -> None:
    asked = make_diagnosed()
    view = asked.live()
    assert "What is wrong? memory is shared / the graph is cut" in view.text
    for number, choice in enumerate(("memory is shared", "the graph is cut")):
        button = f'data-do="diagnose {number}" data-keep="diagnose {number}" aria-pressed="false"'
        assert f"{button}>{choice}</button>" in view.card.html
    for nonsense in ("diagnose 2", "diagnose -1", "diagnose", "diagnose x"):
        view._handle_message(None, {"do": nonsense}, None)
        assert not view.card.says.strip()
    view._handle_message(None, {"do": "diagnose 1"}, None)
    assert view.card.says.startswith("✖ “the graph is cut” is not what is wrong here.")
    assert view.card.says.endswith("run the program and look. `x` requires no grad.")
    assert find_note("exercises", asked.key) == {}
    view._handle_message(None, {"do": "diagnose 0"}, None)
    assert view.card.says == "✔ Right, memory is shared: `t` is a view of `x`."
    assert find_note("exercises", asked.key) == {"state": "begun", "diagnosis": "memory is shared"}
    again = make_diagnosed().live()
    assert "Right, memory is shared" in again.card.html, "it is there when one comes back"
    assert again.card.html.count('aria-pressed="true"') == 1
    asked.check({"x": tinytorch.ones(2), "t": tinytorch.ones(2)})
    assert find_note("exercises", asked.key)["diagnosis"] == "memory is shared"


def test_what_was_wrong_is_told_to_who_solves_it_without_a_choice() -> None:
    """Four buttons stayed open, and unanswered, below "Solved"."""
    asked = make_diagnosed()
    view = asked.live()
    solved = {"x": tinytorch.ones(2), "t": tinytorch.ones(2)}
    told = "What was wrong at the start: memory is shared. <code>t</code> is a view"
    assert told not in view.card.html
    asked.check(solved)
    for live in (view, make_diagnosed().live()):
        assert told in live.card.html
        assert "diagnose" not in live.card.html
    assert "diagnosis" not in find_note("exercises", asked.key), "nobody has found it"


def test_what_is_wrong_without_buttons_and_in_another_language() -> None:
    asked = make_diagnosed(
        choices=("the graph is cut", "gradients add up"), right="gradients add up"
    )
    assert "not what is wrong" in asked.diagnose("The graph is cut").text()
    with pytest.raises(ValueError, match="'mine' is no choice for 'What is wrong\\?'"):
        asked.diagnose("mine")
    with pytest.raises(ValueError, match="does not ask what is wrong"):
        make().diagnose("the graph is cut")
    set_language("zh")
    assert "梯度累加起来了" in asked.diagnose("梯度累加起来了").text()
    set_language(None)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"choices": ("a", "b")}, "needs different choices, with 'memory is shared' among them"),
        ({"choices": ("memory is shared",)}, "needs different choices"),
        ({"choices": ("memory is shared", "b", "b")}, "needs different choices"),
        ({"holds": lambda t: t is None}, "does not hold at the start"),
        ({"holds": lambda t: t is not None}, "still holds after the solution"),
        ({"holds": lambda lost: lost is None}, "does not hold at the start"),
        (
            {"against": {"the graph is cut": Counterevidence("It is.", lambda x: x.requires_grad)}},
            "it is not true at the start what speaks against 'the graph is cut': It is.",
        ),
        (
            {"against": {"memory is shared": Counterevidence("It is.", lambda x: x is not None)}},
            "evidence against what is no wrong choice",
        ),
    ],
)
def test_a_diagnosis_is_verified(changes: dict[str, Any], fault: str) -> None:
    faults = make_diagnosed(**changes).verify(tinytorch).faults
    assert bool(faults) is bool(fault)
    assert fault in " ".join(faults)


def press(view: Any, what: str) -> str:
    assert f'data-do="{what}"' in view.card.html
    view._handle_message(None, {"do": what}, [])
    return str(view.card.says)


def test_the_live_view_does_the_same(monkeypatch: pytest.MonkeyPatch, engine: ModuleType) -> None:
    names: dict[str, Any] = {}
    monkeypatch.setattr("copylab.quiz.exercises.notebook_names", lambda: names)
    part = make(title="One <more>", engine=engine)
    view = part.live()
    assert part.live() is view
    states = []
    view.observe(lambda change: states.append(change.new), "state")
    assert "○ Not attempted" in view.card.html
    assert "Write in your cell below, run it" in view.card.html
    assert (
        press(view, "check") == "Not attempted: there is no variable `x` yet. Run your cell first."
    )
    names |= {"x": engine.arange(6), "t": engine.ones(1)}
    assert press(view, "check") == "Not yet: t shows [1.0]."
    assert "✖ Not yet</span>" in view.card.html
    assert "Not yet: t shows" in view.card.html
    part.check(names)
    assert "Not yet: t shows" not in view.card.html, "the cell says it, below itself"
    assert press(view, "hint") == "Hint 1 of 2: A slice picks a part."
    assert press(view, "hint").endswith("part.\n\nHint 2 of 2: What `copies` a view?")
    assert press(view, "check") == "Not yet: t shows [1.0]."
    assert "Hint 1 of 2" in view.card.html, "what was read stays in view"
    assert "Hint 2 of 2" in view.card.html
    assert "x[2:4].clone()" in press(view, "solution")
    hint_then_solution = r"(?s)cl-said.*Hint 1 of 2.*Hint 2 of 2.*One solution:"
    assert re.search(hint_then_solution, view.card.html), "the hints lead to it"
    assert "✖ Not yet</span>" in view.card.html
    names["t"] = names["x"][2:4].clone()
    assert part.check(names), "asked for in a cell, and shown on the card"
    assert "that is what" not in view.card.html, "the cell says it"
    assert states == ["wrong", "right"]
    assert "Write in your cell below" not in view.card.html
    assert "✔ Solved</span>" in view.card.html
    assert "Hint 2 of 2" in view.card.html, "a check in a cell takes no hint away either"
    assert str(view.card.says) == "", "and says none again"
    press(view, "check")
    assert "Hint 2 of 2" in view.card.html
    assert "One &lt;more&gt;" in view.card.html
    assert (view.text, repr(view)) == (part.text, repr(part))
    assert "that is what was asked for" in view.html
    view.close()
    assert view.comm is None
    assert part.live().comm is not None
    assert 'data-do="hint"' not in make(hints=()).live().card.html


def test_a_verdict_is_told_by_a_sign_and_a_word() -> None:
    signs = {"not attempted": "○", "wrong": "✖", "right": "✔"}
    for state, sign in signs.items():
        verdict = Verdict(state, "`a**2 * b**2` <b>")
        bundle = verdict._repr_mimebundle_()
        assert bundle["text/plain"] == str(verdict)
        assert f"<strong>{sign}</strong>" in bundle["text/html"]
        assert "<code>a**2 * b**2</code> &lt;b&gt;" in bundle["text/html"]
    assert len({Verdict(state, "").html() for state in signs}) == 3
