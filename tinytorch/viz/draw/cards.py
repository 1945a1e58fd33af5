"""What stands in the graph picture: cards for nodes, pills for names, and their sizes."""

from __future__ import annotations

from dataclasses import dataclass

from .. import labels
from ..diff import Changes
from ..explain import perhaps
from ..fold import Fold, View, followers, view
from ..labels import clean, cut, shorten, show, width
from ..read.records import Node, Saved, Snapshot, Tensor

LIMIT = 34
KINDS = 4
ROWS = 12
ROW, HEAD, PAD = 16, 26, 10
CHANGED = ("s b", "was")
"""How a line looks that tells what changed."""


@dataclass(frozen=True, slots=True)
class Card:
    """One box of the graph picture; its lines are (text, classes, mark)."""

    name: str
    kind: str
    lines: tuple[tuple[str, str, str], ...]
    whole: str = ""
    fresh: bool = False
    """True for what was not there at the earlier look."""

    @property
    def width(self) -> float:
        """In px."""
        marks = [18 if mark else 0 for _, _, mark in self.lines]
        widths = [width(text, kind) + mark for (text, kind, _), mark in zip(self.lines, marks, strict=True)]
        return max(40.0, round(max(widths) + 2 * PAD))

    @property
    def height(self) -> float:
        """In px."""
        return HEAD + ROW * (len(self.lines) - 1) + (4 if len(self.lines) > 1 else 0)


@dataclass(frozen=True, slots=True)
class Wire:
    """One line of the graph picture, from card to card."""

    tail: str
    head: str
    kind: str
    label: str = ""


def build(snap: Snapshot, changed: Changes | None = None) -> tuple[list[Card], list[Wire]]:
    """The cards and wires of a snapshot, in a fixed order, with what `changed` marked."""
    changed = changed or Changes()
    unseen = perhaps(snap)
    cards: list[Card] = []
    wires: list[Wire] = []
    seen = view(snap)
    tensors = {tensor.id: tensor for tensor in snap.tensors}
    leaves = [item.variable for item in seen.items if isinstance(item, Node) and item.variable is not None]
    off: list[Tensor] = []
    folded = {leaf for item in seen.items if isinstance(item, Fold) for leaf in item.leaves}
    for tid in dict.fromkeys(tid for _, tid in snap.names):
        place = seen.places.get(tensors[tid].grad_fn or "")
        if not tensors[tid].requires_grad and tensors[tid].grad_fn is None:
            off.append(tensors[tid])
        elif tid not in leaves and tid not in folded and not (tensors[tid].grad_fn and place is None):
            cards.append(_pill(snap, tensors[tid], changed))
            if place is not None:
                wires.append(Wire(tid, place, "name"))
    for item in seen.items:
        cards.append(_folded(item, changed) if isinstance(item, Fold) else _node(snap, item, seen, changed, unseen))
        wires += _wires(item, seen)
    cards += [_pill(snap, tensors[tid], changed) for tid in dict.fromkeys(leaves)]
    if off:
        cards.append(_off(snap, off, changed))
    return cards, wires


def _off(snap: Snapshot, tensors: list[Tensor], changed: Changes) -> Card:
    """One card for all the tensors that are not on the graph."""
    lines = [("not on the graph", "b", ""), ("(needs no grad)", "s", "")]
    for tensor in tensors[:ROWS]:
        name = cut(snap.label(tensor.id), LIMIT)
        lines.append((f"new: {name}", *CHANGED) if tensor.id in changed.new else (name, "mono b", ""))
        lines += _changed(tensor, changed)
    if len(tensors) > ROWS:
        lines.append((f"and {len(tensors) - ROWS} more", "s", ""))
    return Card("off", "off", tuple(lines), lines[0][0])


def _changed(tensor: Tensor, changed: Changes) -> list[tuple[str, str, str]]:
    """What is to be said of a tensor that was there before."""
    facts = (*changed.names(tensor), *changed.standing.get(tensor.id, ()))
    return [(shorten(fact, 40), *CHANGED) for fact in facts]


