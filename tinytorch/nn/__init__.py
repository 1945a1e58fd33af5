"""Neural networks, enough to train and to meet the pitfalls of copying.

Source: `torch.nn`.
"""

from typing import Any

from ..missing import missing
from . import (
    activations,
    containers,
    distances,
    embedding,
    functional,
    init,
    layers,
    loss_layers,
    modules,
    normalization,
    parameter,
    parameter_containers,
    utils,
)
from .activations import *  # noqa: F403 - the table of layers
from .containers import *  # noqa: F403
from .distances import *  # noqa: F403
from .embedding import *  # noqa: F403
from .layers import *  # noqa: F403
from .loss_layers import *  # noqa: F403
from .module import Module
from .normalization import *  # noqa: F403
from .parameter import Buffer, Parameter
from .parameter_containers import *  # noqa: F403


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn' has no attribute '{}'", name)


__all__ = ["Buffer", "Module", "Parameter", "functional", "init", "modules", "parameter", "utils"]
__all__ += activations.__all__ + containers.__all__ + distances.__all__ + embedding.__all__ + layers.__all__
__all__ += loss_layers.__all__ + normalization.__all__ + parameter_containers.__all__
