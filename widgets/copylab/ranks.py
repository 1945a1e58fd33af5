"""Which of several processes this is, that train one model together (`torchrun`)."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple


class Rank(NamedTuple):
    """The number of this process among those that train together, from 0, and how many they are."""

    number: int
    size: int


def find_rank() -> Rank | None:
    """Return the rank of this process; None if it trains alone, or if nothing says that it does not.

    What PyTorch knows comes first: a program may make its group without a launcher. Nothing is
    asked of the other processes: that would wait for ever for one that is gone.
    """
    distributed: Any = getattr(sys.modules.get("torch"), "distributed", None)
    # A build without it has no `is_initialized`.
    is_initialized = getattr(distributed, "is_initialized", None)
    if is_initialized is not None and is_initialized():
        number, size = distributed.get_rank(), distributed.get_world_size()
    else:
        try:
            number, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        except (KeyError, ValueError):
            return None
    return Rank(number, size) if 0 <= number < size and size > 1 else None
