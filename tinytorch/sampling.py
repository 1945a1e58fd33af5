"""Filling arrays with random numbers: torch's CPU kernels, bit for bit.

Every function takes the array to fill, which may be a strided view, and a `Generator`; it fills in place, in the
order in which torch's loops go (by memory, not by index) and with the draws that torch makes.

Source: torch 2.13 on an x86 CPU with AVX2. Logarithm, sine and cosine in float64 come from the C library in
both, so on another C library the last bits follow that one.
"""

from __future__ import annotations

import math

import numpy as np

from .dtypes import cpp_name, from_numpy_dtype
from .fused import fma32, fma64, log32, round32, sincos32
from .random import Generator
from .warn import warn_in_torch

_DIGITS = {"e": 11, "f": 24, "d": 53}  # bits of the significand
_C_NAMES = {
    "?": "bool", "B": "unsigned char", "b": "signed char", "h": "short int", "i": "int", "l": "long int",
    "H": "short unsigned int", "I": "unsigned int", "L": "long unsigned int", "e": "c10::Half", "f": "float",
    "d": "double",
}  # fmt: skip
_MIN64, _MAX64 = -(2**63), 2**63 - 1
_CHUNK = 16384  # numbers worked on at a time: they stay in the cache


def _not_implemented(kernel: str, a: np.ndarray) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{from_numpy_dtype(a.dtype).scalar_name}'")


def _unsigned(a: np.ndarray) -> bool:
    """Whether the dtype is one of the wide unsigned ones, for which torch has few kernels."""
    return a.dtype.kind == "u" and a.itemsize > 1


def _order(a: np.ndarray) -> list[int]:
    """Return the dimensions from the slowest to the fastest in memory, the order of torch's loops."""
    return sorted(range(a.ndim), key=lambda d: (a.strides[d], a.shape[d]), reverse=True)


def _fill(a: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Write `values`, shape (a.size,), along the memory of `a`, and return `a`."""
    with np.errstate(over="ignore"):
        if a.dtype.char == "e" and values.dtype.kind != "b":
            values = values.astype(np.float32)  # torch goes through float32, and so rounds twice
        if a.flags.c_contiguous:
            a.reshape(-1)[...] = values
        else:
            view = a.transpose(_order(a))
            view[...] = values.reshape(view.shape)
    return a


def _unit(gen: Generator, n: int, dtype: np.dtype) -> np.ndarray:
    """Draw `n` numbers from [0, 1): 53 random bits for float64, 24 for float32; always carried in float64."""
    if dtype.char == "d":
        return (gen.draw64(n) & np.uint64(2**53 - 1)) * 2.0**-53
    return (gen.draw32(n) & np.uint64(2**24 - 1)) * 2.0**-24


# ------------------------------------------------------------------------------------------------------- uniform


def uniform_(a: np.ndarray, low: float, high: float, gen: Generator) -> np.ndarray:
    """Fill with numbers from [low, high), as `Tensor.uniform_`. a: floating point; RuntimeError for bad bounds."""
    if a.dtype.kind != "f":
        raise _not_implemented("check_uniform_bounds", a)
    limit = float(np.finfo(a.dtype).max)
    for name, bound in ("from", low), ("to", high):
        if not -limit <= bound <= limit:
            raise RuntimeError(f"{name} is out of bounds for {_C_NAMES[a.dtype.char]}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > limit:
        name = from_numpy_dtype(a.dtype).scalar_name
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{name}>::max(), but found to={high:g} and "
            f"from={low:g} which result in to-from to exceed the limit"
        )
    if a.dtype.char == "d":
        values = fma64(_unit(gen, a.size, a.dtype), high - low, low)
    else:
        values = _unit(gen, a.size, a.dtype)
        low32, high32 = np.float32(low), np.float32(high)
        if (low, high) != (0.0, 1.0):
            values = fma32(values, float(high32 - low32), float(low32))
    values = values.astype(a.dtype)
    values[values == a.dtype.type(high)] = low  # rounding may reach the end that is excluded
    return _fill(a, values)


def exponential_(a: np.ndarray, rate: float, gen: Generator) -> np.ndarray:
    """Fill from the exponential distribution, as `Tensor.exponential_`. a: floating point; RuntimeError otherwise."""
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    if a.size and a.dtype.kind != "f":
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {from_numpy_dtype(a.dtype).scalar_name}"
        )
    drawn = _unit(gen, a.size, np.dtype(np.float64))
    return _fill(a, (-1.0 / rate) * np.array([math.log1p(-u) for u in drawn.tolist()]))


def geometric_(a: np.ndarray, p: float, gen: Generator) -> np.ndarray:
    """Fill with numbers of trials until a success of probability p, as `Tensor.geometric_`. RuntimeError outside (0, 1)."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if a.dtype.kind == "b":
        raise _not_implemented("geometric_cpu", a)
    drawn = _unit(gen, a.size, np.dtype(np.float64))
    return _fill(a, np.array([math.ceil(math.log(u) / math.log1p(-p)) if u else math.inf for u in drawn.tolist()]))


def cauchy_(a: np.ndarray, median: float, sigma: float, gen: Generator) -> np.ndarray:
    """Fill from the Cauchy distribution, as `Tensor.cauchy_`. a: floating point; sigma: positive, RuntimeError otherwise."""
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if a.size and a.dtype.kind != "f":
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {cpp_name(from_numpy_dtype(a.dtype))}"
        )
    drawn = _unit(gen, a.size, np.dtype(np.float64))
    return _fill(a, median + sigma * np.array([math.tan(math.pi * (u - 0.5)) for u in drawn.tolist()]))


