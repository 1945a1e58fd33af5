"""Random numbers: torch's CPU generator and its ways to draw from it, bit for bit.

The engine is the Mersenne Twister as NumPy has it: both give the same 32-bit numbers. PyTorch's own
part is here: the 64-bit seed of which 32 bits count, the spare normal number, the
layout of the state, and how the numbers become elements. The functions fill an array in place, in
the order in which torch's loops go (by memory, not by index).

Source: torch 2.13 on an x86 CPU with AVX2, whose normal numbers in float32 use the Cephes
library's polynomials.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .base import BY_NUM, ShownAs, as_device, check_overlap, cpp_name, type_name
from .tensor import Tensor, make_tensor

DEFAULT_SEED = 67280421310721  # of a Generator that nobody seeded

_WORDS = 624
_STATE = np.dtype(
    [("seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"), ("words", "<u8", _WORDS), ("normal_x", "<f8"),
     ("normal_y", "<f8"), ("normal_rho", "<f8"), ("normal_is_valid", "<i4"), ("padding", "u1", 12)]
)  # fmt: skip


class Generator(metaclass=ShownAs):
    """A source of random numbers, as `torch.Generator`."""

    shown_as = "torch._C.Generator"
    __module__ = "torch._C"
    __slots__ = ("__weakref__", "_engine_made", "_seed", "device", "spare_normal")

    def __init__(self, device: Any = "cpu") -> None:
        self.device = as_device(device)
        self._reset(DEFAULT_SEED)

    def _reset(self, seed: int) -> None:
        self._seed = seed
        self._engine_made: Any = None
        # Box and Muller's method makes two numbers at a time; the second is kept for the next
        # call, as torch does.
        self.spare_normal: float | None = None

    @property
    def _engine(self) -> Any:
        """NumPy's engine, seeded."""
        # It is made when it is first needed: loading `numpy.random` would double the time of
        # `import tinytorch`.
        if self._engine_made is None:
            self._engine_made = np.random.MT19937(0)
            np.random.RandomState(self._engine_made).seed(self._seed & 0xFFFFFFFF)
        return self._engine_made

    def manual_seed(self, seed: int) -> Generator:
        """Set the seed, -2^63 to 2^64 - 1, of which only the lower 32 bits have effect.

        Return the generator.
        """
        if type(seed) is not int:
            raise RuntimeError(f"manual_seed expected a long, but got {type_name(seed)}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._reset(seed % 2**64)
        return self

    def seed(self) -> int:
        """Set a seed that the operating system picks, and return it."""
        self._reset(int.from_bytes(os.urandom(8)))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed that was set last, as an unsigned number."""
        return self._seed

    def _draw64(self, n: int) -> np.ndarray:
        """Draw `n` 64-bit numbers, of two 32-bit ones each, the upper half first.

        The dtype of the result is uint64, its shape (n,).
        """
        pairs = self._engine.random_raw(2 * n).reshape(n, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def get_state(self) -> Tensor:
        """Return the state as a tensor of bytes in torch's layout, for `set_state`."""
        inner = self._engine.state["state"]
        state = np.zeros((), _STATE)
        words, position = inner["key"], inner["pos"]
        # NumPy and torch write the position of an engine from which nothing was drawn yet in two
        # ways.
        is_unused = position == _WORDS and int(words[0]) == self._seed & 0xFFFFFFFF
        state["seed"] = self._seed
        state["seeded"] = 1
        state["words"] = words
        state["next"], state["left"] = (0, 1) if is_unused else (position, _WORDS - position + 1)
        state["normal_y"] = self.spare_normal or 0.0
        state["normal_is_valid"] = self.spare_normal is not None
        return make_tensor(np.frombuffer(state.tobytes(), np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that `get_state` returned, of torch's generator as well.

        Return the generator.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type_name(new_state)}")
        data = new_state._data
        if data.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if data.size != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} but found the "
                f"input RNG state size to be {data.size}"
            )
        state = np.frombuffer(data.tobytes(), _STATE)[0]
        position = _WORDS if state["left"] == 1 else int(state["next"])
        inner = {"key": state["words"].astype(np.uint32), "pos": position}
        self._engine.state = {"bit_generator": "MT19937", "state": inner}
        self._seed = int(state["seed"])
        self.spare_normal = float(state["normal_y"]) if state["normal_is_valid"] else None
        return self

    def clone_state(self) -> Generator:
        """Return another generator, which goes on from the same state."""
        return Generator(self.device).set_state(self.get_state())


