"""The course in other languages: prose is translated, and stored outputs come from a run in each.

For each language there is a folder `translations/LANGUAGE` beside the lessons, with one Markdown
file per lesson. A line `<!-- cell ID DIGEST -->` begins the translation of the Markdown cell with
that id. DIGEST is that of the English text that was translated, so that a text which has changed
since is noticed. A page, such as the glossary, is one cell. The list of solutions and the pages of
the site in docs/pages have such a folder beside them, too.

What the cells of the lessons showed when they were run in the language is in one file of that
folder, `outputs.xz`, with a digest of each English cell and its outputs: where these have changed
since, the cell is English. Solutions are made in the language, so theirs has sources as well.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..safe_files import read_file, read_text
from ..wording import gettext, join_list
from .lesson import read_notebook

try:
    import lzma
except ImportError:
    # A Python that was built without it, as one from source often is, shows the cells in English.
    _HAS_LZMA = False
else:
    _HAS_LZMA = True

TRANSLATIONS = "translations"
"""The name of the folders with translations."""

OUTPUTS = "outputs.xz"
"""The name of the file with what cells show in a language."""

CATALOGUES = "(catalogues)"
"""Stands among the ids of cells; its digest is that of the translations that a notebook shows."""

_MARK = re.compile(r"^<!-- cell (\S+) (\S+) -->[ \t]*\n", re.MULTILINE)


class TranslatedCell(NamedTuple):
    """The translation of one cell, and the digest of the English text that it was made from."""

    digest: str
    text: str


class CellInLanguage(NamedTuple):
    """A cell that was run in a language.

    digest: of the English cell, with its outputs.
    fields: `source` and `outputs`, as far as they are not the English ones.
    """

    digest: str
    fields: dict[str, Any]


def digest_of_text(source: str) -> str:
    """Return the digest of an English text in a catalogue: eight digits."""
    # Eight digits tell a changed text from an old one, and leave the line short enough to be read.
    return hashlib.sha256(source.strip().encode()).hexdigest()[:8]


def digest_of_cell(cell: Mapping[str, Any]) -> str:
    """Return the digest of a cell in English, its source and its outputs: eight digits."""
    content = ["".join(cell["source"]), cell.get("outputs", [])]
    return digest_of_text(json.dumps(content, sort_keys=True))


def parse_catalogue(catalogue: str) -> dict[str, TranslatedCell]:
    """Return the translations in a catalogue by the ids of their cells, in its order.

    Raises ValueError if a cell is there twice, or if there is text in front of the first mark.
    """
    before, *parts = _MARK.split(catalogue)
    if before.strip():
        raise ValueError(
            f"text in front of the first <!-- cell ... --> line: {before.strip()[:60]!r}"
        )
    cells: dict[str, TranslatedCell] = {}
    # `split` returns the two groups of each mark and the text up to the next one.
    for cell_id, digest, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if cell_id in cells:
            raise ValueError(f"the cell {cell_id!r} is translated twice")
        cells[cell_id] = TranslatedCell(digest, text.strip("\n"))
    return cells


def open_source(path: Path) -> dict[str, Any]:
    """Return a lesson in English; a page of Markdown becomes a notebook with a single cell."""
    if path.suffix == ".md":
        return {"cells": [{"id": "page", "cell_type": "markdown", "source": [read_text(path)]}]}
    return read_notebook(path)


def list_sources(folder: Path, name: str = "*") -> list[Path]:
    """Return the files that can be translated: the lessons, and the pages beside them."""
    return sorted([*folder.glob(f"{name}.ipynb"), *folder.glob(f"{name}.md")])


def prose_of(notebook: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown texts of a notebook by the ids of their cells."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells}


def translate_notebook(
    notebook: dict[str, Any], translated: dict[str, TranslatedCell]
) -> dict[str, Any]:
    """Return a translated lesson; a text that is missing or out of date stays English."""
    prose = prose_of(notebook)
    cells = []
    for cell in notebook["cells"]:
        translation = translated.get(cell["id"])
        digest = digest_of_text(prose.get(cell["id"], ""))
        # An English text that is right is better than a translated one that is not.
        if translation is not None and translation.digest == digest:
            cells.append(cell | {"source": translation.text.splitlines(keepends=True)})
        else:
            cells.append(cell)
    return notebook | {"cells": cells}


def read_run(path: Path, language: str) -> dict[str, CellInLanguage]:
    """Return the cells of a notebook as they were run in a language, by their ids.

    There are none where it was not run, and in a Python that was built without `lzma`. Raises
    ValueError if the file cannot be read.
    """
    stored = path.parent / TRANSLATIONS / language / OUTPUTS
    return _unpack_runs(read_file(stored)).get(path.stem, {}) if stored.is_file() else {}


# One notebook after the other is read from the same file, and to unpack it takes 0.1 s.
@functools.lru_cache(maxsize=1)
def _unpack_runs(packed: bytes) -> dict[str, dict[str, CellInLanguage]]:
    if not _HAS_LZMA:
        return {}
    try:
        runs: dict[str, dict[str, CellInLanguage]] = {}
        for name, run in json.loads(lzma.decompress(packed)).items():
            runs[name] = {cell_id: CellInLanguage(*cell) for cell_id, cell in run.items()}
        return runs
    except (lzma.LZMAError, EOFError, ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{OUTPUTS}: {error}") from error


def find_stale_cells(notebook: dict[str, Any], run: Mapping[str, CellInLanguage]) -> list[str]:
    """Return the ids of the cells of a notebook that stay English or are gone: run it again."""
    digests = {cell["id"]: digest_of_cell(cell) for cell in notebook["cells"]}
    # Prose that no run made is in the catalogue of the lesson.
    stale = [
        cell["id"]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and cell["id"] not in run
    ]
    changed = [name for name, cell in run.items() if digests.get(name) != cell.digest]
    return stale + [name for name in changed if name != CATALOGUES]


def translate_run(notebook: dict[str, Any], run: Mapping[str, CellInLanguage]) -> dict[str, Any]:
    """Return a notebook with what its cells show in a language; a stale cell stays English."""
    cells = []
    for cell in notebook["cells"]:
        in_language = run.get(cell["id"])
        if in_language is not None and in_language.digest == digest_of_cell(cell):
            cells.append(cell | in_language.fields)
        else:
            cells.append(cell)
    return notebook | {"cells": cells}


def list_languages(folder: Path) -> list[str]:
    """Return the languages into which something in a folder is translated."""
    translations = folder / TRANSLATIONS
    if not translations.is_dir():
        return []
    return sorted(path.name for path in translations.iterdir() if path.is_dir())


def require_language(language: str, folder: Path) -> None:
    """Raise ValueError if nothing in a folder is translated into a language."""
    available = ["en", *list_languages(folder)]
    if language not in available:
        raise ValueError(
            gettext(
                "the course does not exist in {language!r}; it is in: {there}",
                language=language,
                there=join_list(available),
            )
        )


def read_translated(path: Path, language: str) -> str:
    """Return the text of a lesson, solution or page in a language, in English where it must be.

    Raises ValueError if its catalogue or its outputs cannot be read.
    """
    catalogue = path.parent / TRANSLATIONS / language / f"{path.stem}.md"
    run = read_run(path, language) if path.suffix == ".ipynb" else {}
    if not (catalogue.is_file() or run):
        return read_text(path)
    try:
        translated = parse_catalogue(read_text(catalogue)) if catalogue.is_file() else {}
    except ValueError as error:
        raise ValueError(f"{catalogue.name}: {error}") from error
    notebook = translate_notebook(translate_run(open_source(path), run), translated)
    if path.suffix == ".md":
        # A page has no format of its own: it is the text of its only cell.
        return "".join(prose_of(notebook).values()).rstrip("\n") + "\n"
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
