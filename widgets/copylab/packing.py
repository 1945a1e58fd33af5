"""Keep many pictures small: alone as an image that can stand anywhere, together as one table of parts."""

from __future__ import annotations

import json
import re

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_CLASS = re.compile(r"\.tt-pic \.([\w-]+)")
_VARIABLE = re.compile(r"(--_[\w-]+):[^;{}]*;")


def slim(svg: str) -> str:
    """The same picture without the style rules and colours that nothing in it uses."""
    style = _STYLE.search(svg)
    if style is None:
        return svg
    used = {name for value in re.findall(r'\bclass="([^"]*)"', svg) for name in value.split()}

    def prune(rule: re.Match[str]) -> str:
        selectors = [s for s in rule[1].split(",") if (only := _CLASS.fullmatch(s)) is None or only[1] in used]
        return f"{','.join(selectors)}{{{rule[2]}}}" if selectors else ""

    rules = _RULE.sub(prune, style[1])
    needed = set(re.findall(r"var\([^()]*(--_[\w-]+)", rules))
    rules = _VARIABLE.sub(lambda variable: variable[0] if variable[1] in needed else "", rules)
    return f"{svg[: style.start(1)]}{rules}{svg[style.end(1) :]}"


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
