"""Strings that a reader can take in: unseen characters, long texts, lists, values, names.

No font is ever measured: widths are computed from a table, so that a picture is the same to the
byte on every machine.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
import tokenize
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from io import StringIO

from .catalogue import gettext

_BREAK_BETWEEN_IDEOGRAPHS = re.compile(
    r"(?<=[\u3000-\u9fff\uff00-\uffef])(?<![\uff08\u201c])(?![\uff0c\u3002\uff1b\uff1a\u3001\uff09\u201d\uff01\uff1f])"
)
"""After an ideograph or full-width sign, if the next character is not a closing sign and the last
one not an opening sign: Chinese and Japanese have no spaces to break at."""
_FONT_SIZE, _LARGE_FONT_SIZE = 12.0, 13.0
"""In px; a text of the class "l" is large."""
_JOINERS = "\u200c\u200d"
MOST_NAMES = 5
"""Longer lists of names are cut to one less, and a number."""
_LONGEST_EXPRESSION = 2_000
"""In characters. A key of a dict, which may be part of a name, may have megabytes."""
_DOTTED_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_SECOND_OF_NAME = re.compile(r" \(\d+\)(?![^.\[])")
"""In `x (2)`, the second tensor of that name: no call, although Python may take it for one."""


# -- characters ------------------------------------------------------------------------


def escape_unseen(text: str) -> str:
    """Return `text` with every character that cannot be seen written as an escape, as repr does.

    Control and direction-override characters could otherwise break the XML or turn the text around
    them; joiners stay, since scripts and emoji need them.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_escape_character, text))