_EXP_MAX = math.log(np.finfo(np.float64).max)


def log_normal_(a: np.ndarray, mean: float, std: float, gen: Generator) -> np.ndarray:
    """Fill with exp of normal numbers, as `Tensor.log_normal_`. std: positive, RuntimeError otherwise."""
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if a.size and a.dtype.kind != "f":
        raise _not_implemented("log_normal_cpu", a)
    exponents = fma64(_normals_one_by_one(a.size, gen), std, mean).tolist()
    return _fill(a, np.array([math.exp(x) if x < _EXP_MAX else math.inf for x in exponents]))


# -------------------------------------------------------------------------------------------------------- normal


def normal_(a: np.ndarray, mean: float, std: float, gen: Generator) -> np.ndarray:
    """Fill from the normal distribution, as `Tensor.normal_`.

    a: floating point, NotImplementedError otherwise; std: not negative, RuntimeError otherwise. From 16 elements on a
    contiguous array takes another way than all else, with other numbers.
    """
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if a.size == 0:
        return a
    if a.dtype.kind != "f":
        raise _not_implemented("normal_kernel_cpu", a)
    with np.errstate(over="ignore", invalid="ignore"):
        if a.size < 16 or not a.flags.c_contiguous:
            return _fill(a, fma64(_normals_one_by_one(a.size, gen), std, mean))
        whole = a.size // 16 * 16
        drawn = _unit(gen, whole if a.dtype.char == "e" else a.size, a.dtype)[:whole]
        if whole != a.size:  # the last 16 are made anew, of new draws
            drawn = np.concatenate((drawn, _unit(gen, 16, a.dtype)))
        blocks = (_normal_blocks64 if a.dtype.char == "d" else _normal_blocks32)(drawn, mean, std)
        values = np.empty(a.size)
        values[:whole] = blocks[:whole]
        values[-16:] = blocks[-16:]
        return _fill(a, values)


def _normals_one_by_one(n: int, gen: Generator) -> np.ndarray:
    """Draw `n` standard normal numbers, two at a time by Box and Muller; one left over is kept for the next call."""
    out: list[float] = []
    if gen.spare_normal is not None:
        out.append(gen.spare_normal)
        gen.spare_normal = None
    pairs = (n - len(out) + 1) // 2
    drawn = iter(_unit(gen, 2 * pairs, np.dtype(np.float64)).tolist())
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
    mean, std, two_pi = float(np.float32(mean)), float(np.float32(std)), float(np.float32(2.0 * math.pi))
    out = np.empty(drawn.size)
    for start in range(0, drawn.size, _CHUNK):
        u, v = drawn[start : start + _CHUNK].reshape(-1, 2, 8).swapaxes(0, 1)
        radius = round32(np.sqrt(-2.0 * log32(1.0 - u)))
        sin, cos = sincos32(round32(two_pi * v))
        result = out[start : start + _CHUNK].reshape(-1, 2, 8)
        result[:, 0] = fma32(round32(radius * cos), std, mean)
        result[:, 1] = fma32(round32(radius * sin), std, mean)
    return out


# ------------------------------------------------------------------------------------------------------ integers


