"""Which words of a step's sentence are code: they are shown in code type, as verdicts have them.

The sentences are plain, for texts and drawings. In a page, a line of the program or the name of a
tensor reads as a word of the sentence unless its type tells them apart: `a` is a word, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from ..doc import protect_marks
from ..run import RecordedRun

# Not by the edge of a word: Chinese and Korean write the next word without a space.
_BEFORE, _AFTER = "(?<![A-Za-z0-9_.])", "(?![A-Za-z0-9_])"
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_CALLS = rf"{_BEFORE}{_NAME}(?:\.{_NAME})*(?:\.{_NAME}\([^()]*\))+"
_NODE = (
    rf"{_BEFORE}(?:{_NAME}Backward[0-9]*|AccumulateGrad|CopySlices|CopyBackwards|backward){_AFTER}"
)
_SAVED = rf"{_BEFORE}_[a-z][a-z0-9_]*{_AFTER}"
_NUMBERS = r"\[[][0-9., +e-]*\]"


class CodeWords:
    """The code that sentences on a run may have: lines of its program, and names of its tensors."""

    def __init__(self, lines: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        self._lines, self._names = frozenset(lines), frozenset(names)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        lines, names = map(_join_alternatives, (self._lines, self._names))
        in_brackets = f"{lines}|{names}|clone"
        of_gradient = rf"(?<=gradient of ){names}(?= )|{_BEFORE}{names}(?= 的梯度|의 그래디언트)"
        parts = (
            # Between commas in English, in brackets in other languages, in Chinese wide ones.
            rf"(?<=, )(?:{lines})(?=[.,:;]|$)|(?<=[(\uff08])(?:{in_brackets})(?=[)\uff09])",
            rf"{_BEFORE}{names}(?:\.{_NAME})+(?![A-Za-z0-9_(])",
            *(of_gradient, _CALLS, _NODE, _SAVED, _NUMBERS),
        )
        return re.compile("|".join(parts))

    def mark(self, sentence: str) -> str:
        """Return a plain sentence with backticks around its code, and its own stars protected."""
        return self._pattern.sub(lambda code: f"`{code[0]}`", protect_marks(sentence))


def _join_alternatives(words: Iterable[str]) -> str:
    # The longest first: a line may be the end of another. Nothing matches where there are none.
    ordered = sorted(map(protect_marks, words), key=len, reverse=True)
    return "(?:" + ("|".join(map(re.escape, ordered)) or "(?!)") + ")"


def collect_code_words(run: RecordedRun) -> CodeWords:
    """Return the code words of a run: its lines, and the names of all its tensors."""
    lines, names = set[str](), set[str]()
    for step in run.steps:
        lines.add(step.site.source.partition("\n")[0].strip())
        if step.seen is not None:
            names.update(name for name, _ in step.seen.snapshot.names)
    return CodeWords(lines - {""}, names)
