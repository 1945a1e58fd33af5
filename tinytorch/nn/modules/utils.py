"""Helpers of the layers.

Source: `torch.nn.modules.utils`.
"""

from __future__ import annotations

from typing import Any


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix off the names in a state dict, in place; names without it stay."""
    for key in [k for k in state_dict if k.startswith(prefix)]:
        state_dict[key[len(prefix) :]] = state_dict.pop(key)
    about = getattr(state_dict, "_metadata", None)
    for key in [k for k in about or () if k and (k == prefix.replace(".", "") or k.startswith(prefix))]:
        about[key[len(prefix) :]] = about.pop(key)  # type: ignore[index,union-attr]


__all__ = ["consume_prefix_in_state_dict_if_present"]
