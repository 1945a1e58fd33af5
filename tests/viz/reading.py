"""Reading pictures back: the texts of an SVG, put into words again by where they were drawn."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from tinytorch.viz.read.records import Snapshot
from tinytorch.viz.render.picture import PictureBase

FURNITURE = {"names", "tensors", "storage (cells)", "version counter"}
"""The headings of a memory picture: they say nothing of this program."""


@dataclass
class Mark:
    """One element of a picture: a text, or a shape (`kind` is its classes)."""

    tag: str
    kind: str
    said: str = ""
    whole: str = ""
    box: tuple[float, ...] = ()
    points: tuple[tuple[float, float], ...] = ()


def marks(svg: str) -> list[Mark]:
    """All elements in order of drawing."""
    found = []
    for one in ET.fromstring(svg).iter():
        tag, kind = one.tag.rpartition("}")[2], re.sub(r" (h\d|fresh)\b", "", one.get("class", ""))
        if tag == "text":
            whole = "".join(child.text or "" for child in one)
            said = (one.text or "") + "".join(child.tail or "" for child in one)
            found.append(
                Mark(
                    tag, kind, said, whole or said, (float(one.get("x", 0)), float(one.get("y", 0)))
                )
            )
        elif tag == "rect":
            found.append(
                Mark(
                    tag,
                    kind,
                    box=tuple(float(one.get(key, 0)) for key in ("x", "y", "width", "height")),
                )
            )
        elif tag == "path":
            d = one.get("d", "")
            numbers = [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", d)]
            points = tuple(zip(numbers[::2], numbers[1::2], strict=False))
            found.append(Mark(tag, kind, said=re.sub(r"[^A-Za-z]", "", d), points=points))
    return found


def bands(svg: str) -> list[list[str]]:
    """What a memory picture says: the texts above the bands and below, first, then those of each band.

    A cell is told with its value ("3=1.0"), an element in the lane of a view with the cell above it
    ("3:[0,1]"), and the arcs of a walk by the cells that they lead through ("walk 0>3>1").
    """
    found: list[list[str]] = [[]]
    columns: dict[float, str] = {}
    walk: list[tuple[float, float]] = []
    bottom = 0.0
    kind = ""
    for mark in [*marks(svg), Mark("end", "")]:
        arc = mark.tag == "path" and mark.kind == "thin" and mark.said == "MQ"
        if walk and not (arc and mark.points[0] == walk[-1]):
            if columns:
                found[-1].append("walk " + ">".join(columns[x] for x, _ in walk))
            walk = []
        if arc:
            walk = walk or [mark.points[0]]
            walk.append(mark.points[2])
        elif mark.tag == "path" and mark.kind == "bad-l":
            found[-1].append("cross")
        elif mark.tag == "rect" and mark.kind.split()[0] == "band":
            found.append([])
            columns = {}
            bottom = mark.box[1] + mark.box[3]
        elif mark.tag == "text" and mark.said not in FURNITURE:
            below = mark.box[1] > bottom
            lines = found[0] if below else found[-1]
            said = _joined(lines, mark)
            if mark.kind == "m s c":
                columns[mark.box[0]] = mark.said
            elif mark.kind.startswith("view-t"):
                said = f"{columns[mark.box[0]]}:{mark.said}"
            elif kind == "m s c":
                lines[-1] += f"={mark.said}"
                said = lines[-1]
            if lines[-1:] != [said]:  # each line of a title that was cut has the whole of it
                lines.append(said)
            kind = mark.kind
    return found


def _joined(lines: list[str], mark: Mark) -> str:
    """What a text says; the line of a remark together with the one before it, which is taken away."""
    if mark.said == mark.whole:
        return mark.whole
    if "…" in mark.said:  # it was cut: the lines above are its beginning
        while lines and lines[-1] != mark.whole and mark.whole.startswith(lines[-1]):
            lines.pop()
        return mark.whole
    goes_on = lines and mark.whole.startswith(f"{lines[-1]} {mark.said}")
    return f"{lines.pop()} {mark.said}" if goes_on else mark.said


@dataclass
class Seen:
    """A graph picture: its cards with their texts, and its wires from card to card."""

    cards: list[tuple[str, ...]] = field(default_factory=list)
    wires: list[tuple[tuple[str, ...], tuple[str, ...], str, str]] = field(default_factory=list)
    around: list[str] = field(default_factory=list)


_CARDS = {"band", "card dash", "name", "leaf", "bad", "new", "new dash"}
_SIGNS = {"leaf-l": "ok", "bad-l": "bad", "thin": "void", "tip": "dot", "new": "was"}


def graph_parts(svg: str) -> Seen:
    """What a graph picture says; a sign before a line of a card is told in words ("ok", "bad", "void", "was")."""
    everything = marks(svg)
    boxes = [
        k
        for k, mark in enumerate(everything)
        if mark.tag == "rect" and mark.kind in _CARDS and mark.box[3] != 15
    ]
    seen, at = Seen(), {}
    for k, here in enumerate(boxes):
        upto = boxes[k + 1] if k + 1 < len(boxes) else len(everything)
        x, y, w, h = everything[here].box
        lines, sign = [], ""
        for mark in everything[here + 1 : upto]:
            if mark.tag == "path":
                sign = _SIGNS[mark.kind] + " "
            elif mark.tag == "text" and mark.box[1] < y + 4 and mark.said == "new":
                lines.append("NEW")
            elif mark.tag == "text" and y < mark.box[1] < y + h:
                lines.append(sign + mark.whole)
                sign = ""
            elif mark.tag == "text":
                seen.around.append(mark.whole)
        seen.cards.append(tuple(lines))
        at[x, y, w, h] = tuple(lines)
    seen.around[:0] = [
        mark.whole for mark in everything[: boxes[0] if boxes else None] if mark.kind == "m"
    ]
    seen.wires = list(_wires(everything[: boxes[0] if boxes else 0], at))
    return seen


def _wires(
    before: list[Mark], at: dict[tuple[float, float, float, float], tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str, str]]:
    lines = [
        k
        for k, mark in enumerate(before)
        if mark.kind in ("arrow", "arrow dash", "leaf-l") and mark.tag == "path"
    ]
    for k, here in enumerate(lines):
        upto = lines[k + 1] if k + 1 < len(lines) else len(before)
        line, tip = before[here], before[here + 1]
        label = "".join(mark.said for mark in before[here + 2 : upto])
        yield _card_at(at, line.points[0]), _card_at(at, tip.points[0]), line.kind, label


def _card_at(
    at: dict[tuple[float, float, float, float], tuple[str, ...]], point: tuple[float, float]
) -> tuple[str, ...]:
    """The card at whose edge a line begins or ends."""
    x, y = point
    away = {
        box: max(box[0] - x, x - box[0] - box[2], box[1] - y, y - box[1] - box[3]) for box in at
    }
    nearest = min(away, key=lambda box: abs(away[box]))
    assert abs(away[nearest]) < 3, f"{point} is at no card's edge"
    return at[nearest]


def without_one(svg: str) -> Iterator[tuple[str, str]]:
    """The picture without one of the things that it says, for each of them; and what that is."""
    root = ET.fromstring(svg)
    parents = {child: parent for parent in root.iter() for child in parent}
    for one in list(root.iter()):
        tag, kind, d = one.tag.rpartition("}")[2], one.get("class", ""), one.get("d", "")
        sign = (
            kind in _SIGNS
            and not kind.startswith("leaf-l" if "C" in d else "tip")
            and tag == "path"
        )
        arc = kind == "thin" and "Q" in d
        if (tag == "text" and (one.text or "") not in FURNITURE) or arc or (sign and "z" not in d):
            parent = parents[one]
            at = list(parent).index(one)
            parent.remove(one)
            yield ET.tostring(root, encoding="unicode"), "".join(one.itertext()) or d
            parent.insert(at, one)


Wrong = Callable[[Snapshot, Snapshot | None, str, str], set[str]]
"""What says which of "picture" and "text" of two looks does not say what it has to."""


def missed_in_picture(
    wrong: Wrong, now: Snapshot, since: Snapshot | None, made: PictureBase
) -> list[str]:
    """What can be dropped from a picture without being noticed."""
    assert wrong(now, since, made.svg, made.text) == set()
    return [
        what
        for lacking, what in without_one(made.svg)
        if wrong(now, since, lacking, made.text) != {"picture"}
    ]


def missed_in_text(
    wrong: Wrong, now: Snapshot, since: Snapshot | None, made: PictureBase, part: str
) -> list[str]:
    """The lines of a text, and their parts by a pattern, that can be dropped without being noticed."""
    lines = made.text.split("\n")
    lacking = [(line, [*lines[:k], *lines[k + 1 :]]) for k, line in enumerate(lines)]
    for k, line in enumerate(lines):
        lacking += [
            (one, [*lines[:k], line.replace(one, ""), *lines[k + 1 :]])
            for one in re.findall(part, line)
        ]
    return [
        what for what, rest in lacking if wrong(now, since, made.svg, "\n".join(rest)) != {"text"}
    ]
