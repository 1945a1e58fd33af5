"""Colours that everyone can read, and numbers that everyone can recognise."""

import re

import pytest

from tinytorch.viz import memory
from tinytorch.viz.style import PALETTE, THEMES, clean, number, show, stylesheet

TEXT_ON = [
    ("ink", "bg"), ("ink", "band"), ("ink", "card"), ("ink", "cell"), ("ink", "bad-bg"),
    ("muted", "bg"), ("muted", "band"), ("muted", "card"),
    ("name-ink", "name-bg"), ("view-ink", "view-bg"), ("leaf-ink", "leaf-bg"), ("leaf-ink", "card"), ("leaf-ink", "bg"),
    ("count-ink", "count-bg"), ("count-ink", "card"), ("new-ink", "new-bg"), ("new-ink", "band"), ("new-ink", "card"),
    ("bad-ink", "bad-bg"), ("bad-ink", "band"),
]  # fmt: skip
LINE_ON = [
    ("line", "bg"), ("line", "band"), ("name-line", "band"), ("count-line", "band"), ("leaf-line", "bg"),
    ("leaf-line", "band"), ("new-line", "band"), ("bad-line", "band"), ("bad-line", "bad-bg"),
]  # fmt: skip


def brightness(colour: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_contrast_reaches_aa(theme: str) -> None:
    column = THEMES[theme]
    for ink, ground in TEXT_ON:
        assert contrast(PALETTE[ink][column], PALETTE[ground][column]) >= 4.5, (ink, ground)
    for line, ground in LINE_ON:
        assert contrast(PALETTE[line][column], PALETTE[ground][column]) >= 3, (line, ground)


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
        (True, "True"),
        (1 + 2j, "1+2j"),
    ],
)
def test_values_in_few_characters(value: object, shown: str) -> None:
    assert show(value) == shown


def test_coordinates_are_short_and_never_minus_nought() -> None:
    assert [number(x) for x in (1, 1.04, 1.06, -0.01, -2.5)] == ["1", "1", "1.1", "0", "-2.5"]


def test_unseen_characters_are_written_out() -> None:
    assert clean("a\u202eb\n\x00\ud800") == "a\\u202eb\\n\\x00\\ud800"
    assert clean("日本 naïve") == "日本 naïve"


def test_a_picture_carries_the_rules_and_colours_that_it_uses_and_no_others() -> None:
    import tinytorch

    svg = memory(x=tinytorch.ones(2)).svg
    used = {name for value in re.findall(r'class="([^"]*)"', svg) for name in value.split()} - {"tt-pic"}
    ruled = set(re.findall(r"\.tt-pic \.([\w-]+)", svg))
    assert ruled <= used
    assert set(re.findall(r"var\((--_[\w-]+)\)", svg)) == set(re.findall(r"(--_[\w-]+):", svg))
    assert len(stylesheet(None, frozenset(used))) < len(stylesheet())
