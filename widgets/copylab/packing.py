"""Keep many pictures small: together, as one table of parts."""

from __future__ import annotations

import json
import re


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
        parts = re.split(r"(?=<)|(?<=\n)", text)
        self._texts[name] = [self._parts.setdefault(part, len(self._parts)) for part in parts]

    def __bool__(self) -> bool:
        return bool(self._texts)

    def json(self) -> str:
        """The table and the texts, safe to stand in a <script>."""
        made = json.dumps({"parts": list(self._parts), "texts": self._texts}, separators=(",", ":"))
        return made.replace("<", "\\u003c")
