"""Write the catalogues of the lessons' prose for translators, or say what is missing in them.

python tools/translations.py zh 02_clone    # write the file for a translator, or bring it up to date
python tools/translations.py zh             # say what is missing or out of date in that language
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from copylab.course.lesson import lessons_folder
from copylab.course.translation import (
    TRANSLATIONS,
    TranslatedCell,
    digest_of_text,
    list_sources,
    open_source,
    parse_catalogue,
    prose_of,
)
from project_files import ROOT

PAGES = ROOT / "docs" / "pages"
"""Pages of the site that can be translated."""

OPEN = "untranslated"
"""Stands in place of the digest where a translator has not been yet."""


def format_catalogue(entries: dict[str, TranslatedCell]) -> str:
    """Return the catalogue with these entries."""
    texts = []
    for name, entry in entries.items():
        texts += [f"<!-- cell {name} {entry.digest} -->\n{entry.text}\n"]
    return "\n".join(texts)


def list_pages(name: str = "*") -> list[Path]:
    """Return the lessons and all pages that can be translated, or those of a name."""
    solutions = (lessons_folder() / "solutions").glob(f"{name}.md")
    pages = [*list_sources(lessons_folder(), name), *solutions, *sorted(PAGES.glob(f"{name}.md"))]
    # What the names of the reference say is English.
    return [path for path in pages if path.stem != "reference"]


def find_faults(notebook: dict[str, Any], entries: dict[str, TranslatedCell]) -> list[str]:
    """Say what is missing, out of date or superfluous in a catalogue, a line for each."""
    texts = prose_of(notebook)
    found = [f"{name}: the lesson has no such text" for name in entries if name not in texts]
    for name, text in texts.items():
        entry = entries.get(name)
        if entry is None or entry.digest == OPEN:
            found.append(f"{name}: not translated")
        elif entry.digest != digest_of_text(text):
            found.append(f"{name}: the English text has changed")
    return found


def renew_catalogue(
    notebook: dict[str, Any], entries: dict[str, TranslatedCell]
) -> dict[str, TranslatedCell]:
    """Return the catalogue in the order of the lesson: translations kept, open texts in English."""
    return {
        name: entries.get(name, TranslatedCell(OPEN, text))
        for name, text in prose_of(notebook).items()
    }


def main(arguments: list[str] | None = None) -> int:
    """Write a catalogue for a translator, or say what is missing."""
    parser = argparse.ArgumentParser(description="Catalogues for translators.")
    parser.add_argument("language", help="its code, for example zh or ko")
    parser.add_argument(
        "lesson", nargs="?", help="for example 02_clone or glossary; without it all are looked at"
    )
    options = parser.parse_args(arguments)
    status = 0
    for path in list_pages(options.lesson or "*"):
        notebook = open_source(path)
        catalogue = path.parent / TRANSLATIONS / options.language / f"{path.stem}.md"
        entries = parse_catalogue(catalogue.read_text("utf-8")) if catalogue.is_file() else {}
        if options.lesson:
            catalogue.parent.mkdir(parents=True, exist_ok=True)
            entries = renew_catalogue(notebook, entries)
            catalogue.write_text(format_catalogue(entries), "utf-8")
        for fault in find_faults(notebook, entries):
            print(f"{path.stem}, {fault}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
