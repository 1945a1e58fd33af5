"""docs/engine.md says where each rule stands; it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "engine.md"
_ROW = re.compile(r"^\| .* \| .* \| (`.*`) in \[.*\]\((.*)\) \|$", re.MULTILINE)
_STEP = re.compile(r"\[`[\w/.]+`\]\((\S+)\)")


def _rows(text: str) -> list[tuple[str, Path]]:
    return [
        (name, GUIDE.parent / where) for names, where in _ROW.findall(text) for name in re.findall(r"`(\w+)`", names)
    ]


def _defines(path: Path, name: str) -> bool:
    return re.search(rf"^ *(?:def|class) {name}\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


@pytest.mark.parametrize(
    ("name", "path"), _rows(GUIDE.read_text(encoding="utf-8")), ids=lambda x: getattr(x, "name", x)
)
def test_a_rule_stands_where_the_guide_says(name: str, path: Path) -> None:
    assert _defines(path, name)


def test_every_step_names_what_is_in_its_file() -> None:
    text = GUIDE.read_text(encoding="utf-8").partition("## In this order")[2].partition("##")[0]
    steps = re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]
    assert len(steps) == 11
    for step in steps:
        files = [GUIDE.parent / where for where in _STEP.findall(step)]
        for name in re.findall(r"`(_?[a-z]\w*_\w+|[A-Z]\w+)`", step):
            assert any(_defines(f, name) for f in files), name


def test_a_name_that_is_nowhere_is_noticed() -> None:
    row = "| a rule | [r01](x) | `nowhere` in [tensor.py](../tinytorch/tensor.py) |\n"
    ((name, path),) = _rows(row)
    assert path.exists()
    assert not _defines(path, name)