def _largest(a: np.ndarray) -> int:
    """Return the largest number that is drawn where no bound is given."""
    if a.dtype.kind == "f":
        return 2 ** _DIGITS[a.dtype.char]
    return 1 if a.dtype.kind == "b" else int(np.iinfo(a.dtype).max)


def random_(a: np.ndarray, gen: Generator) -> np.ndarray:
    """Fill with whole numbers from 0 to the dtype's largest (floating point: to 2^digits), as `Tensor.random_()`."""
    if a.size == 0:
        return a
    if _unsigned(a):
        raise _not_implemented("random_kernel_cpu", a)
    drawn = gen.draw64(a.size) if a.dtype.char in "ld" else gen.draw32(a.size)
    return _fill(a, (drawn % np.uint64(_largest(a) + 1)).astype(np.int64))


def random_from_to_(a: np.ndarray, low: int, high: int | None, gen: Generator) -> np.ndarray:
    """Fill with whole numbers from [low, high), as `Tensor.random_(from, to)` and `torch.randint`.

    low, high: ValueError beyond 64 bits; high None: up to the largest that `random_()` gives. RuntimeError for an
    empty range or bounds that the dtype does not hold, a warning for those where a floating point dtype skips numbers.
    """
    if not all(_MIN64 <= bound <= _MAX64 for bound in (low, high or 0)):
        raise ValueError("Overflow when unpacking long long")
    if high is None and low == _MIN64:
        if a.size and (a.dtype.char in "?e" or _unsigned(a)):
            raise _not_implemented("random_full_64_bits_range_kernel_cpu", a)
        if a.size and a.dtype.char not in "ldf":
            raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
        return _fill(a, gen.draw64(a.size).view(np.int64))
    last, low = _bounds(a, low, high)
    _check_bounds(a, low, last)
    if a.size == 0:
        return a
    span = last - low + 1
    drawn = gen.draw64(a.size) if span >= 2**28 else gen.draw32(a.size)
    values = (drawn % np.uint64(span) + np.uint64(low % 2**64)).view(np.int64)  # wraps around, as in C
    return _fill(a, values)


def _bounds(a: np.ndarray, low: int, high: int | None) -> tuple[int, int]:
    """Return the last number and the first, moved inwards to where a floating point dtype does not round outwards."""
    digits = _DIGITS.get(a.dtype.char)
    if high is None:
        if not digits:
            return (-1 if a.dtype.char == "L" else _largest(a)), low  # torch holds the last number in an int64
        last, low = _largest(a), _narrowed(a, low, 1)
        if low >= last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, "
                f"but got from={low} > to_inc={last}"
            )
        return last, low
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if digits:
        low, high = _narrowed(a, low, 1), _narrowed(a, high, -1)
        if low >= high:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={low} >= to={high}"
            )
    return high - 1, low


def _narrowed(a: np.ndarray, bound: int, step: int) -> int:
    """Move a bound by `step`'s sign to the next number that the dtype holds, if its neighbour would round past it."""
    neighbour = max(_MIN64, min(bound + step, _MAX64))
    with np.errstate(over="ignore"):
        rounded = float(np.int64(neighbour).astype(np.float64 if a.dtype.char == "d" else np.float32).astype(a.dtype))
    back = int(rounded) if -(2.0**63) <= rounded < 2.0**63 else _MIN64  # what a C cast makes of too large a number
    if back < bound if step > 0 else back >= bound:
        return back + step * (1 << (abs(neighbour).bit_length() - _DIGITS[a.dtype.char]))
    return bound


def _check_bounds(a: np.ndarray, low: int, last: int) -> None:
    """Raise or warn as torch does where the dtype does not hold all numbers from `low` to `last`."""
    name = _C_NAMES[a.dtype.char]
    digits = _DIGITS.get(a.dtype.char)
    if digits:
        least, most = -float(np.finfo(a.dtype).max), float(np.finfo(a.dtype).max)
    elif a.dtype.kind == "b":
        least, most = 0, 1
    else:
        least, most = int(np.iinfo(a.dtype).min), min(int(np.iinfo(a.dtype).max), _MAX64)
    for what, bound in ("from", low), ("to - 1", last):
        if not least <= bound <= most:
            raise RuntimeError(f"{what} is out of bounds for {name}")
    for what, bound, line in ("from", low, 110), ("to - 1", last, 111):
        if digits and abs(bound) > 2**digits:
            warn_in_torch(
                f"{what} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations {name} can support "
                "discrete uniform distribution only within this range. This warning will become an error in version "
                "1.7 release, please fix the code in advance",
                f"aten/src/ATen/native/DistributionTemplates.h:{line}",
            )


