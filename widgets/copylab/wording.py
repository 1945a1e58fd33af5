"""Translated strings: those of widgets, questions and lessons, and through them those of pictures.

There is one language for both packages, and tinytorch's functions know it. They are imported from
here, so that copylab's catalogue is there before its first string is asked for.
"""

from pathlib import Path

from tinytorch.viz import (
    Phrase,
    add_catalogue,
    cache_in_language,
    cached_property_in_language,
    current_language,
    gettext,
    gettext_noop,
    join_facts,
    join_list,
    join_phrases,
    join_sentences,
    list_translations,
    ngettext,
    set_default_language,
    set_language,
)

__all__ = [
    "Phrase",
    "cache_in_language",
    "cached_property_in_language",
    "current_language",
    "gettext",
    "gettext_noop",
    "join_facts",
    "join_list",
    "join_phrases",
    "join_sentences",
    "list_translations",
    "ngettext",
    "set_default_language",
    "set_language",
]

add_catalogue("copylab", Path(__file__).with_name("locale"))
