"""Every test of the pictures that takes `engine` runs over tinytorch and over real torch."""

import importlib
import sys
from types import ModuleType
from typing import cast

import pytest

from tinytorch.viz.read import probe


@pytest.fixture(params=["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def engine(request: pytest.FixtureRequest) -> ModuleType:
    """One engine after the other, as the module that a program would call `torch`."""
    return importlib.import_module(cast("str", request.param))


@pytest.fixture(autouse=True)
def no_older_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks of programs that other tests ran hang on in circles through torch's nodes, which nobody can collect."""
    if "torch" in sys.modules:
        newest = sys.modules["torch"].utils.hooks.RemovableHandle.next_id
        monkeypatch.setattr(probe._Hooks, "upto", newest)
        monkeypatch.setattr(probe._Hooks, "found", ())
