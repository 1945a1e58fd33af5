"""The layers under the path that torch keeps them at.

Source: `torch.nn.modules`.
"""

from typing import Any

from ...missing import missing
from .. import (
    activations,
    containers,
    distances,
    embedding,
    layers,
    loss_layers,
    normalization,
    parameter_containers,
)
from ..activations import *  # noqa: F403
from ..containers import *  # noqa: F403
from ..distances import *  # noqa: F403
from ..embedding import *  # noqa: F403
from ..layers import *  # noqa: F403
from ..loss_layers import *  # noqa: F403
from ..normalization import *  # noqa: F403
from ..parameter_containers import *  # noqa: F403
from . import module, utils
from .module import Module


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn.modules' has no attribute '{}'", name)


__all__ = ["Module", "module", "utils"]
__all__ += activations.__all__ + containers.__all__ + distances.__all__ + embedding.__all__ + layers.__all__
__all__ += loss_layers.__all__ + normalization.__all__ + parameter_containers.__all__
