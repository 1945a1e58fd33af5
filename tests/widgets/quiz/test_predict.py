"""Predictions: every answer found by running, every wrong one refuted with the run's facts, under both engines."""

from __future__ import annotations

import ast
import base64
import gettext
import importlib
import inspect
import json
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from copylab import questions, steps
from copylab.lessons.data import writes
from copylab.lessons.stop_gradient import ways
from copylab.questions import (
    Question,
    cells,
    count,
    gets_gradient,
    gradient,
    is_leaf,
    names_showing,
    names_that,
    node,
    offset,
    on_graph,
    outcome,
    printed,
    requires_grad,
    same_counter,
    same_storage,
    same_tensor,
    sees_write,
    state_table,
    value,
    version,
)
from copylab.quiz import ready_questions, wrong_answers
from copylab.quiz.answers import format_answer
from copylab.quiz.evidence import describe_count, describe_offset, describe_version
from copylab.quiz.misconceptions import MISCONCEPTIONS, Misconception, misconception
from copylab.quiz.prediction import Prediction, predict
from copylab.quiz.retest_programs import RetestProgram
from copylab.quiz.reveal import judge_answers, make_row_table
from copylab.quiz.runs import QuizRun
from copylab.wording import set_language

NAN = "x = torch.tensor([float('nan'), 1.0])\ny = x.clone()\nz = x.view(2)"
NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
CLONE = """
a = torch.tensor(1.0, requires_grad=True)
y = a**2
b = a.clone()
z = b * 3
y.backward()
z.backward()
b += 1
"""
VIEW = (
    "x = torch.tensor([1.0, 2.0, 3.0])\ny = x[1:]\ny[0] = 50.0\nw = x * 2\nn = 3\nprint('sum', n)"
)
LOOK = "x = torch.ones(2)\nd = x.data\nd.zero_()\nn = 1"
"""Nothing is computed from `d` or `x`."""
MATRIX = "b = torch.ones(2, 2, requires_grad=True)\n(b * 3).sum().backward()"
ERROR = "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\nwith torch.no_grad():\n    x += 1\ny.backward()"
ROWS = "m = torch.arange(6.0).view(2, 3)\ny = m[1]"
SLICE = "x = torch.arange(4.0)\nx = x[:1]"
SHARED = "a = torch.arange(6.0).numpy()\nx = torch.from_numpy(a)\ny = torch.from_numpy(a[2:])[1:]"
FROM_LEAF = "x = torch.ones(2, requires_grad=True) * 1\ny = {}"


pytestmark = pytest.mark.usefixtures("progress_file")


# ---- right answers


@pytest.mark.parametrize(
    ("code", "question", "right"),
    [
        (CLONE, same_tensor("a", "b"), False),
        ("x = torch.ones(1)\ny = x", same_tensor("x", "y"), True),
        (CLONE, same_storage("a", "b"), False),
        (VIEW, same_storage("x", "y"), True),
        (VIEW, same_counter("x", "y"), True),
        ("x = torch.ones(1)\ny = x.data", same_counter("x", "y"), False),
        ("x = torch.ones(1)\ny = x.detach()", same_counter("x", "y"), True),
        (CLONE, on_graph("b"), True),
        (VIEW, on_graph("w"), False),
        (CLONE, node("b", at=3), "CloneBackward0"),
        (CLONE, node("b"), "AddBackward0"),
        (CLONE, node("a"), "none"),
        (CLONE, requires_grad("b"), True),
        (CLONE, is_leaf("b"), False),
        (CLONE, is_leaf("a"), True),
        (VIEW, version("x"), 1),
        (VIEW, version("x", at=2), 0),
        (VIEW, offset("y"), 1),
        (VIEW, offset("w"), 0),
        (SHARED, offset("y"), 1),
        (VIEW, cells("y"), 3),
        (SLICE, cells("x"), 4),
        ("x = torch.ones(2)\ny = x.expand(3, 2)", cells("y"), 2),
        ("x = torch.ones(2)\ny = x.view(torch.int16)", cells("y"), 4),
        (VIEW, value("x"), [1.0, 50.0, 3.0]),
        (VIEW, value("x", at=1), [1.0, 2.0, 3.0]),
        (VIEW, value("n"), 3),
        (CLONE, gradient("a", at=4), None),
        (CLONE, gradient("a", at=5), 2.0),
        (CLONE, gradient("a"), 5.0),
        (CLONE, gradient("b"), None),
        (VIEW, sees_write("x", "y"), True),
        (VIEW, sees_write("w", "y"), False),
        ("x = torch.tensor([True, False])\ny = x.view(2)", sees_write("x", "y"), True),
        ("x = torch.zeros(1)\ny = x.expand(3)", sees_write("x", "y"), True),
        (CLONE, gets_gradient("a", "b"), True),
        (FROM_LEAF.format("x.detach()"), gets_gradient("x", "y"), False),
        (FROM_LEAF.format("x.clone()"), gets_gradient("x", "y"), True),
        (CLONE, outcome(), "it runs to its end"),
        (ERROR, outcome(), "line 5 raises an error"),
        (VIEW, printed(6), "sum 3"),
        (VIEW, count("names"), 3),
        (VIEW, count("tensors"), 3),
        (VIEW, count("storages"), 2),
        (VIEW, count("counters"), 2),
        (CLONE, count("storages"), 5),
        (CLONE, names_that("is_leaf", "a", "b", "z"), {"a"}),
        (CLONE, names_that("has_grad", "a", "b", "z"), {"a"}),
        (CLONE, names_that("requires_grad", "a", "b"), {"a", "b"}),
        (VIEW, names_that("on_graph", "x", "y"), set()),
        (VIEW, names_showing(50, "x", "y", "w"), {"x", "y"}),
        ("for i in range(3):\n    x = torch.full((1,), 1.0 * i)", value("x", at=2), [2.0]),
        (NAN, sees_write("x", "y"), False),
        (NAN, sees_write("x", "z"), True),
    ],
    ids=lambda v: v.name if isinstance(v, Question) else "",
)
def test_the_right_answer_is_found_by_running(
    engine: ModuleType, code: str, question: Question, right: Any
) -> None:
    p = predict(code, [question], engine=engine)
    assert p.questions[0].right_answer(p.run()) == (
        frozenset(right) if isinstance(right, set) else right
    )
    reveal = p.commit([format_answer(frozenset(right)) if isinstance(right, set) else right])
    assert reveal.right == 1, reveal.text
    assert p.verify(engine)


def test_the_answers_change_with_the_program(engine: ModuleType) -> None:
    table = {
        "x": "yes yes yes yes yes no yes yes",
        "x[:]": "no yes yes yes yes no yes yes",
        "x.clone()": "no no no yes yes no no yes",
        "x.detach()": "no yes yes no no yes yes no",
        "x.data": "no yes no no no yes yes no",
        "x.detach().clone()": "no no no no no yes no no",
    }
    for copy, answers in table.items():
        reveal = predict(FROM_LEAF.format(copy), engine=engine).commit(answers.split())
        assert reveal.right == 8, (copy, reveal.text)


