"""The budgets of lines notice what grew, what was packed, and what is gone."""

from pathlib import Path

import pytest
from budget import Part, budget, tokens_by_line

PART = Part("part", "box", 20, 2, without=("left", "out.py"), kinds=(".py", ".js"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree that keeps to its budget to the last line and file; what is left out of the count is far too long."""
    for name, lines in {"one.py": 10, "in/two.js": 10, "left/three.py": 99, "out.py": 99, "four.css": 99}.items():
        path = tmp_path / "box" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n" * lines, encoding="utf-8")
    return tmp_path


def test_what_keeps_to_its_budget_passes(root: Path) -> None:
    assert budget(root, (PART,)) == (["part: 2 files, 20 lines, 3.00 tokens per line of code"], [])


def test_a_line_too_many_is_noticed(root: Path) -> None:
    (root / "box" / "one.py").write_text("# one\n" * 11, encoding="utf-8")
    assert budget(root, (PART,))[1] == ["part: 21 lines, the budget is 20"]


def test_a_file_too_many_is_noticed(root: Path) -> None:
    (root / "box" / "in" / "out.py").touch()
    assert budget(root, (PART,))[1] == ["part: 3 files, the budget is 2"]


def test_packed_lines_are_noticed(root: Path) -> None:
    text = "a, b, c = f(1), g(2), h(3)\n"
    (root / "box" / "one.py").write_text(text + "# prose does not thin it\n\n" * 3, encoding="utf-8")
    assert budget(root, (PART,))[1] == ["part: 20 tokens per line, the budget is 11"]


def test_a_part_that_is_gone_is_noticed(tmp_path: Path) -> None:
    assert budget(tmp_path, (PART,))[1] == ["part: nothing stands in box"]


def test_strings_are_one_token_in_every_python(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("x = f\"a {b} {f'{c}'} d\"  # e\n\ny = '''f\n\ng'''\n", encoding="utf-8")
    assert tokens_by_line(path) == [1, 1, 1, 3, 3, 3]
