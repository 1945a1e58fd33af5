"""What the formula of a node reads of a tensor that it saved, under a watch."""

from __future__ import annotations

from typing import Any

from tinytorch.viz import FormulaUse, find_formula_use, getattr_or_none

from .packed_saves import PackedSave
from .watched_save import WatchedSave

_RAW = "_raw_saved_"


def find_use(node: Any, save: WatchedSave | PackedSave) -> FormulaUse:
    """Return what the formula of a node reads of a tensor that it saved."""
    return find_formula_use(node, _find_saved_name(node, save))


def _find_saved_name(node: Any, save: WatchedSave | PackedSave) -> str:
    """Return under which name a node has a saved tensor; empty if it is one of a list."""
    for attribute in dir(type(node)):
        if attribute.startswith(_RAW):
            raw = getattr_or_none(node, attribute)
            # What the pack hook returned: not the tensor, which may be saved under two names.
            if getattr_or_none(raw, "data") is save:
                return attribute.removeprefix(_RAW)
    return ""
