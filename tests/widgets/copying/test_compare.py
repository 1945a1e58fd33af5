"""`compare`: the table says what the programs print, in text, HTML and Python, and leaves alone what is the user's."""

import html
import re
import xml.etree.ElementTree as ET
from types import ModuleType
from typing import Any

import pytest
from copylab import METHODS, Comparison, Method, compare
from copylab.copying.comparison import COLUMNS, MAIN
from copylab.copying.fact import QUESTIONS
from copylab.run.run import execute_program
from copylab.ui.theme import panel_style_sheet, read_web_files

import tinytorch


def parsed(made: Comparison) -> ET.Element:
    return ET.fromstring(made.form.replace(" hidden", ' hidden=""'))


def table(made: Comparison) -> dict[str, dict[str, str]]:
    """The cells of the static table, by row and heading."""
    found = parsed(made).find("table")
    assert found is not None
    heads = ["".join(cell.itertext()) for cell in found.iter("th") if cell.get("scope") == "col"]
    rows = [(str(row.findtext("th/code")), row.findall("td")) for row in found.iter("tr")][1:]
    return {
        name: dict(zip(heads[1:], ("".join(cell.itertext()) for cell in cells), strict=True))
        for name, cells in rows
    }


def test_all_there_are(engine: ModuleType) -> None:
    made = compare(engine=engine)
    assert list(made) == list(METHODS)
    assert len(made) == len(METHODS)
    cells = table(made)
    assert list(cells) == list(METHODS)
    assert cells["clone"] == {
        "same tensor": "no",
        "shares memory": "no",
        "shares version counter": "no",
        "x sees a write through y": "no",
        "requires grad": "yes",
        "is a leaf": "no",
        "grad_fn": "CloneBackward0",
        "gradient flows back": "yes",
        "backward after a write": "right",
        "new memory": "12 bytes",
        "y sees a write through x": "no",
        "keeps dtype": "yes",
        "keeps device": "yes",
        "keeps shape": "yes",
        "keeps strides": "yes",
        "warns": "no",
        "raises": "no",
    }
    hidden = re.findall('<th scope="col" hidden data-key="([a-z_]+)"', made.form)
    assert hidden == ["y_sees_x", "dtype", "device", "shape", "strides", "warns", "raises"]
    assert cells[".data"]["backward after a write"] == "wrong, and no error"
    assert cells["detach"]["backward after a write"] == "an error"


@pytest.mark.torch
def test_both_engines_say_the_same() -> None:
    torch = pytest.importorskip("torch")
    for source in ("leaf", "result", "plain"):
        mine, theirs = (
            compare(source=source, engine=tinytorch),
            compare(source=source, engine=torch),
        )
        assert mine.text == theirs.text
        assert mine.html == theirs.html


def test_every_program_prints_what_its_cell_says(engine: ModuleType) -> None:
    made = compare("clone", ".data", "copy_", "torch.tensor", source="result", engine=engine)
    root = parsed(made)
    checked = 0
    for way in root.iter("details"):
        if way.get("class") != "cl-way":
            continue
        for fact in way.iter("details"):
            if "cl-fact" not in (fact.get("class") or ""):
                continue
            program, printed = fact.findtext("pre"), fact.findtext("p") or ""
            lines: list[str] = []
            execute_program(
                program or "",
                engine,
                {"print": lambda *things, lines=lines: lines.append(" ".join(map(str, things)))},
            )
            assert f"It printed: {lines[-1]}" == printed
            checked += 1
    assert checked == 4 * len(QUESTIONS)


def test_every_answer_stands_in_the_text() -> None:
    made = compare("clone", "view", engine=tinytorch)
    assert {*COLUMNS} == {*QUESTIONS}
    for name, found in made.items():
        part = made.text.partition(f"\n{name}    ")[2].partition("\n\n")[0]
        for question in COLUMNS:
            assert f"{question.column}: {found[question.key].words}" in part
    assert "x = torch.tensor([1., 2., 3.], requires_grad=True)" in made.text
    assert compare("clone", "view", engine=tinytorch).text == made.text


def test_another_answer_is_another_text() -> None:
    before = compare("clone", engine=tinytorch)
    quiet = Method("clone", "y = x.detach().clone()")
    after = compare(quiet, engine=tinytorch)
    assert "CloneBackward0" in before.text
    assert "CloneBackward0" not in after.text
    assert before.html != after.html


def test_a_caller_without_torch_gets_tinytorch() -> None:
    names: dict[str, Any] = {"compare": compare}
    exec("made = compare('clone')", names)
    assert names["made"].engine == "tinytorch"


@pytest.mark.torch
def test_the_caller_s_torch_is_asked() -> None:
    names: dict[str, Any] = {"compare": compare, "torch": pytest.importorskip("torch")}
    exec("made = compare('clone')", names)
    assert names["made"].engine == "torch"


def test_a_tensor_of_the_user_s_is_left_alone(engine: ModuleType) -> None:
    x = engine.arange(6.0).reshape(2, 3).t().requires_grad_()
    before = x._version, x.tolist(), x.grad
    made = compare("clone", "copy_", source=x, engine=engine)
    assert (x._version, x.tolist(), x.grad) == before
    assert made.source.shape == (3, 2)
    assert made.kind == "given"
    assert [kind for kind, _ in made.kinds] == ["given", "leaf", "result", "plain"]
    assert repr(made) == "Comparison(2 methods, leaf of shape (3, 2))"


