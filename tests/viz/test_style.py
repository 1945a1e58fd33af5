"""Colours that everyone can read, and numbers that everyone can recognise."""

import re
from collections.abc import Iterator

import pytest
from viz.looked import ALL, looked
from viz.reading import Mark, marks

from tinytorch.viz import graph, memory
from tinytorch.viz.render.style import PALETTE, THEMES, format_coordinate, stylesheet
from tinytorch.viz.wording.labels import escape_unseen, format_value


def brightness(colour: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


def colours(svg: str) -> dict[str, dict[str, str]]:
    """What the stylesheet of a picture in a fixed theme says of each class: fill and stroke."""
    found: dict[str, dict[str, str]] = {}
    for kind, rules in re.findall(r"\.tt-pic-\w+ \.([\w-]+)(?:\.[\w-]+)?\{([^}]*)\}", svg):
        found.setdefault(kind, {}).update(re.findall(r"(fill|stroke):(#\w+)", rules))
    return found


def ground(below: list[Mark], point: tuple[float, float]) -> str:
    """The class of the box on top of which something is drawn."""
    x, y = point
    return next(
        own(box.kind)
        for box in reversed(below)
        if box.tag == "rect"
        and box.box[0] <= x <= box.box[0] + box.box[2]
        and box.box[1] <= y <= box.box[1] + box.box[3]
    )


def own(kind: str) -> str:
    """The class that gives a box its colours: the hue of a tensor, if it has one."""
    kinds = kind.split()
    return next((one for one in kinds if re.fullmatch(r"h\d", one)), kinds[0])


def pairs(svg: str) -> Iterator[tuple[str, str, float]]:
    """(what is drawn, what it is drawn on, contrast) for each text, line, mark and edge of a box in a picture."""
    colour = colours(svg)
    below: list[Mark] = []
    for mark in marks(svg):
        kinds = mark.kind.split()
        if mark.tag == "text":
            ink = next(colour[kind]["fill"] for kind in kinds if "fill" in colour.get(kind, {}))
            on = ground(below, (mark.box[0] + ("c" not in kinds), mark.box[1] - 4))
            yield f"text {kinds[0]}", on, contrast(ink, colour[on]["fill"]) / 4.5
        elif mark.tag == "path":
            given = colour[kinds[0]]
            on = ground(below, mark.points[0])
            yield (
                kinds[0],
                on,
                contrast(given.get("stroke") or given["fill"], colour[on]["fill"]) / 3,
            )
        elif mark.tag == "rect":
            # The cells of one tensor have an edge in its hue.
            edge = next((kind for kind in kinds if kind.endswith("-l")), own(mark.kind))
            if below and "stroke" in colour[edge]:
                on = ground(below, (mark.box[0], mark.box[1]))
                yield (
                    f"edge of {edge}",
                    on,
                    contrast(colour[edge]["stroke"], colour[on]["fill"]) / 3,
                )
            below.append(mark)


def test_the_dark_ground_is_that_of_jupyterlab() -> None:
    """An <img> does not see the page's own colours, and a bluer ground was a patch on the page."""
    assert {PALETTE[name][THEMES["dark"]] for name in ("bg", "card", "cell")} == {"#111111"}


@pytest.mark.parametrize("theme", THEMES)
def test_contrast_reaches_aa_wherever_something_is_drawn_on_something(theme: str) -> None:
    import tinytorch

    seen: dict[tuple[str, str], float] = {}
    for program in ALL:
        snap, since = looked(program, tinytorch)
        for picture in (memory(snap, since=since), graph(snap, since=since)):
            for what, on, reached in pairs(picture.svg_in_theme(theme)):
                seen[what, on] = reached
    assert {pair: reached for pair, reached in seen.items() if reached < 1} == {}
    for pair in (
        ("text new-t", "new"), ("text new-t", "box"), ("text new-t", "band"), ("bad-l", "bad"),
        ("flow", "page"), ("flow-t", "page"), ("thin-t", "page"), ("text bad-t", "bad"), ("text count-t", "band"),
        ("text count-t", "box"), ("edge of h1-l", "box"), ("edge of new", "cell"), ("edge of new", "page"), ("edge of bad", "page"),
    ):  # fmt: skip
        assert pair in seen, "the marks of what changed or is stale are among them"


@pytest.mark.parametrize("theme", THEMES)
def test_contrast_of_what_others_add_to_a_graph(theme: str) -> None:
    import tinytorch

    picture = graph(looked("gradient", tinytorch)[0])
    picture.node("mine", label="my own note")
    svg = picture.svg_in_theme(theme)
    ink, card, line, page = (PALETTE[name][THEMES[theme]] for name in ("ink", "card", "line", "bg"))
    for rule in (
        f"g text{{fill:{ink}}}",
        f"ellipse{{fill:{card};stroke:{line}}}",
        f"polygon{{fill:{page}}}",
    ):
        assert rule in svg
    assert min(contrast(ink, card), contrast(ink, page)) >= 4.5
    assert contrast(line, page) >= 3


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.731058, "0.7311"),
        (-0.0052939, "-0.0053"),
        (0.5, "0.5"),
        (12345.678, "12346.0"),
        (806.8576, "806.86"),
        (99999.9, "1e+05"),
        (0.00001234, "1.234e-05"),
        (1e20, "1e+20"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (12, "12"),
        (1234567890123, "1.235e+12"),
        (123456789, "123456789"),
        (-123456789, "-1.235e+08"),
        (-(10**400), "-1e300 or more"),
        ("x" * 10_000, "x" * 23 + "…"),
        (True, "True"),
        (1 + 2j, "1+2j"),
    ],
)
def test_values_in_few_characters(value: object, shown: str) -> None:
    assert format_value(value) == shown


def test_coordinates_are_short_and_never_minus_nought() -> None:
    assert [format_coordinate(x) for x in (1, 1.04, 1.06, -0.01, -2.5)] == [
        "1",
        "1",
        "1.1",
        "0",
        "-2.5",
    ]


def test_unseen_characters_are_written_out() -> None:
    assert escape_unseen("a\u202eb\n\x00\ud800") == "a\\u202eb\\n\\x00\\ud800"
    assert escape_unseen("日本 naïve") == "日本 naïve"


def test_a_picture_carries_the_rules_and_colours_that_it_uses_and_no_others() -> None:
    import tinytorch

    svg = memory(x=tinytorch.ones(2)).svg
    used = {name for value in re.findall(r'class="([^"]*)"', svg) for name in value.split()} - {
        "tt-pic"
    }
    ruled = set(re.findall(r"\.tt-pic \.([\w-]+)", svg))
    assert ruled <= used
    assert set(re.findall(r"var\((--_[\w-]+)\)", svg)) == set(re.findall(r"(--_[\w-]+):", svg))
    assert len(stylesheet(frozenset(used))) < len(stylesheet())


def test_the_hues_of_a_picture_outrank_the_rules_of_the_next_one_on_the_page() -> None:
    sheet = stylesheet(frozenset(["name", "h2"]))
    assert re.findall(r"\.tt-pic (\.[\w.-]+)\{", sheet) == [".name", ".h2.h2"]
