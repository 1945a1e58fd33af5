"""How the site's search cuts Chinese and Korean into words: into pairs of letters.

Sphinx has no index of Chinese words without a further package, and the script that it writes for
Chinese ends with an error. In Korean, a particle is written onto its word: a search for 텐서 did not
find 텐서를. With pairs of letters, whatever is searched for is found inside of any word.
"""

from __future__ import annotations

import re

from sphinx.search.en import SearchEnglish

_LETTERS = r"\u3400-\u9fff\uac00-\ud7a3"  # of Chinese and of Korean
_PARTS = re.compile(f"([{_LETTERS}]+)|[^{_LETTERS}]+")
# What Sphinx's own function does, then the same as `split` below.
_SPLITTER = f"""
const PARTS = /([{_LETTERS}]+)|[^{_LETTERS}]+/gu;
const cutIntoPairs = (letters) =>
  letters.length < 3 ? [letters] : [...letters.slice(1)].map((letter, at) => letters[at] + letter);
const cutIntoParts = (word) =>
  [...word.matchAll(PARTS)].flatMap(([part, letters]) => letters ? cutIntoPairs(letters) : [part]);
function splitQuery(query) {{
  return query.split(/[^\\p{{Letter}}\\p{{Number}}_\\p{{Emoji_Presentation}}]+/gu).flatMap(cutIntoParts);
}}
"""


class SearchChinese(SearchEnglish):
    """English words, and pairs of Chinese letters."""

    lang = "zh"
    js_splitter_code = _SPLITTER

    def split(self, input: str) -> list[str]:  # noqa: A002 - Sphinx's name
        """Return the words of a text."""
        words: list[str] = []
        for word in super().split(input):
            for part in _PARTS.finditer(word):
                words += cut_into_pairs(part[0]) if part[1] else [part[0]]
        return words


class SearchKorean(SearchChinese):
    """English words, and pairs of Korean letters."""

    lang = "ko"


def cut_into_pairs(letters: str) -> list[str]:
    """Return the pairs of letters that follow each other, or all if they are fewer than three."""
    if len(letters) < 3:
        return [letters]
    return [letters[at : at + 2] for at in range(len(letters) - 1)]
