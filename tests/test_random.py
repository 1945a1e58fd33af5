"""Random numbers: stored results of PyTorch, and long mixed sequences of draws against PyTorch itself, bit for bit."""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch
from tinytorch import random as draws
from tinytorch import rounding
from tinytorch.random import Generator

SEED = 29


def seeded(seed: int) -> Generator:
    return Generator().manual_seed(seed)


def filled(fill: Callable[..., np.ndarray], shape: Any, dtype: str, *args: object, seed: int = 0) -> np.ndarray:
    return fill(np.empty(shape, dtype), *args, seeded(seed))


# ----------------------------------------------------------------------------------- what PyTorch gave, kept here


def test_first_numbers_of_seed_zero() -> None:
    gen = seeded(0)
    assert draws.uniform_(np.empty(3, "f4"), 0.0, 1.0, gen).tolist() == [
        float.fromhex(x) for x in ("0x1.fc2ab0p-2", "0x1.89545ep-1", "0x1.6a6750p-4")
    ]
    gen.manual_seed(0)
    five = ("0x1.8a7eb8p+0", "-0x1.2c78a0p-2", "-0x1.16e292p+1", "0x1.23096cp-1", "-0x1.15a342p+0")
    assert draws.normal_(np.empty(5, "f4"), 0.0, 1.0, gen).tolist() == [float.fromhex(x) for x in five]
    two = ("-0x1.660a590b74404p+0", "0x1.9d06f4be0cd62p-2")  # the first of them was left over from the five
    drawn = draws.normal_(np.empty(2, "f8"), 0.0, 1.0, gen).tolist()
    assert drawn == pytest.approx([float.fromhex(x) for x in two], rel=1e-15)  # the last bit is the C library's


DRAWN = {
    1000: "3ec997eec4fa3ee7",
    2000: "649b707afcbdb440",
    999: "fa28f8c0b97f7697",
    1019: "c3fde010466c1ed7",
    2038: "bf0d18934c74cfb7",
    1008: "a796e86dd2557ca2",
}
"""SHA-256 (16 digits) of the bytes of `get_rng_state()` after so many draws from seed 7."""

STORED: list[tuple[str, Callable[[Generator], np.ndarray], str, int]] = [
    ("uniform f4", lambda g: draws.uniform_(np.empty(1000, "f4"), -0.3, 0.7, g), "3cbf52c05dc6e78d", 1000),
    ("uniform f8", lambda g: draws.uniform_(np.empty(1000, "f8"), -0.3, 0.7, g), "7171e5a805931c69", 2000),
    ("uniform f2", lambda g: draws.uniform_(np.empty(1000, "f2"), 0.0, 1.0, g), "48f7c44800788fa9", 1000),
    ("normal f4", lambda g: draws.normal_(np.empty(1003, "f4"), 0.5, 2.0, g), "129515e0611cc4f8", 1019),
    ("normal f8", lambda g: draws.normal_(np.empty(1003, "f8"), 0.5, 2.0, g).astype("f4"), "df68120e59d1d882", 2038),
    ("normal f2", lambda g: draws.normal_(np.empty(1003, "f2"), 0.5, 2.0, g), "dac721c6d2571b72", 1008),
    ("normal strided", lambda g: draws.normal_(np.empty((20, 50), "f4").T, 0.0, 1.0, g), "0a24f630b3be85c7", 2000),
    ("exponential", lambda g: draws.exponential_(np.empty(1000, "f4"), 2.0, g), "fbf8355850344364", 2000),
    ("bernoulli", lambda g: draws.bernoulli_(np.empty(1000, "f4"), 0.3, g), "f982a44bee19ffbe", 2000),
    ("randint wide", lambda g: draws.random_from_to_(np.empty(1000, "i8"), -5, 2**40, g), "d387ac861aa390bd", 2000),
    ("randint", lambda g: draws.random_from_to_(np.empty(1000, "i8"), 0, 10, g), "6a1cb665df1d111c", 1000),
    ("random_ i4", lambda g: draws.random_(np.empty(1000, "i4"), g), "81dc125836cf832b", 1000),
    ("randperm", lambda g: draws.permutation(1000, g), "f1da82586e18309a", 999),
    ("multinomial", lambda g: draws.multinomial(np.arange(1.0, 9), 500, True, g), "3224be1d2732eba8", 1000),
]
"""A name, what is drawn, the digest of its bytes, the number of draws it takes."""