def _wires(item: Node | Fold, seen: View) -> list[Wire]:
    if isinstance(item, Fold):
        return [Wire(item.id, seen.places[end], "next") for end in item.ends if end in seen.places]
    numbered = len(item.edges) > 1
    wires = [
        Wire(item.id, seen.places[edge.node], "next", str(edge.index) if numbered else "")
        for edge in item.edges
        if edge.node is not None and edge.node in seen.places
    ]
    if item.variable is not None:
        wires.append(Wire(item.id, item.variable, "leaf", ".grad"))
    return wires


def _pill(snap: Snapshot, tensor: Tensor, changed: Changes) -> Card:
    name = snap.label(tensor.id)
    if tensor.is_leaf and tensor.requires_grad:
        kind, below = "leaf", f"leaf {labels.shape(tensor.shape)}"
    else:
        kind, below = "name", labels.shape(tensor.shape)
    lines = ((cut(name, LIMIT), "mono b", ""), (shorten(below, 40), "s", ""), *_changed(tensor, changed))
    return Card(tensor.id, kind, lines, name, tensor.id in changed.new)


def _node(snap: Snapshot, node: Node, seen: View, changed: Changes, unseen: dict[tuple[str, str], str]) -> Card:
    head = labels.short(node.name)
    lines = [(shorten(head, LIMIT), "mono b", "")]
    for at, saved in enumerate(node.saved):
        lines.append(_saved_line(snap, saved))
        through = unseen.get((node.id, saved.tensor or ""))
        if through is not None and saved.state == "live":
            lines.append((shorten(f"perhaps written unseen, through {through}", 48), "s b", "warn"))
        if (node.id, at) in changed.saved:
            lines.append((changed.saved[node.id, at], *CHANGED))
    if node.cut or any(follower not in seen.places for follower in followers(node)):
        lines.append(("the graph goes on", "s", ""))
    return Card(node.id, "node", tuple(lines), head, node.id in changed.nodes)


def _folded(fold: Fold, changed: Changes) -> Card:
    lines = [(f"{len(fold.nodes):,} nodes folded", "b", "")]
    lines += [(shorten(f"{count:,} x {labels.short(name)}", LIMIT), "mono s", "") for name, count in fold.kinds[:KINDS]]
    if len(fold.kinds) > KINDS:
        lines.append((f"and {labels.plural(len(fold.kinds) - KINDS, 'kind')} more", "s", ""))
    lines += [(f"saved: {count:,} {state}", "s", "") for state, count in fold.states]
    if fold.leaves:
        lines.append((f"with {labels.plural(len(fold.leaves), 'leaf', 'leaves')}", "s", ""))
    lines += [(shorten(said, 48), *CHANGED) for said in fold.changed(changed)]
    return Card(fold.id, "fold", tuple(lines), lines[0][0], set(fold.nodes) <= changed.nodes)


def _saved_line(snap: Snapshot, saved: Saved) -> tuple[str, str, str]:
    name = shorten(clean(saved.name), 14)
    what = ""
    if saved.tensor is not None:
        what = cut(snap.label(saved.tensor), 26)
    elif saved.value is not None:
        what = show(saved.value)
    head = f"saved {name}" + (f" = {what}" if what else "")
    match saved.state:
        case "live":
            return (head + (f", version {saved.version}" if saved.tensor else ""), "s", "check")
        case "stale":
            return (f"{head}: saved at version {saved.saved_version}, now at {saved.version}", "s b", "cross")
        case "freed":
            return (f"saved {name}: freed", "s", "void")
        case "number":
            return (head, "s", "dot")
        case "packed":
            return (f"saved {name}: packed by a hook", "s", "dot")
        case "once":
            return (f"saved {name}: left for backward", "s", "dot")
    return (f"saved {name}: cannot be read", "s", "void")
