"""A prediction on a page without a kernel: what the page knows, and that it does not show it."""

from __future__ import annotations

import base64
import importlib
import json
import re
from pathlib import Path
from typing import Any

import copylab.lessons
import pytest
from copylab import Prediction, predict
from copylab.doc import inline_html
from copylab.questions import same_storage, value
from copylab.quiz.answers import is_same_answer
from copylab.quiz.standalone import render_standalone
from copylab.ui import read_web_files

import tinytorch

LESSONS = [path.stem for path in sorted(Path(copylab.lessons.__file__).parent.glob("[a-z]*.py"))]
CODE = "x = torch.tensor([1.0, 2.0])\ny = x.clone()\ny += 1"


def read_page_data(html: str) -> dict[str, Any]:
    """Return what travels in a page."""
    found = re.search(r'data-prediction="([^"]+)"', html)
    assert found
    return dict(json.loads(base64.b64decode(found[1])))


def test_the_page_knows_what_the_run_says_and_does_not_show_it() -> None:
    prediction = predict(
        CODE,
        [
            same_storage("x", "y"),
            value("y", wrong={"[1, 2]": "a copy shares memory"}),
            value("x"),
        ],
    )
    html = render_standalone(prediction, tinytorch)
    first, second, third = read_page_data(html)["rows"]
    texts = read_page_data(html)["sentences"]
    assert (
        first["choices"],
        first["right"],
        [given for (given,), *_ in first["refutations"]],
    ) == (
        True,
        "no",
        ["yes"],
    )
    assert (second["kind"], second["right"], second["isDecimal"]) == ("value", [2.0, 3.0], True)
    assert "A write into a copy shows" in " ".join(
        texts[index] for index in second["refutations"][0][1]
    )
    assert second["facts"]
    # Not listed, and foreseen: `x` would show the numbers of `y` if the two shared memory.
    (((answer,), against, belief, again),) = [
        each for each in third["refutations"] if len(each) > 2
    ]
    assert (answer, against[1:]) == ("[2, 3]", second["refutations"][0][1][1:])
    assert belief == "a copy shares memory"
    assert "The same misconception again" in texts[again[-1]]
    assert "[1, 2] after line 1" in texts[third["because"][0]]
    assert len(texts) == len(set(texts))
    shown = re.sub(r'data-prediction="[^"]+"', "", html)
    for secret in ("A write into a copy shows", "[2.0, 3.0]"):
        assert secret not in shown
    assert "Do not run it. Fill in every row" in shown  # without scripts it is the task


def test_a_name_of_a_node_may_lack_its_number() -> None:
    prediction = importlib.import_module("copylab.lessons.clone").joined
    question, run = prediction.questions[0], prediction.run(tinytorch)
    assert question.is_readable("CloneBackward", "CloneBackward0", run)
    assert not question.is_readable("yes", "CloneBackward0", run)
    assert is_same_answer("grad_fn=<CloneBackward>", "CloneBackward0")
    assert not is_same_answer("CloneBackward1", "CloneBackward0")
    (first, *others) = (question.right_answer(run) for question in prediction.questions)
    assert first == "CloneBackward0"
    for answer, says in (("CloneBackward", True), ("<CloneBackward0>", False)):
        reveal = predict(prediction.code, prediction.questions).commit([answer, *others])
        assert reveal.rows[0].is_right
        assert ("ends in a number: `CloneBackward0`." in str(reveal.rows[0].sentences)) is says
    row = read_page_data(render_standalone(prediction, tinytorch))["rows"][0]
    assert row["pattern"] == question.pattern


def test_it_is_neither_committed_nor_noted() -> None:
    prediction = predict(CODE)
    render_standalone(prediction, tinytorch)
    assert not prediction.committed
    assert not prediction.answers