default_generator: Generator = Generator()
"""The generator that is used if none is given. As in torch, each process gives it another seed."""
default_generator.seed()


def generator_or_default(generator: Generator | None) -> Generator:
    """Return the generator, or the default one for None.

    The simulated device has the same default.
    """
    return default_generator if generator is None else generator


def manual_seed(seed: Any) -> Generator:
    """Seed the default generator with what `int()` takes, and return it.

    Negative seeds count from 2^64 down.
    """
    return default_generator.manual_seed(int(seed))


seed: Callable[[], int] = default_generator.seed
initial_seed: Callable[[], int] = default_generator.initial_seed
get_rng_state: Callable[[], Tensor] = default_generator.get_state


def set_rng_state(new_state: Tensor) -> None:
    """Continue the default generator from `new_state`; errors as in `Generator.set_state`."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """Context manager that puts the default generator back where it was.

    `enabled=False` lets it go on. Source: `torch.random.fork_rng`.
    """
    as_device(device_type)
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


# arithmetic as torch's vector code rounds it: float32 numbers are carried in float64, where a
# product of two is exact -----


def round32(x: np.ndarray) -> np.ndarray:
    """Round to the nearest float32, kept as float64."""
    return x.astype(np.float32).astype(np.float64)


def fma32(a: np.ndarray, b: Any, c: Any) -> np.ndarray:
    """a * b + c in float32 with one rounding. All are float32 numbers, carried in float64."""
    return round32(a * b + c)


def fma64(a: Any, b: Any, c: Any) -> np.ndarray:
    """a * b + c in float64 with nearly always one rounding, where the machine has a wider type."""
    return np.asarray(np.longdouble(a) * b + c, np.float64)


def round_constants(*constants: float) -> list[float]:
    """The nearest float32 numbers, as Python's."""
    return [float(np.float32(c)) for c in constants]


