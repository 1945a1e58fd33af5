"""Strings as a reader can take them in: what is unseen written out, what is long cut short, lists, values, names.

No font is ever measured: widths are computed from a table, so that a picture is the same to the byte on every machine.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from .catalogue import gettext

_BETWEEN = re.compile(
    r"(?<=[\u3000-\u9fff\uff00-\uffef])(?<![\uff08\u201c])(?![\uff0c\u3002\uff1b\uff1a\u3001\uff09\u201d\uff01\uff1f])"
)
"""After an ideograph or full-width sign, where no opening sign stands before and no closing one after."""
SIZES = {"s": 11.0, "l": 13.0}


def escape_unseen(text: str) -> str:
    """`text` with every character that cannot be seen written as an escape, as repr does.

    Control and direction-override characters could otherwise break the XML or turn
    the text around them; joiners are kept, since scripts and emoji need them.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() or char in "\u200c\u200d"
        else char.encode("unicode_escape", "replace").decode()
        for char in text
    )


def shorten_text(text: str, limit: int) -> str:
    """`text` cut to about `limit` columns, with an ellipsis where something was cut."""
    if len(text) <= limit and _columns(text) <= limit:
        return text
    kept, width = [], 0.0
    for char in text[: limit + 1]:
        width += _char_columns(char)
        if width > limit - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"


def summarize_text(text: str, limit: int = 98) -> str:
    """`text` on one line of at most `limit` columns, for a `repr`: those in a list are read beside each other."""
    return shorten_text(escape_unseen(" ".join(text[: 4 * limit].split())), limit)


def format_repr(text: str) -> str:
    """`text` as a `repr`, in angle brackets and without its full stop."""
    return f"<{summarize_text(text.rstrip('.。'))}>"


def cut_middle(text: str, limit: int) -> str:
    """`text` cut in its middle to about `limit` columns: what tells long names apart stands at their end."""
    if len(text) <= limit and _columns(text) <= limit:
        return text
    tail = ""
    for char in reversed(text[-limit:]):
        if _columns(char + tail) > limit // 2:
            break
        tail = char + tail
    while tail and not _char_columns(tail[0]):  # a mark without its letter
        tail = tail[1:]
    return shorten_text(text, limit - int(_columns(tail) + 0.99)) + tail


def wrap_text(text: str, columns: int, most: int) -> list[str]:
    """`text` broken at spaces, or between ideographs, into lines of up to `columns`; what does not fit into `most` lines ends in an ellipsis."""
    lines: list[str] = []
    for word in text.split(" "):
        for place, piece in enumerate(_BETWEEN.split(word)):
            longer = f"{lines[-1]}{'' if place else ' '}{piece}" if lines else piece
            if lines and _columns(longer) <= columns:
                lines[-1] = longer
            else:
                lines.append(shorten_text(piece, columns))
    if len(lines) > most:
        lines[most - 1 :] = [shorten_text(f"{lines[most - 1]} …", columns)]
    return lines


def _char_columns(char: str) -> float:
    if char.isascii():
        return 1.0
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if ord(char) >= 0x1F000:  # emoji are drawn a little wider than ideographs
        return 2.3
    return 1.8 if unicodedata.east_asian_width(char) in "WF" else 1.15


def _columns(text: str) -> float:
    if text.isascii():
        return float(len(text))
    # What follows a joiner is drawn into what stands before it (the family of three emoji is one).
    return sum(
        0.0 if before == "\u200d" else _char_columns(char)
        for before, char in zip(" " + text, text, strict=False)
    )


def text_width(text: str, kind: str = "mono") -> float:
    """The width of `text` in px: exact for ASCII in a monospaced font, generous for the rest."""
    return round(_columns(text) * _column_width(kind), 1)


def columns_that_fit(space: float, kind: str) -> int:
    """How many columns of text fit into `space` px."""
    return max(1, int(space / _column_width(kind)))


@lru_cache(maxsize=64)
def _column_width(kind: str) -> float:
    classes = kind.split()
    size = next((SIZES[word] for word in classes if word in SIZES), 12.0)
    # Sans-serif fonts differ; DejaVu Sans, among the widest, sets the measure.
    return size * (0.602 if "mono" in classes else 0.65 if "b" in classes else 0.58)


def format_value(value: object) -> str:
    """A value of a tensor in few characters, with the four decimals that a learner sees printed (fewer from 10 on)."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        size = abs(value)
        if size and not 1e-4 <= size < 1e5:
            return f"{value:.4g}"
        # Five digits in all: more would show where two machines round a float32 differently.
        text = f"{value:.4f}".rstrip("0") if size < 10 else f"{value:.5g}"
        if text.endswith("."):
            return text + "0"
        return text if "." in text or "e" in text else text + ".0"
    if isinstance(value, complex):
        return f"{value.real:.3g}{value.imag:+.3g}j"
    if isinstance(value, int) and not -(10**8) < value < 10**9:
        return (
            f"{value:.3e}"
            if abs(value) < 10**300
            else gettext("{number} or more", number=f"{'-' * (value < 0)}1e300")
        )
    return shorten_text(escape_unseen(str(value)), 24)


def join_names(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return gettext("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


def join_few_names(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; after four names, how many more there are."""
    every = list(dict.fromkeys(names))
    return join_names(
        every if len(every) <= 5 else [*every[:4], gettext("{number} more", number=len(every) - 4)]
    )


def escape_name(name: str) -> str:
    """A name as it can be shown: unseen characters as escapes, an empty name as quotes."""
    return escape_unseen(name) or "''"


def short_node_name(name: str) -> str:
    """The name of a node as it is printed: `CopySlices` for `torch::autograd::CopySlices`."""
    return escape_name(escape_unseen(name).rpartition("::")[2])


def short_dtype(name: str) -> str:
    """`float32` for `torch.float32`."""
    return name.removeprefix("torch.")


def format_shape(sizes: Iterable[int] | None) -> str:
    """As Python writes the tuple: `(3,)`, `(2, 3)`, `()`."""
    return gettext("unknown") if sizes is None else str(tuple(sizes))


def join_lines(lines: list[str]) -> str:
    """The lines as one text, in which nothing from outside breaks a line or cannot be seen."""
    return "\n".join(map(escape_unseen, lines))


def matches_any(find: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts has `find` in it, as itself (`layers.3` is not in `layers.30`), in capitals or not."""
    begin, end = "(?<!\\d)" * find[:1].isdigit(), "(?!\\d)" * find[-1:].isdigit()
    wanted = re.compile(begin + re.escape(find) + end, re.IGNORECASE)
    return bool(find) and any(wanted.search(text) for text in texts)
