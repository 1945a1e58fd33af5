"""Free answers of learners, read generously: `yes`, `2, 4`, `tensor([2., 4.])`, `x and y`, `None`.

An answer is compared by its meaning: 2 is 2.0, spaces and brackets around a list do not matter,
names may come in any order, and a decimal number is right as far as it is written, from two
decimals on. Full-width signs and some words of Chinese and Korean are known:
`x 和 y`, `없음`. No answer is ever run.

`web/standalone.js` reads answers by the same rules on a page without a kernel.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Any

from ..wording import gettext

_MAX_LENGTH = 2000
"""Characters of an answer that are read: the parser is not given a text without an end."""

_TENSOR = re.compile(
    r"\A(?:torch\.)?tensor\((.*?)(?:,\s*(?:dtype|device|grad_fn|requires_grad)=.*)?\)\Z", re.DOTALL
)
_NONE_WORDS = {"none", "nothing", "neither", "-", "no gradient", "no value"}
_NONE_WORDS |= {"无", "無", "没有", "沒有", "都没有", "없음", "없다", "없습니다"}
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+|\[\d+\])*")
_ERROR_CHOICE = re.compile(r"line (\d+) raises an error")
# Of an answer that negates a name, or is none. A dash before a name may be that of a list.
_DOUBT = re.compile(r"[!~?\u00ac\uff01\uff1f\uff5e]")
_ALL_WORDS = {"all", "all of them", "全部", "所有", "都是", "모두", "전부"}
_BOTH_WORDS = {"both", "两个都是", "둘 다", "둘다"}
_ONE_DIGIT = re.compile(r"(?<![0-9.])0?\.[0-9](?![0-9])")
_DECIMAL_COMMA = re.compile("[-+]?[0-9]+,[0-9]+")
_FILLER_WORDS = {"and", "und", "et", "only", "both", "just"}
# Chinese and Korean put no space between a name and the word for "and" that follows it.
_CONJUNCTIONS = re.compile(
    "以及|和|与|跟|及|都|只有|그리고|하고|둘 다|(?<=[a-z0-9_\\]])[와과]", re.IGNORECASE
)
_PUNCTUATION = str.maketrans("、。【】\N{MINUS SIGN}", ",.[]-")
_NODE_DECORATION = re.compile(
    r"^grad_fn\s*=\s*| object at \w+|\w+::|[`'\"<>]|(?<=backward)0\b", re.IGNORECASE
)
"""Parts of a printed node outside of its name, as in `<torch::autograd::CopySlices object at
0x7f>`, and the number that most nodes have: an answer without it names the same node."""

_NOT_FINITE = re.compile(r"(?<![\w.'])(?:torch\.|math\.|np\.)?(nan|inf)(?![\w.'])", re.IGNORECASE)
"""Numbers that Python has no literal for, as they are printed."""

_EULER = re.compile(
    r"(?<![\w.])(?:(?:math|torch)\.)?e(?:(?:\*\*|\^)(-?\d\d?))?(?![\w.(*^])", re.ASCII
)
"""The number e and its powers: `e`, `math.e`, `e**2`, `e^2`."""

_DECIMALS = re.compile(r"\.(\d+)", re.ASCII)

_COUNTER = re.compile(
    r"\s*(?:个|個|块|种|次|개|가지|번)\Z|\s+(?:cell|node|name|tensor|storage|counter)s?\Z"
)
"""What follows a number of things: `4个`, `네 개`, `4 cells`."""

_NUMBER_WORDS_BY_LANGUAGE = (
    "zero one two three four five six seven eight nine ten",
    "零 一 二 三 四 五 六 七 八 九 十",
    "영 하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열",
    "영 일 이 삼 사 오 육 칠 팔 구 십",
    # With a counter in them: two of them, three of them.
    "零 一 俩 仨",
    # What stands before a counter: 两个, 세 개.
    "零 一 两",
    "영 한 두 세 네",
)
_NUMBER_WORDS: dict[str, int] = {}
for _words in _NUMBER_WORDS_BY_LANGUAGE:
    _NUMBER_WORDS |= {word: number for number, word in enumerate(_words.split())}


# -- comparing ------------------------------------------------------------------------


def is_same_answer(answer: Any, right: Any) -> bool:
    """Return True if `answer`, as somebody wrote it, means the answer `right`."""
    if isinstance(right, frozenset | set):
        return is_list_of_names(answer) and parse_names(answer) == {
            name.casefold() for name in right
        }
    if isinstance(right, bool) and isinstance(answer, str):
        return answer.strip().casefold() in (("yes", "true") if right else ("no", "false"))
    if isinstance(right, str):
        if not isinstance(answer, str):
            return False
        # The right answer to `node` may be the text "none": any word for it will do.
        if right.casefold() in _NONE_WORDS:
            return parse_value(answer) is None
        return _normalize_text(answer) == _normalize_text(right)
    # A tensor that a check looks at has all of its digits.
    decimals = _count_decimals(answer) if isinstance(answer, str) else 0
    # From two decimals on nobody has guessed it.
    return _equal_values(parse_value(answer), right, decimals if decimals >= 2 else 0)


def is_of_same_kind(answer: Any, right: Any, known_names: Collection[str]) -> bool:
    """Return True if `answer` is of the kind of `right`: names that exist, a value, or any text.

    No value is what may have been meant in another way, which is asked for again.
    """
    if isinstance(right, frozenset | set):
        accepted = {name.casefold() for name in known_names} | {name.casefold() for name in right}
        return is_list_of_names(answer) and parse_names(answer) <= accepted
    if isinstance(right, str | bool):
        return True
    is_ambiguous = (
        is_one_of_several(answer, right)
        or has_decimal_comma(answer, right)
        or lacks_decimals(answer, right)
    )
    return not is_ambiguous and _is_value(parse_value(answer), right)


def is_one_of_several(answer: Any, right: Any) -> bool:
    """Return True for one number where a tensor of several is asked for: `3` for `[[3, 3], [3, 3]]`.

    It may be meant for each of them or for all, and says nothing of their shape.
    """
    value = parse_value(answer)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and _count_numbers(right) > 1


def has_decimal_comma(answer: Any, right: Any) -> bool:
    """Return True for `4,5` where one number is asked for: these are two, or a decimal."""
    is_pair = isinstance(answer, str) and _DECIMAL_COMMA.fullmatch(_normalize_signs(answer))
    return bool(is_pair) and _count_numbers(right) == 1


def lacks_decimals(answer: Any, right: Any) -> bool:
    """Return True for the right answer with one decimal, and no more: `2.7` where 2.71828 is right.

    Of one digit alone, as in 0.7 for 0.7311, nothing tells it from a guess: that is wrong.
    """
    if not isinstance(answer, str) or is_same_answer(answer, right):
        return False
    text = _normalize_signs(answer)
    if _count_decimals(text) != 1 or _ONE_DIGIT.search(text):
        return False
    return _equal_values(parse_value(text), right, 1)


def _count_numbers(value: Any) -> int:
    return sum(map(_count_numbers, value)) if isinstance(value, list | tuple) else 1


def means_all(answer: str, count: int) -> bool:
    """Return True for an answer that means all names that are asked about, as many as `count`: of two, `both`."""
    words = _ALL_WORDS | _BOTH_WORDS if count == 2 else _ALL_WORDS
    return _normalize_signs(answer).casefold().rstrip(".") in words


def _is_value(value: Any, right: Any) -> bool:
    """Return True for None, numbers and lists of them: what a tensor, a gradient or a count can be.

    True and False can be only where the right answer has one of them. What stays a text when it is
    parsed is no value, and neither is a dict or `...`, which Python reads as well.
    """
    if isinstance(value, list | tuple):
        return all(_is_value(item, right) for item in value)
    if isinstance(value, bool):
        return _has_type(right, bool)
    if isinstance(value, complex):
        return _has_type(right, complex)
    return value is None or isinstance(value, int | float)


def _has_type(right: Any, kind: type) -> bool:
    """Return True if a right answer is, or has in its lists, something of a type."""
    if isinstance(right, list | tuple):
        return any(_has_type(item, kind) for item in right)
    return isinstance(right, kind)


def matches_pattern(answer: str, pattern: str, known_names: Collection[str]) -> bool:
    """Return True if `answer` means none, matches a regular expression, or is a known name."""
    text = _normalize_text(answer)
    if parse_value(answer) is None or re.fullmatch(pattern, text):
        return True
    return text in {name.casefold() for name in known_names}


def _count_decimals(answer: str) -> int:
    """Return how many decimals the number with the most of them has, as it is written."""
    return max(map(len, _DECIMALS.findall(_normalize_signs(answer))), default=0)


def _is_shortened(given: float, right: float, decimals: int) -> bool:
    """Return True if a number is another one, rounded or cut to so many decimals.

    Zero is none: it says of a small number that it is not there.
    """
    if not given * right > 0 or math.isinf(given * right):
        return False
    # 0.28 is not 0.29 cut, though their difference is less than 0.01 by an error of rounding.
    return -0.999999 < (abs(given) - abs(right)) * 10.0**decimals < 0.500001


def has_tolerance(right: Any) -> bool:
    """Return True if a right answer has a decimal number: those are compared with a tolerance."""
    return _has_type(right, float)


def _equal_values(value: Any, right: Any, decimals: int) -> bool:
    """Compare values. `[2]` equals `2`: a tensor of one element is written both ways.

    decimals: to how many a number may be rounded or cut; 0 if to none.
    """
    if isinstance(right, list | tuple):
        if not isinstance(value, list | tuple):
            return len(right) == 1 and _equal_values(value, right[0], decimals)
        if len(value) == len(right):
            return all(_equal_values(a, b, decimals) for a, b in zip(value, right, strict=True))
        return len(value) == 1 and _equal_values(value[0], right, decimals)
    if isinstance(value, list | tuple):
        return len(value) == 1 and _equal_values(value[0], right, decimals)
    # 1 == True in Python, but who writes 1 does not mean True.
    if isinstance(value, bool) or isinstance(right, bool) or value is None or right is None:
        return value is right
    if isinstance(value, int | float) and isinstance(right, float):
        # PyTorch prints four digits, and learners copy what is printed.
        is_close = math.isclose(value, right, rel_tol=1e-3, abs_tol=5e-5)
        is_same_nan = math.isnan(value) and math.isnan(right)
        is_shortened = decimals > 0 and _is_shortened(value, right, decimals)
        return is_close or is_same_nan or is_shortened
    return bool(value == right)


# -- reading --------------------------------------------------------------------------


def parse_value(answer: Any) -> Any:
    """Return the value that a text means; the text itself, tidied, if it means none."""
    if not isinstance(answer, str):
        # A tensor or array, given to `commit` itself.
        return answer.tolist() if hasattr(answer, "tolist") else answer
    text = _normalize_signs(answer)
    word = text.casefold().rstrip(".")
    if word in _NONE_WORDS:
        return None
    number = _COUNTER.sub("", word)
    if number in _NUMBER_WORDS:
        return _NUMBER_WORDS[number]
    # Pictures write a version as `v1`, and learners copy what is drawn.
    if plain_number := re.fullmatch("(?:v|version )?([0-9]+)", number):
        return int(plain_number[1])
    inside = _TENSOR.match(text)
    text = _CONJUNCTIONS.sub(",", inside[1] if inside else text)
    text = _EULER.sub(_compute_power, text.replace(";", ",").replace(" and ", ", "))
    # `2 4` is `2, 4`.
    with_commas = re.sub(r"(?<=[\w.])\s+(?=[-+\w.])", ", ", text)
    # First as it is: `1.` is a number with a point, `[1, 2].` is a list at the end of a sentence.
    for literal in (text, text.rstrip("."), with_commas):
        try:
            return _read_literal(literal)
        # No literal; of brackets that are nested too deep the parser raises the last two.
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return " ".join(text.split())


def _compute_power(match: re.Match[str]) -> str:
    """Return what `_EULER` matched as a number: a power of e, by default the first."""
    return repr(math.exp(float(match[1] or 1)))


def _read_literal(text: str) -> Any:
    """Return the value of a Python literal, which may have `nan` and `inf`.

    Raises what `ast.literal_eval` raises, for anything else.
    """
    # A number that is too large is infinite; what is not a number is a text, until it is read.
    with_literals = _NOT_FINITE.sub(
        lambda name: "1e999" if name[1].lower() == "inf" else "'nan'", text
    )
    return _find_nan(ast.literal_eval(with_literals))


def _find_nan(value: Any) -> Any:
    """Return a value with the number in the place of each text "nan"."""
    if isinstance(value, list | tuple):
        return type(value)(map(_find_nan, value))
    return math.nan if value == "nan" else value


def is_list_of_names(answer: Any) -> bool:
    """Return True if an answer has names, or says that there are none: `x, y`, `none`, `[]`.

    Of `?` and `42` no name is left, as of "none"; `!x` and `x?` say something else than `x`.
    """
    if isinstance(answer, str) and _DOUBT.search(answer):
        return False
    if parse_names(answer):
        return True
    value = parse_value(answer)
    return value is None or (isinstance(value, list | tuple | dict | set | frozenset) and not value)


def parse_names(answer: Any) -> set[str]:
    """Return the names in an answer such as `x and y`, `x, y`, `['x', 'y']`; none for `none`."""
    text = _normalize_signs(answer if isinstance(answer, str) else " ".join(map(str, answer or ())))
    if text.casefold().rstrip(".") in _NONE_WORDS:
        return set()
    words = _NAME.findall(_CONJUNCTIONS.sub(" ", text))
    return {word.casefold() for word in words} - _FILLER_WORDS


def _normalize_signs(text: str) -> str:
    """Return a text with full-width signs as ASCII, without spaces and backticks around it."""
    return unicodedata.normalize("NFKC", text[:_MAX_LENGTH]).translate(_PUNCTUATION).strip(" \t\n`")


def _normalize_text(text: str) -> str:
    """Return a text in small letters with single spaces; of a printed node only its name."""
    return " ".join(_NODE_DECORATION.sub("", _normalize_signs(text)).split()).casefold()


# -- writing --------------------------------------------------------------------------


def format_answer(answer: Any) -> str:
    """Return an answer as it is shown: yes, no, numbers with six digits, names in order."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, frozenset | set):
        return ", ".join(sorted(answer)) or "none"
    if isinstance(answer, str):
        return answer
    return format_number(answer)


def translate_choice(choice: str) -> str:
    """Return a choice in the language in use; it is stored in English."""
    line = _ERROR_CHOICE.fullmatch(choice)
    return gettext("line {line} raises an error", line=line[1]) if line else gettext(choice)


def quote_number(value: Any) -> str:
    """Return numbers as `format_number` does, for a sentence: a list as code, as tasks have it."""
    text = format_number(value)
    return f"`{text}`" if isinstance(value, list | tuple) else text


def format_number(value: Any) -> str:
    """Return numbers, nested or not, as Python writes them, with at most six digits."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(format_number(item) for item in value)}]"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def flatten_lists(value: Any) -> Iterator[Any]:
    """Yield the elements of nested lists in order; a single value alone."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from flatten_lists(item)
    else:
        yield value