@pytest.mark.parametrize(("draw", "values", "draws"), [row[1:] for row in STORED], ids=[row[0] for row in STORED])
def test_numbers_and_draws_are_what_torch_gave(
    draw: Callable[[Generator], np.ndarray], values: str, draws: int
) -> None:
    gen = seeded(7)
    drawn = draw(gen)
    if not drawn.flags.c_contiguous:
        drawn = np.ascontiguousarray(drawn)
    assert hashlib.sha256(drawn.tobytes()).hexdigest()[:16] == values
    assert hashlib.sha256(gen.state_bytes().tobytes()).hexdigest()[:16] == DRAWN[draws]


# ------------------------------------------------------------------------------------------------- the generator


def test_a_state_brings_everything_back_the_spare_normal_too() -> None:
    gen = seeded(3)
    draws.normal_(np.empty(3), 0.0, 1.0, gen)
    state, clone = gen.state_bytes(), gen.clone_state()
    after = [draws.normal_(np.empty(n), 0.0, 1.0, gen).tolist() for n in (2, 17, 700)]
    for other in [clone, gen.set_state(state), Generator().set_state(state)]:
        assert [draws.normal_(np.empty(n), 0.0, 1.0, other).tolist() for n in (2, 17, 700)] == after
        assert other.initial_seed() == 3


def test_seeds_and_their_errors() -> None:
    assert seeded(-1).initial_seed() == 2**64 - 1
    assert seeded(5).draw32(3).tolist() == seeded(5 + 2**40).draw32(3).tolist()  # 32 bits decide
    for too_large in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            Generator().manual_seed(too_large)
    with pytest.raises(RuntimeError, match="manual_seed expected a long, but got float"):
        Generator().manual_seed(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"must be torch\.device, not float"):
        Generator(1.5)
    gen = Generator()
    assert gen.initial_seed() == 67280421310721
    assert gen.seed() == gen.initial_seed() != 67280421310721


def test_states_that_are_none() -> None:
    gen = Generator()
    for bad, error in (
        (3, "expected a torch.ByteTensor, but got int"),
        (np.zeros(5056), "RNG state must be a torch.ByteTensor"),
        (np.zeros(3, np.uint8), "Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size"),
        (np.zeros(5056, np.uint8), "Invalid mt19937 state"),
    ):
        with pytest.raises((TypeError, RuntimeError), match=error):
            gen.set_state(bad)


def test_fork_leaves_the_default_generator_as_it_was() -> None:
    before = tinytorch.random.default_generator.state_bytes().tobytes()
    with tinytorch.random.fork_rng():
        tinytorch.random.manual_seed(1)
    assert tinytorch.random.default_generator.state_bytes().tobytes() == before


def test_bad_arguments_draw_nothing() -> None:
    gen = seeded(0)
    wrong: list[tuple[Callable[..., np.ndarray], str, tuple[Any, ...], str]] = [
        (draws.uniform_, "f4", (2.0, 1.0), r"\[from, to\) range, but found from=2 > to=1"),
        (draws.uniform_, "f4", (-3e38, 3e38), r"<Float>::max\(\), but found to=3e\+38 and from=-3e\+38"),
        (draws.uniform_, "f2", (0.0, 1e6), "to is out of bounds for c10::Half"),
        (draws.uniform_, "i8", (0.0, 1.0), "\"check_uniform_bounds\" not implemented for 'Long'"),
        (draws.normal_, "f4", (0.0, -1.0), "normal expects std >= 0.0, but found std -1"),
        (draws.normal_, "i8", (0.0, 1.0), "\"normal_kernel_cpu\" not implemented for 'Long'"),
        (draws.exponential_, "f4", (0.0,), "expects lambda > 0.0, but found lambda=0"),
        (draws.bernoulli_, "f4", (1.5,), r"expects p to be in \[0, 1\], but got p=1.5"),
        (draws.random_from_to_, "i8", (3, 3), "but got from=3 >= to=3"),
        (draws.random_from_to_, "i8", (0, 2**63), "Overflow when unpacking long long"),
        (draws.random_from_to_, "u1", (0, 300), "to - 1 is out of bounds for unsigned char"),
    ]
    for fill, dtype, args, error in wrong:
        with pytest.raises((RuntimeError, NotImplementedError, ValueError), match=error):
            fill(np.empty(4, dtype), *args, gen)
    assert gen.state_bytes().tobytes() == seeded(0).state_bytes().tobytes()


@pytest.mark.parametrize(
    ("n", "dtype", "error"),
    [
        (257, "u1", "value cannot be converted to type uint8_t without overflow"),
        (2050, "f2", "n cannot be greater than 2049 for Half type."),
        (2**24 + 2, "f4", "n cannot be greater than 2^24+1 for Float type."),
        (3, "?", "\"randperm\" not implemented for 'Bool'"),
    ],
)
def test_permutations_that_a_dtype_cannot_hold(n: int, dtype: str, error: str) -> None:
    with pytest.raises((RuntimeError, NotImplementedError), match=re.escape(error)):
        draws.permutation(n, Generator(), np.dtype(dtype))
    assert sorted(draws.permutation(256, Generator(), np.dtype("u1")).tolist()) == list(range(256))


