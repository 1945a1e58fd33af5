"""The catalogue: English where it has nothing else, another language from a file, numbers in the right form."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from tinytorch.viz import explain, graph, memory, snapshot
from tinytorch.viz.diagnose.diff import compare_snapshots
from tinytorch.viz.show.step_sentences import describe_step
from tinytorch.viz.wording import catalogue


def write_catalogue(path: Path, catalog: Catalog) -> None:
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalog)


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    made = Catalog(locale="de")
    made.add("a new {what}", "noch ein {what}")
    made.add("storage of {name} alone", "Speicher von {name} allein")
    made.add("requires_grad was {was}", "requires_grad war {was}")
    made.add("{name} is gone.", "{name} war einmal.")
    made.add(("{number} cell", "{number} cells"), ("{number} Zelle", "{number} Zellen"))
    write_catalogue(tmp_path / "de" / "LC_MESSAGES" / "tinytorch.mo", made)
    monkeypatch.setattr(catalogue, "FOLDERS", {"tinytorch": tmp_path})
    catalogue.set_language(None)
    yield tmp_path
    catalogue.set_language(None)


@pytest.mark.usefixtures("german")
def test_english_stands_in_the_code() -> None:
    assert catalogue.gettext("a new {what}", what="x") == "a new x"
    assert [catalogue.ngettext("{number} cell", "{number} cells", n) for n in (1, 2000)] == [
        "1 cell",
        "2,000 cells",
    ]
    assert catalogue.list_translations() == {}


@pytest.mark.usefixtures("german")
def test_a_language_is_a_file() -> None:
    catalogue.set_language("de")
    assert catalogue.gettext("a new {what}", what="{x}") == "noch ein {x}"
    assert catalogue.gettext("nothing of it") == "nothing of it"
    assert [catalogue.ngettext("{number} cell", "{number} cells", n) for n in (1, 2)] == [
        "1 Zelle",
        "2 Zellen",
    ]
    assert catalogue.list_translations()["a new {what}"] == "noch ein {what}"
    catalogue.set_language("fr")
    assert catalogue.gettext("a new {what}", what="x") == "a new x"


def test_another_package_adds_its_own(german: Path) -> None:
    german_words, korean_words = Catalog(locale="de"), Catalog(locale="ko")
    german_words.add("Step {number}", "Schritt {number}")
    german_words.add("a new {what}", "never asked for")
    german_words.add(("{number} row", "{number} rows"), ("{number} Zeile", "{number} Zeilen"))
    korean_words.add("Step {number}", "단계 {number}")
    for language, words in (("de", german_words), ("ko", korean_words)):
        write_catalogue(german / "other" / language / "LC_MESSAGES" / "widgets.mo", words)

    catalogue.set_language("de")
    assert catalogue.gettext("Step {number}", number=1) == "Step 1"
    catalogue.add_catalogue("widgets", german / "other")
    assert catalogue.gettext("Step {number}", number=1) == "Schritt 1"
    assert catalogue.gettext("a new {what}", what="x") == "noch ein x"
    assert catalogue.ngettext("{number} row", "{number} rows", 2) == "2 Zeilen"
    assert catalogue.ngettext("{number} cell", "{number} cells", 2) == "2 Zellen"
    assert catalogue.gettext("nothing of it") == "nothing of it"
    translations = catalogue.list_translations()
    assert translations["Step {number}"] == "Schritt {number}"
    assert translations["a new {what}"] == "noch ein {what}"

    catalogue.set_language("ko")
    assert catalogue.current_language() == "ko", "though pictures have nothing in it"
    assert catalogue.gettext("Step {number}", number=1) == "단계 1"
    catalogue.set_language("de")
    assert catalogue.current_language() == "de"
    catalogue.set_language(None)
    assert catalogue.current_language() is None
    assert catalogue.gettext("Step {number}", number=1) == "Step 1"


@pytest.mark.usefixtures("german")
def test_pictures_and_steps_are_told_in_it(engine: ModuleType) -> None:
    catalogue.set_language("de")
    x, y = engine.ones(2), engine.ones(1)
    before = snapshot(x=x, y=y)
    x.requires_grad_()
    after = snapshot(x=x, since=before)
    assert "S1, Speicher von x allein: 2 cells of float32" in memory(after, since=before).text
    assert "Changed: requires_grad war False." in memory(after, since=before).text
    assert ">requires_grad war False<" in memory(after, since=before).svg
    with_node = snapshot(x=x, z=x * 2, since=before)
    assert ">requires_grad war False<" in graph(with_node, since=before).svg
    assert describe_step(compare_snapshots(after, before), {}, {})[0].text == "y war einmal."


@pytest.mark.parametrize("look", [memory, graph])
def test_a_picture_that_is_shown_again_is_all_in_the_language_of_then(
    engine: ModuleType, look: Any
) -> None:
    """What was in trouble stayed English: it had been put into words when the picture was made."""
    a = engine.ones(2, requires_grad=True)
    h = a.exp()
    total = (h.sin() * 3).sum()
    h.detach().zero_()
    snap = snapshot(a=a, h=h, total=total)
    picture = look(snap)
    english = picture.text, picture.svg
    catalogue.set_language("zh")
    chinese = picture.text, picture.svg
    made_in_chinese = look(snap)
    assert chinese == (made_in_chinese.text, made_in_chinese.svg)
    catalogue.set_language(None)
    assert (picture.text, picture.svg) == english != chinese


@pytest.mark.parametrize("look", [memory, graph])
def test_a_refusal_is_said_in_the_language_of_then(engine: ModuleType, look: Any) -> None:
    class Refusing(engine.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(_ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(_ctx: Any, _grad: Any) -> Any:
            raise RuntimeError("no")

    a = engine.ones(2, requires_grad=True)
    picture = look(snapshot(a=a, y=Refusing.apply(a)))
    english = picture.text
    catalogue.set_language("zh")
    chinese = picture.text
    assert chinese != english
    assert "raises an error as it is now" not in chinese
    catalogue.set_language(None)
    assert ("raises an error as it is now" in english) == (look is graph)


def test_what_is_joined_is_joined_as_the_language_does(engine: ModuleType) -> None:
    a = engine.ones(2, requires_grad=True)
    h = a.exp()
    total = (h.sin() * 3).sum()
    h.detach().zero_()
    try:
        catalogue.set_language("zh")
        assert "1 次（另有 1 个保存的张量也是如此）" in str(explain(total))  # noqa: RUF001
        *_, note = memory(total=total).text.splitlines()
        assert note.endswith("字节。")
    finally:
        catalogue.set_language(None)


def test_the_machine_does_not_choose() -> None:
    code = "from tinytorch.viz import gettext, list_translations; print(gettext('x'), list_translations())"
    for env in ({"LANG": "de_DE.UTF-8", "LANGUAGE": "de"}, {"COPYLAB_LANGUAGE": "xx"}):
        path = {"PYTHONPATH": ":".join(filter(None, sys.path))}
        said = subprocess.run(
            [sys.executable, "-c", code], env=env | path, capture_output=True, text=True, check=True
        )
        assert said.stdout == "x {}\n"


@pytest.mark.parametrize(
    ("language", "label"), [("en", "argument 1"), ("zh", "参数 1"), ("ko", "인자 1")]
)
def test_an_argument_without_a_name_is_called_so_in_the_language(
    engine: ModuleType, language: str, label: str
) -> None:
    # A call that has no source, so that nothing says how its arguments are written.
    namespace = {"snapshot": snapshot, "memory": memory, "a": engine.ones(1)}
    catalogue.set_language(language)
    try:
        assert [name for name, _ in eval("snapshot(a, a + 1)", namespace).names][1] == label
        assert label in eval("memory(a, a + 1)", namespace).text
    finally:
        catalogue.set_language(None)
