"""The global random generators, put back after a program's code was run to look at it."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import numpy as np


class RandomStates:
    """The states of the global random generators of the engine, of NumPy and of Python."""

    def __init__(self, engine: ModuleType) -> None:
        self._engine: Any = engine
        self._of_engine = self._engine.get_rng_state()
        self._of_numpy = np.random.get_state(legacy=False)  # noqa: NPY002  # the global state
        self._of_python = random.getstate()
        # Asking for the state of a GPU's generator would start CUDA in a program that uses none.
        is_used = engine.__name__ == "torch" and self._engine.cuda.is_initialized()
        self._of_cuda = self._engine.cuda.get_rng_state_all() if is_used else None

    def restore(self) -> None:
        """Put them back to where they were."""
        self._engine.set_rng_state(self._of_engine)
        np.random.set_state(self._of_numpy)  # noqa: NPY002  # the global state it is
        random.setstate(self._of_python)
        if self._of_cuda is not None:
            self._engine.cuda.set_rng_state_all(self._of_cuda)
