"""The course in other languages: what is out of date is noticed, and stays English until it is made anew."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from copylab.course.lesson import find_tasks
from copylab.course.translation import CATALOGUES as RUN_WITH
from copylab.course.translation import (
    OUTPUTS,
    TRANSLATIONS,
    CellInLanguage,
    TranslatedCell,
    digest_of_cell,
    digest_of_text,
    find_stale_cells,
    list_languages,
    list_sources,
    open_source,
    parse_catalogue,
    read_run,
    read_translated,
    require_language,
    translate_notebook,
    translate_run,
)
from copylab.wording import current_language, set_language
from run_in_languages import (
    Job,
    compare_with_english,
    digest_of_translations,
    list_jobs,
    outputs_file,
    store_runs,
)
from run_in_languages import (
    find_faults as find_run_faults,
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


# ---- what cells show in a language


def german_book() -> dict[str, Any]:
    executed = book()
    executed["cells"][1]["outputs"] = [{"text": ["eins"]}]
    return executed


def test_a_cell_shows_what_its_run_in_the_language_did_unless_the_english_one_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("run_in_languages.NOTEBOOKS", tmp_path)
    job = Job(tmp_path / "00_start.ipynb", "de")
    job.path.write_text(json.dumps(book()), "utf-8")
    assert read_run(job.path, "de") == {}
    assert find_stale_cells(book(), {}) == ["code"]
    outputs_file(job).parent.mkdir(parents=True)
    store_runs([job], [compare_with_english(book(), german_book())])

    run = read_run(job.path, "de")
    assert run == {
        "code": CellInLanguage(
            digest_of_cell(book()["cells"][1]), {"outputs": [{"text": ["eins"]}]}
        )
    }
    assert find_stale_cells(book(), run) == []
    assert json.loads(read_translated(job.path, "de"))["cells"] == german_book()["cells"]
    assert json.loads(read_translated(job.path, "en"))["cells"] == book()["cells"]
    for field, changed in {"source": ["x = 2"], "outputs": [{"text": ["2"]}]}.items():
        later = book()
        later["cells"][1][field] = changed
        assert find_stale_cells(later, run) == ["code"]
        assert translate_run(later, run)["cells"] == later["cells"]
    assert find_stale_cells({"cells": []}, run) == ["code"]
    # Another lesson is run, and this one stays.
    other = Job(tmp_path / "01_next.ipynb", "de")
    other.path.write_text(json.dumps(book()), "utf-8")
    store_runs([other], [compare_with_english(book(), book())])
    assert read_run(job.path, "de") == run
    assert read_run(other.path, "de")["code"].fields == {}


def test_a_changed_translation_of_what_is_shown_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translations = {
        "{name} is a **leaf** again": "ist ein Blatt",
        "Two names": "Zwei Namen",
        "nobody shows this": "niemand",
        "in a page": "auf einer Seite",
        "in a script": "in einem Skript",
    }
    english = book()
    page = "<script>in a script</script><b>in a</b> page"
    english["cells"][1]["outputs"] = [
        {"data": {"text/plain": ["x is a leaf again"], "text/html": [page]}}
    ]
    before = digest_of_translations(english, translations)
    noticed = {
        text
        for text in translations
        if digest_of_translations(english, {**translations, text: "anders"}) != before
    }
    assert noticed == {"{name} is a **leaf** again", "Two names", "in a page"}

    monkeypatch.setattr("run_in_languages.NOTEBOOKS", tmp_path)
    monkeypatch.setattr("run_in_languages.read_catalogues", lambda _language: translations)
    job = Job(tmp_path / "00_start.ipynb", "de")
    job.path.write_text(json.dumps(english), "utf-8")
    outputs_file(job).parent.mkdir(parents=True)
    run = compare_with_english(english, english)
    (fault,) = find_run_faults(job)[1:]
    assert "a translation of what it shows has changed" in fault, "it was stored by no run"
    store_runs([job], [{**run, RUN_WITH: CellInLanguage(before, {})}])
    assert find_run_faults(job) == []
    assert find_stale_cells(english, read_run(job.path, "de")) == []
    translations["in a page"] = "in einer Seite"
    assert find_run_faults(job) == [fault]


@pytest.mark.parametrize("packed", [b"", b"abc", lzma.compress(b"[1]"), lzma.compress(b'{"a": 1}')])
def test_outputs_that_cannot_be_read_are_named(packed: bytes, tmp_path: Path) -> None:
    outputs = tmp_path / TRANSLATIONS / "de" / OUTPUTS
    outputs.parent.mkdir(parents=True)
    outputs.write_bytes(packed)
    with pytest.raises(ValueError, match=OUTPUTS):
        read_run(tmp_path / "00_start.ipynb", "de")


@pytest.mark.parametrize(
    "job", list_jobs(), ids=lambda job: f"{job.path.parent.name}-{job.language}-{job.path.stem}"
)
def test_stored_outputs_are_of_todays_lessons_and_sentences(job: Job) -> None:
    assert find_run_faults(job) == [], "python tools/run_in_languages.py"
    cells = json.loads(read_translated(job.path, job.language))["cells"]
    shown = {
        "".join(cell["source"]).strip(): "".join(
            "".join(output.get("data", {}).get("text/plain", [])) for output in cell["outputs"]
        )
        for cell in cells
        if cell["cell_type"] == "code"
    }
    before = current_language()
    set_language(job.language)
    texts = {name: task.text for name, task in find_tasks(open_source(job.path)).items()}
    set_language(before)
    # A solution shows no tasks: it has them as prose, of which there is no other copy to compare.
    changed = [name for name, text in texts.items() if name in shown and text not in shown[name]]
    assert changed == [], "a translation has changed: python tools/run_in_languages.py"
