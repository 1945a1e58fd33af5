"""Chinese and Korean: nothing of what a widget says is left in English, and pages and pictures say their language."""

import copy
import re
import sys
from collections.abc import Callable, Iterator
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

import copylab
import pytest
from copylab import course_folder
from copylab.course import cheatsheet
from copylab.course.command import main
from copylab.course.layout import lay_out
from copylab.lessons import beyond, clone, stop_gradient
from copylab.quiz.attempts import run_attempt
from copylab.ui.exhibit import Panel

import tinytorch
from tinytorch.viz import graph, memory
from tinytorch.viz.wording import catalogue, labels

CODE = (
    "x = torch.ones(2, requires_grad=True)\ny = x.exp()\nd = y.detach()\nd += 1\ny.sum().backward()"
)
LOOP = "x = torch.ones(2)\nfor k in range(3):\n    x += k\nprint(x)"
WRITING = LOOP + "\ntorch.rand(1)\nundefined"
QUOTED = (  # PyTorch's own words, and Python's: what follows is theirs as well
    "To copy construct from a tensor, it is recommended",
    "one of the variables needed for gradient computation has been modified by an inplace operation",
    "cannot resize variables that require grad",
    "Only Tensors created explicitly by the user (graph leaves)",
    "for k in range(3):",
    "wrong, and no error",
    "an error",
    "import copy",
)


