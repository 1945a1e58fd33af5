"""What articles say of copying: each program of the page prints what is behind its lines, on both engines, in each language."""

import contextlib
import copy
import io
import re
import warnings
from types import ModuleType

import pytest
from copylab.course.translation import read_translated
from project_files import ROOT

LESSONS = ROOT / "notebooks"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"print\(.*\)  # (.*)$", re.MULTILINE)
PLACE = re.compile(r"\]\((\w+)\.ipynb\)\W+\*(.*)\*$", re.MULTILINE)
PAGES = {
    language: read_translated(LESSONS / "articles.md", language) for language in ("en", "zh", "ko")
}
PROGRAMS = BLOCK.findall(PAGES["en"])


def run_program(program: str, engine: ModuleType) -> list[str]:
    """Return the lines that a program prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(program, {"torch": engine, "copy": copy})
    return printed.getvalue().splitlines()


def test_each_program_prints_what_the_page_says(engine: ModuleType) -> None:
    imports, *programs = PROGRAMS
    assert imports == "import copy\n\nimport torch\n"
    assert len(programs) == len(re.findall(r"(?m)^### ", PAGES["en"])) > 20
    for program in programs:
        printed = PRINTED.findall(program)
        assert printed, program
        assert run_program(program, engine) == printed, program


@pytest.mark.parametrize("language", PAGES)
def test_each_claim_names_its_section_in_a_lesson(language: str) -> None:
    page = PAGES[language]
    assert BLOCK.findall(page) == PROGRAMS
    places = PLACE.findall(page)
    assert len(places) == len(PROGRAMS) - 1
    lessons = {name: read_translated(LESSONS / f"{name}.ipynb", language) for name, _ in places}
    for name, heading in places:
        written = f"# {heading}".replace('"', '\\"')
        assert f'{written}\\n"' in lessons[name] or f'{written}"' in lessons[name], heading
