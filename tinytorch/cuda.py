"""The simulated second device as `torch.cuda`: enough for programs that move tensors to it.

Nothing here runs on a GPU. `.cuda()` and `device="cuda"` always work, and the device's name says that it is simulated;
`is_available()` says False, as PyTorch does where there is no GPU, so that a program which chooses its device by it runs
alike on both. `simulate()` lets it say True. Source: `torch.cuda`.
"""

from __future__ import annotations

from typing import Any

from . import devices as _devices
from . import dtypes
from . import random as _random
from .devices import Transfers
from .missing import missing
from .ops.legacy import TensorType


class _Simulated:
    announced = False


def simulate(announced: bool = True) -> None:
    """Let `is_available()` and `device_count()` tell of the simulated device, or no longer. tinytorch's own."""
    _Simulated.announced = announced


def is_available() -> bool:
    """Whether there is a GPU: no; after `simulate()`, whether there is a device "cuda": yes."""
    return _Simulated.announced


def is_initialized() -> bool:
    """Whether the device is ready: as `is_available`."""
    return _Simulated.announced


def init() -> None:
    """Nothing: the simulated device needs no preparation."""


def device_count() -> int:
    """The number of GPUs: 0, or 1 after `simulate()`."""
    return int(_Simulated.announced)


def current_device() -> int:
    """The index of the device in use: 0."""
    return 0


def set_device(device: Any) -> None:
    """Choose the device in use. RuntimeError for any but the one there is."""
    _devices.as_device(device if not isinstance(device, int) else f"cuda:{device}")


def get_device_name(device: Any = None) -> str:
    """The device's name, which says what it is."""
    return "tinytorch's simulated device (no GPU)"


def synchronize(device: Any = None) -> None:
    """Nothing: the simulated device works while it is asked to."""


def empty_cache() -> None:
    """Nothing: memory goes back when its last tensor goes."""


def manual_seed(seed: int) -> None:
    """Seed the simulated device's generator. Its numbers are the CPU generator's, not those of a GPU."""
    _random.cuda_generator.manual_seed(int(seed))


manual_seed_all = manual_seed


def seed() -> None:
    """Seed the simulated device's generator with a random number."""
    _random.cuda_generator.seed()


seed_all = seed


def initial_seed() -> int:
    """The seed that the simulated device's generator last started from."""
    return _random.cuda_generator.initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of the simulated device's generator."""
    return _random.cuda_generator.get_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Continue the simulated device's generator from a state."""
    _random.cuda_generator.set_state(new_state)


class device:
    """Choose the device in use within a `with` block. RuntimeError for any but the one there is."""

    def __init__(self, device: Any) -> None:
        set_device(device)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


def transfers() -> dict[str, int]:
    """How many copies crossed to and from the simulated device, and their bytes. tinytorch's own."""
    return {"to_cuda": Transfers.to_cuda, "to_cpu": Transfers.to_cpu, "bytes": Transfers.bytes}


_LEGACY = [d for d in dtypes.ALL if not d.called.startswith("uint") or d is dtypes.uint8]
for _d in _LEGACY:
    globals()[_d.tensor_type] = TensorType(_d.tensor_type, _d, _devices.CUDA)


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.cuda' has no attribute '{}'", name)


__all__ = ["current_device", "device", "device_count", "empty_cache", "get_device_name", "get_rng_state", "init",
           "initial_seed", "is_available", "is_initialized", "manual_seed", "manual_seed_all", "seed", "seed_all",
           "set_device", "set_rng_state", "simulate", "synchronize", "transfers"]  # fmt: skip
__all__ += [d.tensor_type for d in _LEGACY]
