"""The catalogue of all strings that a person reads in pictures and widgets.

The code has them in English. Another language is one file for each package that has strings,
`LANGUAGE/LC_MESSAGES/DOMAIN.mo` in its folder `locale`, read by the standard library's `gettext`;
what they lack stays English. Pictures have theirs here, and copylab adds its own with
`add_catalogue`: tinytorch alone knows nothing of widgets and lessons.

The language is chosen once for a process: by `set_language`, else by the environment variable
COPYLAB_LANGUAGE, else by `set_default_language`, with which copylab follows a course folder; never by the machine's own: the same notebook prints the same on every machine.
"""

from __future__ import annotations

import gettext as standard
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from .particles import fill_in

FOLDERS = {"tinytorch": Path(__file__).resolve().parents[2] / "locale"}
"""The folder of languages of each domain; for a string, they are asked in this order."""

_chosen: list[standard.NullTranslations] = []
"""The catalogue of each domain in the language in use, once the first string was asked for."""
_requested: list[str | None] = []
"""The language that `set_language` was called with, if it was."""
_defaults: list[str | None] = [None]
"""The language where nobody asked for another."""


def add_catalogue(domain: str, folder: Path) -> None:
    """Also look for strings in the files `LANGUAGE/LC_MESSAGES/DOMAIN.mo` of a folder."""
    FOLDERS[domain] = folder
    # A language may have been chosen before the package with this folder was imported.
    _chosen.clear()


def set_language(language: str | None) -> None:
    """Translate everything from now on: `"zh"`, for example; None for English.

    A language without a file is English.
    """
    _requested[:] = [language]
    _chosen.clear()


def set_default_language(language: str | None) -> None:
    """Translate into a language from now on, unless the user or the environment chose another."""
    _defaults[:] = [language]
    _chosen.clear()


def _get_catalogues() -> list[standard.NullTranslations]:
    """Return the catalogues in use; the first one asks the others for what it lacks."""
    # At the first string, not at import: the variable may be set after that.
    if not _chosen:
        _chosen[:] = _load_catalogues()
    return _chosen


def _load_catalogues() -> list[standard.NullTranslations]:
    chosen_by_environment = os.environ.get("COPYLAB_LANGUAGE", _defaults[0])
    language = _requested[0] if _requested else chosen_by_environment
    if not language:
        return [standard.NullTranslations()]
    catalogues = [
        standard.translation(domain, folder, [language], fallback=True)
        for domain, folder in FOLDERS.items()
    ]
    for catalogue in catalogues[1:]:
        catalogues[0].add_fallback(catalogue)
    return catalogues


def current_language() -> str | None:
    """Return the language in use, as an attribute `lang` has it (`"zh"`); None for English."""
    for catalogue in _get_catalogues():
        language = catalogue.info().get("language", "")
        # It comes from a file and goes into HTML.
        if re.fullmatch(r"[\w-]+", language):
            return language
    return None


def gettext(text: str, /, **values: Any) -> str:
    """Return `text` in the language in use, with `values` in place of their `{name}`."""
    # The translation of an empty text is the header of the file.
    translation = _get_catalogues()[0].gettext(text) if text else ""
    # Without values nothing is filled in: the text may have braces of its own.
    if values:
        return fill_in(translation, values)
    return translation


def gettext_noop(text: str) -> str:
    """Return `text` as it is: marks a string of a table that is translated where it is used."""
    return text


def ngettext(singular: str, plural: str, number: int, /, **values: Any) -> str:
    """Return the form of a text for a number; `{number}` in it is the number, with commas."""
    form = _get_catalogues()[0].ngettext(singular, plural, number)
    return fill_in(form, {"number": f"{number:,}", **values})


class Phrase(NamedTuple):
    """A text of the catalogue and what fills its placeholders, for a record that outlives a language.

        Phrase.of(gettext_noop("it is on {device}"), device="cuda:0")

    A value may be a phrase again.
    """

    text: str
    """In English, which is its key in the catalogue."""
    values: tuple[tuple[str, Any], ...] = ()
    """What fills each placeholder."""

    @classmethod
    def of(cls, text: str, /, **values: Any) -> Phrase:
        """Make a phrase of a text that `gettext_noop` has marked."""
        return cls(text, tuple(values.items()))

    def word(self) -> str:
        """Return it in the language in use."""
        values = {}
        for name, value in self.values:
            values[name] = value.word() if isinstance(value, Phrase) else value
        return gettext(self.text, **values)


def list_translations() -> dict[str, str]:
    """Return the translation of each English text; nothing in English itself."""
    translations: dict[str, str] = {}
    for catalogue in _get_catalogues():
        # The standard library has no public way to list them; keys of plurals are tuples.
        for text, translation in getattr(catalogue, "_catalog", {}).items():
            if isinstance(text, str) and text:
                translations.setdefault(text, translation)
    return translations