def test_a_question_is_called_as_its_help_says() -> None:
    assert str(inspect.signature(same_storage)) == (
        "(a: 'str', b: 'str', *, at: 'int | None' = None, prompt: 'str | None' = None, "
        "wrong: 'Mapping[Any, ArgumentSource] | None' = None) -> 'Question'"
    )
    with pytest.raises(TypeError, match="unexpected keyword argument 'hint'"):
        same_storage("x", "y", hint="a number")
    assert questions.value("x", hint="one number").answer_format == "one number"
    assert same_storage(a="x", b="y").text == same_storage("x", "y").text  # type: ignore[call-arg]
    assert same_storage("x", "y", at=2).text == "After line 2: do `x` and `y` share a storage?"
    assert same_storage("x", "y", prompt="One memory?").text == "One memory?"
    declared = {
        name
        for name, item in vars(ready_questions).items()
        if "QuizRun"
        in str(getattr(item, "__wrapped__", None) and inspect.signature(item.__wrapped__))
    }
    assert len(declared) > 15
    assert declared | {"state_table"} <= set(questions.__all__), "each is public"
    with pytest.raises(TypeError, match="missing a required argument: 'b'"):
        same_storage("x")
    with pytest.raises(TypeError, match="unexpected keyword argument 'at'"):
        outcome(at=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'prompt'"):
        state_table(prompt="?")  # type: ignore[call-arg]


class German(gettext.NullTranslations):
    """A few words of another language."""

    WORDS: ClassVar = {
        "Is `{y}` a leaf?": "Hat `{y}` keinen Knoten?",
        "yes": "ja",
        "no": "nein",
        "line {line} raises an error": "Zeile {line} bricht ab",
        "a clone is a leaf": "ein Klon hat keinen Knoten",
    }

    def gettext(self, text: str) -> str:
        return self.WORDS.get(text, text)


def test_questions_and_choices_are_said_in_the_chosen_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    p = predict(CLONE, [is_leaf("b"), outcome()])
    english = p.text
    monkeypatch.setattr("tinytorch.viz.wording.catalogue._chosen", [German()])
    for said in ("Hat `b` keinen Knoten?  (ja / nein)", "Zeile 7 bricht ab"):
        assert said in p.text
    assert '<option value="yes">ja</option>' in p.live().form.content
    reveal = p.commit(["ja", "it runs to its end"])
    assert p.answers["is_leaf(b)"] == "yes", "what is kept is the same in all languages"
    for said in ("you wrote ja, the run says nein", "ein Klon hat keinen Knoten"):
        assert said in reveal.text
    monkeypatch.undo()
    assert p.text == english


# ---- wrong answers


@pytest.mark.parametrize(
    ("code", "question", "given", "name", "facts"),
    [
        (
            "x = torch.ones(1)\ny = x",
            same_tensor("x", "y"),
            "no",
            "a name is a copy",
            "`y is x` gives True",
        ),
        (
            "x = torch.ones(1)\ny = x",
            same_storage("x", "y"),
            "no",
            "a name is a copy",
            "one storage.",
        ),
        (VIEW, same_storage("x", "y"), "no", "a view is a copy", "look at one storage"),
        (
            CLONE,
            same_storage("a", "b"),
            "yes",
            "a copy shares memory",
            "`a` and `b` have a storage each.",
        ),
        (
            FROM_LEAF.format("x.detach()"),
            same_storage("x", "y"),
            "no",
            "detach copies",
            "look at one storage",
        ),
        (
            FROM_LEAF.format("x.data"),
            same_counter("x", "y"),
            "yes",
            "shared memory, shared counter",
            "although they look at one",
        ),
        (
            FROM_LEAF.format("x.detach()"),
            same_counter("x", "y"),
            "no",
            "detach has its own counter",
            "One version counter counts for `x` and",
        ),
        (
            VIEW,
            same_counter("x", "y"),
            "no",
            "a counter for each tensor",
            "One version counter counts for",
        ),
        (CLONE, on_graph("b"), "no", "clone cuts the graph", "AddBackward0"),
        (VIEW, on_graph("w"), "yes", "a plain copy has a node", "grad_fn` is None"),
        (CLONE, is_leaf("b"), "yes", "a clone is a leaf", "not a leaf"),
        (CLONE, requires_grad("z"), "no", "grad is not inherited", "MulBackward0"),
        (
            FROM_LEAF.format("x.detach()"),
            requires_grad("y"),
            "yes",
            "requires_grad is copied",
            "is False",
        ),
        (VIEW, sees_write("w", "y"), "yes", "a copy shares memory", "Tried: `y.fill_("),
        (
            CLONE,
            gets_gradient("a", "b"),
            "no",
            "clone cuts the graph",
            "CloneBackward0, AccumulateGrad",
        ),
        (
            FROM_LEAF.format("x.detach()"),
            gets_gradient("x", "y"),
            "yes",
            "detach keeps the graph",
            "no node to begin",
        ),
        (
            FROM_LEAF.format("x.data"),
            gets_gradient("x", "y"),
            "yes",
            "memory joins graphs",
            "no node to begin",
        ),
        (
            VIEW,
            version("x"),
            0,
            "a counter for each tensor",
            "1 after line 3 (`y[0] = 50.0`). The version counter of `x` counts for `y`",
        ),
        (VIEW, version("w"), 1, "computing is writing", "0 after line 4"),
        (f"{LOOK}\ne = d + 1", version("d"), 2, "computing is writing", "1 after line 3"),
        (ROWS, offset("y"), 1, "an offset is an index", "`y` begins at cell 3 of its storage."),
        (ROWS, offset("y"), 0, "a view is a copy", "`m`, over the same memory, begins at cell 0"),
        (
            SLICE,
            cells("x"),
            1,
            "a slice frees the rest",
            "`x` has 1 element, and its storage keeps all of its 4 cells.",
        ),
        (
            VIEW,
            cells("y"),
            2,
            "a view is a copy",
            "`y` has 2 elements, and its storage keeps all of its 3 cells.",
        ),
        (VIEW, value("x"), [1, 2, 3], "a view is a copy", "[1, 50, 3] after line 3"),
        (
            "x = torch.ones(1)\ny = x.clone()\nx += 1",
            value("y"),
            2,
            "a copy shares memory",
            "[1] after line 2",
        ),
        (CLONE, gradient("a"), 3, "backward overwrites", "5 after line 6 (`z.backward()`)"),
        (CLONE, gradient("b"), 3, "the copy has the gradient", "not a leaf"),
        (CLONE, gradient("a", at=4), 2, "the graph has the gradient", "no `backward` has run"),
        (CLONE, gradient("a", at=4), 0, "no gradient is a zero", "no `backward` has run"),
    ],
    ids=lambda v: v.name if isinstance(v, Question) else "",
)
def test_a_wrong_answer_meets_its_misconception_and_facts(
    engine: ModuleType, code: str, question: Question, given: Any, name: str, facts: str
) -> None:
    reveal = predict(code, [question], engine=engine).commit([given])
    (row,) = reveal.rows
    assert row.refutation is not None
    assert row.refutation.misconception is not None
    assert row.refutation.misconception.name == name
    assert facts in row.refutation.facts
    assert row.refutation.facts in reveal.text
    assert MISCONCEPTIONS[name].write_argument(
        predict(code, [question], engine=engine).run()
    ) in reveal.text.replace("**", "")
    assert reveal.misconceptions == (name,)


FOLLOWED = "w = torch.zeros(1)\nbest = w.detach()\nw += 1\nw += 1\nn = w * 1  # 数\n"
MANY_LINES = "x = torch.zeros(2)\ny = x.view(\n    2, 1\n)  # (\nx += 1\nx += 1"


@pytest.mark.parametrize(
    ("code", "question", "believed", "others"),
    [
        (FOLLOWED, value("best"), "[0]", ["[1]", "7"]),
        (FOLLOWED, version("w"), "3", ["1", "7"]),
        (FOLLOWED, version("best"), "0", ["1", "7"]),
        (MANY_LINES, value("y"), "[[0], [0]]", ["[[1], [1]]"]),
        ("x = torch.ones(2)\nfor v in [x[:]]:\n    x += 1", value("v"), None, ["[1, 1]"]),
        (CLONE, gradient("b"), "3", ["2", "7"]),
        (CLONE, gradient("a", at=4), "5", ["7"]),
    ],
)
def test_a_belief_is_named_where_its_run_shows_the_answer(
    code: str, question: Question, believed: str | None, others: list[str], engine: ModuleType
) -> None:
    """An intermediate value, or a number that nothing leads to, is a slip and no belief."""
    question, run = question.bind(code), QuizRun(code, engine)
    if believed is not None:
        assert question.refute(run, believed).misconception is not None
    for answer in others:
        refutation = question.refute(run, answer)
        assert refutation.misconception is None, (answer, refutation)
        assert refutation.argument, answer


REBOUND = "x = torch.ones(3, requires_grad=True)\ny = x.clone()\ny = x[0]"
REMADE = "x = torch.ones(3, requires_grad=True)\ny = x.clone()\ndel y\ny = x * 2"
RENAMED = "x = torch.ones(3, requires_grad=True)\nz = x.clone()\nz += 1\ny = z\ndel z"


@pytest.mark.parametrize(
    ("question", "answer", "of_clone", "of_other"),
    [
        (is_leaf("y"), "yes", "a clone is a leaf", "grad is not inherited"),
        (on_graph("y"), "no", "clone cuts the graph", "grad is not inherited"),
        (gets_gradient("x", "y"), "no", "clone cuts the graph", None),
    ],
)
def test_a_clone_is_known_by_its_tensor_and_not_by_its_name(
    question: Question, answer: str, of_clone: str, of_other: str | None, engine: ModuleType
) -> None:
    for code, expected in [(REBOUND, of_other), (REMADE, of_other), (RENAMED, of_clone)]:
        found = question.refute(QuizRun(code, engine), answer).misconception
        assert (found.name if found else None) == expected, code


@pytest.mark.torch
@pytest.mark.parametrize("code", [CLONE, VIEW, ERROR])
def test_both_engines_say_the_same_words(code: str) -> None:
    all_questions = [outcome(), count("storages"), version("x" if "x =" in code else "a")]
    texts = set()
    for name in ("tinytorch", "torch"):
        p = predict(code, all_questions, engine=importlib.import_module(name))
        texts.add(p.commit(["line 1 raises an error", 99, 99]).text)
    assert len(texts) == 1
    assert "99" in texts.pop()


def test_an_error_is_explained_by_its_line() -> None:
    reveal = predict(ERROR, [outcome()]).commit(["it runs to its end"])
    assert "Line 5 raises an error. " in reveal.text
    assert "The error says: `RuntimeError: one of the variables needed" in reveal.text
    assert "line 4" in reveal.text.lower()


def test_a_wrong_gradient_speaks_against_an_error_that_was_expected(engine: ModuleType) -> None:
    code = "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.data += 1\ny.sum().backward()"
    reveal = predict(code, [outcome()], engine=engine).commit(["line 4 raises an error"])
    said = "No line raised an error. `ExpBackward0` saved its result (`y`) on line 2"
    assert said in reveal.text


def test_what_was_seen_in_time_is_joined_as_the_language_joins() -> None:
    p = predict(CLONE, [version("b"), value("b"), gradient("a")])
    set_language("zh")
    try:
        text = p.commit([9, 9, 9]).text
    finally:
        set_language(None)
    for name in ("b._version", "b", "a.grad"):
        assert f"`{name}`\uff1a" in text
        assert f"`{name}`: " not in text


def test_what_lies_in_unwritten_memory_is_not_told() -> None:
    reveal = predict("x = torch.empty(2)\nx.fill_(3.0)", [value("x")]).commit([[1, 1]])
    assert (
        "`x`: whatever lay there after line 1 (`x = torch.empty(2)`); [3, 3] after line 2"
        in reveal.text
    )


def test_the_number_of_another_tensor_is_no_misconception() -> None:
    (row,) = predict("x = torch.ones(1)\nx += 1\ny = x * 3", [value("y")]).commit([2]).rows
    assert row.refutation is not None
    assert row.refutation.misconception is None


def test_a_misconception_is_explained_once() -> None:
    reveal = predict(VIEW, [same_storage("x", "w"), sees_write("x", "w")]).commit(["yes", "yes"])
    assert reveal.text.count(MISCONCEPTIONS["a copy shares memory"].belief) == 1
    assert "The same misconception again: a copy shares memory." in reveal.text


def test_a_lesson_brings_its_own() -> None:
    mine = Misconception("fifty", "It stays 50.", lambda run: f"It is {run.value('w')[1]:g}.")
    question = value(
        "w", wrong={"[2, 4, 6]": mine, "1": "a tensor is a formula", "2": "Two is what n was once."}
    )
    said = {}
    for given in ("2, 4, 6", 1, "2", "[1, 2, 3]", "[7, 8, 9]"):
        (row,) = predict(VIEW, [question]).commit([given]).rows
        assert row.refutation is not None
        known = row.refutation.misconception
        said[given] = (known.name if known else None, row.refutation.argument)
    assert said["2, 4, 6"] == ("fifty", "It is 100.")
    assert said[1][0] == "a tensor is a formula"
    assert said["2"] == (None, "Two is what n was once.")
    assert said["[1, 2, 3]"] == (None, "`[1, 2, 3]` is what `x` showed after line 1.")
    assert said["[7, 8, 9]"] == (None, "The first that differs: `w[0]` is 2, not 7.")


def test_a_misspelt_misconception_is_no_sentence(engine: ModuleType) -> None:
    for misspelt in ("view is a copy", "detach copyes"):
        with pytest.raises(ValueError, match=f"no misconception is called '{misspelt}': did you"):
            value("x", wrong={1: misspelt})
    value("x", wrong={1: "A view is not a copy.", 2: "a view is no copy!", 3: "`x` stays"})
    with pytest.raises(KeyError, match="did you mean 'a view is a copy'"):
        misconception("view is a copy")

    with pytest.raises(ValueError, match="'no copy'"):
        value("x", wrong={1: "no copy"})

    def ask(find: Any) -> Question:
        return Question("?", None, lambda run: run.value("x"), find_misconception=find)

    with pytest.raises(ValueError, match="did you mean 'a view is a copy'"):
        ask(lambda _run, answer: "view is a copy" if answer == "7" else None)
    # A name that is only made when a learner answers: the author is told, and the learner is not.
    p = predict("x = torch.tensor(1.0)", [ask(lambda _run, _: "a view".upper())], engine=engine)
    assert "cannot refute an answer: KeyError" in str(p.verify())
    assert p.commit([7]).misconceptions == ()
    said = value("x", wrong={7: lambda _run: "a view is"})
    assert "cannot refute '7': ValueError" in str(predict("x = 1.0", [said]).verify(engine))


def test_what_is_no_copy_shows_no_misconception_about_copies(engine: ModuleType) -> None:
    questions = [is_leaf("x"), on_graph("x"), is_leaf("y"), on_graph("y")]
    p = predict("x = torch.ones(2)\ny = x.clone()", questions, engine=engine)
    x_leaf, x_node, y_leaf, y_node = p.commit(["no", "yes", "no", "yes"]).rows
    for row in (x_leaf, x_node):
        assert row.refutation is not None
        assert (row.refutation.misconception, len(row.sentences)) == (None, 1)
    for row, name in ((y_leaf, "a leaf is not computed"), (y_node, "a plain copy has a node")):
        assert row.refutation is not None
        assert row.refutation.misconception is MISCONCEPTIONS[name]


def test_where_pytorch_refuses_an_answer_a_question_has_none(engine: ModuleType) -> None:
    code = (
        "x, w = torch.ones(2), torch.ones(2, requires_grad=True)\n"
        "with torch.no_grad():\n    y = x[:]\nx.mul_(w)"
    )
    questions = [is_leaf("y"), on_graph("y"), node("y"), names_that("is_leaf", "x", "y")]
    p = predict(code, questions, engine=engine)
    assert str(p.verify()).count("y.grad_fn and y.is_leaf raise an error") == len(questions)


def test_fewer_cells_than_there_are_point_to_a_view_alone(engine: ModuleType) -> None:
    # What `resize_` made smaller is no slice, and a detached slice is no view to autograd.
    for line in ("x.resize_(2)", "x = x[:2].detach()"):
        p = predict(f"x = torch.arange(4.0)\n{line}", [cells("x")], engine=engine)
        assert p.commit([2]).misconceptions == (), line
    p = predict(SLICE, [cells("x")], engine=engine)
    assert p.commit([2]).misconceptions == (), "no number of the run"


def test_of_several_storages_over_one_memory_no_size_is_known(engine: ModuleType) -> None:
    assert "has no answer: ValueError: 2 storage objects lie over the memory of y" in str(
        predict(SHARED, [cells("y")], engine=engine).verify()
    )


@pytest.mark.torch
def test_what_has_no_storage_has_no_cells() -> None:
    torch = importlib.import_module("torch")
    p = predict("x = torch.eye(2).to_sparse()", [cells("x")], engine=torch)
    reveal = p.commit([4])
    assert "the run says None" in reveal.text
    assert "`x` has no storage." in reveal.text


def test_every_misconception_that_is_found_is_in_the_catalogue() -> None:
    found = set()
    # Of a function that answers True or False, only others in there ask.
    for statement in ast.walk(ast.parse(inspect.getsource(wrong_answers))):
        waiting = [statement.value] if isinstance(statement, ast.Return) else []
        for expression in waiting:
            if isinstance(expression, ast.IfExp):
                waiting += [expression.body, expression.orelse]
            elif isinstance(expression, ast.Constant) and isinstance(expression.value, str):
                found.add(expression.value)
    assert len(found) > 15
    assert found <= MISCONCEPTIONS.keys()


@pytest.mark.parametrize("choices", [["a", "b"], None])
def test_a_name_that_a_finder_makes_up_is_a_fault(choices: list[str] | None) -> None:
    unknown = "no such name"
    question = Question(
        "Which?",
        choices,
        lambda _run: "a",
        because="It is a.",
        find_misconception=lambda _run, _answer: unknown,
    )
    p = predict(VIEW, [question])
    assert "no misconception is called 'no such name'" in str(p.verify())


def test_in_a_question_a_name_is_one_of_the_catalogue() -> None:
    program = RetestProgram("x = 1; x = 2", {2: "pass"}, value, "x")
    own = Misconception("a write waits", "It stays.", "It goes.", [program])
    assert misconception(own.name) is own
    with pytest.raises(ValueError, match="no misconception is called 'a write waits'"):
        value("x", wrong={1: own.name})
    question = Question(
        "Which?",
        ["a", "b"],
        lambda _run: "a",
        because="It is a.",
        find_misconception=lambda _run, _answer: own.name,
    )
    p = predict("x = 1", [question])
    assert "'a write waits' is a lesson's own: return it, and not its name" in str(p.verify())
    (row,) = p.commit(["b"]).rows
    assert row.sentences == ["It is a."], "the facts speak alone"


def test_a_misconception_behind_a_free_answer_is_foreseen() -> None:
    all_questions = [gradient("a"), gradient("b"), version("z")]
    run = predict(CLONE, all_questions).run()
    gradient_of_a, gradient_of_b, version_of_z = (q.foresee_refutations(run) for q in all_questions)
    for refutations in (gradient_of_a, gradient_of_b, version_of_z):
        assert all(refutation.argument for refutation in refutations.values())
    believed = [given for given, against in gradient_of_a.items() if against.misconception]
    assert believed == ["3"], "what the last backward added; not 5, which is right"
    assert "`1` is what `a` shows." in gradient_of_a["1"].argument
    assert {"0", "10", "2"} <= gradient_of_b.keys()
    assert "0" not in version_of_z

    leaves = Question(
        "Which are leaves?",
        None,
        lambda run: {name for name in "ab" if run.tensor(name).is_leaf},
        find_misconception=lambda _run, answer: "a clone is a leaf" if "b" in answer else None,
    )
    assert predict(CLONE, [leaves]).questions[0].foresee_refutations(run).keys() == {"b"}


def test_a_name_may_be_bound_to_a_tensor_of_another_shape(engine: ModuleType) -> None:
    code = (
        "x = torch.ones(2, requires_grad=True)\n(x * 1).sum().backward()\n"
        "x = torch.ones((), requires_grad=True)\n(x * 2).backward()\n(x * 3).backward()"
    )
    reveal = predict(code, [gradient("x")], engine=engine).commit([3])
    assert reveal.misconceptions == ("backward overwrites",)


def test_the_catalogue() -> None:
    assert len(MISCONCEPTIONS) >= 30
    for name, entry in MISCONCEPTIONS.items():
        assert entry.name == name
        assert len(entry.belief) > 10
        assert len(str(entry.argument)) > 40
    assert len({entry.belief for entry in MISCONCEPTIONS.values()}) == len(MISCONCEPTIONS)
    assert misconception("detach copies").belief.startswith("`detach`")
    with pytest.raises(KeyError, match="did you mean 'clone cuts the graph'"):
        misconception("clone cuts graph")


# ---- committing


def test_a_tensor_may_be_given_as_an_answer(engine: ModuleType) -> None:
    p = predict("x = torch.ones(2)", [value("x")], engine=engine)
    assert p.commit([engine.ones(2)]).right == 1


def test_nothing_is_run_before_the_commit(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    p = predict(f"open({str(mark)!r}, 'w').close()\nx = torch.ones(1)", [value("x")])
    assert p.text
    assert p.html
    assert not mark.exists()
    assert p.reveal is None
    with pytest.raises(ValueError, match="fill in every row"):
        p.commit([])
    assert not mark.exists()
    p.commit([1])
    assert mark.exists()


def test_all_rows_then_the_reveal_then_reset() -> None:
    changes = []
    p = predict(CLONE, [value("a"), value("b")])
    p.observe(lambda change: changes.append((change.name, change.new)), ["answers", "committed"])
    with pytest.raises(ValueError, match=r"1 of 2 are missing \(2\)"):
        p.commit([1])
    with pytest.raises(ValueError, match="is empty"):
        p.commit([1, "  "])
    with pytest.raises(ValueError, match="3 answers were given, and there are 2 rows"):
        p.commit([1, 2, 3])
    with pytest.raises(KeyError, match="no row is called 'c'"):
        p.commit({"c": 1})
    assert not p.committed
    assert not changes
    reveal = p.commit({"value(b)": 1, 1: 1})
    assert (reveal.right, len(reveal.rows), p.committed, p.reveal) == (1, 2, True, reveal)
    assert p.answers == {"value(a)": "1", "value(b)": "1"}
    assert [name for name, _ in changes] == ["answers", "committed"]
    with pytest.raises(ValueError, match="committed already"):
        p.commit([1, 2])
    p.reset()
    assert (p.committed, p.answers, p.reveal) == (False, {}, None)
    assert p.commit([1, 2]).headline == "All 2 right."


def test_numbers_that_nobody_computes_by_hand_are_given_by_the_lesson() -> None:
    past = importlib.import_module("copylab.lessons.data").past
    prose = (NOTEBOOKS / "04_data.ipynb").read_text("utf-8")
    asked = [value("out"), past.questions[-1]]
    for start, question, name in (
        ("`out` is about", asked[0], "another tensor, another memory"),
        ("the right gradient is about", asked[1], "no error, right gradient"),
    ):
        given = re.search(rf"{start} `(\[[0-9., ]+\])`", prose)
        assert given
        refutation = question.refute(past.run(), given[1])
        assert refutation.misconception
        assert refutation.misconception.name == name


def test_which_write_was_wrong_is_said_once_and_its_code_is_marked() -> None:
    past = importlib.import_module("copylab.lessons.data").past
    rows = (
        predict(past.code, past.questions)
        .commit(["yes", "no", "no", [9, 9], "line 5 raises an error", [9, 9]])
        .rows
    )
    outcome_text, gradient_text = (" ".join(row.sentences) for row in rows[-2:])
    said = "saved its result (`out`) on line 2, `out = a.sigmoid()`. The same memory"
    assert said in outcome_text
    assert (
        "on line 4, `d.zero_()`. The version counter did not count that, so no error"
        in outcome_text
    )
    assert said not in gradient_text
    assert "Row 5 says which write did that." in gradient_text
    alone = predict(past.code, [gradient("a")]).commit([[9, 9]]).rows[0]
    assert said in " ".join(alone.sentences)


@pytest.mark.parametrize("node_names", ["q, s", "p, q, s", "none"])
@pytest.mark.parametrize("leaf_names", ["p", "p, s"])
def test_facts_that_a_row_above_has_are_not_said_again(node_names: str, leaf_names: str) -> None:
    asked = importlib.import_module("copylab.lessons.start").recorded
    answers = [leaf_names, "p, q, s", node_names, 3, "None", "[2, 4]", 0]
    rows = predict(asked.code, asked.questions).commit(answers).rows
    assert "`q` has a node: it is not a leaf." in rows[0].sentences[0]
    assert rows[2].sentences[0].startswith("`p.grad_fn` is None: no recorded operation made `p`.")
    assert "grad_fn" not in rows[0].sentences[0], "it is said where it is asked"
    alone = predict(asked.code, asked.questions[2:3]).commit([node_names]).rows[0]
    assert "no recorded operation made `p`" in alone.sentences[0]


def test_a_fact_that_two_rows_have_is_said_once() -> None:
    asked = importlib.import_module("copylab.lessons.copy_").filled
    answers = ["none", "no", "yes", "None"]
    questions = [*asked.questions[-3:-1], is_leaf("y"), asked.questions[-1]]
    rows = predict(asked.code, questions).commit(answers).rows
    assert rows[2].sentences[0] == "`y` has a node: it is not a leaf.", "a sentence of its own"
    said = " ".join(sentence for row in rows for sentence in row.sentences)
    assert said.count("CopyBackwards after line 3") == 1
    assert "`y.grad_fn` is CopyBackwards" not in said, "its lines say so"


def test_facts_of_two_lines_are_said_once_if_nothing_changed_between_them() -> None:
    asked = importlib.import_module("copylab.lessons.assignment").written
    is_copy = {"[1, 2]": "a name is a copy"}
    questions = [value("best", at=3, wrong=is_copy), value("best", wrong=is_copy), value("w")]
    rows = predict(asked.code, questions).commit([[9, 9]] * 3).rows
    assert [row.number for row in rows if "Row 1 says why." in row.sentences] == [2]
    rows = predict(asked.code, asked.questions).commit([[9, 9]] * 3 + [9, 9]).rows
    assert "tied only `w` to it" in rows[1].sentences[0], "the lesson says the thing itself"


@pytest.mark.parametrize("is_foreseen", [True, False])
@pytest.mark.parametrize("first_answer", ["1", "2"])
def test_a_row_is_not_pointed_to_that_may_be_shown_without_its_facts(
    is_foreseen: bool, first_answer: str
) -> None:
    """A right answer to which nothing wrong was foreseen has none."""
    wrong: dict[Any, Any] = {"2": "That is two."} if is_foreseen else {}
    first = Question("First?", None, lambda _run: 1, wrong=wrong, because="It is one.")
    second = Question("Second?", None, lambda _run: 1, because="It is one.")
    rows = predict("x = 1", [first, second]).commit([first_answer, "2"]).rows
    assert rows[1].sentences[0] == ("Row 1 says why." if is_foreseen else "It is one.")


@pytest.mark.parametrize(
    ("code", "question", "answer", "objection"),
    [
        (
            MATRIX,
            gradient("b"),
            "[3, 3, 3, 3]",
            "The numbers are right, but the shape is not: `b.grad` has the shape `(2, 2)`.",
        ),
        (
            MATRIX,
            gradient("b"),
            "[6, 6]",
            "The shape of `b.grad` is `(2, 2)`, which is that of its tensor.",
        ),
        (
            f"{MATRIX}\nc = torch.tensor([6.0, 7.0])",
            gradient("b"),
            "[6, 7]",
            "`[6, 7]` is what `c` shows.",
        ),
        (MATRIX, value("b"), "[6, 6]", "The shape of `b` is `(2, 2)`."),
        (MATRIX, gradient("b"), "[[1, 1], [1, 1]]", "`[[1, 1], [1, 1]]` is what `b` shows."),
        (
            MATRIX,
            gradient("b"),
            "[[3, 3], [3, 4]]",
            "The first that differs: `b.grad[1, 1]` is 3, not 4.",
        ),
        (MATRIX, gradient("b"), "[[3, 3], [3]]", "No name of this run ever had that value."),
        (
            CLONE,
            gradient("a"),
            "None",
            "`a` requires grad, and the `backward` on line 5 reached `a`.",
        ),
        (CLONE, value("b"), "5", "`5` is `a.grad`."),
        (CLONE, value("z"), "2", "`2` is what `b` shows."),
        (
            "x = torch.zeros(2)\nx += 1\nx += 2",
            value("x"),
            "[1, 1]",
            "`[1, 1]` is what `x` showed after line 2.",
        ),
        (CLONE, value("z"), "two", "`2` is what `b` shows."),
        (LOOK, version("d"), "2", "No line took `d._version` above 1."),
        (LOOK, version("x"), "v1", "1 is `d._version`."),
    ],
)
def test_what_a_wrong_number_has_in_common_with_the_run(
    code: str, question: Question, answer: str, objection: str, engine: ModuleType
) -> None:
    refutation = question.bind(code).refute(QuizRun(code, engine), answer)
    assert refutation.misconception is None
    assert refutation.argument.startswith(objection)


FEW = """x = torch.tensor([1.0])
y = x.exp()
z = torch.tensor([1.0, 2.0, 0.0]).sigmoid()
both = torch.tensor([3.0, 2.0]).exp()
half = torch.tensor([2.5])"""


@pytest.mark.parametrize(
    ("name", "answer", "is_said"),
    [
        ("y", "2.7", True),
        ("y", "[2.7]", True),
        ("y", "[2.71]", False),
        ("y", "2.71", False),
        ("z", "[0.7, 0.8, 0.5]", False),
        ("y", "2.73", False),
        ("y", "3", False),
        ("y", "3.0", False),
        ("z", "[0.7, 0.9, 0.5]", False),
        ("z", "[0.73, 0.81, 0.5]", False),
        ("z", "0.73", False),
        ("both", "[20.1, 7.4]", True),
        ("both", "[20.1, 7.3]", True),
        ("both", "[20.1, 7.5]", False),
        ("half", "2.5", False),
    ],
)
def test_of_too_few_digits_more_are_asked_for(
    name: str, answer: str, is_said: bool, engine: ModuleType
) -> None:
    """Before the commit: "2.7" was a wrong row, with "Right as far as it goes" beside its mark."""
    p = predict(FEW, [value(name)], engine=engine)
    p.answers = {p.questions[0].name: answer}
    said = f"Row 1: “{answer}” has too few decimals. Write two at least."
    assert (said in p.find_unreadable_answers().values()) is is_said
    # One number may be written with brackets or without: its shape is never what is wrong.
    argument = value(name).bind(FEW).refute(QuizRun(FEW, engine), answer).argument
    assert name != "y" or "shape" not in argument


def test_a_line_of_a_loop_is_named_once_with_all_that_it_made(engine: ModuleType) -> None:
    code = "x = torch.zeros(1)\nfor n in range({}):\n    x += 1"
    said = value("x").bind(code.format(3)).describe_facts(QuizRun(code.format(3), engine))
    assert (
        said
        == "`x`: [0] after line 1 (`x = torch.zeros(1)`); [1], [2], [3] one after another, as line 3 (`x += 1`) ran 3 times."
    )
    said = value("x").bind(code.format(9)).describe_facts(QuizRun(code.format(9), engine))
    assert (
        "[1], [2], ..., [7], [8], [9] one after another, as line 3 (`x += 1`) ran 9 times." in said
    )


PAST_GRADIENT = "a = torch.tensor(3.0, requires_grad=True)\nb = a * 2\nb.backward()\na.grad = None"
VERSIONS = "x = torch.zeros(2)\nx += 1\ny = torch.zeros(2)\ny += 1\ny += 1"
PART = "x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])\ny = x[1, 1:]\nz = y"
ADDED = "x = torch.ones(1, requires_grad=True)\ny = x * 2\ny += 1"
AGAIN = "x = torch.zeros(2)\nfor _ in range(3):\n    x += 1"
LOOP = "while False:\n    x = 1\ny = 2"


@pytest.mark.parametrize(
    ("code", "question", "answer", "objection"),
    [
        (
            "x = torch.zeros(2)\nn = 3",
            value("n"),
            "4",
            "No name of this run ever had that value. `n` comes from line 2 (`n = 3`).",
        ),
        (
            "x = torch.zeros(())\ny = x[...]\nx += 1",
            value("y"),
            "4",
            "No name of this run ever had that value. `y` reads the cells of `x`, so it shows what line 3",
        ),
        (
            "n = 3\nn = 4",
            value("n", at=1),
            "4",
            "Up to line 1, no name had that value.",
        ),
        ("x = torch.ones(2)\nn = 3", value("n"), "1", "`1` is one of the numbers of `x`."),
        ("x = torch.ones(2)\nx += 3\nn = 5", value("n"), "1", "`1` was one of the numbers of `x`."),
        ("x = torch.ones(2)\nx *= 3", value("x"), "None", "`x` is a tensor: it shows numbers"),
        (
            "n = 1\nn = n + 1\nn *= 5",
            value("n"),
            "5",
            "Your answer would be right without line 2 (`n = n",
        ),
        (PAST_GRADIENT, gradient("a"), "2", "`2` is what `a.grad` showed after line 3."),
        (PAST_GRADIENT, gradient("a"), "7", "No name of this program has a gradient."),
        (PAST_GRADIENT, gradient("b"), "7", "No name of this program has a gradient."),
        (CLONE, gradient("b"), "7", "Only these names have a gradient: `a`."),
        (
            MATRIX,
            version("b"),
            "1",
            "No line took `b._version` above 0. A version counts writes in place, and nothing else.",
        ),
        (VERSIONS, version("x"), "0", "0 was right until line 2 ran."),
        (AGAIN, version("x"), "2", "2 was right until line 3 ran again."),
        (AGAIN, version("x"), "0", "0 was right until line 3 ran."),
        (VERSIONS, version("x"), "2", "2 is `y._version`."),
        (VERSIONS, version("x"), "9", "No line took `x._version` above 1."),
        (VERSIONS, version("y", at=4), "2", "Up to line 4, nothing took `y._version` above 1."),
        (VERSIONS, version("x"), "None", "One whole number is asked for: `x._version`."),
        (PART, offset("y"), "1", "Cell 1 is `x[0, 1]`, and `y` begins at `x[1, 1]`."),
        (PART, offset("y"), "6", "The last cell of this storage is cell 5."),
        (PART, cells("y"), "2", "2 is `y.numel()`: elements of `y`."),
        (PART, cells("y"), "24", "24 is the number of bytes: each cell takes 4."),
        (PART, cells("y"), "7", "No line took the number of cells in the storage of `y` above 6."),
        (ADDED, count("names"), "0", "No line took the number of names below 1."),
        (VERSIONS, count("names"), "1", "1 was right until line 3 ran."),
        (PART, count("tensors"), "3", "3 is the number of names."),
        (PART, count("tensors", at=1), "2", "Up to line 1, nothing took the number of tensors abo"),
        (PART, count("tensors"), "7", "No line took the number of tensors above 2. Line 2"),
        (PART, names_that("is_leaf", "x", "y"), "x", "Missing in that answer: `y`."),
        (PART, names_that("on_graph", "x", "y"), "Y", "Wrong in that answer: `y`."),
        (PART, names_showing(1, "x", "y"), "y", "Missing in that answer: `x`. Wrong in that"),
        (CLONE, node("b"), "none", "`b` requires grad and is not a leaf, so it has a node."),
        (CLONE, node("b"), "MulBackward0", "MulBackward0 is the node of `z`."),
        (CLONE, node("b"), "SinBackward0", "No name of this program has such a `grad_fn`."),
        (ADDED, node("y", at=3), "MulBackward0", "After line 2 the node of `y` was MulBackward0;"),
        (CLONE, outcome(), "line 3 raises an error", "Line 3 was run and raised nothing."),
        (ERROR, outcome(), "it runs to its end", "No line caught that error, so the run ended"),
        ("1 / 0\n2", outcome(), "line 2 raises an error", "Line 2 was not run."),
        (LOOP, outcome(), "line 1 raises an error", "Line 1 was run and raised nothing."),
        (LOOP, outcome(), "it never ends", "The program came to its end by itself."),
    ],
)
def test_where_no_misconception_is_looked_for_a_wrong_answer_has_a_reason(
    code: str, question: Question, answer: str, objection: str, engine: ModuleType
) -> None:
    # As in a retest, which looks for one misconception alone.
    question = replace(question.bind(code), find_misconception=None)
    assert question.refute(QuizRun(code, engine), answer).argument.startswith(objection)


def test_a_gradient_that_was_set_back_is_told(engine: ModuleType) -> None:
    (row,) = predict(PAST_GRADIENT, [gradient("a")], engine=engine).commit([2]).rows
    assert row.refutation is not None
    assert row.refutation.misconception is None, "the graph did not have it"
    assert row.refutation.facts.endswith("; None after line 4 (`a.grad = None`).")


@pytest.mark.parametrize("question", [node("y"), on_graph("y"), is_leaf("y")])
def test_a_node_that_a_write_gave_is_told_with_the_one_before(
    question: Question, engine: ModuleType
) -> None:
    """An answer that was right one line before is wrong: why it no longer is has to be said."""
    code = "x = torch.ones(1, requires_grad=True)\ny = x * 2\ny += 1"
    facts = question.bind(code).describe_facts(QuizRun(code, engine))
    # What follows from it is behind it.
    assert facts.removesuffix(" `y` has a node: it is not a leaf.").endswith(
        "`y.grad_fn`: MulBackward0 after line 2 (`y = x * 2`); AddBackward0 after line 3 (`y += 1`)."
    )
    code = "x = torch.ones(1, requires_grad=True)\ny = x * 2\ny[0]"
    facts = question.bind(code).describe_facts(QuizRun(code, engine))
    assert "after line" not in facts, "one node all the time"


def test_what_cannot_be_read_is_asked_again() -> None:
    p = predict(CLONE, [value("a"), names_that("is_leaf", "a", "b"), gradient("a")])
    for answers, row in (
        (["a few", "a", 4], 1),
        ([1, "the first", 4], 2),
        ([1, "?", 4], 2),
        ([1, "a?", 4], 2),
        ([1, "a", "some"], 3),
    ):
        with pytest.raises(ValueError, match=rf"Row {row}: .* cannot be read. Write it as"):
            p.commit(answers)
        assert (p.committed, p.reveal) == (False, None)
    copied = predict(
        "x = torch.ones(1, requires_grad=True)\ny = torch.zeros(1)\ny.copy_(x)", [node("y")]
    )
    for name in ("Copy", "1", "y"):
        with pytest.raises(ValueError, match="Write it as a name such as SinBackward0"):
            copied.commit([name])
    assert copied.commit(["<CopyBackwards>"]).headline == "Right."
    form = p.live().form
    form.answers = {question.name: "what?" for question in p.questions}
    p.live().commit()
    assert form.problem == (
        "Row 1: “what?” cannot be read. Write it as a number, numbers such as [1, 2], or None. "
        "Row 2: “what?” cannot be read. Write it as names, or none. "
        "Row 3: “what?” cannot be read. Write it as a number, numbers such as [1, 2], or None."
    ), "each of them at once"
    assert len(form.answers) == 3
    assert p.commit(["1.", "just a", "five"]).headline == "All 3 right."


def test_what_may_have_been_meant_in_another_way_is_asked_again() -> None:
    p = predict(MATRIX, [gradient("b"), names_that("is_leaf", "b")])
    half = predict("x = torch.tensor(4.5)\ny = torch.tensor([4.5])", [value("x"), value("y")])
    several = "Row 1: “3” is one number, and there are several. Write all, in their shape."
    one = "Row 2: “4,5” is two numbers, and there is one. A decimal has a point."
    for asked, answers, says in (
        (p, ["3", "all"], several),
        (half, ["4.5", "4,5"], one),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
            asked.commit(answers)
        assert not asked.committed
    # Of one element, brackets say nothing.
    assert half.commit(["[4.5]", "4.5"]).headline == "All 2 right."


@pytest.mark.parametrize(
    "everything", ["all", "All of them.", "全部", "모두", "a, b", "both", "둘 다", "两个都是"]
)
def test_all_names_may_be_written_as_one_word(everything: str) -> None:
    code = "a = torch.ones(2)\nb = a.clone()\nc = 1"
    (row,) = predict(code, [names_that("is_leaf", "a", "b")]).commit([everything]).rows
    assert (row.is_right, row.given) == (True, "a, b")
    code += "\na.requires_grad_()"
    (row,) = predict(code, [names_that("requires_grad", "a", "b")]).commit([everything]).rows
    assert row.sentences[-1] == "Wrong in that answer: `b`."


@pytest.mark.parametrize("answer", ["both", "둘 다", "两个都是"])
def test_both_means_all_of_two_alone(answer: str) -> None:
    three = predict("a = torch.ones(2)\nb = c = a", [names_that("is_leaf", "a", "b", "c")])
    with pytest.raises(ValueError, match="cannot be read"):
        three.commit([answer])


def test_kept_answers_that_cannot_be_read_are_not_restored(progress_file: Path) -> None:
    kept = {"predictions": {"k": {"answers": {"value(a)": "what?"}}}}
    progress_file.write_text(json.dumps(kept), "utf-8")
    p = predict(CLONE, [value("a")], key="k")
    assert not p.restore()
    assert p.live().form.answers == {}


def test_a_choice_has_to_be_one() -> None:
    p = predict(CLONE, [is_leaf("b"), outcome()])
    with pytest.raises(ValueError, match="'maybe' is no choice for"):
        p.commit(["maybe", "it runs to its end"])
    with pytest.raises(ValueError, match="did you mean 'line 3 raises an error'"):
        p.commit([True, "line 3 raises error"])
    assert p.commit([False, "It runs  to its end"]).right == 2


@pytest.mark.parametrize(
    ("language", "yes", "ends"), [("zh", "是", "运行到结束"), ("ko", "예", "끝까지 실행됨")]
)
def test_what_commit_refuses_is_said_in_the_language(language: str, yes: str, ends: str) -> None:
    set_language(language)
    p = predict(CLONE, [is_leaf("b"), outcome()])
    said = []
    refused: list[Any] = [
        ["maybe", ends],
        [yes, ends + "!"],
        ["", ends],
        [yes] * 3,
        {"c": yes},
        "no",
    ]
    for answers in refused:
        with pytest.raises((ValueError, KeyError, TypeError)) as caught:
            p.commit(answers)
        said.append(str(caught.value.args[0]))
    # What they were given, and names of Python, are all that stays.
    rest = [
        re.sub(r"'maybe'|grad_fn|`[^`]*`|(?<![a-z])(?:c|str)(?![a-z])", "", text) for text in said
    ]
    assert not re.search("[a-z]{2}", " ".join(rest)), rest
    assert repr(yes) in said[0]
    assert repr(ends) in said[1].partition(ends + "!")[2]
    assert p.commit([yes, ends]).right == 1
    with pytest.raises(ValueError, match=r"p\.reset\(\)") as twice:
        p.commit([yes, ends])
    assert "committed" not in str(twice.value)


def test_bad_questions_and_code() -> None:
    with pytest.raises(SyntaxError):
        predict("x = (")
    with pytest.raises(TypeError, match="list of Question"):
        predict("x = 1", ["is x one?"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="not empty"):
        predict("x = 1", [])
    with pytest.raises(ValueError, match="two questions are called"):
        predict("x = 1", [value("x"), value("x")])
    with pytest.raises(ValueError, match="two names"):
        predict("x = 1")
    with pytest.raises(ValueError, match="at least two choices"):
        predict("x = 1", [Question("?", ["a", "A"], lambda _: "a")])
    with pytest.raises(TypeError, match="choices in a list"):
        predict("x = 1", [Question("?", "ab", lambda _: "a")])
    with pytest.raises(TypeError, match="engine must be a module"):
        predict("x = 1", [value("x")], engine=json)
    with pytest.raises(ValueError, match="count"):
        count("graphs")
    with pytest.raises(ValueError, match="needs a prompt"):
        names_that(lambda _run, _name: True, "x")
    p = predict("x = torch.ones(1)", [value("y")])
    with pytest.raises(ValueError, match="no value called 'y' then; it has x"):
        p.commit([1])


def test_by_default_the_whole_state_table() -> None:
    assert [q.name for q in predict(CLONE).questions] == [q.name for q in state_table("a", "y")]
    assert [q.name for q in predict("b = 1\nx = torch.ones(1)\ny = x").questions] == [
        q.name for q in state_table()
    ]
    assert len(predict(CLONE).questions) == 8


# ---- verify


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        (value("nowhere"), "has no answer"),
        (is_leaf("b", wrong={"no": "It is."}), "refutes its right answer"),
        (is_leaf("b", wrong={"maybe": "It is."}), "which is no choice"),
        (value("b", wrong={"2": "No."}), "refutes its right answer"),
        (Question("?", ["a", "b"], lambda _: "c"), "not among its choices"),
        (Question("?", ["a", "b"], lambda _: "a"), "nothing to say against 'b'"),
        (
            Question("?", None, lambda _: 1, {"2": lambda run: run.value("nowhere")}),
            "cannot refute '2'",
        ),
        (Question("?", None, lambda _: 1 // 0), "ZeroDivisionError"),
    ],
)
def test_a_bad_question_is_found(engine: ModuleType, question: Question, fault: str) -> None:
    found = predict(CLONE, [question]).verify(engine)
    assert not found
    assert f"1 question, {len(question.wrong)} answer" in str(found)
    assert fault in str(found)


# ---- kept and shown


def test_answers_are_kept_and_restored(progress_file: Path) -> None:
    first = predict(CLONE, [value("a"), gradient("a")], key="clone/one")
    first.commit([1, 3])
    note = json.loads(progress_file.read_text("utf-8"))["predictions"]["clone/one"]
    assert note["answers"] == {"value(a)": "1", "gradient(a)": "3"}
    assert (note["right"], note["of"], note["misconceptions"]) == (1, 2, ["backward overwrites"])
    again = predict(CLONE, [value("a"), gradient("a")], key="clone/one")
    pristine = again.text, again.html
    assert again.restore()
    assert again.reveal is not None
    assert again.reveal.text == first.reveal.text  # type: ignore[union-attr]
    assert (again.text, again.html) == pristine
    assert not predict(CLONE, [value("a"), value("z")], key="clone/one").restore()
    assert not predict(CLONE, [value("a"), gradient("a")]).restore()


def test_without_a_key_nothing_is_kept(progress_file: Path) -> None:
    predict(CLONE, [value("a")]).commit([1])
    assert not progress_file.exists()


def test_the_twins_are_whole_and_tell_no_answer(engine: ModuleType) -> None:
    p = predict(
        CLONE,
        [*state_table("a", "b"), node("b", at=3)],
        key="k",
        title="Read <this>",
        engine=engine,
    )
    before = p.text, p.html
    for question in p.questions:
        assert question.text in p.text
    assert "Read &lt;this&gt;" in p.html
    assert "CloneBackward" not in p.text + p.html
    left = 'style="text-align: left"'  # the pages of nbconvert set tables to the right
    assert p.html.count(f'<th scope="row" {left}>') == 9
    assert p.html.count(left) == p.html.count("<th ") + p.html.count("<td ") == 3 + 3 * 9
    assert p.html.count("<pre><code>1  ") == 1
    reveal = p.commit(["no"] * 8 + ["AddBackward0"])
    assert (p.text, p.html) == before
    assert (repr(p), repr(reveal)) == ("Prediction('k', 9 questions)", "Reveal(5 of 9 right)")
    assert (str(p), str(reveal)) == (p.text, reveal.text), "print(p)"


def test_what_users_write_is_escaped() -> None:
    evil = "<img src=x onerror=alert(1)>"
    p = predict(
        f"x = 1  # {evil}",
        [
            Question(evil, [evil, "b"], lambda _: "b", {evil: evil}),
            Question("?", None, lambda _: "c"),
        ],
        title=evil,
    )
    reveal = p.commit([evil, evil])
    for page in (p.html, reveal.html):
        assert "<img src=x" not in page
        assert "&lt;img src=x" in page


def test_the_reveal_has_the_run_to_step_through() -> None:
    reveal = predict(CLONE, [value("a")]).commit([1])
    assert len(reveal.steps) == 7
    assert "Memory: 5 tensors in 5 storages." in reveal.text
    assert "data:image/svg+xml" in reveal.html
    assert reveal.rows[0].right == "1"


def test_the_picture_and_the_player_have_one_word_for_a_result(engine: ModuleType) -> None:
    """A tensor was "grad_fn PowBackward0" in the picture, and "from a ** 2" in the player beside it."""
    code = "a = torch.tensor(1.0, requires_grad=True)\ny = a ** 2\nb = a.clone()\nb = b * 1"
    reveal = predict(code, [value("a")], engine=engine).commit([1])
    images = re.findall(r"data:image/svg\+xml;base64,([^'\"]+)", reveal.html)
    picture = base64.b64decode(images[-1]).decode()
    words = re.findall(r">(from [^<]+|grad_fn [^<]+)</text>", picture)
    assert words == ["from a ** 2", "from b * 1"]
    # Of a long one the node is said: cut, it ended before the operation.
    code = "y = torch.tensor([1.0, 2.0], requires_grad=True) * 1"
    long = predict(code, [value("y")], engine=engine)
    assert "from torch.tensor" not in long.steps()[-1].pictures["memory"].svg
    assert "grad_fn MulBackward0" in long.steps()[-1].pictures["memory"].svg
    last_step = reveal.steps[-1].pictures["memory"].svg
    assert re.findall(r">(from [^<]+|grad_fn [^<]+)</text>", last_step)[0] == words[0]


def test_a_prediction_can_be_stepped_through_before_it_is_answered(engine: ModuleType) -> None:
    p = predict(CLONE, engine=engine)
    assert p.steps().text == steps(CLONE, engine=engine).text
    assert not p.committed
    assert p.steps() is p.steps(engine) is p.commit(["no"] * 8).steps


def test_help_is_short_and_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    predict(CLONE).help()
    said = capsys.readouterr().out
    assert "Commit" in said
    assert len(said.splitlines()) < 8


def test_a_run_leaves_the_random_numbers_alone(engine: ModuleType) -> None:
    engine.manual_seed(3)
    expected = engine.rand(2).tolist()
    engine.manual_seed(3)
    p = predict("x = torch.rand(2)\ny = x", engine=engine)
    p.commit(["yes"] * 8)
    assert engine.rand(2).tolist() == expected


def test_the_engine_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    import tinytorch

    p = Prediction("x = torch.ones(1)\ny = x")
    monkeypatch.setitem(globals(), "torch", tinytorch)
    assert p.run().engine is tinytorch
    assert isinstance(predict("x = 1\ny = 2", [value("x")]).run(), QuizRun)


# ---- the live view, from Python's side


def test_the_form_commits_reveals_and_starts_again() -> None:
    p = predict(CLONE, [value("a"), is_leaf("b"), outcome()], title="Clone")
    view = p.live()
    assert view is p.live(), "one view, wherever it is shown"
    form = view.form
    assert [form.content.count(f"<{tag}") for tag in ("input", "select", "option")] == [1, 2, 3 + 9]
    form.answers = {"value(a)": "1", "nobody": "x", "is_leaf(b)": ""}
    assert p.answers == {"value(a)": "1"}
    view._handle_message(form, {"do": "commit", "answers": {"value(a)": "1"}}, [])
    assert "2 of 3 are missing" in form.problem
    assert not p.committed
    answers = {"value(a)": "1", "is_leaf(b)": "yes", "outcome": "it runs to its end"}
    view._handle_message(form, {"do": "commit", "answers": answers}, [])
    assert (form.problem, p.committed) == ("", True)
    for said in ("2 of 3 right.", "a clone is a leaf", "<svg"):
        assert said in form.content
    view._handle_message(form, {"do": "commit", "answers": {"value(a)": "2"}}, [])
    assert p.answers == form.answers == answers, "what is committed stays"
    view._handle_message(form, {"do": "steps"}, [])
    view._handle_message(form, {"do": "steps"}, [])
    names = [type(child).__name__ for child in view.children]
    assert names == ["PredictionForm", "HTML", "StepsWidget"]
    _, title, player = view.children
    assert title.value == "<strong>Step by step: Clone</strong>"
    view._handle_message(form, {"do": "reset"}, [])
    assert (form.answers, p.committed, "<form" in form.content, len(view.children)) == (
        {},
        False,
        True,
        1,
    )
    assert player.comm is title.comm is None
    p.commit([1, "no", "it runs to its end"])
    assert "All 3 right." in form.content
    view.close()
    assert form.comm is None
    assert p.live() is not view


def test_what_cannot_be_read_is_known_before_the_commit() -> None:
    """With `about 3` in a row, "You can commit" was said, and the commit refused."""
    p = predict(CLONE, [value("a"), is_leaf("b"), names_that("is_leaf", "a", "b")])
    form = p.live().form
    for given, readable in (("about 3", False), ("3", True), ("  ", True), ("[1, 2", False)):
        form.answers = {"value(a)": given, "is_leaf(b)": "yes"}
        sentence = f"Row 1: “{given}” cannot be read. Write it as {p.questions[0].answer_format}."
        unreadable = {} if readable else {"value(a)": sentence}
        assert form.checked == {"answers": form.answers, "unreadable": unreadable}
    form.answers = {"value(a)": "about 3", p.questions[2].name: "all"}
    assert list(form.checked["unreadable"]) == ["value(a)"], "all means both names"
    form.answers = {p.questions[2].name: "c"}
    assert "Row 3: “c” cannot be read." in form.checked["unreadable"][p.questions[2].name]
    assert p.reveal is None


def test_a_question_that_fails_is_said_and_loses_nothing() -> None:
    p = predict(CLONE, [Question("?", None, lambda _: 1 // 0, name="q")])
    form = p.live().form
    form.answers = {"q": "1"}
    p.live().commit()
    assert (
        form.problem
        == "These answers could not be judged. ZeroDivisionError: integer division or modulo by zero"
    )
    assert form.answers == {"q": "1"}


def test_the_script_is_small_and_asks_for_nothing() -> None:
    from copylab.ui.theme import panel_style_sheet, read_web_files

    both = read_web_files("quiz/predict.js") + panel_style_sheet("quiz/predict.css")
    assert len(read_web_files("quiz/predict.js").encode()) < 25_000
    for forbidden in ("http:", "https:", "import(", "eval(", "@import", "url("):
        assert forbidden not in both


def test_the_wrong_rows_again_keeps_the_right_ones(engine: ModuleType) -> None:
    p = predict(CLONE, [value("a"), is_leaf("b"), gradient("a")], engine=engine)
    p.retry()
    assert p.answers == {}
    p.commit([1, "yes", 5])
    p.retry()
    assert (p.committed, p.reveal) == (False, None)
    assert p.answers == {"value(a)": "1", "gradient(a)": "5"}
    reveal = p.commit({**p.answers, "is_leaf(b)": "no"})
    assert [row.refutation for row in reveal.rows] == [None] * 3


def test_a_right_row_says_why_a_gradient_is_wrong() -> None:
    spoiled = (
        "x = torch.tensor([2.0], requires_grad=True)\n"
        "y = x * x\nx.data.fill_(5.0)\ny.sum().backward()"
    )
    (reason,) = predict(spoiled, [gradient("x")]).commit([[10]]).rows[0].sentences
    assert "`MulBackward0` saved its second input (`x`) on line 2" in reason
    assert "changed afterwards on line 3" in reason
    assert "Way out" not in reason
    right = predict(spoiled.replace(".data.fill_(5.0)", ".size()"), [gradient("x")]).commit([[4]])
    assert right.rows[0].sentences == ["`x.grad`: [4] after line 4 (`y.sum().backward()`)."]


def test_names_of_one_tensor_are_not_shown_as_an_assignment(engine: ModuleType) -> None:
    run = predict(
        "x = torch.ones(2)\ny = x\nz = x.view(2)\nw = x + 1", [count("tensors")], engine=engine
    ).run()
    said = " ".join(
        describe_count(run, kind, at=None) for kind in ("tensors", "storages", "counters")
    )
    assert "3 tensors: `x`/`y` (line 1); `z` (line 3); `w` (line 4)." in said
    assert "2 storages: that of `x`/`y` and `z` (line 1); that of `w` (line 4)." in said
    assert "2 counters: that of `x`/`y` and `z` (line 1); that of `w` (line 4)." in said


def test_answers_are_foreseen_where_the_first_gradient_is_nan(engine: ModuleType) -> None:
    # nan is not equal to itself, so it was taken for a second gradient after another one.
    spoiled = "x = torch.tensor(2.0, requires_grad=True)\n(x * float('nan')).backward()"
    checked = predict(spoiled, [value("x")], engine=engine).verify()
    assert "FAULT" not in str(checked)


def test_each_name_of_a_tensor_is_code_and_what_joins_them_is_not(engine: ModuleType) -> None:
    run = predict("x = torch.ones(2)\ny = x\nz = x[1:]", [version("z")], engine=engine).run()
    assert "counts for `x`/`y` as well" in describe_version(run, "z", at=None)
    assert "`x`/`y`, over the same memory, begins at cell 0" in describe_offset(run, "z", at=None)


def test_a_counter_that_is_not_shared_is_not_put_down_to_shared_memory() -> None:
    """A shared counter, claimed right below a row that denies shared memory."""
    reveal = predict(CLONE, [same_storage("a", "b"), same_counter("a", "b")]).commit(["no", "yes"])
    assert reveal.misconceptions == ()
    assert "A tensor that is made with a new storage gets a new version counter" in reveal.text


def test_the_memory_is_that_of_the_program_that_was_answered_wrongly() -> None:
    """Below verdicts on four programs there was the memory of the one that none of them asks about."""
    right = ["the right gradient", "a wrong gradient", "the right gradient", "an error"]
    for number, numbers in [(None, "0: 1.0, 1: 2.0"), (2, "0: 0.0, 1: 0.0"), (4, "0: 0.0, 1: 0.0")]:
        answers = [
            ("an error" if at == 2 else "a wrong gradient") if at == number else answer
            for at, answer in enumerate(right, 1)
        ]
        writes.reset()
        text = writes.commit(answers).text
        lead = f"program of row {number}" if number else "unchanged program"
        below = text.partition(f"At the end of the {lead}:")[2]
        assert numbers in next(line for line in below.splitlines() if "cells: " in line), text
    writes.reset()


def test_a_wrong_row_on_the_program_as_it_stands_shows_its_memory() -> None:
    ways.reset()
    text = ways.commit(["b", "yes", "b", "yes", "b", "no", "b"]).text
    assert "At the end of the unchanged program:" in text
    ways.reset()


def test_the_cause_of_an_error_is_a_paragraph_and_its_words_are_another(engine: ModuleType) -> None:
    """Cause, way out and PyTorch's words were one paragraph of eight lines."""
    prediction = Prediction(
        "w = torch.ones(1, requires_grad=True)\nz = w * w\nwith torch.no_grad():\n    w += 1\nz.backward()",
        [outcome()],
    )
    run = prediction.run(engine)
    (row,) = judge_answers(prediction.questions, ["line 4 raises an error"], run)
    cause, way_out, words, *_ = row.sentences
    assert cause.startswith("Line 5 raises an error. `MulBackward0` saved")
    assert way_out.startswith("Way out: ")
    assert words.startswith("The error says: `RuntimeError")
    page = make_row_table([row]).html()
    assert "</p><p>Way out: " in page
    assert "</p><p>The error says: " in page


def test_of_another_shape_the_right_numbers_are_said_first(engine: ModuleType) -> None:
    prediction = Prediction("a = torch.tensor([[3, 3], [3, 4]])", [value("a")])
    run = prediction.run(engine)
    for answer, first in (
        (
            "[3, 3, 3, 4]",
            "The numbers are right, but the shape is not: `a` has the shape `(2, 2)`.",
        ),
        ("[3, 3, 3, 5]", "`a`: [[3, 3], [3, 4]]"),
    ):
        (row,) = judge_answers(prediction.questions, [answer], run)
        assert row.sentences[0].startswith(first)
