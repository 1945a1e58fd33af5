"""Korean particles after a word that is filled in: 은 or 는, 이 or 가, 을 or 를, 과 or 와, 으로 or 로.

Which one is right is decided by how the word before it ends when it is read aloud, and that is
known only when it is filled in: `x` is read with a vowel at its end, `n` isn't. Translators write
both forms, `{name}은(는)`, and `fill_in` takes the one that fits.

Chinese has a space between a character and code, and none between two characters or beside a wide mark:
translators write it, `保存了 {saved}`, and `fill_in` drops it where what is filled in begins or ends so.
"""

from __future__ import annotations

import re
from typing import Any

_AFTER = {
    # As translators write both: after a consonant, after a vowel.
    "은(는)": ("은", "는"),
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "과(와)": ("과", "와"),
    "(으)로": ("으로", "로"),
    "(이)라": ("이라", "라"),
    "(이)어야": ("이어야", "여야"),
}
_BOTH_FORMS = re.compile("|".join(map(re.escape, _AFTER)))
_CHINESE = "[\u4e00-\u9fff]"
_CHINESE_OR_WIDE_MARK = "[\u4e00-\u9fff\u3001-\u301f\uff01-\uff5e\u201c\u201d]"
_CHINESE_JOINTS = re.compile(rf"((?<={_CHINESE}) )?\{{(\w+)\}}( (?={_CHINESE}))?")
_LAST_WORD = re.compile(r"(?:[0-9]+|[a-z]+|[가-힣])\Z")
_LONGEST_WORD = 200
"""Characters of a text that are looked at: what is filled in may have megabytes."""
_CONSONANT_AT_END = re.compile(
    # step, net, input, block, hook; but not list, loop, float, whose last consonant is read with a
    # vowel behind it
    r"(?:(?:[mn]|[mn]e|ng|type|shape|(?<![aeiou])[aeiou][bkpt]|out|oo?k|ck)\Z)"
)
_L_AT_END = re.compile(r"(?:l|le)\Z")
_OPEN, _L, _CLOSED = range(3)
"""Ends with a vowel; with ㄹ, after which 로 stands and not 으로; with another consonant."""


def fill_in(translation: str, values: dict[str, Any]) -> str:
    """Return a translation with its values filled in, each particle as the word before it asks.

    Both forms stay where it is not known how the word before them is read.
    """
    translation = _CHINESE_JOINTS.sub(lambda field: _close_joints(field, values), translation)
    text = ""
    end = 0
    for found in _BOTH_FORMS.finditer(translation):
        text += translation[end : found.start()].format(**values)
        text += _choose_particle(found.group(), text)
        end = found.end()
    return text + translation[end:].format(**values)


def _close_joints(field: re.Match[str], values: dict[str, Any]) -> str:
    """Return a field of a translation without a space where Chinese characters or wide marks meet."""
    before, name, behind = field.groups(default="")
    value = str(values[name]) if before or behind else ""
    if re.match(_CHINESE_OR_WIDE_MARK, value[:1]):
        before = ""
    if re.match(_CHINESE_OR_WIDE_MARK, value[-1:]):
        behind = ""
    return f"{before}{{{name}}}{behind}"


def _choose_particle(forms: str, text: str) -> str:
    sound = _find_last_sound(text)
    if sound is None:
        return forms
    after_consonant, after_vowel = _AFTER[forms]
    # Behind ㄹ it is 로, as behind a vowel: 서울로.
    is_open = sound == _OPEN or (sound == _L and forms == "(으)로")
    if is_open:
        return after_vowel
    return after_consonant


def _find_last_sound(text: str) -> int | None:
    """Return how the last word of a text ends when a Korean reads it; None if nobody knows."""
    word = _LAST_WORD.search(_cut_unread(text[-_LONGEST_WORD:]).casefold())
    if word is None:
        return None
    last = word.group()[-1]
    if last.isdigit():
        # 영 일 이 삼 사 오 육 칠 팔 구
        # 일, 칠 and 팔 end in ㄹ; 영, 삼 and 육 in another consonant; all others in a vowel.
        if last in "178":
            return _L
        if last in "036":
            return _CLOSED
        return _OPEN
    if last.isascii():
        return _find_sound_of_latin(word.group())
    # A syllable's code says which of 28 consonants is at its end: 0 is none, 8 is ㄹ.
    final = (ord(last) - ord("가")) % 28
    if final == 8:
        return _L
    if final:
        return _CLOSED
    return _OPEN


def _cut_unread(text: str) -> str:
    """Return a text without what isn't read at its end: quotes, tags, a note in brackets."""
    while text:
        if text[-1] == ">" and "<" in text:
            text = text[: text.rindex("<")]
        elif text[-1] == ")" and _is_aside(text):
            text = text[: _find_opening_bracket(text)].rstrip()
        elif text[-1].isalnum():
            break
        elif text[-1].isspace():
            return ""  # all that was filled in are signs
        else:
            text = text[:-1]
    return text


def _is_aside(text: str) -> bool:
    """Return True if the brackets at the end of a text aren't read: `out (result)`, `clone()`.

    Those of a shape are: `(2, 3)`.
    """
    opening = _find_opening_bracket(text)
    return bool(text[: max(opening, 0)].strip()) and not text[opening + 1 :][:1].isdigit()


def _find_opening_bracket(text: str) -> int:
    """Return where the bracket opens that a text ends with; of a text that was cut, its last; -1 if there is none.

    Code in brackets has brackets: `2번 줄(x.view(4))`.
    """
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] == ")") - (text[place] == "(")
        if depth == 0:
            return place
    return text.rfind("(")


def _find_sound_of_latin(word: str) -> int:
    # A letter alone, or letters without a vowel, are read by their names: 엘, 엠, 엔, 아르 or 알.
    if len(word) == 1 or not re.search("[aeiouy]", word):
        if word[-1] in "lr":
            return _L
        if word[-1] in "mn":
            return _CLOSED
        return _OPEN
    if _L_AT_END.search(word):
        return _L
    if _CONSONANT_AT_END.search(word):
        return _CLOSED
    return _OPEN
