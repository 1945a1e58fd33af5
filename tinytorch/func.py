"""Modules as functions of their parameters.

Source: `torch.func`.
"""

from __future__ import annotations

from typing import Any

from .missing import missing
from .nn.stateless import called


def functional_call(module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
                    tie_weights: bool = True, strict: bool = False) -> Any:  # fmt: skip
    """Call a module with the tensors of one or more dictionaries in the places of its parameters and buffers.

    ValueError for names given twice, RuntimeError with `strict` for names that are missing or unknown.
    """
    return called(module, parameter_and_buffer_dicts, args, kwargs, tie_weights=tie_weights, strict=strict)


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.func' has no attribute '{}'", name)


__all__ = ["functional_call"]
