"""Which words of a sentence on a program are code: they are in code type, as in verdicts.

The sentences are plain, for texts and drawings. In a page, a line of the program or the name of a
tensor reads as a word of the sentence unless its type tells them apart: `a` is a word, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .doc import Alarm, Items, Paragraph, Part, plain_text, protect_marks
from .wording import cached_property_in_language, current_language

# Not by the edge of a word: Chinese and Korean write the next word without a space.
_BEFORE, _AFTER = "(?<![A-Za-z0-9_.])", "(?![A-Za-z0-9_])"
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_CALLS = rf"{_BEFORE}{_NAME}\(\)|{_BEFORE}{_NAME}(?:\.{_NAME})*(?:\.{_NAME}\([^()]*\))+"
_NODE = (
    rf"{_BEFORE}(?:{_NAME}Backward[0-9]*|AccumulateGrad|CopySlices|CopyBackwards|backward){_AFTER}"
)
_SAVED = rf"{_BEFORE}_[a-z][a-z0-9_]*{_AFTER}"
# Not of `In[3]`, which is the name of a cell.
_NUMBERS = r"(?<!In)\[[][0-9., +e-]*\]"
# `.detach()` and `.data` by themselves, and what a Function is told.
_ATTRIBUTE = rf"(?<![A-Za-z0-9_.)\]])\.[a-z_]+(?:\(\)|(?![A-Za-z0-9_(]))|{_BEFORE}(?:ctx|torch)(?:\.{_NAME})+"
# Of English, where a name may be a word: `a`, `out` and `loss` are names before and after these.
_VERBS = (
    "is|was|are|were|has|have|had|went|goes|shares?|shows?|requires|and|gave|now|changed|did|do|"
    "does|made|reached"
)
_PREPOSITIONS = "(?<= and )|(?<= by )|(?<= from )|(?<= of )|(?<= over )|(?<= reached )|(?<= to )"
_BESIDE_WORD = "(?<![\\w.'\u2019`-])"


class CodeWords:
    """The code that sentences on a run may have: lines of its program, and names of its tensors."""

    def __init__(self, lines: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        self._lines, self._names = frozenset(lines), frozenset(names)

    @cached_property_in_language
    def _pattern(self) -> re.Pattern[str]:
        lines, names = map(_join_alternatives, (self._lines, self._names))
        in_brackets = f"{lines}|{names}|clone"
        of_gradient = rf"(?<=gradient of ){names}(?= )|{_BEFORE}{names}(?= 的梯度|의 그래디언트)"
        plain_names = _join_alternatives(filter(_is_no_word, self._names))
        # In a text of another language Latin letters are code; there are English words in few.
        bare = rf"{_BESIDE_WORD}{plain_names}(?![\w(]|[.'\u2019-]\w)"
        if current_language() in (None, "en"):
            bare += rf"|(?:^|(?<=[.;] )|(?<= of )|(?<= and )|(?<= when )|(?<=, )){names}(?= (?:{_VERBS})\b|, )"
            bare += rf"|(?:{_PREPOSITIONS}){names}(?=[.,;:]|$| and )"
        else:
            bare = rf"(?<![A-Za-z0-9_.]){names}(?![A-Za-z0-9_(]|\.[A-Za-z])"
        parts = (
            # Whole, before the name that it begins with: `opt.param_groups[0]["params"][0]`.
            rf"{_BEFORE}{_join_alternatives(filter(_has_bracket, self._names))}(?![\w.(\[])",
            # Behind its number; between commas in English, in brackets in other languages, in
            # Chinese wide ones.
            rf"(?<=  ){lines}(?=[.\u3002]?$)",
            rf"(?<=, )(?:{lines})(?=[.,:;]|$)|(?<=[(\uff08])(?:{in_brackets})(?=[)\uff09])",
            rf"{_BEFORE}{names}(?:\.{_NAME})+(?![A-Za-z0-9_(])",
            *(of_gradient, _CALLS, _NODE, _SAVED, _NUMBERS, _ATTRIBUTE, bare),
        )
        return re.compile("|".join(parts))

    def mark_code(self, sentence: str) -> str:
        """Return a plain sentence with backticks around its code, and its own stars protected."""
        return self._pattern.sub(lambda code: f"`{code[0]}`", protect_marks(sentence))

    def quote_code(self, sentence: str) -> str:
        """Return the same for a sentence that others are joined to: with its stars as they are."""
        return plain_text(self.mark_code(sentence))


class MarkedItems(Items):
    """A list of sentences: plain in the text, with code in code type in a page."""

    def __init__(
        self,
        sentences: Iterable[str],
        words: CodeWords,
        *,
        bullet: str = "  - ",
        **attributes: Any,
    ) -> None:
        plain = list(sentences)
        super().__init__(map(words.mark_code, plain), bullet=bullet, **attributes)
        self._plain = Items(map(protect_marks, plain), bullet=bullet)

    def text(self) -> str:
        """Return a line for each sentence."""
        return self._plain.text()


class MarkedParagraph(Part):
    """A plain sentence, with code in code type in a page."""

    def __init__(self, sentence: str, words: CodeWords, **attributes: Any) -> None:
        marked = Paragraph(words.mark_code(sentence), **attributes)
        super().__init__(Paragraph(protect_marks(sentence)).text(), marked.html())


class MarkedAlarm(Alarm):
    """An alarm with a plain title, in which code is in code type in a page."""

    def __init__(
        self, title: str, words: CodeWords, *parts: Part | None, severity: str = "error"
    ) -> None:
        super().__init__(words.mark_code(title), *parts, severity=severity)
        self._plain = Alarm(protect_marks(title), *parts)

    def text(self) -> str:
        """Return the title, and below it the parts, indented."""
        return self._plain.text()


def _has_bracket(name: str) -> bool:
    return "[" in name


def _is_no_word(name: str) -> bool:
    """Return True for a name that no English sentence has as a word: `x`, `net.bias`."""
    return name != "a" and (len(name) == 1 or not name.isalpha())


def _join_alternatives(words: Iterable[str]) -> str:
    # The longest first: a line may be the end of another. Nothing matches where there are none.
    ordered = sorted(map(protect_marks, words), key=len, reverse=True)
    return "(?:" + ("|".join(map(re.escape, ordered)) or "(?!)") + ")"
