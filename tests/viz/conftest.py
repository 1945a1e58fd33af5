"""Every test of the pictures that takes `engine` runs over tinytorch and over real torch."""

import sys

import pytest

from tinytorch.viz.read import probe


@pytest.fixture(autouse=True)
def no_older_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks of programs that other tests ran hang on in circles through torch's nodes, which nobody can collect."""
    if "torch" in sys.modules:
        newest = sys.modules["torch"].utils.hooks.RemovableHandle.next_id
        monkeypatch.setattr(probe._Hooks, "upto", newest)
        monkeypatch.setattr(probe._Hooks, "found", ())
