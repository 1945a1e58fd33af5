"""What learners write, read generously: `yes`, `2, 4`, `tensor([2., 4.])`, `x and y`, `None`.

An answer is compared by what it means: 2 is 2.0, spaces and brackets around a list do not matter, names may come in
any order. Full-width signs and some words of Chinese and Korean are known: `x 和 y`, `없음`. Nothing is ever run.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Collection
from typing import Any

from tinytorch.viz import gettext

_MOST = 2000
_TENSOR = re.compile(
    r"\A(?:torch\.)?tensor\((.*?)(?:,\s*(?:dtype|device|grad_fn|requires_grad)=.*)?\)\Z", re.DOTALL
)
_NOTHING = {"none", "nothing", "neither", "-", "no gradient", "no value"}
_NOTHING |= {"无", "無", "没有", "沒有", "都没有", "없음", "없다", "없습니다"}
_WORD = re.compile(r"[^\W\d]\w*(?:\.\w+|\[\d+\])*")
_LINE = re.compile(r"line (\d+) raises an error")
_GLUE = {"and", "und", "et", "only", "both", "just"}
_JOINED = re.compile(
    "以及|和|与|跟|及|都|只有|그리고|하고|둘 다|(?<=[a-z0-9_\\]])[와과]", re.IGNORECASE
)
_MARKS = str.maketrans("、。【】\N{MINUS SIGN}", ",.[]-")
_AROUND = re.compile(
    r"^grad_fn\s*=\s*| object at \w+|\w+::|[`'\"<>]"
)  # of a node, as it is printed
_COUNTED = (
    "zero one two three four five six seven eight nine ten",
    "零 一 二 三 四 五 六 七 八 九 十",
    "영 하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열",
)
_NUMBERS = {word: number for words in _COUNTED for number, word in enumerate(words.split())}


def same(given: Any, right: Any) -> bool:
    """Whether `given`, as somebody wrote it, means the answer `right`."""
    if isinstance(right, frozenset | set):
        return names(given) == {name.casefold() for name in right}
    if isinstance(right, bool) and isinstance(given, str):
        return given.strip().casefold() in (("yes", "true") if right else ("no", "false"))
    if isinstance(right, str):
        nothing = right.casefold() in _NOTHING
        return isinstance(given, str) and (
            value(given) is None if nothing else _words(given) == _words(right)
        )
    return _equal(value(given), right)


def readable(given: Any, right: Any, known: Collection[str]) -> bool:
    """Whether `given` can be an answer at all where answers are like `right`; `known`: the names there are."""
    if isinstance(right, frozenset | set):
        return names(given) <= {name.casefold() for name in known} | {
            name.casefold() for name in right
        }
    return isinstance(right, str | bool) or not isinstance(value(given), str)


def looks(given: str, like: str, known: Collection[str]) -> bool:
    """Whether `given` says that there is none, looks like the pattern `like`, or is one of the names there are."""
    said = _words(given)
    return (
        value(given) is None
        or bool(re.fullmatch(like, said))
        or said in {name.casefold() for name in known}
    )


def value(given: Any) -> Any:
    """The value that a text stands for; the text itself, tidied, if it stands for none."""
    if not isinstance(given, str):
        return given.tolist() if hasattr(given, "tolist") else given
    text = _plain(given)
    if text.casefold().rstrip(".") in _NOTHING:
        return None
    if text.casefold().rstrip(".") in _NUMBERS:
        return _NUMBERS[text.casefold().rstrip(".")]
    inner = _TENSOR.match(text)
    text = _JOINED.sub(",", inner[1] if inner else text).replace(";", ",").replace(" and ", ", ")
    for attempt in (text, text.rstrip("."), re.sub(r"(?<=[\w.])\s+(?=[-+\w.])", ", ", text)):
        try:
            return ast.literal_eval(attempt)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return " ".join(text.split())


def names(given: Any) -> set[str]:
    """The names in an answer such as `x and y`, `x, y`, `['x', 'y']`; none for `none`."""
    text = _plain(given if isinstance(given, str) else " ".join(map(str, given or ())))
    if text.casefold().rstrip(".") in _NOTHING:
        return set()
    return {word.casefold() for word in _WORD.findall(_JOINED.sub(" ", text))} - _GLUE


def _plain(text: str) -> str:
    """A text with the signs of a keyboard, without spaces and backticks around it."""
    return unicodedata.normalize("NFKC", text[:_MOST]).translate(_MARKS).strip(" \t\n`")


def shown(answer: Any) -> str:
    """An answer as it is shown: yes and no, numbers with at most six digits, names in order."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, frozenset | set):
        return ", ".join(sorted(answer)) or "none"
    if isinstance(answer, str):
        return answer
    return number(answer)


def label(choice: str) -> str:
    """A choice in the words of the chosen language; it is kept in English."""
    line = _LINE.fullmatch(choice)
    return gettext("line {line} raises an error", line=line[1]) if line else gettext(choice)


def number(value: Any) -> str:
    """A value, nested or not, as Python writes it, but with at most six digits."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(number(one) for one in value)}]"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _words(text: str) -> str:
    return " ".join(_AROUND.sub("", _plain(text)).split()).casefold()


def _equal(given: Any, right: Any) -> bool:
    if isinstance(right, list | tuple):
        if not isinstance(given, list | tuple):
            return len(right) == 1 and _equal(given, right[0])
        if len(given) == len(right):
            return all(_equal(one, other) for one, other in zip(given, right, strict=True))
        return len(given) == 1 and _equal(given[0], right)
    if isinstance(given, list | tuple):
        return len(given) == 1 and _equal(given[0], right)
    if isinstance(given, bool) or isinstance(right, bool) or given is None or right is None:
        return given is right
    if isinstance(given, int | float) and isinstance(right, float):
        near = math.isclose(
            given, right, rel_tol=1e-3, abs_tol=5e-5
        )  # what is printed has four digits
        return near or (math.isnan(given) and math.isnan(right))
    return bool(given == right)
