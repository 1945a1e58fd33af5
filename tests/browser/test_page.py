"""A prediction on a page without a kernel: filled in by keyboard, it reads answers as Python does, and refutes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.conftest import Watched
from copylab import predict
from copylab.lessons.assignment import written
from copylab.lessons.clone import joined
from copylab.lessons.clone_detach import orders
from copylab.lessons.data import past
from copylab.lessons.start import bet
from copylab.lessons.view_reshape import shapes
from copylab.questions import same_counter, same_storage, same_tensor, value
from copylab.quiz.answers import format_answer, has_tolerance
from copylab.quiz.prediction import Prediction, Retest
from copylab.quiz.reveal import Reveal
from copylab.quiz.standalone import _to_json, render_standalone
from copylab.ui.theme import read_web_files
from playwright.sync_api import Locator, expect
from written import KNOWN, MEANT, READ

import tinytorch

pytestmark = pytest.mark.browser

ELEVEN = Prediction(
    joined.code,
    [
        *(ask("a", "b") for ask in (same_tensor, same_storage, same_counter)),
        *joined.questions,
        *(value("a"), value("b")),
    ],
    engine=tinytorch,
)
# Two rows with the same facts: after line 3 no line changed what both ask for.
_IS_COPY: dict[Any, Any] = {"[1, 2]": "a name is a copy"}
FOLLOWED = predict(
    written.code, [value("best", at=3, wrong=_IS_COPY), value("best", wrong=_IS_COPY), value("w")]
)
JUDGE = "cases => cases.map(([given, row]) => [isSameAnswer(given, row.right, row), isReadable(given, row)])"


def row(right: Any) -> dict[str, Any]:
    """What a page knows of a row with this answer."""
    kind = (
        "names" if isinstance(right, frozenset) else "text" if isinstance(right, str) else "value"
    )
    plain = _to_json(right)
    return {
        "kind": kind,
        "right": plain,
        "isDecimal": has_tolerance(right),
        "names": sorted({*KNOWN, *plain} if kind == "names" else ()),
    }


def test_answers_are_read_as_python_reads_them(watched: Watched) -> None:
    # The types of free answers: not what is chosen from a menu.
    here = (
        str,
        int,
        float,
        list,
        frozenset,
        type(None),
    )
    ask = [one for one in MEANT if isinstance(one[0], str) and type(one[1]) in here]
    watched.page.add_script_tag(
        content="function render() {}\n" + read_web_files("quiz/standalone.js")
    )
    judged = watched.page.evaluate(
        JUDGE, [(given, row(right)) for given, right, _ in [*ask, *READ]]
    )
    for (given, right, fits), (same, _) in zip(ask, judged, strict=False):
        assert same is fits, (given, right)
    for (given, right, can), (_, readable) in zip(READ, judged[len(ask) :], strict=True):
        assert readable is can, (given, right)


@pytest.mark.parametrize(
    ("prediction", "hint"),
    [(past, "Row 5 says which write did that."), (FOLLOWED, "Row 1 says why.")],
)
@pytest.mark.parametrize("is_right", [True, False])
def test_what_two_rows_could_say_is_said_once(
    prediction: Prediction, hint: str, is_right: bool, watched: Watched, tmp_path: Path
) -> None:
    """How a run ended and the gradients of its leaves have facts that end in the same sentence.

    What a tensor shows after a line has the facts of what it shows at the end, if nothing changed.
    """
    show_page(prediction, watched, tmp_path)
    asked = Prediction(prediction.code, prediction.questions, engine=tinytorch)
    run = asked.run()
    answers = [format_answer(question.right_answer(run)) for question in asked.questions]
    if not is_right:
        answers = ["[3, 4]" if answer == "[2, 3]" else answer for answer in answers]
    fill_in(watched.page.locator("form"), answers)
    said = read_sentences(watched.page.locator(".cl-reveal"))
    assert said == say(asked.commit(answers))
    assert sum(hint in each for each in said) == 1


def show_page(prediction: Prediction, watched: Watched, folder: Path) -> None:
    """Show a prediction on a page without a kernel, and wait for its form."""
    stored = f'<div class="copylab-twin">{prediction.live().html}</div>'
    (folder / "page.html").write_text(
        f'<!doctype html><html lang="en"><title>t</title><main>{stored}', "utf-8"
    )
    watched.page.goto((folder / "page.html").as_uri())
    count = len(prediction.questions)
    expect(watched.page.get_by_text(f"0 of {count} rows filled in")).to_be_visible()


@pytest.mark.parametrize(
    ("prediction", "answers"),
    [
        (past, ["yes", "no", "no", "0", "line 5 raises an error", "[0.197, 0.105, 0.045]"]),
        (past, ["no", "yes", "yes", "1", "it runs to its end", "[0.197, 0.105, 0.045]"]),
        (joined, ["none", "no", "no", "2", "5", "None"]),
        (joined, ["none", "no", "no", "2", "2", "None"]),
        (shapes, ["no", "no", "yes", "2", "[1, 2, 3, 4]", "[1, 3, 2, 4]", "0"]),
        (orders, ["CloneBackward0", "yes", "yes", "yes", "[1, 2]", "1"]),
        (orders, ["CloneBackward0", "yes", "no", "yes", "[1, 2]", "1"]),
    ],
)
def test_a_belief_that_another_answer_denies_is_left_out(
    prediction: Prediction, answers: list[str], watched: Watched, tmp_path: Path
) -> None:
    """On a page as in the kernel: what a row says depends on the answers to the others."""
    show_page(prediction, watched, tmp_path)
    asked = Prediction(prediction.code, prediction.questions, engine=tinytorch)
    fill_in(watched.page.locator("form"), answers)
    table = watched.page.locator(".cl-reveal")
    reveal = asked.commit(answers)
    assert read_sentences(table) == say(reveal)
    tested = [row.misconception_to_retest for row in reveal.rows]
    buttons = table.get_by_role("button", name="Try it on a new program")
    expect(buttons).to_have_count(len([one for one in tested if one is not None]))


def test_the_player_of_a_prediction_may_go_round_by_round_at_first(
    watched: Watched, tmp_path: Path
) -> None:
    """27 steps, of which many say that no tensor changed, come in five stops."""
    (tmp_path / "page.html").write_text(
        f'<!doctype html><html lang="en"><title>t</title><main>{bet.steps().html}', "utf-8"
    )
    watched.page.goto((tmp_path / "page.html").as_uri())
    player = watched.page.locator(".cl-player")
    way = player.get_by_label("Loop on line 3")
    expect(way).to_have_value("rounds")
    player.focus()
    for step in (1, 2, 11, 20, 27):
        expect(player).to_have_attribute("data-step", str(step))
        watched.page.keyboard.press("ArrowRight")
    watched.page.keyboard.press("Home")
    way.select_option("every line")
    player.focus()
    for step in (1, 2, 3, 4):
        expect(player).to_have_attribute("data-step", str(step))
        watched.page.keyboard.press("ArrowRight")


def test_a_lesson_is_predicted_without_a_kernel(watched: Watched, tmp_path: Path) -> None:
    stored = f'<div class="copylab-twin">{ELEVEN.live().html}</div>'
    (tmp_path / "page.html").write_text(
        f'<!doctype html><html lang="en"><title>t</title><main>{stored}', "utf-8"
    )
    view = watched.page
    view.goto((tmp_path / "page.html").as_uri())
    expect(view.get_by_text("0 of 11 rows filled in")).to_be_visible()
    view.get_by_label("Are a and b the same tensor?").focus()
    for given in (
        "no",
        "yes",
        "no",
        "CloneBackward",
        "no",
        "yes",
        "2",
        "three;",
        "None",
        "1",
        "<b>1",
    ):
        view.keyboard.type(given)
        view.keyboard.press("Tab")
    view.get_by_role("button", name="Commit").press("Enter")
    expect(view.get_by_role("alert")).to_contain_text("Row 8: “three;” cannot be read")
    view.get_by_label("After line 6: what is a.grad?").fill("5.")
    view.get_by_label("What is b?").fill("tensor(1.)")
    view.keyboard.press("Enter")
    expect(view.locator(".cl-headline")).to_have_text("10 of 11 right.")
    expect(view.locator(".cl-headline")).to_be_focused()
    expect(view.locator(".cl-against")).to_have_count(1)
    results = Axe().run(view, ".cl-predict")
    assert results.violations_count == 0, results.generate_report()
    view.get_by_role("button", name="The wrong rows again").click()
    expect(view.get_by_text("10 of 11 rows filled in")).to_be_visible()
    expect(view.get_by_label("What is b?")).to_have_value("tensor(1.)")
    expect(view.get_by_label("Do a and b share a storage?")).to_be_focused()
    expect(view.get_by_role("alert")).to_be_hidden()
    view.keyboard.type("no")
    view.get_by_role("button", name="Commit").press("Enter")
    expect(view.locator(".cl-headline")).to_have_text("All 11 right.")
    expect(view.get_by_role("button", name="The wrong rows again")).to_have_count(0)
    view.get_by_role("button", name="Start again").click()
    expect(view.get_by_text("0 of 11 rows filled in")).to_be_visible()

    # The page says what the kernel says, of right rows and wrong ones, and asks the same again.
    answers = ["yes", "yes", "yes", "none", "no", "yes", "2", "3", "7", "2", "2"]
    fill_in(view.locator("form"), answers)
    asked = Prediction(ELEVEN.code, ELEVEN.questions, engine=tinytorch)
    assert read_sentences(view.locator(".cl-reveal")) == say(asked.commit(answers))
    names = [] if asked.reveal is None else [*asked.find_testable_misconceptions()]
    buttons = view.get_by_role("button", name="Try it on a new program")
    assert [one.get_attribute("data-misconception") for one in buttons.all()] == names
    for number in (1, 2, 1):
        buttons.nth(number).click()
    again = view.locator(".cl-retest")
    expect(again).to_have_count(2)
    expect(again.first.locator("select, input")).to_be_focused()
    for place, name, is_right in zip(again.all(), names[1:], (False, True), strict=False):
        retest = Retest(name, seed=0, number=0, engine=tinytorch)
        (question,) = retest.questions
        right = format_answer(question.right_answer(retest.run()))
        expect(place.locator("pre").first).to_contain_text(retest.code.splitlines()[-1])
        given = right if is_right else next(iter(question.wrong))
        fill_in(place, [given])
        reveal = retest.commit([given])
        expect(place.locator(".cl-headline")).to_have_text(reveal.headline)
        more = [] if is_right else ["A new program on this point needs Python: run the cell."]
        assert read_sentences(place.locator(".cl-reveal")) == say(reveal) + more
        expect(place.get_by_role("button")).to_have_count(0)
    assert "that settles it" not in again.last.inner_text(), "a page notes nothing"
    results = Axe().run(view, "main")
    assert results.violations_count == 0, results.generate_report()
    view.get_by_role("button", name="Start again").click()
    expect(again).to_have_count(0)


def fill_in(form: Locator, answers: list[str]) -> None:
    for field, answer in zip(form.locator("select, input").all(), answers, strict=True):
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(answer)
        else:
            field.fill(answer)
    form.get_by_role("button", name="Commit").click()


def read_sentences(table: Locator) -> list[str]:
    """The sentences below the rows of a table, right and wrong."""
    return [" ".join(one.split()) for one in table.locator("td[colspan] p").all_inner_texts()]


def say(reveal: Reveal) -> list[str]:
    """The same sentences as the kernel has them."""
    return [one.replace("`", "").replace("**", "") for row in reveal.rows for one in row.sentences]


def test_the_program_stays_in_view_and_covers_no_button(watched: Watched, tmp_path: Path) -> None:
    asked = predict("x = torch.ones(2)\ny = x.view(2)\ny[0] = 5")
    (tmp_path / "page.html").write_text(
        f"<!doctype html><title>t</title><main>{render_standalone(asked, tinytorch)}"
        "<p style='height: 2000px'>More.",
        "utf-8",
    )
    view = watched.page
    view.goto((tmp_path / "page.html").as_uri())
    view.locator("form :is(select, input)").last.focus()
    view.evaluate(
        "scrollTo(0, document.querySelector('.cl-commit').getBoundingClientRect().top - 60)"
    )
    box = view.locator(".cl-program").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] > 0, "the program has left"
    at_button = "document.querySelector('.cl-commit')"
    assert view.evaluate(
        f"""(() => {{
            const {{ left, top, width, height }} = {at_button}.getBoundingClientRect();
            return document.elementFromPoint(left + width / 2, top + height / 2) === {at_button};
        }})()"""
    )


def test_what_is_written_runs_nothing(watched: Watched, tmp_path: Path) -> None:
    asked = predict("x = torch.ones(2)\ny = x.view(2)")
    (tmp_path / "page.html").write_text(
        f"<!doctype html><title>t</title><main>{render_standalone(asked, tinytorch)}", "utf-8"
    )
    view = watched.page
    view.goto((tmp_path / "page.html").as_uri())
    for menu in view.locator("select").all():
        menu.select_option(index=1)
    for field in view.locator("input").all():
        field.fill("'<img src=x onerror=document.title=1>'")
    view.get_by_role("button", name="Commit").click()
    expect(view.locator(".cl-headline, .cl-problem:not([hidden])")).to_have_count(1)
    assert view.title() == "t"