def permutation(n: int, gen: Generator, dtype: np.dtype | None = None) -> np.ndarray:
    """Return the numbers below `n` in random order, as `torch.randperm`; shape (n,), int64 unless given.

    RuntimeError where the dtype does not hold them, NotImplementedError for bool and the wide unsigned dtypes.
    """
    made = np.empty(n, dtype or np.int64)
    digits = _DIGITS.get(made.dtype.char)
    if digits and n > 2**digits + 1:
        most = 2**digits + 1 if digits == 11 else f"2^{digits}+1"
        name = from_numpy_dtype(made.dtype).scalar_name
        raise RuntimeError(f"n cannot be greater than {most} for {name} type.")
    if not digits and made.dtype.kind != "b" and n - 1 > _largest(made):
        raise RuntimeError(f"value cannot be converted to type {made.dtype.name}_t without overflow")
    if made.dtype.kind == "b" or _unsigned(made):
        raise _not_implemented("randperm", made)
    left = np.arange(n, 1, -1, dtype=np.uint64)  # how many are still to choose from, at each step but the last
    drawn = gen.draw32(left.size) if n < (2**32 - 1) // 20 else gen.draw64(left.size)
    order = list(range(n))
    for i, step in enumerate((drawn % left).tolist()):
        order[i], order[i + step] = order[i + step], order[i]
    made[...] = order
    return made


# ----------------------------------------------------------------------------------------------------- Bernoulli


def bernoulli_(a: np.ndarray, p: float | np.ndarray, gen: Generator) -> np.ndarray:
    """Fill with 1 where a draw from [0, 1) is below `p`, else 0, as `Tensor.bernoulli_`.

    p: a number, or an array of probabilities that broadcasts to the shape of `a`; float32 and float16 ones take
    one draw each, float64 ones and a number two. RuntimeError for probabilities outside [0, 1].
    """
    if not isinstance(p, np.ndarray) and not 0.0 <= p <= 1.0:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if a.size == 0:
        return a
    if _unsigned(a):
        raise _not_implemented(
            "bernoulli_tensor_cpu_self_" if isinstance(p, np.ndarray) else "bernoulli_scalar_cpu_", a
        )
    if not isinstance(p, np.ndarray):
        return _fill(a, _unit(gen, a.size, np.dtype(np.float64)) < p)
    if p.dtype.kind != "f":
        raise _not_implemented("bernoulli_tensor_cpu_p_", p)
    limits = np.broadcast_to(p, a.shape).transpose(_order(a)).ravel()
    allowed = (limits >= 0) & (limits <= 1)
    if not allowed.all():
        _unit(gen, int(allowed.argmin()), p.dtype)  # torch notices when it gets there
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  "
            "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    return _fill(a, _unit(gen, a.size, p.dtype) < limits)


def multinomial(weights: np.ndarray, n: int, replacement: bool, gen: Generator) -> np.ndarray:
    """Draw `n` indices a row with the probabilities that the row's weights stand in, as `torch.multinomial`.

    weights: floating point, shape (k,) or (rows, k), not negative, finite, with a positive sum a row; the result is
    int64, shape (n,) or (rows, n). RuntimeError for other weights, and for more than k without replacement.
    """
    if weights.ndim not in {1, 2}:
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if weights.dtype.kind != "f":
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: "
            f"{from_numpy_dtype(weights.dtype).scalar_name}"
        )
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
        picked = np.argsort(-ranks, axis=1, kind="stable")[:, :n]
        return picked.reshape(*weights.shape[:-1], n).astype(np.int64)
    out = np.empty((len(rows), n), np.int64)
    work = np.dtype(np.float32) if rows.dtype.char == "e" else rows.dtype
    for row, target in zip(rows.astype(work), out, strict=True):
        if not (row >= 0).all():
            raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
        if not np.isfinite(row).all():
            raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
        reached = np.cumsum(row)
        if not reached[-1] > 0:
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        reached = reached / reached[-1]
        reached[-1] = 1
        target[...] = np.searchsorted(reached.astype(np.float64), _unit(gen, n, np.dtype(np.float64)), side="left")
    return out.reshape(*weights.shape[:-1], n)
