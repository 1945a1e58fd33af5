"""Neural networks, enough to train and to meet the pitfalls of copying.

Source: `torch.nn`.
"""

from typing import Any

from ..missing import missing
from . import activations, containers, functional, init, layers, parameter, parameter_containers, utils
from .activations import *  # noqa: F403 - the table of layers
from .containers import *  # noqa: F403
from .layers import *  # noqa: F403
from .module import Module
from .parameter import Buffer, Parameter
from .parameter_containers import *  # noqa: F403


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn' has no attribute '{}'", name)


__all__ = ["Buffer", "Module", "Parameter", "functional", "init", "parameter", "utils"]
__all__ += activations.__all__ + containers.__all__ + layers.__all__ + parameter_containers.__all__
