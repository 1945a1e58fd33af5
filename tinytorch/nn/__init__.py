"""Neural networks, enough to train and to meet the pitfalls of copying.

Source: `torch.nn`.
"""

from typing import Any

from ..missing import missing
from . import activations, functional, init, parameter
from .activations import *  # noqa: F403 - the table of layers
from .layers import Identity, Linear, ModuleDict, ModuleList, ParameterList, Sequential
from .module import Module
from .parameter import Buffer, Parameter


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn' has no attribute '{}'", name)


__all__ = ["Buffer", "Identity", "Linear", "Module", "ModuleDict", "ModuleList", "Parameter", "ParameterList", "Sequential",
           "functional", "init", "parameter", *activations.__all__]  # fmt: skip