def test_the_excluded_end_is_never_reached() -> None:
    halves = filled(draws.uniform_, 100_000, "f2", 0.0, 1.0)
    assert halves.max() < 1
    assert (halves == 0).sum() > 5  # what would have rounded up to 1 wraps to 0


# ---------------------------------------------------------------------------------------------- rounding just once


def exactly(a: float, b: float, c: float) -> float:
    from fractions import Fraction

    return float(Fraction(a) * Fraction(b) + Fraction(c))


def test_fused_multiply_add_is_correctly_rounded() -> None:
    rng = random.Random(SEED)
    for _ in range(500):
        b, c = rng.gauss(0, 1), rng.gauss(0, 1) * 2.0 ** rng.randint(-60, 60)
        a = np.array([rng.gauss(0, 1) for _ in range(8)] + [-c / b, math.nextafter(-c / b, 0)])
        assert rounding.fma64(a, b, c).tolist() == [exactly(x, b, c) for x in a.tolist()]
    # 1 + 2^-52 + 2^-53 would lie halfway; what the product falls short of 2^-53 by is lost unless the last bit keeps it
    a, b, c = np.array([2.0**-53 * (1 - 2.0**-30)]), 1 + 2.0**-30, 1 + 2.0**-52
    assert rounding.fma64(a, b, c).tolist() == [c]


def test_fused_multiply_add_of_float32_is_not_rounded_twice() -> None:
    # 1 + 2^-24 lies halfway between two float32 numbers; the product's last bit, lost in float64, decides
    a = np.array([1 + 2.0**-23])
    for sign, expected in ((1, 1 + 2.0**-23), (-1, 1.0)):
        b, c = sign * 2.0**-54, np.array([1.0])
        tie = rounding.fma32(a, b, c + 2.0**-24)  # c is no float32: this forces the halfway case
        assert tie.tolist() == [expected]


# --------------------------------------------------------------------------------------------- against PyTorch itself

FLOATS = ["float32", "float64", "float16"]
NUMBERS = [*FLOATS, "int64", "int32", "int16", "int8", "uint8", "bool"]


def some_shape(rng: random.Random) -> tuple[int, ...]:
    which = rng.random()
    if which < 0.5:
        return (rng.randint(0, 40),)
    if which < 0.65:
        return (rng.choice([100, 623, 624, 625, 1000]),)
    return tuple(rng.randint(1, 7) for _ in range(rng.randint(0, 4)))


