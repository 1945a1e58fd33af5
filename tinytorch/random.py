"""Random numbers: torch's CPU generator and its ways to draw from it, bit for bit.

The engine is the Mersenne Twister as NumPy has it, seeded as in 2002: both give the same 32-bit numbers. What is
torch's own stands here: the 64-bit seed of which 32 bits count, the spare normal number, the layout of the state, and
how the numbers become elements. The functions take the array to fill, which may be a strided view, and a generator;
they fill in place, in the order in which torch's loops go (by memory, not by index), with the draws that torch makes.

Source: torch 2.13 on an x86 CPU with AVX2. Logarithm, sine and cosine in float64 come from the C library in both, so
on another C library the last bits follow that one.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from .devices import as_device
from .dtypes import BY_NUM, bool_, cpp_name
from .errors import ShownAs, type_name, warn_in_torch
from .rounding import constants32, fma32, fma64, log32, round32, sincos32

DEFAULT_SEED = 67280421310721
"""The seed of a Generator that nobody seeded, as in torch."""

_WORDS = 624
_STATE = np.dtype(
    [("seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"), ("words", "<u8", _WORDS), ("normal_x", "<f8"),
     ("normal_y", "<f8"), ("normal_rho", "<f8"), ("normal_is_valid", "<i4"), ("padding", "u1", 12)]
)  # fmt: skip


class Generator(metaclass=ShownAs):
    """A source of random numbers, as `torch.Generator`."""

    shown_as = "torch._C.Generator"

    __slots__ = ("__weakref__", "_made", "_seed", "device", "spare_normal")

    def __init__(self, device: Any = "cpu") -> None:
        if not isinstance(device, (str, int)) and not hasattr(device, "type"):
            what = f"must be torch.device, not {type_name(device)}"
            raise TypeError(f"Generator(): argument 'device' (position 1) {what}")
        self.device = as_device(device)
        self._reset(DEFAULT_SEED)

    def _reset(self, seed: int) -> None:
        self._seed = seed
        self._made: Any = None
        self.spare_normal: float | None = None  # Box and Muller's method makes two numbers where one is asked for

    @property
    def _bits(self) -> Any:
        """NumPy's engine, seeded; made when it is first needed, as loading `numpy.random` takes long."""
        if self._made is None:
            self._made = np.random.MT19937(0)
            np.random.RandomState(self._made).seed(self._seed & 0xFFFFFFFF)
        return self._made

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from `seed`, -2^63 to 2^64 - 1, of which the lower 32 bits decide, and return the generator."""
        if type(seed) is not int:
            raise RuntimeError(f"manual_seed expected a long, but got {type_name(seed)}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._reset(seed % 2**64)
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
        from .tensor import fresh

        return fresh(self.state_bytes())

    def set_state(self, new_state: Any) -> Generator:
        """Continue from a state that `get_state` returned, of torch's generator as well; return the generator."""
        data = getattr(new_state, "_data", new_state)
        if not isinstance(data, np.ndarray):
            raise TypeError(f"expected a torch.ByteTensor, but got {type_name(new_state)}")
        if data.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if not data.flags.c_contiguous:
            raise RuntimeError("RNG state must be contiguous")
        if data.size != _STATE.itemsize:
            expected = f"Expected a CPUGeneratorImplState of size {_STATE.itemsize}"
            raise RuntimeError(f"{expected} but found the input RNG state size to be {data.size}")
        state = np.frombuffer(data.tobytes(), _STATE)[0]
        if state["seeded"] != 1:
            raise RuntimeError("Invalid mt19937 state")
        inner = {"key": state["words"].astype(np.uint32), "pos": _WORDS if state["left"] == 1 else int(state["next"])}
        self._bits.state = {"bit_generator": "MT19937", "state": inner}
        self._seed = int(state["seed"])
        self.spare_normal = float(state["normal_y"]) if state["normal_is_valid"] else None
        return self

    def clone_state(self) -> Generator:
        """Return a new generator in the same state."""
        return Generator(self.device).set_state(self.state_bytes())

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"


default_generator = Generator()
"""The generator used where none is named; like torch's, it starts from a new seed in every process."""
default_generator.seed()


def source(generator: Generator | None) -> Generator:
    """The generator given, else the default one, from which the simulated device draws as well."""
    return default_generator if generator is None else generator


def manual_seed(seed: Any) -> Generator:
    """Seed the default generator with what `int()` takes, and return it; negative seeds count from 2^64 down."""
    return default_generator.manual_seed(int(seed))


