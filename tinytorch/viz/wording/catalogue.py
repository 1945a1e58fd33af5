"""The catalogue of all strings that a person reads in pictures and widgets.

The code has them in English. Another language is one file,
`tinytorch/locale/LANGUAGE/LC_MESSAGES/copylab.mo`, read by the standard library's `gettext`; what
it lacks stays English. The language is chosen once for a process, by the environment variable
COPYLAB_LANGUAGE or by `use_language`, never by the machine's own: the same notebook prints the same
on every machine.
"""

from __future__ import annotations

import gettext as standard
import os
import re
from pathlib import Path
from typing import Any

DOMAIN = "copylab"
FOLDER = Path(__file__).resolve().parents[2] / "locale"
_English = standard.NullTranslations

_chosen: list[standard.NullTranslations] = []
"""The catalogue in use, once the first string was asked for."""


def use_language(language: str | None) -> None:
    """Translate everything from now on: `"zh"`, for example; None for English.

    A language without a file is English.
    """
    catalogue = _English()
    if language:
        catalogue = standard.translation(DOMAIN, FOLDER, [language], fallback=True)
    _chosen[:] = [catalogue]


def _get_catalogue() -> standard.NullTranslations:
    # At the first string, not at import: the variable may be set after that.
    if not _chosen:
        use_language(os.environ.get("COPYLAB_LANGUAGE"))
    return _chosen[0]


def current_language() -> str | None:
    """Return the language in use, as an attribute `lang` has it (`"zh"`); None for English."""
    language = _get_catalogue().info().get("language", "")
    # It comes from a file and goes into HTML.
    return language if re.fullmatch(r"[\w-]+", language) else None


def gettext(text: str, /, **values: Any) -> str:
    """Return `text` in the language in use, with `values` in place of their `{name}`."""
    # The translation of an empty text is the header of the file.
    translation = _get_catalogue().gettext(text) if text else ""
    # Without values nothing is filled in: the text may have braces of its own.
    return translation.format(**values) if values else translation


def gettext_noop(text: str) -> str:
    """Return `text` as it is: marks a string of a table that is translated where it is used."""
    return text


def ngettext(one: str, many: str, number: int, /, **values: Any) -> str:
    """Return the form of a text for a number; `{number}` in it is the number, with commas."""
    return _get_catalogue().ngettext(one, many, number).format(number=f"{number:,}", **values)


def list_translations() -> dict[str, str]:
    """Return the translation of each English text; nothing in English itself."""
    # The standard library has no public way to list them; keys of plurals are tuples.
    texts = getattr(_get_catalogue(), "_catalog", {})
    return {
        text: translation for text, translation in texts.items() if isinstance(text, str) and text
    }
