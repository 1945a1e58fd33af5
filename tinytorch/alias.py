"""`sys.modules["torch"] = tinytorch`: what a program then imports from torch's modules comes from here as well.

Without this Python would read `torch.nn` from this package's folder a second time, under the other name: a second
engine that knows nothing of the first one's tensors.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .base import ABSENT_NOTE

_SPECS: dict[
    str, ModuleSpec | None
] = {}  # of modules that are just being imported under the other name


class TorchImporter:
    """Finds `torch.NAME` as `tinytorch.NAME` while `torch` is tinytorch, and nothing else."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> ModuleSpec | None:
        """Where a module comes from; None leaves the question to the other finders."""
        if name.startswith("torch.") and sys.modules.get("torch") is sys.modules[__package__]:
            return ModuleSpec(name, TorchImporter)  # type: ignore[arg-type]
        return None

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        """The module itself, under the name that it has here. ModuleNotFoundError in the name that was asked for."""
        try:
            module = importlib.import_module(__package__ + spec.name.removeprefix("torch"))
        except ModuleNotFoundError:
            error = ModuleNotFoundError(f"No module named '{spec.name}'", name=spec.name)
            error.add_note(ABSENT_NOTE.format(spec.name))
            raise error from None
        _SPECS[spec.name] = module.__spec__
        return module

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """It has run already; it keeps the spec that it was made by."""
        if module.__spec__ is not None:
            module.__spec__ = _SPECS.pop(module.__spec__.name)


sys.meta_path.insert(0, TorchImporter)
