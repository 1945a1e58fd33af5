"""The course in other languages: what is out of date is noticed, code and outputs stay as they are."""

import json
from pathlib import Path
from typing import Any

import pytest
from copylab.course.translation import (
    TRANSLATIONS,
    TranslatedCell,
    digest_of_text,
    list_languages,
    list_sources,
    open_source,
    parse_catalogue,
    read_translated,
    require_language,
    translate_notebook,
)
from translations import OPEN, PAGES, find_faults, format_catalogue, main, renew_catalogue

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
CATALOGUES = [
    path
    for folder in (NOTEBOOKS, NOTEBOOKS / "solutions", PAGES)
    for path in sorted(folder.glob(f"{TRANSLATIONS}/*/*.md"))
]


def book() -> dict[str, Any]:
    return {
        "cells": [
            {"id": "title", "cell_type": "markdown", "source": ["# Start\n", "\n", "Two names."]},
            {"id": "code", "cell_type": "code", "source": ["x = 1"], "outputs": [{"text": ["1"]}]},
            {"id": "end", "cell_type": "markdown", "source": ["The end."]},
        ]
    }


GERMAN = {
    "title": TranslatedCell(digest_of_text("# Start\n\nTwo names."), "# Anfang\n\nZwei Namen."),
    "end": TranslatedCell(OPEN, "The end."),
}


def test_a_catalogue_reads_back() -> None:
    assert parse_catalogue(format_catalogue(GERMAN)) == GERMAN
    assert parse_catalogue("") == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("abc\n<!-- cell a 1 -->\nx", "in front of"),
        ("<!-- cell a 1 -->\nx\n<!-- cell a 2 -->\ny", "twice"),
    ],
)
def test_a_broken_catalogue_is_an_error(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_catalogue(text)


def test_only_prose_changes_and_open_texts_stay_english() -> None:
    made = translate_notebook(book(), GERMAN)
    assert "".join(made["cells"][0]["source"]) == "# Anfang\n\nZwei Namen."
    assert made["cells"][1:] == book()["cells"][1:]


def test_faults_are_named() -> None:
    assert find_faults(book(), GERMAN) == ["end: not translated"]
    changed = book()
    changed["cells"][0]["source"] = ["# Start\n", "\n", "Three names."]
    assert find_faults(changed, GERMAN) == [
        "title: the English text has changed",
        "end: not translated",
    ]
    assert (
        "".join(translate_notebook(changed, GERMAN)["cells"][0]["source"])
        == "# Start\n\nThree names."
    )
    assert find_faults({"cells": []}, GERMAN)[0] == "title: the lesson has no such text"


def test_a_renewed_catalogue_keeps_what_was_translated() -> None:
    renewed = renew_catalogue(book(), {"title": GERMAN["title"]})
    assert renewed == GERMAN


def test_a_translator_starts_with_the_english_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "00_start.ipynb").write_text(json.dumps(book()), "utf-8")
    monkeypatch.setattr("translations.lessons_folder", lambda: tmp_path)
    assert main(["de", "00_start"]) == 1
    assert (
        capsys.readouterr().out
        == "00_start, title: not translated\n00_start, end: not translated\n"
    )
    catalogue = tmp_path / TRANSLATIONS / "de" / "00_start.md"
    assert "Two names." in catalogue.read_text("utf-8")
    catalogue.write_text(format_catalogue(GERMAN), "utf-8")
    assert main(["de", "00_start"]) == 1
    assert parse_catalogue(catalogue.read_text("utf-8")) == GERMAN
    assert list_languages(tmp_path) == ["de"]
    assert "Anfang" in read_translated(tmp_path / "00_start.ipynb", "de")
    assert "Start" in read_translated(tmp_path / "00_start.ipynb", "en")
    with pytest.raises(ValueError, match="it is in: en, de"):
        require_language("fr", tmp_path)


@pytest.mark.parametrize(
    "path", CATALOGUES, ids=lambda path: f"{path.parents[2].name}-{path.parent.name}-{path.stem}"
)
def test_stored_translations_are_complete_and_up_to_date(path: Path) -> None:
    (original,) = list_sources(path.parents[2], path.stem)
    lesson = open_source(original)
    entries = parse_catalogue(path.read_text("utf-8"))
    assert find_faults(lesson, entries) == [], (
        f"python tools/translations.py {path.parent.name} {path.stem}"
    )
    made = translate_notebook(lesson, entries)
    code = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    assert code == [cell for cell in lesson["cells"] if cell["cell_type"] == "code"]
