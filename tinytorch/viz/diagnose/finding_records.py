"""One cause why backward would not do what it should, `BackwardFinding`, and the saved tensors it touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from ..read import NodeRecord, SavedRecord
from ..wording import format_repr

RaisingKind = Literal[
    "stale",  # what was saved was written to since, and counted
    "detached",  # `detach_` has cut what was saved off its history
    "freed",  # an earlier backward gave back what was saved
    "refused",  # a leaf, its .grad, a shape or an operation does not take the gradient
    "invalid",  # the root is a view whose history became invalid
    "no grad",  # the root requires none
    "not a scalar",  # the root has no single real number
    "no derivative",  # an operation has none
    "raised",  # it was run, and did
]
"""Why backward raises."""
DoubtfulKind = Literal[
    "not known",  # backward may raise
    "not compared",  # what was saved may have been changed past its version counter
]
"""Why nothing is promised. These prove nothing, neither an error nor a wrong gradient."""
FindingKind = RaisingKind | Literal["unseen write"] | DoubtfulKind
"""An unseen write is why the gradient may be wrong without an error."""
RAISING_KINDS: frozenset[str] = frozenset(get_args(RaisingKind))
DOUBTFUL_KINDS: frozenset[str] = frozenset(get_args(DoubtfulKind))


class SavedEntry(NamedTuple):
    """Something that was saved for backward, with the node that saved it."""

    node: NodeRecord
    saved: SavedRecord


@dataclass(frozen=True, slots=True)
class BackwardFinding:
    """One cause why backward would not do what it should, or why that is not known."""

    kind: FindingKind
    """Whether backward raises, gives a wrong gradient, or is not known: see `FindingKind`."""
    sentence: str
    """What is so, in words; without its full stop, as other words may follow."""
    way_out: str = ""
    """Empty where there is none to name."""
    saved_entries: Sequence[SavedEntry] = ()
    """All that the cause touches: nodes, and what they saved."""
    sharing: tuple[str, ...] = ()
    """The names of the tensors that share memory with the first of them."""
    lines: str = ""
    """The lines of the program that led to it, as rows of text; empty unless a watch has seen them."""
    after_run: str = ""
    """Of a doubt: the kind that it is of once a backward was run; empty if that answers it."""

    def __repr__(self) -> str:
        return format_repr(f"{self.kind}: {self.sentence}")


def list_saved(nodes: Iterable[NodeRecord]) -> list[SavedEntry]:
    """Return everything that these nodes saved, each with its node."""
    found = []
    for node in nodes:
        found += [SavedEntry(node, saved) for saved in node.saved]
    return found
