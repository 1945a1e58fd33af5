"""Keep many pictures small: together, as one table of parts."""

from __future__ import annotations

import json
from collections.abc import Iterator


class Pack:
    """Texts that have much in common, as lists of numbers into one table of their parts.

    A general compressor would do better, but its output differs from one zlib to the next, and stored outputs are
    compared.
    """

    def __init__(self) -> None:
        self._parts: dict[str, int] = {}
        self._texts: dict[str, list[int]] = {}

    def add(self, name: str, text: str) -> None:
        """Put in `text` under `name`."""
        known = self._parts
        self._texts[name] = [known.setdefault(part, len(known)) for part in _parts(text)]

    def __bool__(self) -> bool:
        return bool(self._texts)

    def json(self) -> str:
        """The table and the texts, safe to stand in a <script>."""
        made = json.dumps({"parts": list(self._parts), "texts": self._texts}, separators=(",", ":"))
        return made.replace("<", "\\u003c")


def _parts(text: str) -> Iterator[str]:
    """The text cut before each `<` and after each line."""
    for line in text.splitlines(keepends=True):
        first, *rest = line.split("<")
        if first:
            yield first
        for part in rest:
            yield f"<{part}"