def test_what_was_committed_is_in_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "IPython.display.publish_display_data", lambda bundle, **_: published.append(bundle)
    )
    prediction = predict(CODE, [same_storage("x", "y"), value("y")])
    view = prediction.live()
    view._ipython_display_()
    prediction.answers = {prediction.questions[0].name: "no"}
    assert len(published) == 2, "a letter that is typed stores nothing"
    prediction.commit(["no", [1, 2]])
    first, second = (question.name for question in prediction.questions)
    pages = [read_page_data(bundle["text/html"]) for bundle in published[1:]]
    assert [page["committed"] for page in pages] == [None, {first: "no", second: "[1, 2]"}]
    assert published[1]["text/plain"] == published[2]["text/plain"]
    prediction.reset()
    assert read_page_data(published[3]["text/html"])["committed"] is None
    view.close()
    prediction.commit(["no", [2, 3]])
    assert len(published) == 4, "a closed view is not followed"


def test_it_is_stored_before_the_reveal_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    prediction = predict(CODE, [same_storage("x", "y")])
    view = prediction.live()
    view._ipython_display_()
    # A notebook that is saved at the sight of the reveal must have it.
    seen_when_stored: list[bool] = []
    monkeypatch.setattr(
        "IPython.display.publish_display_data",
        lambda *_, **__: seen_when_stored.append("cl-headline" in view.form.content),
    )
    prediction.commit(["no"])
    assert seen_when_stored == [False]
    assert "cl-headline" in view.form.content
    view.close()


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_prediction_of_the_course_can_stand_on_a_page(lesson: str) -> None:
    definitions = vars(importlib.import_module(f"copylab.lessons.{lesson}"))
    for prediction in [item for item in definitions.values() if isinstance(item, Prediction)]:
        data = read_page_data(render_standalone(prediction, tinytorch))
        rows = data["rows"]
        assert data["revealed"].count("class='cl-wrong cl-number'") == len(rows)
        assert [row["name"] for row in rows] == [question.name for question in prediction.questions]
        for row, question in zip(rows, prediction.questions, strict=True):
            # Each choice has its words.
            refuted = [answer for answers, *_ in row["refutations"] for answer in answers]
            assert len(refuted) + 1 >= len(question.bound_choices)
            assert len(set(refuted)) == len(refuted)
            for _, against, *named in row["refutations"]:
                assert against
                assert not named or named[0] in data["retests"]


def test_what_a_notebook_stores_is_such_a_page_and_small() -> None:
    prediction = predict(CODE)
    stored = prediction.live().html
    assert stored == render_standalone(prediction)
    assert len(stored) < 51_000
    assert prediction.html in stored


def test_what_is_in_json_has_quotes_that_need_no_backslash() -> None:
    """Of a page of 51,000 characters five hundred were backslashes before them."""
    question = value("x", prompt="What is `x`, said “so”, \"so\" or 'so'?")
    stored = read_page_data(render_standalone(predict(CODE, [question])))
    for html in (stored["form"], stored["revealed"]):
        assert '"' not in "".join(re.findall(r"<[^>]*>", html))
        assert inline_html(question.text) in html, "the text itself is as it was"


def test_the_program_stays_in_view_and_is_wrapped_where_there_is_little_room() -> None:
    rules = read_web_files("quiz/predict.css")
    wide, _, narrow = rules.partition("@container (max-width:480px)")
    assert re.search(r"\.cl-program\{[^}]*position:sticky;", wide)
    assert ".cl-program:has(+ form:focus-within){top:0;" in wide
    # A box of JupyterLab's that scrolls would be what it sticks to.
    assert re.search(
        r"\.jp-OutputArea-output,\.widget-vbox\):has\(\.cl-predict\)\{overflow:visible", wide
    )
    assert re.search(r"\.cl-program pre\{[^}]*white-space:pre-wrap", narrow)


@pytest.mark.parametrize("code", ["while True:\n    x = 1", "y = 1"])
def test_what_cannot_be_judged_is_the_task_alone(code: str) -> None:
    prediction = predict(code, [value("x")])
    assert prediction.live().html == prediction.html
