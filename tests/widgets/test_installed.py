"""A folder named torch, which Python can import where PyTorch is not installed, is no engine."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from copylab.installed import is_installed

import tinytorch


def test_a_folder_without_code_is_no_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_a_folder").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("only_a_folder")
    assert not is_installed("only_a_folder")
    assert not is_installed("nothing_of_that_name")
    assert is_installed("tinytorch")


def test_errors_do_not_look_for_a_tensor_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    with pytest.raises(TypeError, match="unsupported operand"):
        tinytorch.ones(2) @ "words"  # type: ignore[operator]
