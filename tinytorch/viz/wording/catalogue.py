"""The catalogue of all strings that a person reads in pictures and widgets.

English stands in the code. Another language is one file, `tinytorch/locale/LANGUAGE/LC_MESSAGES/copylab.mo`, as the
standard library's `gettext` reads it; what it does not have stays English. The language is chosen once for a process,
by the environment variable COPYLAB_LANGUAGE or by `use`, never by the machine's own: the same notebook prints the
same on every machine.
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


def use_language(language: str | None) -> None:
    """Say everything in a language from now on, `"zh"` for example; None for English. One without a file is English."""
    found = _English()
    if language:
        found = standard.translation(DOMAIN, FOLDER, [language], fallback=True)
    _chosen[:] = [found]


def _catalogue() -> standard.NullTranslations:
    if not _chosen:
        use_language(os.environ.get("COPYLAB_LANGUAGE"))
    return _chosen[0]


def current_language() -> str | None:
    """Return the chosen language as an attribute `lang` has it, `"zh"` for example; None for English."""
    said = _catalogue().info().get("language", "")
    return said if re.fullmatch(r"[\w-]+", said) else None


def gettext(text: str, /, **values: Any) -> str:
    """Return `text` in the chosen language; `{name}` in it stands for the value of that name."""
    said = _catalogue().gettext(text) if text else ""  # of nothing, a file says who made it
    return said.format(**values) if values else said


def gettext_noop(text: str) -> str:
    """Return `text` as it is: marks what stands in a table and is translated when it is said."""
    return text


def ngettext(one: str, many: str, number: int, /, **values: Any) -> str:
    """Return the form of a text that goes with a number; in it `{number}` is the number, with commas."""
    return _catalogue().ngettext(one, many, number).format(number=f"{number:,}", **values)


def list_translations() -> dict[str, str]:
    """Return what the chosen language has for each English text: nothing in English itself."""
    return {
        text: said
        for text, said in getattr(_catalogue(), "_catalog", {}).items()
        if isinstance(text, str) and text
    }