def test_where() -> None:
    made = compare(engine=tinytorch)
    assert made.where(same_storage=True, same_counter=False) == [".data", "from_numpy", "copy.copy"]
    assert made.where(grad_fn="CloneBackward0") == ["clone"]
    with pytest.raises(
        ValueError, match="there is no question 'storage'; there are raises, same_tensor"
    ):
        made.where(storage=True)


def test_another_source(engine: ModuleType) -> None:
    made = compare("clone", engine=engine)
    seen: list[object] = []
    made.observe(lambda change: seen.append(change["new"]), "kind")
    before = made.form
    made.kind = "plain"
    assert seen == ["plain"]
    assert made["clone"]["requires_grad"].answer is False
    assert made["clone"]["gradient_returns"].words == "-"
    assert made.form != before
    made.kind = "leaf"
    assert made.form == before
    with pytest.raises(Exception, match="kind must be one of leaf, result, plain, not 'leave'"):
        made.kind = "leave"


def test_looked_up_by_any_name() -> None:
    made = compare("clone", "x.data", engine=tinytorch)
    assert made["x.clone()"] is made["clone"]
    assert made["data"] is made[".data"]
    for name in ("view", "nonsense"):
        with pytest.raises(KeyError):
            _ = made[name]


def test_documentation_is_a_link() -> None:
    address = "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.clone.html"
    table = compare("clone", Method("own", "y = x + 0", docs='javascript:"<b>'))
    assert f'<a href="{address}">documentation</a>' in table.html
    assert table.html.count("<a ") == 1
    assert "javascript:&quot;&lt;b&gt;" in table.html


def test_hostile_methods_are_text() -> None:
    name = "<img src=x onerror=alert(1)>\"'&"
    made = compare(
        Method(name, "raise ValueError('<script>alert(1)</script>')", "<b>", "javascript:alert(1)")
    )
    assert "<img" not in made.form
    assert "<script>alert" not in made.html
    assert "<b>" not in made.form
    assert "href" not in made.form
    (row,) = table(made)
    assert row == name
    assert made[name]["raises"].words in html.unescape(made.form)


def test_an_error_is_told_as_it_is() -> None:
    made = compare(Method("power", "y = (x**2)**None"), engine=tinytorch)
    assert "power    y = (x**2)**None" in made.text
    assert made["power"]["raises"].words in made.text
    assert "<code>y = (x**2)**None</code>" in made.form
    assert f"<strong>{html.escape(made['power']['raises'].words)}</strong>" in made.form


def test_a_method_is_declared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Method("rolled", "y = x.roll(1)", "a copy whose elements move on")
    monkeypatch.setattr("copylab.copying.comparison.METHODS", {**METHODS, own.name: own})
    made = compare(engine=tinytorch)
    assert list(made) == [*METHODS, "rolled"]
    assert f"{len(METHODS) + 1} ways to make y from x" in made.text
    assert "a copy whose elements move on" in made.form


def test_what_fails_says_so(engine: ModuleType) -> None:
    made = compare("deepcopy", source="result", engine=engine)
    assert made["deepcopy"]["raises"].words.startswith(
        "RuntimeError: Only Tensors created explicitly by the user"
    )
    assert "raises: RuntimeError: Only Tensors created" in made.text
    assert "No answer: the copy was not made: RuntimeError" in made.form
    assert table(made)["deepcopy"]["same tensor"] == "-"
    assert "<code>deepcopy</code> <small>RuntimeError</small>" in made.form


def test_the_form_needs_nothing_from_elsewhere() -> None:
    assert len(read_web_files("copying/compare.js").encode()) <= 25_000
    for forbidden in ("fetch(", "import(", "eval(", "@import", "url(", "http:", "https:"):
        assert forbidden not in read_web_files("copying/compare.js") + panel_style_sheet(
            "copying/compare.css"
        )
    made = compare(engine=tinytorch)
    # A link is asked for by whoever clicks it.
    loads = r'(?<!<a )(?:src|href)\s*=\s*["\']?(?!data:)'
    assert not re.findall(loads, made.html.partition("<style>")[0])
    assert len(made.html) < 300_000


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    compare("clone").help()
    assert "press Enter" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("methods", "given", "error", "message"),
    [
        (["klone"], {}, ValueError, "Did you mean 'clone'?"),
        ([3], {}, TypeError, "a method is named by a string"),
        ([], {"source": "leave"}, ValueError, "give a tensor, or 'leaf', 'result' or 'plain'"),
        ([], {"source": [1, 2]}, TypeError, "x must be a tensor of torch or tinytorch"),
        ([], {"engine": "torch"}, TypeError, "engine must be a module with a Tensor"),
    ],
)
def test_bad_input(
    methods: list[Any], given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        compare(*methods, **given)


def test_of_few_ways_the_columns_are_shown_that_tell_them_apart() -> None:
    """At the end of the first lesson 3 rows had 11 columns."""

    def list_shown(made: Comparison) -> list[str]:
        heads = re.findall('<th scope="col"( hidden)? data-key="([a-z_]+)"', made.form)
        return [key for hidden, key in heads if not hidden]

    few = compare("=", "x[:]", "clone", source="result", engine=tinytorch)
    assert "requires_grad" not in list_shown(few), "all three do"
    assert {"same_tensor", "same_storage", "grad_fn"} <= set(list_shown(few))
    alike = compare("detach", engine=tinytorch)
    assert list_shown(alike) == [question.key for question in MAIN]
    many = compare(*list(METHODS)[:6], engine=tinytorch)
    assert list_shown(many) == [question.key for question in MAIN]
