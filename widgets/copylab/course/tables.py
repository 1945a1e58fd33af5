"""Tables for spreadsheets: CSV that neither loses letters nor runs what a learner wrote."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[-+]?[\d.,]+(?:e[-+]?\d+)?")
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""Without it at the beginning, Excel takes the letters of Chinese and Korean for others."""


def format_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV below the names of the columns. What has no column is left out."""
    text = io.StringIO()
    # By default csv ends a line with a carriage return as well.
    table = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow({column: _protect_cell(value) for column, value in row.items()})
    return text.getvalue()


def encode_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the file of a table."""
    # A learner may have written half of a surrogate pair, for which UTF-8 has no bytes.
    return (_MARK + format_table(columns, rows)).encode("utf-8", "backslashreplace")


def decode_table(content: bytes) -> list[dict[str, str]]:
    """Return the rows of a file that `encode_table` made, also if a spreadsheet has stored it.

    ValueError if it is no text.
    """
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def _protect_cell(value: Any) -> Any:
    """Return a text so that no spreadsheet takes it for a formula, which could send the table."""
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value
