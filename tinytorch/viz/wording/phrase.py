"""Words that are found when they are shown: what was seen is kept, in no language."""

from __future__ import annotations

from typing import Any, NamedTuple

from .catalogue import gettext


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
