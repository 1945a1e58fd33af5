"""Reading pictures back: the elements of an SVG in order of drawing."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET


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
        tag, kind = (
            one.tag.rpartition("}")[2],
            re.sub(r" (h\d|fresh)(?= |$)", "", one.get("class", "")),
        )
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
