"""The copies of the lessons for PyTorch: swapped where they should be, refused where they would prove nothing."""

import json
from pathlib import Path

import pytest
from swap_engine import LEFT_OUT, SwappedLesson, swap_folder, swap_notebook


def notebook(*sources: str | list[str], tags: dict[int, str] | None = None) -> dict:
    cells = [
        {
            "cell_type": "code",
            "source": source,
            "metadata": {"tags": [tag] if (tag := (tags or {}).get(n)) else []},
        }
        for n, source in enumerate(sources)
    ]
    return {
        "cells": [{"cell_type": "markdown", "source": "import tinytorch as torch"}, *cells],
        "nbformat": 4,
    }


def test_the_import_is_swapped_and_nothing_else() -> None:
    before = notebook(
        ["import numpy as np\n", "import tinytorch as torch\n"], "torch.ones(2)  # tinytorch says"
    )
    after, left_out = swap_notebook(before)
    assert [cell["source"] for cell in after["cells"]] == [
        "import tinytorch as torch",
        "import numpy as np\nimport torch\n",
        "torch.ones(2)  # tinytorch says",
    ]
    assert left_out == 0
    assert before["cells"][1]["source"] == ["import numpy as np\n", "import tinytorch as torch\n"]


def test_tagged_cells_are_left_out_and_counted() -> None:
    after, left_out = swap_notebook(
        notebook("import tinytorch as torch", "torch.ones(2, device='cuda')", tags={1: LEFT_OUT})
    )
    assert left_out == 1
    assert len(after["cells"]) == 2


def test_pictures_are_no_engine() -> None:
    source = "import tinytorch as torch\nfrom tinytorch.viz import memory"
    after, _ = swap_notebook(notebook(source))
    assert after["cells"][1]["source"] == "import torch\nfrom tinytorch.viz import memory"


@pytest.mark.parametrize(
    "source", ["x = 1", "import tinytorch", "import tinytorch as torch\nfrom tinytorch import nn"]
)
def test_what_would_go_on_running_on_tinytorch_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="swap"):
        swap_notebook(notebook(source))


def test_a_folder_is_copied_with_all_that_lies_in_it(tmp_path: Path) -> None:
    source = tmp_path / "notebooks"
    source.mkdir()
    lesson = notebook("import tinytorch as torch", "1", tags={1: LEFT_OUT})
    (source / "one.ipynb").write_text(json.dumps(lesson), encoding="utf-8")
    (source / "picture.svg").write_text("<svg/>", encoding="utf-8")
    target = tmp_path / "copy"
    assert swap_folder(source, target) == [SwappedLesson("one.ipynb", cells=1, left_out=1)]
    assert (target / "picture.svg").read_text(encoding="utf-8") == "<svg/>"
    assert "import torch" in (target / "one.ipynb").read_text(encoding="utf-8")


def test_a_refusal_names_the_lesson(tmp_path: Path) -> None:
    source = tmp_path / "notebooks"
    source.mkdir()
    (source / "one.ipynb").write_text(json.dumps(notebook("x = 1")), encoding="utf-8")
    with pytest.raises(ValueError, match=r"one\.ipynb"):
        swap_folder(source, tmp_path / "copy")
