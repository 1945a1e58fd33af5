"""The course in other languages: only the prose is translated; code and stored outputs exist once.

For each language there is a folder `translations/LANGUAGE` beside the lessons, with one Markdown file per lesson. A
line `<!-- cell ID DIGEST -->` begins the translation of the Markdown cell with that id; DIGEST stands for the English
text that was translated, so that a text which has changed since is noticed. A page, such as the glossary, is one cell.
The list of solutions and the site's pages in docs/pages have such a folder beside them, too.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from tinytorch.viz import gettext

from ..safe_files import read_text
from .lesson import read as read_notebook

FOLDER = "translations"

_MARK = re.compile(r"^<!-- cell (\S+) (\S+) -->[ \t]*\n", re.MULTILINE)


class Entry(NamedTuple):
    """The translation of one cell, and the digest of the English text that it was made from."""

    digest: str
    text: str


def digest(source: str) -> str:
    """Return what stands for an English text in a catalogue: eight digits."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:8]


def read(catalogue: str) -> dict[str, Entry]:
    """Return the entries of a catalogue by the ids of their cells, in its order.

    Raises ValueError if a cell is there twice, or if there is text in front of the first mark.
    """
    before, *parts = _MARK.split(catalogue)
    if before.strip():
        raise ValueError(
            f"text in front of the first <!-- cell ... --> line: {before.strip()[:60]!r}"
        )
    entries: dict[str, Entry] = {}
    for name, said, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if name in entries:
            raise ValueError(f"the cell {name!r} is translated twice")
        entries[name] = Entry(said, text.strip("\n"))
    return entries


def opened(path: Path) -> dict[str, Any]:
    """Return a lesson; a page of Markdown is one with a single cell."""
    if path.suffix == ".md":
        return {"cells": [{"id": "page", "cell_type": "markdown", "source": [read_text(path)]}]}
    return read_notebook(path)


def files(folder: Path, name: str = "*") -> list[Path]:
    """Return what can be translated: the lessons, and the pages beside them."""
    return sorted([*folder.glob(f"{name}.ipynb"), *folder.glob(f"{name}.md")])


def prose(notebook: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown texts of a notebook by the ids of their cells."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells}


def translate(notebook: dict[str, Any], entries: dict[str, Entry]) -> dict[str, Any]:
    """Return the lesson in the language of the catalogue; a text that is missing or out of date stays English."""
    texts = prose(notebook)
    current = {
        name: one.text for name, one in entries.items() if one.digest == digest(texts.get(name, ""))
    }
    cells = [
        cell | {"source": current[cell["id"]].splitlines(keepends=True)}
        if cell["id"] in current
        else cell
        for cell in notebook["cells"]
    ]
    return notebook | {"cells": cells}


def languages(folder: Path) -> list[str]:
    """Return the languages into which something is translated."""
    there = folder / FOLDER
    return sorted(path.name for path in there.iterdir() if path.is_dir()) if there.is_dir() else []


def check(language: str, folder: Path) -> None:
    """Raise ValueError if nothing is there in a language."""
    known = ["en", *languages(folder)]
    if language not in known:
        there = ", ".join(known)
        raise ValueError(
            gettext(
                "the course is not there in {language!r}; it is in: {there}",
                language=language,
                there=there,
            )
        )


def text_in(path: Path, language: str) -> str:
    """Return the text of a lesson or a page in a language; in English, as it is stored, where it is not translated.

    Raises ValueError if its catalogue cannot be read.
    """
    catalogue = path.parent / FOLDER / language / f"{path.stem}.md"
    if not catalogue.is_file():
        return read_text(path)
    try:
        entries = read(read_text(catalogue))
    except ValueError as error:
        raise ValueError(f"{catalogue.name}: {error}") from error
    lesson = translate(opened(path), entries)
    if path.suffix == ".md":
        return "".join(prose(lesson).values()).rstrip("\n") + "\n"
    return json.dumps(lesson, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
