"""News in a text that describes a picture: the lines that changed since the text before."""

from __future__ import annotations

import re

from ..wording import join_facts

# Languages have marks of their own; a full-width one has no space behind it.
_COLON = re.compile(": |\uff1a")
_SEMICOLON = re.compile("; |\uff1b")
_FULL_STOPS = (".", "\u3002")


def find_changed_lines(before: str, now: str) -> tuple[str, ...]:
    """Return the lines of a text that changed, each below the lines that it belongs to.

    Of the lines around it only the beginnings are repeated. Lines are compared within a block, the
    text between two empty lines, which is found again by its first word: two storages may have the
    same cells, and the cells of a new one are news. Of a line
    `w: a; b; c.` that was there before, only the items that changed are repeated.
    """
    old_lines: dict[str, list[str]] = {}
    for block in before.split("\n\n"):
        # Two blocks may begin with one word: a line that either has is no news.
        old_lines.setdefault(_first_word_of(block), []).extend(block.split("\n"))
    changed: list[str] = []
    for block in now.split("\n\n"):
        changed += _find_changes_of_block(block, old_lines.get(_first_word_of(block), []))
    return tuple(changed)


def _find_changes_of_block(block: str, old_lines: list[str]) -> list[str]:
    old_items = {_head_of_line(line): set(_items_of_line(line)) for line in old_lines}
    changed: list[str] = []
    # Unchanged lines around the next one that are not in the result yet.
    parents: list[str] = []
    for line in block.split("\n"):
        # Lines that are no further in than this one are finished: it belongs to none of them.
        while parents and _indentation_of(parents[-1]) >= _indentation_of(line):
            parents.pop()
        head = _head_of_line(line)
        if line in old_lines:
            parents.append(head)
            continue
        new = [item for item in _items_of_line(line) if item not in old_items.get(head, ())]
        space = " " if head.endswith(":") else ""
        end = line[-1] if line.endswith(_FULL_STOPS) else ""
        # Without new items the line has lost some: its beginning alone says of what.
        changed += [*parents, f"{head}{space}{join_facts(new)}{end}" if new else head]
        parents.clear()
    return changed


def _head_of_line(line: str) -> str:
    """Return the beginning of a line, up to and with its colon."""
    colon = _COLON.search(line)
    return line[: colon.end()].rstrip() if colon else line


def _items_of_line(line: str) -> list[str]:
    colon = _COLON.search(line)
    rest = line[colon.end() :] if colon else ""
    for full_stop in _FULL_STOPS:
        rest = rest.removesuffix(full_stop)
    return _SEMICOLON.split(rest) if rest else []


def _first_word_of(block: str) -> str:
    word = re.match(r"\w+", block)
    return word[0] if word else ""


def _indentation_of(line: str) -> int:
    return len(line) - len(line.lstrip())
