"""Imports of `torch.NAME` after `sys.modules["torch"] = tinytorch` find `tinytorch.NAME`.

Without this Python would read `torch.nn` from this package's folder a second time, under the other
name: a second engine that knows nothing of the first one's tensors.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .base import ABSENT_NOTE

# Of modules that are being imported under the other name.
_specs: dict[str, ModuleSpec | None] = {}


class TorchImporter:
    """Finder and loader of `torch.NAME` while `torch` is tinytorch."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> ModuleSpec | None:
        """Return the spec of a module of torch; None for all others, which other finders find."""
        if name.startswith("torch.") and sys.modules.get("torch") is sys.modules[__package__]:
            return ModuleSpec(name, TorchImporter)  # type: ignore[arg-type]
        return None

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        """The module itself, under the name that it has here.

        ModuleNotFoundError in the name that was asked for.
        """
        try:
            module = importlib.import_module(__package__ + spec.name.removeprefix("torch"))
        except ModuleNotFoundError:
            error = ModuleNotFoundError(f"No module named '{spec.name}'", name=spec.name)
            error.add_note(ABSENT_NOTE.format(spec.name))
            raise error from None
        _specs[spec.name] = module.__spec__
        return module

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Give the module its own spec back, which the import system replaced.

        It has run already.
        """
        if module.__spec__ is not None:
            module.__spec__ = _specs.pop(module.__spec__.name)
        # PyTorch's are packages. Of a module without this Python says that it is none, and asks no
        # finder: `torch.optim.lr_scheduler` would miss the note.
        module.__dict__.setdefault("__path__", [])


sys.meta_path.insert(0, TorchImporter)
