"""How many of something, in words."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
