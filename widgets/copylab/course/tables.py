"""Tables for spreadsheets: CSV that neither loses letters nor runs what a learner wrote."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
"""With these a formula begins; to an Excel for Chinese, Japanese or Korean also as full-width signs."""
_FORMULA = re.compile(rf"""((?:\A|[;\t\n])[\s'"]*)(?=[{_SIGNS}])""")
"""Where a formula may begin: where a cell does. A spreadsheet of another country parts cells at `;`
or tabs, and does not see the quotation marks around a cell then."""
_GUARDED = re.compile(rf"""((?:\A|[;\t\n])[\s'"]*)'(?=[{_SIGNS}])""")
_NUMBER = re.compile(r"[-+]?\.?\d[\d.,]*(?:e[-+]?\d+)?")
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
    text = content.decode("utf-8-sig")
    header = text.partition("\n")[0]
    # Where the comma is in numbers, a spreadsheet parts cells by another sign.
    delimiter = max(",;\t", key=header.count)
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows = []
    for row in table:
        # What has no column, or no value, is no text.
        cells = {column: value for column, value in row.items() if isinstance(value, str)}
        rows.append({column: _GUARDED.sub(r"\1", value) for column, value in cells.items()})
    return rows


def _protect_cell(value: Any) -> Any:
    """Return a text so that no spreadsheet takes it for a formula, which could send the table."""
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    # A carriage return alone would end the row: csv puts no quotation marks around it.
    return _FORMULA.sub(r"\1'", re.sub(r"\r\n?", "\n", value))
