"""The README's examples do what it says: each is run, and where it shows a printout, that is what comes."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from browser.books import write
from execute_notebooks import execute_notebook
from project_files import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", README, re.MULTILINE | re.DOTALL
)
_BET = re.compile(
    r"^.+\n\n```python\n(?P<program>(?:(?!^```).*\n)*)^```\n\n<details>.*\n\n`(?P<shown>[^`]*)`.*\n</details>\n",
    re.MULTILINE,
)
"""A question, a program whose end is to be guessed, and a fold that begins with what it shows."""
CHECKED = re.findall(r"^    (pytest --nbval .*)$", README, re.MULTILINE)
NOTEBOOK = "my_notebook.ipynb"
# The engine is imported under the watch; a line that wrote is in another cell; a cell is there twice.
CELLS = """\
from copylab import explain, graph, memory, steps, watch

def scale(t):
    t.data.mul_(2)
    return t

with watch():
    import torch
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    scale(y)
    z.sum().backward()

x.grad

x.grad

with watch(silent="record") as w:
    v = x * 2
    loss = (v * v).sum()
    scale(v)
    loss.backward()
w

print(w, w.findings)

steps("x = torch.ones(3, requires_grad=True)\\ny = x.clone()")

steps(scale, x).live()

memory(x, v)

graph((v * v).sum())

explain((v * v).sum())
"""
PATHS = re.findall(r"`([\w./]+/|[\w.]+\.(?:py|md))`", README)


def test_examples_and_paths_are_found() -> None:
    assert len(EXAMPLES) >= 2
    assert any(printout for _, printout in EXAMPLES)
    assert {"tinytorch/", "CONTRIBUTING.md"} <= set(PATHS)


@pytest.mark.parametrize(
    "engine", ["import tinytorch as torch", pytest.param("import torch", marks=pytest.mark.torch)]
)
@pytest.mark.parametrize(("source", "printout"), EXAMPLES)
def test_example_prints_what_the_readme_shows(
    source: str, printout: str, engine: str, tmp_path: Path
) -> None:
    program = tmp_path / "example.py"
    program.write_text(source.replace("import torch", engine), encoding="utf-8")
    answer = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False
    )
    assert answer.stderr == ""
    assert answer.stdout == printout


# The command `copylab` makes `course/`.
@pytest.mark.parametrize("path", sorted(set(PATHS) - {"course/"}))
def test_what_it_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_it_is_one_screen_that_shows_first() -> None:
    # A visitor looks at the picture first, and leaves a page that does not end.
    assert "<picture>" in "\n".join(README.splitlines()[:5])
    # The bet, with its answer folded away, is what the page opens with, and no part of its length.
    page = _BET.sub("", README)
    assert len(page.split()) <= 700
    assert len(page.splitlines()) <= 120


@pytest.mark.parametrize(
    "engine", ["import tinytorch as torch", pytest.param("import torch", marks=pytest.mark.torch)]
)
@pytest.mark.parametrize("page", ["README.md", "README.zh.md", "README.ko.md"])
def test_the_bet_ends_as_its_fold_says(
    page: str, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (bet,) = _BET.finditer((ROOT / page).read_text(encoding="utf-8"))
    exec(bet["program"].replace("import torch", engine) + "print(best)\n", {})
    assert capsys.readouterr().out == bet["shown"] + "\n"


@pytest.mark.parametrize("language", ["zh", "ko"])
def test_other_languages_have_the_same_programs_calls_and_printouts(
    language: str, tmp_path: Path
) -> None:
    translated = (ROOT / f"README.{language}.md").read_text(encoding="utf-8")
    programs = [
        re.findall(r"^```python\n(.*?)^```", re.sub("  #.*", "", text), re.MULTILINE | re.DOTALL)
        for text in (README, translated)
    ]
    assert programs[0] == programs[1]
    (shown,) = re.findall(r"^```text\n(.*?)^```", translated, re.MULTILINE | re.DOTALL)
    example = tmp_path / "example.py"
    example.write_text(
        programs[1][1].replace("import torch", "import tinytorch as torch"), encoding="utf-8"
    )
    answer = subprocess.run(
        [sys.executable, str(example)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        env=os.environ | {"COPYLAB_LANGUAGE": language, "PYTHONIOENCODING": "utf-8"},
    )
    assert answer.stdout == shown
    # A row of the table ends with its call; prose around it is the language's own.
    calls = [
        re.findall(r"^\|.*\| (?:\[)?(`.*?`)", text, re.MULTILINE) for text in (README, translated)
    ]
    assert len(calls[0]) >= 8
    assert calls[0] == calls[1]


@pytest.mark.parametrize("language", ["zh", "ko"])
def test_other_languages_leave_nothing_out(language: str) -> None:
    translated = (ROOT / f"README.{language}.md").read_text(encoding="utf-8")
    assert README.count("\n## ") == translated.count("\n## ")
    assert README.count("\n    pytest") == translated.count("\n    pytest")
    links = set(re.findall(r"\]\(([^)]+)\)", translated))
    for link in set(re.findall(r"\]\(([^)]+)\)", README)) - {f"README.{language}.md"}:
        folder, _, name = link.rpartition("/")
        # Lessons are prose in a language, and a sheet that is made when the course is laid out.
        own = f"{folder}/translations/{language}/{name}".replace(".ipynb", ".md")
        assert {link, own} & links or (link.endswith(".html") and f"`{name}`" in translated), link
    assert all((ROOT / link).exists() for link in links)


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine",
    [
        "import tinytorch as torch",
        pytest.param("import torch", marks=[pytest.mark.torch, pytest.mark.stress]),
    ],
)
def test_a_notebook_can_be_checked_as_it_says(engine: str, tmp_path: Path) -> None:
    (command,) = CHECKED
    words = shlex.split(command)
    assert words[0] == "pytest"
    assert words[-1] == NOTEBOOK
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    cells = CELLS.replace("import torch", engine).split("\n\n")
    write(folders[0], NOTEBOOK, *cells)
    stored = execute_notebook(folders[0] / NOTEBOOK)
    (folders[0] / NOTEBOOK).write_text(json.dumps(stored), "utf-8")
    shutil.copy(folders[0] / NOTEBOOK, folders[1])
    text = json.dumps([cell["outputs"] for cell in stored["cells"]])
    assert "In[2], line 2  t.data.mul_(2)" in text
    assert "ipykernel_" not in text
    # The first folder has run it once already, to store the outputs.
    for folder in reversed(folders):
        ran = subprocess.run(
            [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False
        )
        assert f"{len(cells)} passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("docs/pages/**/teaching.md")), ids=lambda page: page.parent.name
)
def test_until_it_is_released_a_class_installs_from_a_clone(page: Path) -> None:
    text = page.read_text("utf-8")
    assert 'pip install ".[course]"' in text
    if "(not released yet)" in (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1]:
        # The index knows no copylab yet.
        assert 'pip install "copylab' not in text
