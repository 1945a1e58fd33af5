"""The catalogue: English where it has nothing else, another language from a file, numbers in the right form."""

import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from tinytorch.viz import graph, memory, snapshot
from tinytorch.viz.diagnose.diff import compare_snapshots
from tinytorch.viz.show.step_sentences import describe
from tinytorch.viz.wording import catalogue


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    made = Catalog(locale="de")
    made.add("a new {what}", "noch ein {what}")
    made.add("storage of {name} alone", "Speicher von {name} allein")
    made.add("requires_grad was {was}", "requires_grad war {was}")
    made.add("{name} is gone.", "{name} war einmal.")
    made.add(("{number} cell", "{number} cells"), ("{number} Zelle", "{number} Zellen"))
    out = BytesIO()
    write_mo(out, made)
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "copylab.mo").write_bytes(out.getvalue())
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    yield tmp_path
    catalogue.use_language(None)


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
    catalogue.use_language("de")
    assert catalogue.gettext("a new {what}", what="{x}") == "noch ein {x}"
    assert catalogue.gettext("nothing of it") == "nothing of it"
    assert [catalogue.ngettext("{number} cell", "{number} cells", n) for n in (1, 2)] == [
        "1 Zelle",
        "2 Zellen",
    ]
    assert catalogue.list_translations()["a new {what}"] == "noch ein {what}"
    catalogue.use_language("fr")
    assert catalogue.gettext("a new {what}", what="x") == "a new x"


@pytest.mark.usefixtures("german")
def test_pictures_and_steps_are_told_in_it(engine: ModuleType) -> None:
    catalogue.use_language("de")
    x, y = engine.ones(2), engine.ones(1)
    before = snapshot(x=x, y=y)
    x.requires_grad_()
    after = snapshot(x=x, since=before)
    assert "S1, Speicher von x allein: 2 cells of float32" in memory(after, since=before).text
    assert "Changed: requires_grad war False." in memory(after, since=before).text
    assert ">requires_grad war False<" in memory(after, since=before).svg
    assert ">requires_grad war False<" in graph(after, since=before).svg
    assert "y war einmal." in describe(compare_snapshots(after, before), {}, {})


def test_the_machine_does_not_choose() -> None:
    code = "from tinytorch.viz import catalogue; print(catalogue.gettext('x'), catalogue.list_translations())"
    for env in ({"LANG": "de_DE.UTF-8", "LANGUAGE": "de"}, {"COPYLAB_LANGUAGE": "xx"}):
        path = {"PYTHONPATH": ":".join(filter(None, sys.path))}
        said = subprocess.run(
            [sys.executable, "-c", code], env=env | path, capture_output=True, text=True, check=True
        )
        assert said.stdout == "x {}\n"