@pytest.fixture(params=["zh", "ko"])
def language(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[str]:
    monkeypatch.setenv("COPYLAB_PROGRESS", str(tmp_path / "kept.json"))
    catalogue.set_language(request.param)
    yield request.param
    catalogue.set_language(None)


def english(page: str) -> set[str]:
    """English text in a page: words in a row that are neither code nor quoted from somebody else."""
    page = re.sub(r"<(script|style|code|pre)\b.*?</\1>", " § ", page, flags=re.DOTALL)
    texts = [
        *re.split(r"<[^>]+>", page),
        *re.findall(r'(?:aria-label|title|alt|placeholder)="([^"]*)"', page),
    ]
    found = set()
    for text in map(unescape, texts):
        for quoted in QUOTED:
            text = text.partition(quoted)[0]  # noqa: PLW2901
        found |= set(
            re.findall(
                r"[A-Za-z][a-z']+(?: [a-z']+)+", re.sub(r"requires grad|state dict", "§", text)
            )
        )
    return found


HALF_WIDTH = re.compile(
    r"[\u4e00-\u9fff\uff09\u201d][,;:!?](?![\w/])|[,;:] ?[\u4e00-\u9fff]|[\u3002\uff1a\uff0c\uff1b] [\u4e00-\u9fff]"
)


def half_width(page: str) -> list[str]:
    """Texts of a page with a half-width mark, or a space, between Chinese pieces."""
    page = re.sub(r"<(script|style|code|pre)\b.*?</\1>", "§", page, flags=re.DOTALL)
    texts = re.split(r"<[^>]+>", page) + re.findall(r'(?:aria-label|title)="([^"]*)"', page)
    return [text for text in map(unescape, texts) if HALF_WIDTH.search(text)]


def test_half_width_marks_are_found() -> None:
    pages = (
        "一块存储, 由 x 共享",
        "<b title='x; 存储'></b>",
        "好。 然后",
        "“好”: x",
        "<i>存储:</i>",
    )
    assert [len(half_width(page.replace("'", '"'))) for page in pages] == [1, 1, 1, 1, 1]
    assert half_width("一块存储\uff0c由 x, y 共享\uff1a<code>存储: x</code>") == []


def test_english_is_found() -> None:
    assert english("<p>张量 The tensor is a <code>leaf of it</code></p><b title='x'></b>") == {
        "The tensor is a"
    }
    assert english('<a title="new memory">requires grad인 잎</a>') == {"new memory"}


def compared() -> str:
    return copylab.compare(engine=tinytorch).html


def raced() -> str:
    race = copylab.race(["clone", "detach"], [1, 2], engine=tinytorch, rounds=8)
    return race.html + race.run().html + str(race.report)


def explored() -> str:
    lab = copylab.CopyLab(method=".data", engine=tinytorch)
    shown = lab.html
    for act in (lab.loss, lab.write, lab.backward):
        act()
    return shown + lab.html


def predicted() -> str:
    made = copylab.predict(CODE, engine=tinytorch)
    asked = made.html
    rows = len(made.questions)
    told = made.commit([question.bound_choices[0] for question in made.questions[:rows]])
    return asked + told.html


def solved() -> str:
    part = clone.readings
    checked = part.check({"reading": tinytorch.ones(2), "kept": [tinytorch.ones(2)]})
    return part.html + part.hint(1).html() + part.solution().html() + str(checked)


def drawn() -> str:
    x = tinytorch.ones(2, requires_grad=True)
    y = x.exp()
    seen = (memory(x=x, y=y, z=y[1:]), graph(y.sum()))
    return "".join(one.svg + one.text for one in seen) + compared_memory(x, y)


def compared_memory(x: Any, y: Any) -> str:
    net = tinytorch.nn.Linear(2, 1)
    opt = tinytorch.optim.SGD(net.parameters(), lr=0.1)
    m = tinytorch.zeros(4, 4)
    wide = x.expand(2, 2)
    both = {"a": m[:, :3], "b": m[:, 2:], "c": m.numpy(), "d": m.numpy()[0], "e": [m[0, :3]]}
    pairs = [(x, y), (net, opt), (net, net.state_dict()), ([x], [x]), (wide,), (x, wide)]
    pairs += [(net, net), (both, both), (both,), (copy.copy(net), net), (x.numpy(force=True),) * 2]
    windows = x.as_strided((2, 2), (0, 0)), x.repeat(4).as_strided((2, 2), (1, 1))
    pairs += [*((one,) for one in windows), tuple(m.chunk(3))]
    found = [copylab.shared(**dict(zip("pqr", pair, strict=False))) for pair in pairs]
    kept: list[Any] = []
    total = [x.sum()]

    def step() -> None:
        kept.append(x.clone())
        total[0] = total[0] + x.exp().sum()

    grown = copylab.growth(step, times=2), copylab.growth(x.clone, times=2)
    return "".join(one.html for one in (*found, *grown))


def stepped() -> str:
    runs = [copylab.steps(code, engine=tinytorch) for code in (CODE, LOOP)]
    return "".join(run.html + str(run.end) for run in runs)


@pytest.mark.parametrize("widget", [compared, raced, explored, predicted, solved, drawn, stepped])
def test_no_english_is_left(language: str, widget: Callable[[], str]) -> None:
    page = widget()
    assert english(page) == set()
    assert language != "zh" or half_width(page) == []
    assert f'lang="{language}"' in page


HALF_WIDTH_IN_TEXT = re.compile(
    HALF_WIDTH.pattern + r"|\([^()\n]*[\u4e00-\u9fff]|[\u4e00-\u9fff] ?\w*\.$", re.MULTILINE
)


def test_texts_in_chinese_have_full_width_marks(language: str) -> None:
    shared = CODE.replace("y.detach()", "y[:1]")
    wide = tinytorch.ones(1).expand(4)
    texts = [
        copylab.predict(CODE, engine=tinytorch).text,
        copylab.steps(shared, engine=tinytorch).text,
        str(clone.readings.check({"reading": tinytorch.ones(2), "kept": None})),
        copylab.shared(wide, wide[:3]).text,
    ]
    for text in texts:
        assert language != "zh" or re.search(r"[\u4e00-\u9fff]", text)
        assert HALF_WIDTH_IN_TEXT.findall(text) == []
    samples = ("题  (一个数)", "仍然是 None.", "被写入。 然后", "有变化, 格子 0")
    assert all(HALF_WIDTH_IN_TEXT.search(sample) for sample in samples)


@pytest.mark.torch
def test_no_english_is_left_in_what_a_watch_finds(language: str) -> None:
    torch: Any = pytest.importorskip("torch")
    with pytest.warns(copylab.GradientWarning), copylab.watch() as seen:  # noqa: PT031  # all of it is watched
        x = torch.ones(2, requires_grad=True)
        y = x.exp()
        y.data.add_(1)
        y.sum().backward()
    assert seen.findings
    assert f'lang="{language}"' in seen.html
    assert english(seen.html) == set()


@pytest.mark.parametrize(
    "lesson", [clone, beyond, stop_gradient], ids=lambda lesson: lesson.__name__.split(".")[-1]
)
def test_what_a_lesson_says_to_answers(language: str, lesson: Any) -> None:
    parts = [
        one
        for one in vars(import_module(lesson.__name__)).values()
        if isinstance(one, copylab.Exercise)
    ]
    predictions = [one for one in vars(lesson).values() if isinstance(one, copylab.Prediction)]
    for part in parts:
        tried = [
            run_attempt(part.start, code, tinytorch).variables for code in (part.code, *part.wrong)
        ]
        for text in (
            part.task,
            *part.hints,
            part.title,
            *(str(part.check(names)) for names in tried),
        ):
            assert english(re.sub("`[^`]*`", "§", text)) == set()
            assert re.search(r"[\u4e00-\u9fff]" if language == "zh" else r"[\uac00-\ud7a3]", text)
    for one in predictions:
        run = one.run(tinytorch)
        for question in one.questions:
            told = [question.text, question.answer_format]
            for wrong in question.wrong:
                refuted = question.refute(run, str(wrong))
                told += [refuted.facts, refuted.argument, *refuted.compose_sentences(set())]
            assert english(re.sub("`[^`]*`", "§", " ".join(told))) == set()


def look_at_everything() -> list[Callable[[], list[str]]]:
    """Things that were looked at once, each as a function that returns all that it says."""
    x = tinytorch.ones(2, requires_grad=True)
    y = x.exp()
    memory_picture, graph_picture = memory(x=x, y=y, z=y[1:]), graph(y.sum())
    prediction = copylab.predict(CODE, engine=tinytorch)
    view = prediction.live()
    reveal = prediction.commit(["no"] * len(prediction.questions))
    run = copylab.steps(WRITING, engine=tinytorch)
    return [
        lambda: [memory_picture.text, memory_picture.svg, memory_picture.title],
        lambda: [graph_picture.text, graph_picture.svg, graph_picture.title],
        lambda: [prediction.text, reveal.text, reveal.html, prediction.steps().text],
        lambda: [re.sub("cl-[0-9a-f]{32}", "cl-0", view._render_form())],
        lambda: [str(run), run.text, run.html, run.end, run.stored_text],
    ]


def test_what_was_looked_at_in_another_language_follows() -> None:
    looks = look_at_everything()
    in_english = [look() for look in looks]
    try:
        catalogue.set_language("zh")
        in_chinese = [look() for look in looks]
        assert in_chinese == [look() for look in look_at_everything()]
        for words in (words for texts in in_chinese for words in texts):
            assert re.search(r"[\u4e00-\u9fff]", words)
    finally:
        catalogue.set_language(None)
    assert [look() for look in looks] == in_english


def test_a_live_view_says_its_language(language: str) -> None:
    script = Panel()._esm
    assert f'const FROM_PYTHON = {{"language": "{language}"' in script
    catalogue.set_language(None)
    assert 'const FROM_PYTHON = {"language": ""' in Panel()._esm


SHARED = """\
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
v = x.view(4)
s = x.t().reshape(4)
x += 10
"""
UNSEEN = """\
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
out = a.sigmoid()
d = out.data
d.zero_()
out.sum().backward()
"""


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("code", [SHARED, UNSEEN])
def test_pictures_fit_a_telephone(code: str) -> None:
    """Words beside names and versions, and those of a hazard: long ones cut versions off."""
    html = copylab.steps(code, engine=tinytorch).html
    widths = [int(width) for width in re.findall(r'data-(?:memory|graph)="(\d+) ', html)]
    assert widths
    # A player in a page of 390 px has 382 px for it, and makes it smaller by a twelfth at most.
    assert max(widths) * 11 / 12 <= 382


def test_answers_are_understood(language: str) -> None:
    yes, nothing = {"zh": ("是", "没有"), "ko": ("예", "없음")}[language]
    made = copylab.predict(
        "x = torch.ones(1)\ny = x",
        [copylab.questions.same_tensor("x", "y"), copylab.questions.gradient("x")],
        engine=tinytorch,
    )
    assert made.commit([yes, nothing]).right == 2


def test_the_course_is_laid_out(language: str, tmp_path: Path) -> None:
    lay_out(tmp_path, language)
    sheet = (tmp_path / "cheat_sheet.html").read_text("utf-8")
    assert sheet == cheatsheet.render_cheat_sheet(tinytorch)
    assert f'<html lang="{language}">' in sheet
    assert english(sheet) <= {"one of the"}
    word, lessons = {"zh": ("存储", "# 课程"), "ko": ("저장소", "# 수업")}[language]
    assert word in (tmp_path / "glossary.md").read_text("utf-8")
    assert (tmp_path / "README.md").read_text("utf-8").startswith(lessons)


def test_lines_break_between_ideographs() -> None:
    said = "一块存储\uff0c由 x 共享"
    assert labels.wrap_text(said, 8, most=4) == ["一块存", "储\uff0c由 x", "共享"]
    assert labels.wrap_text(said, 6, most=4)[1:] == ["储\uff0c由", "x 共享"]
    assert labels.wrap_text("one storage of x", 8, most=4) == ["one", "storage", "of x"]


@pytest.mark.usefixtures("language")
def test_a_lab_says_once_why_there_is_no_copy() -> None:
    lab = copylab.CopyLab("result", "deepcopy", tinytorch)
    facts = lab._last_result.facts
    assert facts is not None
    assert "RuntimeError" in facts["same_tensor"].why
    assert facts["same_tensor"].why not in lab.text
    assert "RuntimeError" in lab.text


@pytest.mark.parametrize(
    ("state", "language"),
    [
        ('{"language": "zh", "files": {}}', "zh"),
        ('{"language": "en", "files": {}}', None),
        ('{"language": "../ko"}', None),
        ('{"language": ["ko"]}', None),
        ("[" * 100_000, None),
        ("\xff", None),
    ],
)
def test_folder_of_the_course_says_its_language_in_any_jupyter(
    state: str, language: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".copylab.json").write_bytes(state.encode("latin-1"))
    below = tmp_path / "solutions"
    below.mkdir()
    monkeypatch.chdir(below)
    assert course_folder.find_course_language() == language
    monkeypatch.setattr(catalogue, "_requested", [])
    monkeypatch.setattr(catalogue, "_chosen", [])
    monkeypatch.setattr(catalogue, "_defaults", [None])
    monkeypatch.delenv("COPYLAB_LANGUAGE", raising=False)
    catalogue.set_default_language(language)
    assert catalogue.current_language() == language
    # Whoever chose a language has it.
    monkeypatch.setenv("COPYLAB_LANGUAGE", "ko")
    catalogue.set_default_language(language)
    assert catalogue.current_language() == "ko"


@pytest.mark.parametrize(
    ("words", "environment", "said"),
    [
        (["watch"], "", "그래디언트"),
        (["steps"], "", "2번 줄"),
        (["--language", "zh", "watch"], "", "梯度"),
        (["watch"], "zh", "梯度"),
    ],
)
def test_a_terminal_in_the_folder_of_a_course_speaks_its_language(
    words: list[str],
    environment: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its first page recommends `copylab watch train.py`, which answered in English."""
    (tmp_path / ".copylab.json").write_text('{"language": "ko", "files": {}}', "utf-8")
    (tmp_path / "train.py").write_text(
        "import tinytorch\nw = tinytorch.ones(1, requires_grad=True)\nloss = (w * w).sum()\n"
        "w.data += 1\nloss.backward()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COPYLAB_LANGUAGE", environment)
    monkeypatch.setattr(sys, "argv", ["copylab", *words, "train.py"])
    monkeypatch.setattr(catalogue, "_requested", [])
    monkeypatch.setattr(catalogue, "_chosen", [])
    with pytest.raises(SystemExit):
        main()
    printed = capsys.readouterr()
    assert said in printed.out + printed.err