def _escape_character(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    return char.encode("unicode_escape", "replace").decode()


def escape_name(name: str) -> str:
    """Return a name as it can be shown: unseen characters as escapes, an empty name as quotes."""
    return escape_unseen(name) or "''"


def join_lines(lines: list[str]) -> str:
    """Return the lines as one text; nothing inside of them breaks a line or is unseen."""
    return "\n".join(map(escape_unseen, lines))


# -- long texts ------------------------------------------------------------------------


def shorten_text(text: str, limit: int) -> str:
    """Return `text` cut to about `limit` columns, with an ellipsis where something was cut."""
    if len(text) <= limit and _count_columns(text) <= limit:
        return text
    end, columns = 0, 0.0
    # Only the beginning is looked at: a text may have megabytes.
    for char in text[: limit + 1]:
        columns += _columns_of_char(char)
        if columns > limit - 1:
            break
        end += 1
    return text[:end] + "…"


def summarize_text(text: str, limit: int = 98) -> str:
    """Return `text` on one line of at most `limit` columns, for a `repr` in a list of others."""
    # Only the beginning of a text of megabytes is split.
    return shorten_text(escape_unseen(" ".join(text[: 4 * limit].split())), limit)


def format_repr(text: str) -> str:
    """Return `text` as a `repr`: in angle brackets, on one line, without its full stop."""
    return f"<{summarize_text(text.rstrip('.。'))}>"


def cut_middle(text: str, limit: int) -> str:
    """Return `text` cut in its middle to about `limit` columns: long names differ at the end."""
    if len(text) <= limit and _count_columns(text) <= limit:
        return text
    tail = ""
    for char in reversed(text[-limit:]):
        if _count_columns(char + tail) > limit // 2:
            break
        tail = char + tail
    # An accent without its letter would be drawn on the ellipsis.
    while tail and not _columns_of_char(tail[0]):
        tail = tail[1:]
    # Rounded up, as widths of characters are fractions of a column.
    return shorten_text(text, limit - int(_count_columns(tail) + 0.99)) + tail


def wrap_text(text: str, columns: int, *, most: int) -> list[str]:
    """Return `text` in at most `most` lines of up to `columns`, broken at spaces or ideographs.

    What does not fit ends in an ellipsis.
    """
    lines: list[str] = []
    for word in text.split(" "):
        for index, piece in enumerate(_BREAK_BETWEEN_IDEOGRAPHS.split(word)):
            space = "" if index else " "
            if lines and _count_columns(lines[-1] + space + piece) <= columns:
                lines[-1] += space + piece
            # Of a text of megabytes no more is read than can be shown.
            elif len(lines) == most:
                return [*lines[:-1], shorten_text(f"{lines[-1]} …", columns)]
            else:
                lines.append(shorten_text(piece, columns))
    return lines


# -- widths ----------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _columns_of_char(char: str) -> float:
    if char.isascii():
        return 1.0
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    # Emoji are drawn a little wider than ideographs.
    if ord(char) >= 0x1F000:
        return 2.3
    if unicodedata.east_asian_width(char) in "WF":
        return 1.8
    return 1.15


def _count_columns(text: str) -> float:
    if text.isascii():
        return float(len(text))
    columns = 0.0
    previous = " "
    for char in text:
        # What follows a joiner is drawn into what is before it: the family of three emoji is one.
        if previous != "\u200d":
            columns += _columns_of_char(char)
        previous = char
    return columns


def text_width(text: str, kind: str = "mono") -> float:
    """Return the width of `text` in px: exact for ASCII in a monospaced font, else generous."""
    return round(_count_columns(text) * _column_width(kind), 1)


def columns_that_fit(space: float, kind: str) -> int:
    """Return how many columns of text fit into `space` px; at least 1."""
    return max(1, int(space / _column_width(kind)))


@lru_cache(maxsize=64)
def _column_width(kind: str) -> float:
    classes = kind.split()
    size = _LARGE_FONT_SIZE if "l" in classes else _FONT_SIZE
    if "mono" in classes:
        # The advance of DejaVu Sans Mono and Menlo, which have one ancestor.
        return size * 0.602
    # Sans-serif fonts differ; these are the widths of DejaVu Sans, among the widest.
    return size * (0.65 if "b" in classes else 0.58)


_ADVANCES = {
    0.3: " '(),./:;I[]\\fijlrt|",
    0.5: '!"*-?J_`csz',
    0.55: "FLkvxy",
    0.62: "$0123456789PSTYabdeghnopqu{}",
    0.7: "&ABCEKRVXZ",
    0.77: "DGHNOQU",
    0.85: "#+<=>Mw^~",
    0.98: "%@Wm",
}
"""Advances of letters in DejaVu Sans, as parts of the size of the font, with those that are about as wide."""
_ADVANCE_OF_LETTER: dict[str, float] = {}
for _advance, _letters in _ADVANCES.items():
    _ADVANCE_OF_LETTER |= dict.fromkeys(_letters, _advance)


def measure_excess(text: str) -> float:
    """Return how much wider than `text_width` a text may be that is not bold, in px; less than 0 if it is narrower.

    A column is the mean of many letters: in a short text most of them may be wide ones.
    """
    wide = sum(_ADVANCE_OF_LETTER.get(letter, 0.58) - 0.58 for letter in text)
    return round(_FONT_SIZE * wide, 1)


# -- values, lists and names -----------------------------------------------------------


def format_value(value: object) -> str:
    """Return a value of a tensor in few characters."""
    if isinstance(value, float):
        return _format_float(value)
    if isinstance(value, complex):
        return f"{value.real:.3g}{value.imag:+.3g}j"
    # Nine characters at most, with a sign.
    if isinstance(value, int) and not -(10**8) < value < 10**9:
        return _format_large_int(value)
    return shorten_text(escape_unseen(str(value)), 24)


def _format_float(value: float) -> str:
    """Return a number with the four decimals that a learner sees printed, fewer from 10 on."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    # Four decimals would make 0 of what is smaller.
    if size and not 1e-4 <= size < 1e5:
        return f"{value:.4g}"
    # Five digits in all: more would show where two machines round a float32 differently.
    text = f"{value:.4f}".rstrip("0") if size < 10 else f"{value:.5g}"
    if text.endswith("."):
        return text + "0"
    if "." in text or "e" in text:
        return text
    return text + ".0"


def _format_large_int(value: int) -> str:
    if abs(value) < 10**300:
        return f"{value:.3e}"
    # Beyond, Python cannot make a float of it, which the format above needs.
    return gettext("{number} or more", number=f"{'-' * (value < 0)}1e300")


def join_phrases(phrases: Iterable[str]) -> str:
    """Return phrases with commas between them, as the language writes them."""
    return gettext(", ").join(phrases)


def join_clauses(clause: str, following: str) -> str:
    """Return two clauses as one sentence; Korean puts no semicolon between them and makes two."""
    return gettext("{clause}; {following}", clause=clause, following=following)


def join_facts(facts: Iterable[str]) -> str:
    """Return facts with semicolons between them, as the language writes them."""
    return gettext("; ").join(facts)


def join_sentences(sentences: Iterable[str]) -> str:
    """Return sentences one behind the other; Chinese has no space between them."""
    text = ""
    for sentence in sentences:
        text = gettext("{text} {sentence}", text=text, sentence=sentence) if text else sentence
    return text


def join_list(names: Iterable[str]) -> str:
    """Return `a, b, c`; Chinese has a mark of its own between the members of a list."""
    text = ""
    for name in names:
        text = gettext("{names}, {name}", names=text, name=name) if text else name
    return text


def join_names(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`; Korean has no word between the last two of three."""
    if len(names) < 2:
        return "".join(names)
    if len(names) == 2:
        return gettext("{first} and {second}", first=names[0], second=names[1])
    return gettext("{names} and {last}", names=join_list(names[:-1]), last=names[-1])


def join_few_names(names: Iterable[str]) -> str:
    """Return `a, b and c`; of more than five names four, and how many others there are."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) > MOST_NAMES:
        listed = distinct[: MOST_NAMES - 1]
        others = len(distinct) - len(listed)
        distinct = [*listed, gettext("{number} more", number=others)]
    return join_names(distinct)


# -- expressions of the program --------------------------------------------------------


def write_expression(name: str) -> str:
    """Return a name as code that `.backward()` can follow: `(a + b)` for `a + b`.

    A place in a list is written as Python has it, `hs[0]` for `hs.0`. Empty for what is no
    expression, as "argument 0", and for what is one by chance, as "x in f".
    """
    # Asked here, so that the cache keeps no text of megabytes.
    if len(name) > _LONGEST_EXPRESSION:
        return ""
    return _write_short_expression(name)


@lru_cache(maxsize=4096)
def _write_short_expression(name: str) -> str:
    for text in (name, _write_positions(name)):
        if _DOTTED_NAME.fullmatch(text) and not any(map(keyword.iskeyword, text.split("."))):
            return text
        expression = _parse_expression(text)
        if expression is not None:
            # Of a call over several lines, or with a comment, one line is made.
            has_comment = "#" in text and _parse_expression(f"({text})") is None
            line = ast.unparse(expression) if has_comment or "\n" in text else text
            followed = _parse_expression(f"{line}._")
            # In `a + b._` it is `b` that the attribute is asked of; `1._` is no code.
            is_operand = isinstance(followed, ast.Attribute) and (
                ast.dump(followed.value) == ast.dump(expression)
            )
            return escape_unseen(line if is_operand else f"({line})")
    return ""


def _parse_expression(text: str) -> ast.expr | None:
    """Return the tree of an expression that may be a tensor; None for any other text."""
    if len(text) > _LONGEST_EXPRESSION or _SECOND_OF_NAME.search(text):
        return None
    try:
        # In brackets, where it may go over several lines.
        tree = ast.parse(f"[{text}\n]", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(tree, ast.List) or len(tree.elts) != 1:
        return None
    expression = tree.elts[0]
    # Neither is ever a tensor: "x in f" is how a variable of a function is called, 3 is a key.
    is_no_tensor = isinstance(expression, ast.Constant | ast.Starred) or (
        isinstance(expression, ast.Compare) and isinstance(expression.ops[0], ast.In)
    )
    if is_no_tensor:
        return None
    return expression


def _write_positions(name: str) -> str:
    """Return a name with places in lists as Python writes them: `hs[0].w` for `hs.0.w`."""
    if len(name) > _LONGEST_EXPRESSION or not re.search(r"\.\d", name):
        return name
    pieces: list[str] = []
    end, can_have_parts = (1, 0), False
    try:
        for token in tokenize.generate_tokens(StringIO(name).readline):
            is_position = (
                can_have_parts
                and token.start == end
                and re.fullmatch(r"\.\d+", token.string) is not None
            )
            # Spaces between tokens stay as they are; a name is one line.
            pieces.append(token.line[end[1] : token.start[1]])
            pieces.append(f"[{token.string[1:]}]" if is_position else token.string)
            end = token.end
            can_have_parts = is_position or (
                token.string in (")", "]", "}")
                or token.type == tokenize.STRING
                or (token.type == tokenize.NAME and not keyword.iskeyword(token.string))
            )
    except (tokenize.TokenError, SyntaxError):
        return name
    return "".join(pieces)


def parenthesize_name(name: str) -> str:
    """Return a name as `.grad` can follow it in a label: `(a + b)` for `a + b`.

    What needs no parentheses stays as it is, `net.0.weight`, and so does what is no expression.
    """
    expression = write_expression(name)
    if expression != _write_positions(name) and expression:
        return expression
    return name


def join_attribute(name: str, attribute: str) -> str:
    """Return `x.grad`, or `(a + b).grad`; of what is no expression, "the .grad of x in f"."""
    if not write_expression(name):
        tensor = escape_name(name)
        return gettext("the {attribute} of {tensor}", attribute=f".{attribute}", tensor=tensor)
    return f"{escape_name(parenthesize_name(name))}.{attribute}"


# -- names of the engine ---------------------------------------------------------------


@lru_cache(maxsize=1_000)  # a graph of thousands of nodes has few kinds
def short_node_name(name: str) -> str:
    """Return a node's name as it is printed: `CopySlices` for `torch::autograd::CopySlices`."""
    return escape_name(escape_unseen(name).rpartition("::")[2])


def short_dtype(name: str) -> str:
    """Return `float32` for `torch.float32`."""
    return name.removeprefix("torch.")


def format_shape(sizes: Iterable[int] | None) -> str:
    """Return the shape as Python writes the tuple: `(3,)`, `(2, 3)`, `()`."""
    if sizes is None:
        return gettext("unknown")
    return str(tuple(sizes))


def matches_any(find: str, texts: Iterable[str]) -> bool:
    """Return True if one of the texts has `find` in it, in capitals or not.

    Numbers are matched whole: `layers.3` is not in `layers.30`.
    """
    if not find:
        return False
    no_digit_before = r"(?<!\d)" if find[0].isdigit() else ""
    no_digit_after = r"(?!\d)" if find[-1].isdigit() else ""
    pattern = re.compile(no_digit_before + re.escape(find) + no_digit_after, re.IGNORECASE)
    return any(pattern.search(text) for text in texts)