_SQRT_HALF, _LN2_LOW, _LN2_HIGH = round_constants(0.707106781186547524, -2.12194440e-4, 0.693359375)
_LOG = round_constants(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                   -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)  # fmt: skip
_SIN = round_constants(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = round_constants(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
# Minus pi/4, in three pieces.
_MINUS_PI_4 = round_constants(-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
_PER_PI_4 = round_constants(1.27323954473516)[0]


def _evaluate_polynomial(coefficients: list[float], x: np.ndarray) -> np.ndarray:
    """By Horner's rule, one rounding a step; the highest power comes first."""
    y = fma32(x, coefficients[0], coefficients[1])
    for c in coefficients[2:]:
        y = fma32(y, x, c)
    return y


def log32(u: np.ndarray) -> np.ndarray:
    """The natural logarithm of normal positive float32 numbers."""
    x, e = np.frexp(u)
    is_low = x < _SQRT_HALF
    e = e - is_low.astype(np.float64)
    x = np.where(is_low, x + (x - 1.0), x - 1.0)  # no rounding in either
    square = round32(x * x)
    y = fma32(round32(_evaluate_polynomial(_LOG, x) * x), square, round32(e * _LN2_LOW))
    return fma32(e, _LN2_HIGH, round32(x + fma32(square, -0.5, y)))


def sincos32(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sine and cosine of float32 angles from 0 to 8192, in radians."""
    octant = (round32(x * _PER_PI_4).astype(np.int64) + 1) & ~1
    for piece in _MINUS_PI_4:
        x = fma32(octant.astype(np.float64), piece, x)
    square = round32(x * x)
    cos = round32(_evaluate_polynomial(_COS, square) * square)
    cos = round32(fma32(cos, square, -0.5 * square) + 1.0)
    sin = fma32(round32(_evaluate_polynomial(_SIN, square) * square), x, x)
    swap = (octant & 2) != 0
    sin, cos = np.where(swap, cos, sin), np.where(swap, sin, cos)
    return np.where(octant & 4, -sin, sin), np.where((octant - 2) & 4, cos, -cos)


# the numbers that torch's loops make of the draws ----------------------------------------------

_DIGITS = {"e": 11, "f": 24, "d": 53}  # bits of the significand


def _not_implemented(kernel: str, a: np.ndarray) -> NotImplementedError:
    return NotImplementedError(
        f"\"{kernel}\" not implemented for '{BY_NUM[a.dtype.num].scalar_name}'"
    )


def _fill_in_memory_order(a: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Write `values`, shape (a.size,), along the memory of `a` as torch's loops do; return `a`."""
    if a.dtype.char == "e" and values.dtype.kind != "b":
        values = values.astype(np.float32)  # torch goes through float32, and so rounds twice
    view = a.transpose(_order_dims_by_memory(a))
    view[...] = values.reshape(view.shape)
    return a


def _order_dims_by_memory(a: np.ndarray) -> list[int]:
    """Return the dimensions in the order in which torch's loops go, the outermost first."""
    if a.flags.c_contiguous:
        return list(range(a.ndim))
    return sorted(range(a.ndim), key=lambda d: (-a.strides[d], -a.shape[d]))


def draw_unit(generator: Generator, n: int, kind: str = "d") -> np.ndarray:
    """Draw `n` numbers from [0, 1): 53 random bits for float64 ("d"), 24 for the others.

    Always carried in float64.
    """
    if kind == "d":
        return (generator._draw64(n) & np.uint64(2**53 - 1)) * 2.0**-53
    return (generator._engine.random_raw(n) & np.uint64(2**24 - 1)) * 2.0**-24


def uniform_(a: np.ndarray, low: float, high: float, generator: Generator) -> np.ndarray:
    """Fill with numbers from [low, high), as `Tensor.uniform_`."""
    if a.dtype.kind != "f":
        raise _not_implemented("check_uniform_bounds", a)
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    check_overlap(a)
    values = draw_unit(generator, a.size, a.dtype.char)
    if a.dtype.char == "d":
        values = fma64(values, high - low, low)
    elif (low, high) != (0.0, 1.0):
        values = fma32(values, float(np.float32(high) - np.float32(low)), float(np.float32(low)))
    values = values.astype(a.dtype)
    values[values == a.dtype.type(high)] = low  # rounding may reach the end that is excluded
    return _fill_in_memory_order(a, values)


def normal_(a: np.ndarray, mean: float, std: float, generator: Generator) -> np.ndarray:
    """Fill from the normal distribution, as `Tensor.normal_`."""
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if a.size == 0:
        return a
    if a.dtype.kind != "f":
        raise _not_implemented("normal_kernel_cpu", a)
    check_overlap(a)
    # torch has another algorithm for contiguous tensors of 16 elements and more, which is
    # vectorised.
    if a.size < 16 or not a.flags.c_contiguous:
        values = _draw_normal_pairs(a.size, generator)
        return _fill_in_memory_order(
            a, values if (mean, std) == (0.0, 1.0) else fma64(values, std, mean)
        )
    whole = a.size // 16 * 16
    drawn = draw_unit(generator, whole if a.dtype.char == "e" else a.size, a.dtype.char)[:whole]
    if whole != a.size:
        # A rest of less than a block: torch draws the last 16 elements again, and overwrites what
        # they overlap.
        drawn = np.concatenate((drawn, draw_unit(generator, 16, a.dtype.char)))
    blocks = (_normal_blocks64 if a.dtype.char == "d" else _normal_blocks32)(drawn, mean, std)
    values = np.empty(a.size)
    values[:whole] = blocks[:whole]
    values[-16:] = blocks[-16:]
    return _fill_in_memory_order(a, values)


def _draw_normal_pairs(n: int, generator: Generator) -> np.ndarray:
    """Draw `n` standard normal numbers, two at a time by Box and Muller.

    One left over is kept for the next call.
    """
    out = [] if generator.spare_normal is None else [generator.spare_normal]
    generator.spare_normal = None
    drawn = iter(draw_unit(generator, (n - len(out) + 1) // 2 * 2).tolist())
    for u1, u2 in zip(drawn, drawn, strict=True):
        radius, angle = math.sqrt(-2.0 * math.log1p(-u2)), 2.0 * math.pi * u1
        out += (radius * math.cos(angle), radius * math.sin(angle))
    if len(out) > n:
        generator.spare_normal = out.pop()
    return np.array(out)


def _apply_to_each(function: Callable[[float], float], numbers: np.ndarray) -> np.ndarray:
    """Return what a function of Python's `math` gives for each number, in an array of their shape."""
    return np.array(list(map(function, numbers.ravel().tolist()))).reshape(numbers.shape)


def _normal_blocks64(drawn: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Turn blocks of 16 numbers from [0, 1) into normal ones, in float64."""
    u, v = drawn.reshape(-1, 2, 8).swapaxes(0, 1)
    radius = np.sqrt(-2.0 * _apply_to_each(math.log, 1.0 - u))
    angles = 2.0 * math.pi * v
    waves = [_apply_to_each(math.cos, angles), _apply_to_each(math.sin, angles)]
    return fma64((radius * waves).swapaxes(0, 1).ravel(), std, mean)


def _normal_blocks32(drawn: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Turn blocks of 16 numbers into normal ones in float32, with torch's own functions."""
    mean, std, two_pi = round_constants(mean, std, 2.0 * math.pi)
    u, v = drawn.reshape(-1, 2, 8).swapaxes(0, 1)
    radius = round32(np.sqrt(-2.0 * log32(1.0 - u)))
    sin, cos = sincos32(round32(two_pi * v))
    waves = np.stack((round32(radius * cos), round32(radius * sin)), 1)
    return fma32(waves, std, mean).ravel()


def log_normal_(a: np.ndarray, mean: float, std: float, generator: Generator) -> np.ndarray:
    """Fill with exponentials of normal numbers, as `Tensor.log_normal_`."""
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    check_overlap(a)
    if a.size == 0:
        return a
    if a.dtype.kind != "f":
        raise _not_implemented("log_normal_cpu", a)
    numbers = _draw_normal_pairs(a.size, generator) * std + mean
    return _fill_in_memory_order(a, _apply_to_each(_exp_of_any, numbers))


def _exp_of_any(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def cauchy_(a: np.ndarray, median: float, sigma: float, generator: Generator) -> np.ndarray:
    """Fill from the Cauchy distribution, as `Tensor.cauchy_`."""
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if a.dtype.kind != "f":
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {cpp_name(BY_NUM[a.dtype.num])}"
        )
    check_overlap(a)
    tangents = _apply_to_each(math.tan, math.pi * (draw_unit(generator, a.size) - 0.5))
    return _fill_in_memory_order(a, median + sigma * tangents)


def exponential_(a: np.ndarray, rate: float, generator: Generator) -> np.ndarray:
    """Fill from the exponential distribution, as `Tensor.exponential_`."""
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    check_overlap(a)
    if a.size == 0:
        return a
    if a.dtype.kind != "f":
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {BY_NUM[a.dtype.num].scalar_name}"
        )
    logarithms = _apply_to_each(math.log1p, -draw_unit(generator, a.size))
    return _fill_in_memory_order(a, -1.0 / rate * logarithms)


def geometric_(a: np.ndarray, p: float, generator: Generator) -> np.ndarray:
    """Fill with numbers of trials until the first success, as `Tensor.geometric_`."""
    if not 0.0 < p < 1.0:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    check_overlap(a)
    if a.size == 0:
        return a
    if a.dtype.kind == "b":
        raise _not_implemented("geometric_cpu", a)
    drawn = draw_unit(generator, a.size)
    # 0 is drawn once in 2^53 times.
    logarithms = _apply_to_each(lambda u: math.log(u) if u else -math.inf, drawn)
    return _fill_in_memory_order(a, np.ceil(logarithms / math.log1p(-p)))


def _limits(dtype: np.dtype) -> tuple[int, int]:
    """Return the least and the largest number of a dtype."""
    if dtype.kind == "b":
        return 0, 1
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _largest_drawn(a: np.ndarray) -> int:
    """Return the largest number that is drawn if no bound is given."""
    if a.dtype.kind == "f":
        # Above this, not every whole number is a float, so torch's numbers would not be uniform.
        return 2 ** _DIGITS[a.dtype.char]
    return 1 if a.dtype.kind == "b" else int(np.iinfo(a.dtype).max)


def random_from_to_(a: np.ndarray, low: int, high: int | None, generator: Generator) -> np.ndarray:
    """Fill with whole numbers from [low, high), as `Tensor.random_(from, to)`.

    `high`: None goes up to the dtype's largest number.
    """
    if high is not None and low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    last = _largest_drawn(a) if high is None else high - 1
    least, most = _limits(a.dtype)
    for argument, bound in ("from", low), ("to - 1", last):
        if not least <= bound <= most:
            raise RuntimeError(f"{argument} is out of bounds for {cpp_name(BY_NUM[a.dtype.num])}")
    span = last - low + 1
    drawn = generator._draw64(a.size) if span >= 2**28 else generator._engine.random_raw(a.size)
    drawn = drawn % np.uint64(span) if span < 2**64 else drawn
    # The sum wraps around, as in C.
    return _fill_in_memory_order(a, (drawn + np.uint64(low % 2**64)).view(np.int64))


def random_(a: np.ndarray, generator: Generator) -> np.ndarray:
    """Fill with whole numbers from 0 to the largest one that is drawn, as `Tensor.random_()`."""
    # Of 64 bits where elements have as many, however many numbers there are to choose from.
    raw = generator._draw64(a.size) if a.itemsize == 8 else generator._engine.random_raw(a.size)
    return _fill_in_memory_order(a, (raw % np.uint64(_largest_drawn(a) + 1)).view(np.int64))


def draw_permutation(n: int, generator: Generator, dtype: np.dtype | None = None) -> np.ndarray:
    """Return the numbers below `n` in random order, as `torch.randperm`.

    The shape of the result is (n,), its dtype int64 unless `dtype` says otherwise.
    """
    numbers = np.empty(n, dtype or np.int64)
    if numbers.dtype.kind == "b" or n - 1 > _largest_drawn(numbers):
        name = BY_NUM[numbers.dtype.num].called
        raise RuntimeError(f"value cannot be converted to type {name}_t without overflow")
    # The shuffle of Fisher and Yates. At each step but the last, these many are left to choose
    # from.
    left = np.arange(n, 1, -1, dtype=np.uint64)
    # For more numbers torch draws 64 bits, so that the remainder is not biased.
    is_short = n < (2**32 - 1) // 20
    drawn = generator._engine.random_raw(left.size) if is_short else generator._draw64(left.size)
    order = list(range(n))
    for i, step in enumerate((drawn % left).tolist()):
        order[i], order[i + step] = order[i + step], order[i]
    numbers[...] = order
    return numbers


def bernoulli_(a: np.ndarray, p: float, generator: Generator) -> np.ndarray:
    """Fill with 1 where a draw from [0, 1) is below `p`, else 0."""
    if not 0.0 <= p <= 1.0:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    check_overlap(a)
    return _fill_in_memory_order(a, draw_unit(generator, a.size) < p)


def bernoulli_each_(a: np.ndarray, p: np.ndarray, generator: Generator) -> np.ndarray:
    """Fill with 1 where a draw from [0, 1) is below the probability of that element, else 0."""
    if p.dtype.kind != "f":
        raise _not_implemented("bernoulli_tensor_cpu_p_", p)
    chances = np.broadcast_to(p, a.shape).transpose(_order_dims_by_memory(a)).ravel()
    if not ((chances >= 0) & (chances <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    return _fill_in_memory_order(a, draw_unit(generator, a.size, p.dtype.char) < chances)
