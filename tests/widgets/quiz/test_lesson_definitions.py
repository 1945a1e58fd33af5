"""Every prediction and exercise of the lessons, verified under both engines: what is wrong is noticed and refuted."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import copylab.lessons
import pytest
from copylab.quiz.answers import flatten_lists
from copylab.quiz.exercises import Exercise
from copylab.quiz.misconceptions import MISCONCEPTIONS, Misconception
from copylab.quiz.prediction import Prediction
from copylab.quiz.repetitions import point_to_earlier_facts
from copylab.quiz.retests import draw_retest
from copylab.quiz.wrong_answers import foresee_answers
from more_answers import MORE

import tinytorch

LESSONS = sorted(module.name for module in pkgutil.iter_modules(copylab.lessons.__path__))


def things(lesson: str) -> dict[str, Prediction | Exercise]:
    module = importlib.import_module(f"copylab.lessons.{lesson}")
    return {
        name: thing
        for name, thing in vars(module).items()
        if isinstance(thing, Prediction | Exercise)
    }


ALL = [
    pytest.param(lesson, name, id=f"{lesson}-{name}")
    for lesson in LESSONS
    for name in things(lesson)
]
engines = pytest.mark.parametrize(
    "engine", ["tinytorch", pytest.param("torch", marks=pytest.mark.torch)]
)


@pytest.fixture(autouse=True)
def _nothing_is_noted(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYLAB_PROGRESS", f"{tmp_path}/progress.json")


def list_verified() -> Iterator[Any]:
    """On PyTorch, exercises are verified in the long tests: here it judges three answers and more to each."""
    for lesson in LESSONS:
        for name, thing in things(lesson).items():
            yield pytest.param(lesson, name, "tinytorch", id=f"{lesson}-{name}-tinytorch")
            marks = [pytest.mark.torch]
            if isinstance(thing, Exercise):
                marks.append(pytest.mark.stress)
            yield pytest.param(lesson, name, "torch", id=f"{lesson}-{name}-torch", marks=marks)


@pytest.mark.parametrize(("lesson", "name", "engine"), list(list_verified()))
def test_it_is_verified(lesson: str, name: str, engine: str) -> None:
    found = things(lesson)[name].verify(importlib.import_module(engine))
    assert found, str(found)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_foreseen_wrong_answer_has_a_reason_of_its_own(lesson: str) -> None:
    """A belief or a sentence: the facts of a question are the same against all of its answers."""
    asked = []
    for prediction in things(lesson).values():
        if isinstance(prediction, Prediction):
            asked += [(prediction.run(tinytorch), question) for question in prediction.questions]
    for known in MISCONCEPTIONS.values() if lesson == LESSONS[0] else ():
        asked += [draw_retest(known, tinytorch, seed=0, number=number) for number in range(3)]
    for run, question in asked:
        if question.find_objection is None and question.find_misconception is None:
            continue  # an author's own, of which nothing is known but its answer
        right = question.right_answer(run)
        for answer in question.bound_choices or foresee_answers(run):
            if question.is_readable(answer, right, run) and not question.is_right(answer, right):
                assert question.refute(run, answer).argument, (run.code, question.name, answer)


def test_a_hint_has_the_form_of_numbers_in_rows() -> None:
    """Whether they are in rows is seen in the program; a hint without may be taken for the form."""
    in_rows = []
    for lesson in LESSONS:
        for prediction in things(lesson).values():
            if isinstance(prediction, Prediction):
                run = prediction.run(tinytorch)
                for question in prediction.questions:
                    answer = question.right_answer(run)
                    if isinstance(answer, list) and isinstance(answer[0], list):
                        in_rows.append(question.answer_format)
    assert in_rows
    assert all("[[" in hint for hint in in_rows), in_rows


def test_a_hint_says_how_many_decimals_will_do() -> None:
    """Of a number with more than two: who wrote one had to try how many are asked for."""
    hints = {True: set[str](), False: set[str]()}
    for lesson in LESSONS:
        for prediction in things(lesson).values():
            if not isinstance(prediction, Prediction):
                continue
            for question in prediction.questions:
                right = question.right_answer(prediction.run(tinytorch))
                has_more = any(
                    isinstance(number, float) and abs(number - round(number, 2)) > 1e-6
                    for number in flatten_lists(right)
                )
                hints[has_more].add(question.answer_format)
    assert hints[True]
    assert all("two decimals will do" in hint for hint in hints[True]), hints[True]
    assert not any("decimals" in hint for hint in hints[False]), "none is looked for in vain"


def test_every_task_of_a_lesson_has_a_title_of_its_own() -> None:
    titles = [
        thing.title
        for lesson in LESSONS
        for thing in things(lesson).values()
        if isinstance(thing, Prediction)
    ]
    assert len(set(titles)) == len(titles) > 15
    assert "Prediction" not in titles


CALL = ".backward()"


@pytest.mark.parametrize("key", sorted(MORE))
def test_a_graph_that_is_kept_is_no_fault_where_the_task_allows_it(key: str) -> None:
    exercise = EXERCISES[key]
    # Other answers are judged in the tests below.
    answers = [code for code in (exercise.code, *exercise.also, *MORE[key][0]) if CALL in code]
    for code in answers:
        kept = code.replace(CALL, ".backward(retain_graph=True)")
        verdict = exercise.judge_cell(f"{exercise.start}\n{kept}", tinytorch)
        is_forbidden = key in ("clinic/state", "stop_gradient/hidden")
        assert verdict or (is_forbidden and "retain_graph" in verdict.says), verdict


@pytest.mark.parametrize("key", sorted(MORE))
def test_what_is_said_to_an_answer_has_its_code_in_code_type(key: str) -> None:
    """Names are in backticks, and so are lists; the first letter after the colon is a small one."""
    exercise = EXERCISES[key]
    for code in (exercise.code, *exercise.wrong):
        verdict = exercise.judge_cell(f"{exercise.start}\n{code}", tinytorch)
        outside = re.sub("`[^`]+`", "", verdict.says)
        # Longer names are words of English, too, as `a` is; but not before such a verb.
        letters = "".join({name for name in exercise.names if len(name) == 1} - {"a"}) or "_"
        assert not re.search(rf"\b[{letters}]\b|[a-zA-Z]\._?[a-zA-Z]|\[|`", outside), verdict
        verbs = "is|has|shows|requires|looks|holds|still"
        assert not re.match(rf"({'|'.join(exercise.names)}) ({verbs}) ", outside), verdict
        assert not re.match("[A-Z][a-z]* ", verdict.says), verdict


# What a belief is about: without it in the program, or with that answer, nobody has shown it.
ABOUT = {
    "a view is a copy": (r"\w\[|\.view\(|reshape|expand", r".*"),
    "the graph has the gradient": (r"requires_grad", r"(?!None).*"),
    "detach copies": (r"detach", r".*"),
    "reshape is a copy": (r"reshape", r".*"),
    "clone cuts the graph": (r"clone", r".*"),
    "new_tensor keeps the history": (r"new_tensor", r".*"),
}


def test_a_belief_fits_the_program_and_the_answer() -> None:
    for lesson in LESSONS:
        for thing in things(lesson).values():
            for question in thing.questions if isinstance(thing, Prediction) else ():
                for answer, belief in question.wrong.items():
                    program, given = ABOUT.get(str(belief), ("", ".*"))
                    # A row may put a line of its own into the program.
                    code = f"{thing.code}\n{question.text}"
                    assert re.search(program, code), (thing.key, question.text, belief)
                    assert re.fullmatch(given, str(answer)), (thing.key, question.text, belief)


def find_strange_names(belief: str) -> set[str]:
    """Names of variables that no other code in a belief shows: a retest has variables of its own."""
    names = set(re.findall(r"`([a-z])`", belief))
    code = " ".join(quoted for quoted in re.findall(r"`([^`]+)`", belief) if len(quoted) > 1)
    return names - set(re.findall(r"\b[a-z]\b", code))


def test_a_belief_names_no_variable_of_one_program() -> None:
    assert find_strange_names("`z` was computed from `y.detach()`.") == {"z"}
    lessons = [importlib.import_module(f"copylab.lessons.{lesson}") for lesson in LESSONS]
    own = [entry for lesson in lessons for entry in vars(lesson).values()]
    beliefs = [
        entry.belief
        for entry in [*MISCONCEPTIONS.values(), *own]
        if isinstance(entry, Misconception)
    ]
    assert len(beliefs) > len(MISCONCEPTIONS)
    assert [belief for belief in beliefs if find_strange_names(belief)] == []


EXERCISES = {
    t.key: t for lesson in LESSONS for t in things(lesson).values() if isinstance(t, Exercise)
}


@engines
@pytest.mark.parametrize("key", EXERCISES)
def test_answers_get_what_they_deserve(key: str, engine: str) -> None:
    module, exercise = importlib.import_module(engine), EXERCISES[key]
    right, dangerous = MORE[key]
    assert len(right) >= 3
    assert len(dangerous) >= 3
    faults: list[str] = []
    for code in right:
        verdict = exercise._judge_attempt(code, module, faults)
        assert verdict, f"{code!r} is right, and gets: {verdict}"
    for code, says in dangerous.items():
        verdict = exercise._judge_attempt(code, module, faults)
        assert not verdict, f"{code!r} is dangerous, and gets: {verdict}"
        assert says.replace("`", "") in verdict.says.replace("`", ""), code
    assert not faults, "a check changes what it looks at"


@pytest.mark.parametrize(("lesson", "name"), ALL)
def test_it_has_what_a_lesson_needs(lesson: str, name: str) -> None:
    thing = things(lesson)[name]
    part, _, rest = (thing.key or "").partition("/")
    assert lesson.startswith(part), thing.key
    assert rest, "a key has two parts"
    if isinstance(thing, Exercise):
        assert len(thing.hints) >= 2, "staged hints"
        assert len(thing.wrong) >= 3, "listed wrong answers"
        assert thing.solution.__doc__
        assert thing.code.strip()
    else:
        assert len(thing.questions) >= 2
        assert any(question.wrong or question.find_misconception for question in thing.questions)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("lesson", "name"),
    [p for p in ALL if isinstance(things(str(p.values[0]))[str(p.values[1])], Prediction)],
)
def test_the_reveal_reads_the_same_under_both_engines(lesson: str, name: str) -> None:
    prediction = things(lesson)[name]
    assert isinstance(prediction, Prediction)
    assert reveal(prediction, importlib.import_module("tinytorch")) == reveal(
        prediction, importlib.import_module("torch")
    )


def reveal(prediction: Prediction, engine: ModuleType) -> str:
    """What a learner reads who has every row wrong, as far as the choices allow."""
    fresh = Prediction(prediction.code, prediction.questions, engine=engine)
    run = fresh.run()
    answers = []
    for question in fresh.questions:
        right = question.right_answer(run)
        listed = [*map(str, question.wrong), *(question.choices or ())]  # type: ignore[misc]
        if question.choices is None:
            said = ["something else", "-77", "none", *run.moment().values]
            listed += [one for one in said if question.is_readable(one, right, run)]
        answers.append(
            next(
                answer
                for answer in listed
                if not question.is_right(question.normalize_answer(answer), right)
            )
        )
    return fresh.commit(answers).text


def test_keys_are_told_apart() -> None:
    keys = [thing.key for lesson in LESSONS for thing in things(lesson).values()]
    assert len(keys) == len(set(keys))
    assert all(keys)


def test_misconceptions_are_met() -> None:
    met = set()
    for lesson in LESSONS:
        for thing in things(lesson).values():
            if isinstance(thing, Prediction):
                for question in thing.questions:
                    met |= {wrong for wrong in question.wrong.values() if isinstance(wrong, str)}
    assert len(met & set(MISCONCEPTIONS)) >= 12


@pytest.mark.parametrize(
    ("lesson", "name", "before", "after", "remark"),
    [
        ("clone", "both", "a.clone()", "a * 1", "write `clone`, which says so."),
        ("clone", "both", "a.clone()", "a.clone()", ""),
        # No copy is made, where each reading is a result of its own: another sensor than the task's.
        (
            "clone",
            "readings",
            "reading += 1\n    kept.append(reading.clone())",
            "reading = reading + 1\n    kept.append(reading)",
            "If it writes into the same one, as in the task, each reading has to be copied.",
        ),
        (
            "clinic_gradients",
            "hidden_state",
            "state.detach()",
            "state.data",
            "`.data` passes here. It has a version counter of its own",
        ),
        (
            "clinic_gradients",
            "optimizer",
            "with torch.no_grad():\n    model.weight.fill_(4.0)",
            "model.weight.data = torch.full((1, 1), 4.0)",
            "The write through `.data` does no harm here",
        ),
        (
            "clinic_gradients",
            "optimizer",
            "with torch.no_grad():\n    model.weight.fill_(4.0)",
            "model.weight.data[0] = 4.0",
            "The write through `.data` does no harm here",
        ),
        ("data", "counted", "out.detach()", "out.data", ""),
        (
            "data",
            "counted",
            "out.detach().clone()",
            "torch.tensor(out)",
            "`torch.tensor(out)` copies, and warns: `out.detach().clone()` does the same",
        ),
        (
            "clinic_gradients",
            "running_loss",
            "loss.backward()",
            "loss.backward(retain_graph=True)",
            "The program runs without `retain_graph=True`, too",
        ),
        (
            "clinic_gradients",
            "hidden_state",
            "state.backward()",
            "state.backward(retain_graph=True)",
            "The program runs without `retain_graph=True`, too",
        ),
    ],
)
def test_a_right_answer_is_told_what_it_does_not_say(
    lesson: str, name: str, before: str, after: str, remark: str, engine: ModuleType
) -> None:
    asked = getattr(importlib.import_module(f"copylab.lessons.{lesson}"), name)
    assert before in asked.code
    verdict = asked._judge_attempt(asked.code.replace(before, after), engine, [])
    assert verdict.state == "right"
    assert remark in verdict.says
    remarks = ("write `clone`", "`.data`", "as in the task", "copies, and warns", "runs without")
    assert any(part in verdict.says for part in remarks) == bool(remark)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_prediction_has_few_rows(lesson: str) -> None:
    """Of nine rows, the code was read anew for each from the sixth on."""
    for name, thing in things(lesson).items():
        if isinstance(thing, Prediction):
            assert len(thing.questions) <= 7, name


_NUMBERS = r"\[?[-0-9., \[\]]+\]?"
_RESTATEMENTS = [
    r"`\S+` and `\S+` (have a (storage|version counter) each|look at one storage)\.",
    r"One version counter counts for `\S+` and `\S+`\.",
    r"`\S+ is \S+` gives (True|False): they are [a-z ,]+\.",
    r"`\S+\.requires_grad` is (True|False)\.",
    r"`\S+\.grad_fn` is \w+\.",
    rf"(`\S+` is {_NUMBERS}\. ?)+",
    r"\d+ (name|tensor|storage|counter)s?: [^()]*\.",
    r"`\S+` is a tensor of the dtype `\S+`\.",
    r"(As it|With) [^:]*, `\S+` is [^:]*\.",
    r"There are \d+ nodes [^:]*\.",
    r"No line raised an error\.",
]
"""Sentences that say the right answer in other words, and not where it comes from."""


def restates_answer(text: str) -> bool:
    return any(re.fullmatch(pattern, text) for pattern in _RESTATEMENTS)


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_right_row_says_why(lesson: str) -> None:
    for name, thing in things(lesson).items():
        if not isinstance(thing, Prediction):
            continue
        run = thing.run()
        for question in point_to_earlier_facts(thing.questions, run):
            text = " ".join(question.explain_right(run))
            assert text, (name, question.text)
            assert not restates_answer(text), (name, question.text, text)


@pytest.mark.parametrize(
    "text",
    [
        "`a` and `b` have a storage each.",
        "`x` and `v` look at one storage.",
        "One version counter counts for `b` and `d`.",
        "`b is a` gives False: they are two tensors.",
        "`d.requires_grad` is False.",
        "`x` is [1, 50, 3]. `w` is [2, 4, 6].",
        "2 storages: that of `x` and `z`; that of `w`.",
        "As it stands, `a.grad` is 3, and `b.grad` is 2.",
        "With line 3 inside `no_grad`, `y.grad_fn` is None.",
        "There are 4 nodes before line 4, and 5 after it.",
    ],
)
def test_what_restates_is_noticed(text: str) -> None:
    assert restates_answer(text)
