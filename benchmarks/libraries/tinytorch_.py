"""tinytorch, from this working tree."""

from __future__ import annotations

from typing import Any

import numpy as np

import tinytorch

from .torchlike import build


def start(threads: int) -> str:
    """Say which versions run."""
    return f"tinytorch (NumPy {np.__version__})"


def case(name: str) -> Any:
    """The action of a case, or None."""
    return build(tinytorch, name)
