"""The course in other languages: only the prose is translated; code and stored outputs exist once.

For each language there is a folder `translations/LANGUAGE` beside the lessons, with one Markdown
file per lesson. A line `<!-- cell ID DIGEST -->` begins the translation of the Markdown cell with
that id. DIGEST is that of the English text that was translated, so that a text which has changed
since is noticed. A page, such as the glossary, is one cell. The list of solutions and the pages of
the site in docs/pages have such a folder beside them, too.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from ..safe_files import read_text
from ..wording import gettext
from .lesson import read_notebook

TRANSLATIONS = "translations"
"""The name of the folders with translations."""

_MARK = re.compile(r"^<!-- cell (\S+) (\S+) -->[ \t]*\n", re.MULTILINE)


class TranslatedCell(NamedTuple):
    """The translation of one cell, and the digest of the English text that it was made from."""

    digest: str
    text: str


def digest_of_text(source: str) -> str:
    """Return the digest of an English text in a catalogue: eight digits."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:8]


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
        if translation is not None and translation.digest == digest:
            cells.append(cell | {"source": translation.text.splitlines(keepends=True)})
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
                "the course is not there in {language!r}; it is in: {there}",
                language=language,
                there=", ".join(available),
            )
        )


def read_translated(path: Path, language: str) -> str:
    """Return the text of a lesson or page in a language; in English if it is not translated.

    Raises ValueError if its catalogue cannot be read.
    """
    catalogue = path.parent / TRANSLATIONS / language / f"{path.stem}.md"
    if not catalogue.is_file():
        return read_text(path)
    try:
        translated = parse_catalogue(read_text(catalogue))
    except ValueError as error:
        raise ValueError(f"{catalogue.name}: {error}") from error
    notebook = translate_notebook(open_source(path), translated)
    if path.suffix == ".md":
        return "".join(prose_of(notebook).values()).rstrip("\n") + "\n"
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
