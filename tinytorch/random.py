"""Random number generators: torch's CPU generator, bit for bit, and the one that is used where none is named.

The engine is the Mersenne Twister as NumPy has it, seeded as in 2002: both give the same 32-bit numbers. What is
torch's own stands here: the 64-bit seed of which 32 bits count, the spare normal number, the layout of the state.

Source: `torch.Generator`, `torch.manual_seed`, `torch.get_rng_state` of torch 2.13 on the CPU.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .devices import as_device
from .naming import ShownAs, type_name

DEFAULT_SEED = 67280421310721
"""The seed of a Generator that nobody seeded, as in torch."""

_WORDS = 624
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", _WORDS),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),
        ("normal_rho", "<f8"),
        ("normal_is_valid", "<i4"),
        ("padding", "<i4"),
        ("next_float", "<f4"),
        ("next_float_is_valid", "?"),
        ("padding_2", "u1", 3),
    ]
)

wrap_state: Callable[[np.ndarray], Any] = lambda state: state  # noqa: E731 - the engine puts its tensor maker here
"""Turns the bytes of a state into what `get_state` returns; `set_state` takes an ndarray or anything with `_data`."""


def _unsigned(seed: int) -> int:
    """Return a seed as the 64 bits that torch keeps; ValueError beyond 64 bits."""
    if not -(2**63) <= seed < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return seed % 2**64


class Generator(metaclass=ShownAs):
    """A source of random numbers: `Generator()`, `Generator("cpu")`.

    As `torch.Generator`. Tensors on the simulated cuda device draw from the same kind of generator.
    """

    shown_as = "torch._C.Generator"

    __slots__ = ("__weakref__", "_device", "_made", "_seed", "_started", "spare_normal")

    def __init__(self, device: Any = "cpu") -> None:
        if not isinstance(device, (str, int)) and not hasattr(device, "type"):
            raise TypeError(
                f"Generator(): argument 'device' (position 1) must be torch.device, not {type_name(device)}"
            )
        self._device = as_device(device)
        self._made: Any = None
        self._reset(DEFAULT_SEED)

    @property
    def _bits(self) -> Any:
        """NumPy's engine, seeded; made when it is first needed, as loading `numpy.random` takes long."""
        if self._made is None:
            bits = np.random.MT19937(0)
            self._made = (bits, np.random.RandomState(bits))
        if not self._started:
            self._made[1].seed(self._seed & 0xFFFFFFFF)
            self._started = True
        return self._made[0]

    def _reset(self, seed: int) -> None:
        self._seed = seed
        self._started = False
        self.spare_normal: float | None = None  # Box and Muller's method makes two numbers where one is asked for

    @property
    def device(self) -> Any:
        """The device that the generator was made for."""
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from `seed` and return the generator.

        seed: -2^63 to 2^64 - 1; the lower 32 bits decide. RuntimeError for what is no int, ValueError beyond 64 bits.
        """
        if type(seed) is not int:
            raise RuntimeError(f"manual_seed expected a long, but got {type_name(seed)}")
        self._reset(_unsigned(seed))
        return self

    def seed(self) -> int:
        """Start anew from a number that the operating system picks, and return it."""
        self._reset(int.from_bytes(os.urandom(8)))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed it last started from, as an unsigned number."""
        return self._seed

    def draw32(self, n: int) -> np.ndarray:
        """Draw `n` 32-bit numbers; uint64, shape (n,)."""
        return self._bits.random_raw(n)

    def draw64(self, n: int) -> np.ndarray:
        """Draw `n` 64-bit numbers, of two 32-bit ones each, the upper half first; uint64, shape (n,)."""
        pairs = self._bits.random_raw(2 * n).reshape(n, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def state_bytes(self) -> np.ndarray:
        """Return the state as the bytes that torch's `get_state` has; uint8, shape (5056,)."""
        inner = self._bits.state["state"]
        state = np.zeros((), _STATE)
        words, position = inner["key"], inner["pos"]
        fresh = position == _WORDS and int(words[0]) == self._seed & 0xFFFFFFFF  # seeded, and nothing drawn since
        state["seed"], state["seeded"], state["words"] = self._seed, 1, words
        state["next"], state["left"] = (0, 1) if fresh else (position, _WORDS - position + 1)
        if self.spare_normal is not None:
            state["normal_y"], state["normal_is_valid"] = self.spare_normal, 1
        return np.frombuffer(bytearray(state.tobytes()), np.uint8)

    def get_state(self) -> Any:
        """Return the whole state as a tensor of bytes, as torch: `set_state` brings the generator back to it."""
        return wrap_state(self.state_bytes())

    def set_state(self, new_state: Any) -> Generator:
        """Continue from a state that `get_state` returned, of torch's generator as well; return the generator.

        TypeError for what is no tensor of bytes, RuntimeError for a wrong size or an impossible state.
        """
        data = getattr(new_state, "_data", new_state)
        if not isinstance(data, np.ndarray):
            raise TypeError(f"expected a torch.ByteTensor, but got {type_name(new_state)}")
        if data.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if not data.flags.c_contiguous:
            raise RuntimeError("RNG state must be contiguous")
        if data.size != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} "
                f"but found the input RNG state size to be {data.size}"
            )
        state = np.frombuffer(data.tobytes(), _STATE)[0]
        left, position = int(state["left"]), int(state["next"])
        if not (state["seeded"] == 1 and 0 < left <= _WORDS and position <= _WORDS):
            raise RuntimeError("Invalid mt19937 state")
        words = state["words"].astype(np.uint32)
        inner: Any = {"key": words, "pos": _WORDS if left == 1 else position}
        self._bits.state = {"bit_generator": "MT19937", "state": inner}
        self._seed = int(state["seed"])
        self.spare_normal = float(state["normal_y"]) if state["normal_is_valid"] else None
        return self

    def clone_state(self) -> Generator:
        """Return a new generator in the same state."""
        return Generator(self._device).set_state(self.state_bytes())

    def get_offset(self) -> int:
        """Raise RuntimeError: only generators of real devices count an offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> None:
        """Raise RuntimeError, as `get_offset`."""
        raise RuntimeError("CPU Generator does not use offset")

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"

    def __reduce__(self) -> tuple:
        return _restored, (self._device, self.state_bytes())


def _restored(device: Any, state: np.ndarray) -> Generator:
    return Generator(device).set_state(state)


default_generator = Generator()
"""The generator used where none is named; like torch's, it starts from a new seed in every process."""
default_generator.seed()
cuda_generator = Generator("cuda")
"""The simulated device's generator; `manual_seed` seeds it as well."""


def manual_seed(seed: Any) -> Generator:
    """Seed the default generator and return it.

    seed: anything that `int()` takes, from -2^63 to 2^64 - 1; negative ones count from 2^64 down. ValueError beyond.
    """
    cuda_generator.manual_seed(int(seed))
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator with a number that the operating system picks, and return it."""
    return default_generator.seed()


cuda_generator = Generator("cuda")
"""The simulated device's generator; `manual_seed` seeds it as well."""


def initial_seed() -> int:
    """Return the seed that the default generator last started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """Return the state of the default generator as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Continue the default generator from `new_state`; errors as in `Generator.set_state`."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Put the default generator's state back at the end of a `with` block, as `torch.random.fork_rng`."""
    before = default_generator.state_bytes()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(before)