def strided(rng: random.Random, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """An array of zeros: contiguous, permuted, or with gaps."""
    which = rng.random()
    if which < 0.6:
        return np.zeros(shape, dtype)
    if which < 0.8:
        order = list(range(len(shape)))
        rng.shuffle(order)
        return np.zeros(shape, dtype).transpose(order)
    starts = [rng.randint(0, 1) for _ in shape]
    gaps = np.zeros([2 * n + 1 for n in shape], dtype)
    index: Any = (*(slice(s, 2 * n, 2) for s, n in zip(starts, shape, strict=True)), ...)
    view: np.ndarray = gaps[index]
    return view.T


def some_number(rng: random.Random) -> float:
    return rng.choice([0.0, 1.0, -1.0, 0.5, rng.gauss(0, 1), rng.gauss(0, 100), 1e-3])


def some_bound(rng: random.Random) -> int:
    near = (1 << rng.randint(0, 62)) + rng.randint(-2, 2)
    return rng.choice([rng.randint(-10, 300), rng.randint(-10, 300), near, -near, 2**28, 2**32, 65504])


def some_call(rng: random.Random) -> tuple[str, np.ndarray, tuple[Any, ...]]:
    """Return the name of a torch method or function, the array it is to fill, and its arguments."""
    name = rng.choice(["normal_"] * 3 + ["uniform_", "exponential_", "random_", "random_from_to_", "bernoulli_"] * 2
                      + ["randperm", "multinomial"])  # fmt: skip
    a = strided(
        rng, some_shape(rng), rng.choice(FLOATS if name in {"normal_", "uniform_", "exponential_"} else NUMBERS)
    )
    if name == "uniform_":
        return name, a, rng.choice([(0.0, 1.0), tuple(sorted((some_number(rng), some_number(rng))))])
    if name == "normal_":
        return name, a, rng.choice([(0.0, 1.0), (some_number(rng), abs(some_number(rng)))])
    if name == "exponential_":
        return name, a, (rng.choice([1.0, 2.5, abs(some_number(rng))]),)
    if name == "random_from_to_":
        low, high = sorted((some_bound(rng), some_bound(rng)))
        if a.dtype.kind == "f":  # which skips numbers beyond
            low, high = max(low, -2000) % 2000, min(high, 2000)
        return name, a, (low, high if rng.random() < 0.8 else None)
    if name == "bernoulli_":
        p = np.array([rng.random() * 1.01 for _ in range(a.size)], rng.choice(FLOATS)).reshape(a.shape)
        return name, a, (rng.choice([0.0, 1.0, rng.random(), p, p]),)
    if name == "randperm":
        return name, a, (rng.choice([rng.randint(0, 40), 1000]),)
    if name == "multinomial":
        weights = np.array([[rng.random() + 0.01 for _ in range(9)]] * rng.randint(1, 3), rng.choice(["f4", "f8"]))
        return name, a, (weights, rng.randint(1, 9), rng.random() < 0.5)
    return name, a, ()


def ours(name: str, a: np.ndarray, args: tuple[Any, ...], gen: Generator) -> np.ndarray:
    if name in {"randperm", "multinomial"}:
        result: np.ndarray = getattr(draws, name.replace("randperm", "permutation"))(*args, gen)
    else:
        result = getattr(draws, name)(a, *args, gen)
    return result


def theirs(torch: Any, name: str, t: Any, args: tuple[Any, ...], gen: Any) -> np.ndarray:
    args = tuple(torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in args)
    if name in {"randperm", "multinomial"}:
        result: np.ndarray = getattr(torch, name)(*args, generator=gen).numpy()
    else:
        method = name.replace("random_from_to_", "random_")
        result = getattr(t, method)(*args, generator=gen).numpy()
    return result


def outcome(draw: Callable[..., np.ndarray], *args: Any) -> tuple[Any, ...]:
    try:
        result = draw(*args)
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__, str(error)
    return result.dtype, result.shape, np.ascontiguousarray(result).tobytes()


@pytest.mark.torch
def test_mixed_sequences_are_torchs_bit_for_bit() -> None:
    import torch

    rng = random.Random(SEED)
    gen, torchs = Generator(), torch.Generator()
    for _ in range(250):
        seed = rng.choice([rng.randint(0, 99), rng.randint(-(2**63), 2**64 - 1)])
        gen.manual_seed(seed)
        torchs.manual_seed(seed)
        for _ in range(rng.randint(1, 12)):
            name, a, args = some_call(rng)
            t = torch.empty_strided(
                a.shape, [max(s, 0) // a.itemsize for s in a.strides], dtype=getattr(torch, a.dtype.name)
            )
            what = (seed, name, a.dtype, a.shape, a.strides, args)
            assert outcome(ours, name, a, args, gen) == outcome(theirs, torch, name, t, args, torchs), what
            assert gen.state_bytes().tobytes() == torchs.get_state().numpy().tobytes(), what


@pytest.mark.torch
def test_states_travel_to_torch_and_back() -> None:
    import torch

    gen, torchs = seeded(11), torch.Generator()
    draws.normal_(np.empty(5), 0.0, 1.0, gen)
    torchs.set_state(torch.from_numpy(gen.state_bytes()))
    torch.empty(700).normal_(generator=torchs)
    draws.normal_(np.empty(700, "f4"), 0.0, 1.0, gen)
    gen.set_state(torchs.get_state().numpy())
    expected = torch.empty(9).normal_(generator=torchs).numpy()
    assert np.array_equal(draws.normal_(np.empty(9, "f4"), 0.0, 1.0, gen), expected)


@pytest.mark.torch
def test_tensors_of_the_engine_hold_torchs_numbers() -> None:
    import torch

    def numbers(engine: Any) -> list[Any]:
        engine.manual_seed(SEED)
        made = [
            engine.rand(3),
            engine.randn(7),
            engine.randn(2, 3, dtype=engine.float64),
            engine.randn(5, 5),
            engine.randint(10, (4,)),
            engine.randint(-3, 3, (2, 2), dtype=engine.int32),
            engine.randperm(9),
            engine.rand_like(engine.zeros(2, 3).t()),
            engine.empty(4).uniform_(-1, 1),
            engine.empty(20).normal_(2, 3),
            engine.empty(4).bernoulli_(0.3),
            engine.bernoulli(engine.full((6,), 0.4)),
            engine.normal(0.0, 2.0, (3,)),
        ]
        gen = engine.Generator().manual_seed(4)
        made += [engine.rand(2, generator=gen), engine.randperm(5, generator=gen)]
        state = engine.get_rng_state()
        made.append(engine.rand(2))
        engine.set_rng_state(state)
        return [t.tolist() for t in [*made, engine.rand(2)]]

    assert numbers(tinytorch) == numbers(torch)
