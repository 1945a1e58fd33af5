"""The spelling check finds what is misspelt where people read, and nothing in stored pictures."""

import json
from pathlib import Path

import pytest
from spelling import find_misspellings

MISSPELT = "teh"  # codespell:ignore teh


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def test_misspelt_words_are_noticed(tmp_path: Path) -> None:
    write(tmp_path, "README.md", f"All is well.\nHere is {MISSPELT} word.\n")
    write(tmp_path, "docs/page.md", f"{MISSPELT}\n")
    write(tmp_path, "box/code.py", f'def f():\n    """Give {MISSPELT} number."""\n')
    found = find_misspellings(tmp_path)
    assert [line.partition(" ")[0] for line in found] == [
        "README.md:2:",
        "box/code.py:2:",
        "docs/page.md:1:",
    ]
    assert all(line.endswith(f"{MISSPELT} ==> the") for line in found)


def test_of_notebooks_the_cells_are_read_and_not_the_outputs(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", f"{MISSPELT} question"]},
        {
            "cell_type": "code",
            "source": [f"name = 1  # {MISSPELT} name"],
            "outputs": [{"text": [f"{MISSPELT}\n"]}],
        },
    ]
    write(tmp_path, "notebooks/00_one.ipynb", json.dumps({"cells": cells}))
    found = find_misspellings(tmp_path)
    assert found == [
        f"notebooks/00_one.ipynb.txt:2: {MISSPELT} ==> the",
        f"notebooks/00_one.ipynb.txt:4: {MISSPELT} ==> the",
    ]


def test_names_of_torch_and_programs_as_written_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "README.md", 'The norm is called "fro".\n')
    write(tmp_path, "tests/programs/one.py", f"# {MISSPELT}\n")
    assert find_misspellings(tmp_path) == []


def test_a_codespell_that_does_not_run_is_no_good_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "README.md", "All is well.\n")
    monkeypatch.setattr("sys.executable", "false")
    with pytest.raises(RuntimeError, match="codespell did not run"):
        find_misspellings(tmp_path)
