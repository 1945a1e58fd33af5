"""What a picture shows and says, before it is drawn."""

from . import statements
from .entries import FOLD_ABOVE, LEAVES, Band, Fold, Pack, Shelf, View
from .statements import (
    IN_MEMORY,
    below_memory,
    covered,
    describe,
    facts,
    pack_line,
    rebound,
    shown,
    standing_of,
    stored,
    title,
    unusual,
)

__all__ = [
    "FOLD_ABOVE",
    "IN_MEMORY",
    "LEAVES",
    "Band",
    "Fold",
    "Pack",
    "Shelf",
    "View",
    "below_memory",
    "covered",
    "describe",
    "facts",
    "pack_line",
    "rebound",
    "shown",
    "standing_of",
    "statements",
    "stored",
    "title",
    "unusual",
]
