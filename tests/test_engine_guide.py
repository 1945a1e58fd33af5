"""docs/engine.md names the place of each rule: it is there, and the program that shows it runs through it."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest
from programs.transcript import transcript

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "engine.md"
PICTURES = GUIDE.with_name("pictures_inside.md")
_LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)\)")
_PLACE = re.compile(r"((?:`\w+`(?:, )?)+) in \[[\w/.]+\]\(([^)]+)\)")
_STEP = re.compile(r"\[`[\w/.]+`\]\(([^\s)]+)\)")


class Rule(NamedTuple):
    """A row of the guide: the programs, and the functions or classes with the files in which they are defined."""

    programs: list[Path]
    places: list[tuple[str, Path]]


def rules(text: str) -> list[Rule]:
    """The rows of the guide's tables."""
    found = []
    for line in text.splitlines():
        cells = line.strip("|").split(" | ")
        if len(cells) == 3 and "](" in line:
            programs = [(GUIDE.parent / where).resolve() for where in _LINK.findall(cells[1])]
            places = [
                (name, (GUIDE.parent / where).resolve())
                for names, where in _PLACE.findall(cells[2])
                for name in re.findall(r"`(\w+)`", names)
            ]
            found.append(Rule(programs, places))
    return found


RULES = rules(GUIDE.read_text(encoding="utf-8"))
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda r: r.programs[0].stem)


def defines(path: Path, name: str) -> bool:
    """Whether a function, a class or a name at the left margin is defined in a file."""
    text = path.read_text(encoding="utf-8")
    return (
        re.search(rf"^(?: *(?:def|class) {name}\b|{name}(?:: .+)? = )", text, re.MULTILINE)
        is not None
    )


def passed_through(rule: Rule) -> set[tuple[str, Path]]:
    """Which of a rule's places its programs run through, on tinytorch; of a class any of its functions."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    for program in rule.programs:
        sys.setprofile(note)
        try:
            transcript(program, "tinytorch")
        finally:
            sys.setprofile(None)
    names = {
        (part, Path(file).resolve())
        for file, name in seen
        if "tinytorch" in file
        for part in name.split(".")
    }
    return names & set(rule.places)


def test_the_guide_has_rules() -> None:
    assert len(RULES) > 30
    assert all(rule.programs and rule.places for rule in RULES)


@each_rule
def test_a_rule_stands_where_the_guide_says(rule: Rule) -> None:
    assert [str(p) for p in rule.programs if not p.exists()] == []
    assert [name for name, path in rule.places if not defines(path, name)] == []


@each_rule
def test_the_program_runs_through_the_rule(rule: Rule) -> None:
    assert {name for name, _ in set(rule.places) - passed_through(rule)} == set()


USERS_NAMES = {
    *("create_graph", "retain_graph", "copy_", "to", "memory", "since", "svg", "text"),
    *("__mul__", "__rmul__", "__imul__"),
}
"""What users call: a step may name it without being its place."""


class Step(NamedTuple):
    """A step of a way through the code: its files, and the names that are to be read there."""

    files: list[Path]
    names: set[str]


def steps(text: str) -> list[Step]:
    """The numbered steps of a page."""
    parts = re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]
    found = []
    for part in parts:
        body = part.partition("\n## ")[0]
        files = [GUIDE.parent / where for where in _STEP.findall(body)]
        found.append(Step(files, set(re.findall(r"`(\w+)`", body)) - USERS_NAMES))
    return found


def engine_steps() -> list[Step]:
    """The steps of the way through the engine."""
    text = GUIDE.read_text(encoding="utf-8").partition("## In this order")[2]
    return steps(text.partition("\n## ")[0])


def not_in_files(step: Step) -> list[str]:
    """The names of a step that none of its files defines."""
    return sorted(n for n in step.names if not any(defines(file, n) for file in step.files))


def test_every_step_names_what_is_in_its_files() -> None:
    of_pictures = steps(PICTURES.read_text(encoding="utf-8"))
    assert len(engine_steps()) > 10
    assert len(of_pictures) > 10
    for step in (*engine_steps(), *of_pictures):
        assert step.files
        assert not_in_files(step) == []


def test_a_name_that_is_not_in_the_files_of_its_step_is_noticed() -> None:
    (step,) = steps("1. [`a.py`](../tinytorch/viz/show/repeats.py): `find_repeats`, `lost_name`.\n")
    assert not_in_files(step) == ["lost_name"]


def test_what_the_page_of_pictures_names_besides_its_steps_is_in_the_files_it_names() -> None:
    page = PICTURES.read_text(encoding="utf-8")
    last = page.partition("## To change or extend a sentence")[2]
    root = GUIDE.parents[1]
    names_in_viz = re.findall(r"`((?:wording|read|diagnose|show|render)/\w+\.py)`", last)
    files = [root / "tinytorch" / "viz" / name for name in names_in_viz]
    files += [root / name for name in re.findall(r"`((?:widgets|tests)/[\w/]+\.py)`", last)]
    names = set(re.findall(r"`(\w+)`", last))
    assert len(names) > 30
    assert [str(file) for file in files if not file.exists()] == []
    assert not_in_files(Step(files, names)) == []


def test_the_guide_says_how_long_the_way_is() -> None:
    whole, named = 0, 0
    for files, names in engine_steps():
        for source in (f.read_text(encoding="utf-8") for f in files):
            whole += len(source.splitlines())
            found = [
                n
                for n in ast.walk(ast.parse(source))
                if isinstance(n, ast.FunctionDef | ast.ClassDef)
            ]
            spans = [range(n.lineno, (n.end_lineno or 0) + 1) for n in found if n.name in names]
            named += len(set().union(*spans))
    said = [
        int(n.replace(",", ""))
        for n in re.findall(r"some ([\d,]+)\s+lines", GUIDE.read_text(encoding="utf-8"))
    ]
    assert said == pytest.approx([whole, named], rel=0.1)


def test_what_is_nowhere_is_noticed() -> None:
    program, file = "../tests/programs/rules/r30_printing.out", "../tinytorch/tensor.py"
    (rule,) = rules(
        f"| a rule | [r30]({program}) | `nowhere`, `_materialize_storage` in [tensor.py]({file}) |\n"
    )
    assert [p.exists() for p in rule.programs] == [True]
    assert [name for name, path in rule.places if not defines(path, name)] == ["nowhere"]
    assert passed_through(rule) == set()
