"""The mutations can still be made, and what is to notice them is there; tools/mutations.py makes them."""

import ast
from pathlib import Path

import pytest
from mutations import MUTATIONS, Mutation, apply_mutation, find_failures, is_noticed
from project_files import ROOT


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.breaks)
def test_each_can_be_made_and_has_its_test(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text(encoding="utf-8")
    ast.parse(apply_mutation(text, mutation))
    file, _, name = mutation.test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name.partition("[")[0] in [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef)
    ]


def project(folder: Path) -> Path:
    (folder / "rule.py").write_text("def twice(n):\n    return n * 2\n", encoding="utf-8")
    tests = "from rule import twice\n\ndef test_it():\n    assert twice(2) == 4\n\ndef test_more():\n    twice(3)\n"
    (folder / "test_rule.py").write_text(tests, encoding="utf-8")
    return folder


def test_what_is_noticed_and_what_is_not(tmp_path: Path) -> None:
    tree = project(tmp_path)
    assert is_noticed(tree, Mutation("", "rule.py", "* 2", "* 3", "test_rule.py::test_it"))
    assert not is_noticed(tree, Mutation("", "rule.py", "* 2", "* 3", "test_rule.py::test_more"))
    assert not find_failures(tree, ["test_rule.py"]), "the file is put back"


def test_what_proves_nothing_is_an_error(tmp_path: Path) -> None:
    tree = project(tmp_path)
    with pytest.raises(ValueError, match="stands there 0 times"):
        is_noticed(tree, Mutation("", "rule.py", "* 5", "* 3", "test_rule.py"))
    with pytest.raises(ValueError, match="stands there 2 times"):
        is_noticed(tree, Mutation("", "rule.py", "t", "m", "test_rule.py"))
    with pytest.raises(RuntimeError, match="not found"):
        is_noticed(tree, Mutation("", "rule.py", "* 2", "* 3", "test_rule.py::test_gone"))