seed = default_generator.seed
initial_seed = default_generator.initial_seed
get_rng_state = default_generator.get_state


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


# the numbers that torch's loops make of the draws -----------------------------------------------------------------------

_DIGITS = {"e": 11, "f": 24, "d": 53}  # bits of the significand
_DOUBLE = np.dtype(np.float64)


def _not_implemented(kernel: str, a: np.ndarray) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{BY_NUM[a.dtype.num].scalar_name}'")


def _order(a: np.ndarray) -> list[int]:
    """Return the dimensions from the slowest to the fastest in memory, the order of torch's loops."""
    return sorted(range(a.ndim), key=lambda d: (a.strides[d], a.shape[d]), reverse=True)


def _fill(a: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Write `values`, shape (a.size,), along the memory of `a`, and return `a`."""
    with np.errstate(over="ignore"):
        if a.dtype.char == "e" and values.dtype.kind != "b":
            values = values.astype(np.float32)  # torch goes through float32, and so rounds twice
        view = a if a.flags.c_contiguous else a.transpose(_order(a))
        view[...] = values.reshape(view.shape)
    return a


def unit(gen: Generator, n: int, dtype: np.dtype = _DOUBLE) -> np.ndarray:
    """Draw `n` numbers from [0, 1): 53 random bits for float64, 24 for float32; always carried in float64."""
    if dtype.char == "d":
        return (gen.draw64(n) & np.uint64(2**53 - 1)) * 2.0**-53
    return (gen.draw32(n) & np.uint64(2**24 - 1)) * 2.0**-24


def uniform_(a: np.ndarray, low: float, high: float, gen: Generator) -> np.ndarray:
    """Fill with numbers from [low, high), as `Tensor.uniform_`."""
    if a.dtype.kind != "f":
        raise _not_implemented("check_uniform_bounds", a)
    limit, d = float(np.finfo(a.dtype).max), BY_NUM[a.dtype.num]
    for name, bound in ("from", low), ("to", high):
        if not -limit <= bound <= limit:
            raise RuntimeError(f"{name} is out of bounds for {cpp_name(d)}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > limit:
        found = f"found to={high:g} and from={low:g} which result in to-from to exceed the limit"
        raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<{d.scalar_name}>::max(), but {found}")
    values = unit(gen, a.size, a.dtype)
    if a.dtype.char == "d":
        values = fma64(values, high - low, low)
    elif (low, high) != (0.0, 1.0):
        values = fma32(values, float(np.float32(high) - np.float32(low)), float(np.float32(low)))
    values = values.astype(a.dtype)
    values[values == a.dtype.type(high)] = low  # rounding may reach the end that is excluded
    return _fill(a, values)


def exponential_(a: np.ndarray, rate: float, gen: Generator) -> np.ndarray:
    """Fill from the exponential distribution, as `Tensor.exponential_`."""
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    if a.size and a.dtype.kind != "f":
        must = "dtype must be a floating point but you specified " + BY_NUM[a.dtype.num].scalar_name
        raise RuntimeError(f"Exponential distribution is a continuous probability distribution. {must}")
    return _fill(a, (-1.0 / rate) * np.array([math.log1p(-u) for u in unit(gen, a.size).tolist()]))


def normal_(a: np.ndarray, mean: float, std: float, gen: Generator) -> np.ndarray:
    """Fill from the normal distribution; contiguous arrays of 16 elements and more take another way than all else."""
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if a.size == 0:
        return a
    if a.dtype.kind != "f":
        raise _not_implemented("normal_kernel_cpu", a)
    with np.errstate(over="ignore", invalid="ignore"):
        if a.size < 16 or not a.flags.c_contiguous:
            values = _normals_one_by_one(a.size, gen)
            return _fill(a, values if (mean, std) == (0.0, 1.0) else fma64(values, std, mean))
        whole = a.size // 16 * 16
        drawn = unit(gen, whole if a.dtype.char == "e" else a.size, a.dtype)[:whole]
        if whole != a.size:  # the last 16 are made anew, of new draws
            drawn = np.concatenate((drawn, unit(gen, 16, a.dtype)))
        blocks = (_normal_blocks64 if a.dtype.char == "d" else _normal_blocks32)(drawn, mean, std)
        values = np.empty(a.size)
        values[:whole] = blocks[:whole]
        values[-16:] = blocks[-16:]
        return _fill(a, values)


def _normals_one_by_one(n: int, gen: Generator) -> np.ndarray:
    """Draw `n` standard normal numbers, two at a time by Box and Muller; one left over is kept for the next call."""
    out = [] if gen.spare_normal is None else [gen.spare_normal]
    gen.spare_normal = None
    drawn = iter(unit(gen, (n - len(out) + 1) // 2 * 2).tolist())
    for u1, u2 in zip(drawn, drawn, strict=True):
        radius, angle = math.sqrt(-2.0 * math.log1p(-u2)), 2.0 * math.pi * u1
        out += (radius * math.cos(angle), radius * math.sin(angle))
    if len(out) > n:
        gen.spare_normal = out.pop()
    return np.array(out)


def _normal_blocks64(drawn: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Turn blocks of 16 numbers from [0, 1) into normal ones, in float64: 8 give the radius, 8 the angle."""
    u, v = drawn.reshape(-1, 2, 8).swapaxes(0, 1)
    radius = np.sqrt(-2.0 * np.array([math.log(x) for x in (1.0 - u).ravel().tolist()])).reshape(u.shape)
    angles = (2.0 * math.pi * v).ravel().tolist()
    waves = [np.array([f(t) for t in angles]).reshape(u.shape) for f in (math.cos, math.sin)]
    return fma64((radius * waves).swapaxes(0, 1).ravel(), std, mean)


def _normal_blocks32(drawn: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Do the same in float32, with torch's own logarithm, sine and cosine."""
    mean, std, two_pi = constants32(mean, std, 2.0 * math.pi)
    u, v = drawn.reshape(-1, 2, 8).swapaxes(0, 1)
    radius = round32(np.sqrt(-2.0 * log32(1.0 - u)))
    sin, cos = sincos32(round32(two_pi * v))
    waves = np.stack((round32(radius * cos), round32(radius * sin)), 1)
    return fma32(waves, std, mean).ravel()


def _largest(a: np.ndarray) -> int:
    """Return the largest number that is drawn where no bound is given."""
    if a.dtype.kind == "f":
        return 2 ** _DIGITS[a.dtype.char]
    return 1 if a.dtype.kind == "b" else int(np.iinfo(a.dtype).max)


def random_(a: np.ndarray, gen: Generator) -> np.ndarray:
    """Fill with whole numbers from 0 to the dtype's largest (floating point: to 2^digits), as `Tensor.random_()`."""
    drawn = gen.draw64(a.size) if a.dtype.char in "ld" else gen.draw32(a.size)
    return _fill(a, (drawn % np.uint64(_largest(a) + 1)).astype(np.int64))


def random_from_to_(a: np.ndarray, low: int, high: int | None, gen: Generator) -> np.ndarray:
    """Fill with whole numbers from [low, high), as `Tensor.random_(from, to)`; high None: up to the dtype's largest."""
    if not all(-(2**63) <= bound < 2**63 for bound in (low, high or 0)):
        raise ValueError("Overflow when unpacking long long")
    if high is not None and low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    d, digits = BY_NUM[a.dtype.num], _DIGITS.get(a.dtype.char)
    last = _largest(a) if high is None else high - 1
    if digits:
        low, last = _narrowed(a, low, 1), last if high is None else _narrowed(a, high, -1) - 1
        if low > last:
            top = f"less than or equal to 'to_inc' casted to dtype, but got from={low} > to_inc={last}"
            top = top if high is None else f"less than 'to' casted to dtype, but got from={low} >= to={last + 1}"
            raise RuntimeError(f"random_ expects 'from' casted to dtype to be {top}")
    limits: Any = np.finfo(a.dtype) if digits else np.iinfo(a.dtype) if d is not bool_ else None
    least, most = (int(limits.min), int(limits.max)) if limits else (0, 1)
    for what, bound in ("from", low), ("to - 1", last):
        if not least <= bound <= most:
            raise RuntimeError(f"{what} is out of bounds for {cpp_name(d)}")
    for what, bound, line in ("from", low, 110), ("to - 1", last, 111):
        if digits and abs(bound) > 2**digits:
            warn_in_torch(
                f"{what} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations {cpp_name(d)} can support "
                "discrete uniform distribution only within this range. This warning will become an error in version "
                "1.7 release, please fix the code in advance",
                f"aten/src/ATen/native/DistributionTemplates.h:{line}",
            )
    span = last - low + 1
    drawn = gen.draw64(a.size) if span >= 2**28 else gen.draw32(a.size)
    drawn = drawn % np.uint64(span) if span < 2**64 else drawn
    return _fill(a, (drawn + np.uint64(low % 2**64)).view(np.int64))  # wraps around, as in C


def _narrowed(a: np.ndarray, bound: int, step: int) -> int:
    """Move a bound by `step`'s sign to the next number that the dtype holds, if its neighbour would round past it."""
    neighbour = max(-(2**63), min(bound + step, 2**63 - 1))
    with np.errstate(over="ignore"):
        rounded = float(np.int64(neighbour).astype(np.float64 if a.dtype.char == "d" else np.float32).astype(a.dtype))
    back = int(rounded) if -(2.0**63) <= rounded < 2.0**63 else -(2**63)  # what a C cast makes of too large a number
    if back < bound if step > 0 else back >= bound:
        return back + step * (1 << (abs(neighbour).bit_length() - _DIGITS[a.dtype.char]))
    return bound


def permutation(n: int, gen: Generator, dtype: np.dtype | None = None) -> np.ndarray:
    """Return the numbers below `n` in random order, as `torch.randperm`; shape (n,), int64 unless given."""
    made = np.empty(n, dtype or np.int64)
    digits, d = _DIGITS.get(made.dtype.char), BY_NUM[made.dtype.num]
    if digits and n > 2**digits + 1:
        most = 2**digits + 1 if digits == 11 else f"2^{digits}+1"
        raise RuntimeError(f"n cannot be greater than {most} for {d.scalar_name} type.")
    if made.dtype.kind == "b":
        raise _not_implemented("randperm", made)
    if not digits and n - 1 > _largest(made):
        raise RuntimeError(f"value cannot be converted to type {d.called}_t without overflow")
    left = np.arange(n, 1, -1, dtype=np.uint64)  # how many are still to choose from, at each step but the last
    drawn = gen.draw32(left.size) if n < (2**32 - 1) // 20 else gen.draw64(left.size)
    order = list(range(n))
    for i, step in enumerate((drawn % left).tolist()):
        order[i], order[i + step] = order[i + step], order[i]
    made[...] = order
    return made


def bernoulli_(a: np.ndarray, p: float | np.ndarray, gen: Generator) -> np.ndarray:
    """Fill with 1 where a draw from [0, 1) is below `p`, a number or an array that broadcasts to the shape, else 0."""
    if not isinstance(p, np.ndarray):
        if not 0.0 <= p <= 1.0:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        return _fill(a, unit(gen, a.size) < p)
    if a.size and p.dtype.kind != "f":
        raise _not_implemented("bernoulli_tensor_cpu_p_", p)
    limits = np.broadcast_to(p, a.shape).transpose(_order(a)).ravel()
    allowed = (limits >= 0) & (limits <= 1)
    if not allowed.all():
        unit(gen, int(allowed.argmin()), p.dtype)  # torch notices when it gets there
        hint = "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
        raise RuntimeError(f"Expected p_in >= 0 && p_in <= 1 to be true, but got false.  {hint}")
    return _fill(a, unit(gen, a.size, p.dtype) < limits)


def multinomial(weights: np.ndarray, n: int, replacement: bool, gen: Generator) -> np.ndarray:
    """Draw `n` indices a row with the probabilities that the row's weights stand in, as `torch.multinomial`."""
    if weights.ndim not in {1, 2}:
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if weights.dtype.kind != "f":
        name = BY_NUM[weights.dtype.num].scalar_name
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {name}")
    if n <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    one_pass = n == 1 or not replacement
    if one_pass and n > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    rows = weights.reshape(-1, weights.shape[-1])
    if one_pass:
        if rows.size and not (rows.max() < np.inf and rows.min() >= 0):
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if (rows.sum(1) == 0).any():
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        ranks = rows / exponential_(np.empty_like(weights), 1.0, gen).reshape(rows.shape)
        return np.argsort(-ranks, axis=1, kind="stable")[:, :n].reshape(*weights.shape[:-1], n)
    out = np.empty((len(rows), n), np.int64)
    for row, target in zip(rows.astype(np.float32 if rows.itemsize < 4 else rows.dtype), out, strict=True):
        reached = np.cumsum(row)
        for wrong, why in ((not (row >= 0).all(), "encountering probability entry < 0"),
                           (not np.isfinite(row).all(), "encountering probability entry = infinity or NaN"),
                           (not reached[-1] > 0, "sum of probabilities <= 0")):  # fmt: skip
            if wrong:
                raise RuntimeError(f"invalid multinomial distribution ({why})")
        reached = reached / reached[-1]
        reached[-1] = 1
        target[...] = np.searchsorted(reached.astype(np.float64), unit(gen, n), side="left")
    return out.reshape(*weights.shape[:-1], n)
