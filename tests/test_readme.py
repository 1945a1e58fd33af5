"""The README's examples do what it says: each is run, and where it shows a printout, that is what comes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from guards import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", README, re.MULTILINE | re.DOTALL)
PATHS = re.findall(r"`([\w./]+/|[\w.]+\.(?:py|md))`", README)


def test_examples_and_paths_are_found() -> None:
    assert len(EXAMPLES) >= 2
    assert any(printout for _, printout in EXAMPLES)
    assert {"tinytorch/", "CONTRIBUTING.md"} <= set(PATHS)


@pytest.mark.parametrize("engine", ["import tinytorch as torch", pytest.param("import torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize(("source", "printout"), EXAMPLES)
def test_example_prints_what_the_readme_shows(source: str, printout: str, engine: str, tmp_path: Path) -> None:
    program = tmp_path / "example.py"
    program.write_text(source.replace("import torch", engine), encoding="utf-8")
    answer = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert answer.stderr == ""
    assert answer.stdout == printout


@pytest.mark.parametrize("path", sorted(set(PATHS) - {"course/"}))  # that one is made by the course command
def test_what_it_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()
