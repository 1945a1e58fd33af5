"""Random numbers: stored results of PyTorch, and long mixed sequences of draws against PyTorch itself, bit for bit."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import pytest

import tinytorch

SEED = 29


def seeded(seed: int) -> Any:
    return tinytorch.Generator().manual_seed(seed)


def digest(t: Any) -> str:
    return hashlib.sha256(t.contiguous().numpy().tobytes()).hexdigest()[:16]


# ----------------------------------------------------------------------------------- what PyTorch gave, kept here

DRAWN = {
    1000: "3ec997eec4fa3ee7",
    2000: "649b707afcbdb440",
    999: "fa28f8c0b97f7697",
    1019: "c3fde010466c1ed7",
    2038: "bf0d18934c74cfb7",
    1008: "a796e86dd2557ca2",
}
"""SHA-256 (16 digits) of the bytes of `get_rng_state()` after so many draws from seed 7."""

STORED = [
    ("empty(1000).uniform_(-0.3, 0.7, generator=g)", "3cbf52c05dc6e78d", 1000),
    ("empty(1000, dtype=torch.float64).uniform_(-0.3, 0.7, generator=g)", "7171e5a805931c69", 2000),
    ("empty(1000, dtype=torch.float16).uniform_(generator=g)", "48f7c44800788fa9", 1000),
    ("empty(1003).normal_(0.5, 2.0, generator=g)", "129515e0611cc4f8", 1019),
    (
        "empty(1003, dtype=torch.float64).normal_(0.5, 2.0, generator=g).float()",
        "df68120e59d1d882",
        2038,
    ),
    ("empty(1003, dtype=torch.float16).normal_(0.5, 2.0, generator=g)", "dac721c6d2571b72", 1008),
    ("empty(20, 50).t().normal_(generator=g)", "0a24f630b3be85c7", 2000),
    ("empty(1000).bernoulli_(0.3, generator=g)", "f982a44bee19ffbe", 2000),
    ("empty(1000, dtype=torch.int64).random_(-5, 2**40, generator=g)", "d387ac861aa390bd", 2000),
    ("randint(10, (1000,), generator=g)", "6a1cb665df1d111c", 1000),
    ("randperm(1000, generator=g)", "f1da82586e18309a", 999),
]
"""What is drawn, the digest of its bytes, the number of draws it takes."""


@pytest.mark.parametrize(("call", "values", "draws"), STORED)
def test_numbers_and_draws_are_what_torch_gave(call: str, values: str, draws: int) -> None:
    gen = seeded(7)
    assert digest(eval(f"torch.{call}", {"torch": tinytorch, "g": gen})) == values
    assert digest(gen.get_state()) == DRAWN[draws]


# ------------------------------------------------------------------------------------------------- the generator


def some_normals(gen: Any) -> list[Any]:
    return [
        tinytorch.empty(n, dtype=tinytorch.float64).normal_(generator=gen).tolist()
        for n in (2, 17, 700)
    ]


def test_a_state_brings_everything_back_the_spare_normal_too() -> None:
    gen = seeded(3)
    tinytorch.empty(3, dtype=tinytorch.float64).normal_(generator=gen)
    state = gen.get_state()
    after = some_normals(gen)
    for other in [gen.set_state(state), tinytorch.Generator().set_state(state)]:
        assert some_normals(other) == after
        assert other.initial_seed() == 3


def test_seeds_and_their_errors() -> None:
    assert seeded(-1).initial_seed() == 2**64 - 1
    first, second = (tinytorch.rand(3, generator=seeded(s)).tolist() for s in (5, 5 + 2**40))
    assert first == second  # 32 bits decide
    for too_large in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            seeded(too_large)
    with pytest.raises(RuntimeError, match="manual_seed expected a long, but got float"):
        seeded(1.5)  # type: ignore[arg-type]
    gen = tinytorch.Generator()
    assert gen.initial_seed() == 67280421310721
    assert gen.seed() == gen.initial_seed() != 67280421310721


def test_states_that_are_none() -> None:
    gen, bytes_ = tinytorch.Generator(), tinytorch.uint8
    for bad, error in (
        (tinytorch.zeros(5056), "RNG state must be a torch.ByteTensor"),
        (
            tinytorch.zeros(3, dtype=bytes_),
            "Expected a CPUGeneratorImplState of size 5056 but found the input",
        ),
    ):
        with pytest.raises((TypeError, RuntimeError), match=error):
            gen.set_state(bad)


def test_the_excluded_end_is_never_reached() -> None:
    halves = tinytorch.empty(100_000, dtype=tinytorch.float16).uniform_(generator=seeded(0)).numpy()
    assert halves.max() < 1
    assert (halves == 0).sum() > 5  # what would have rounded up to 1 wraps to 0


# --------------------------------------------------------------------------------------------- against PyTorch itself

FLOATS = ["float32", "float64", "float16"]
NUMBERS = [*FLOATS, "int64", "int32", "int16", "int8", "uint8", "bool"]


def some_number(rng: random.Random) -> float:
    return rng.choice([0.0, 1.0, -1.0, 0.5, rng.gauss(0, 1), rng.gauss(0, 100), 1e-3])


def some_bound(rng: random.Random) -> int:
    return rng.randint(-10, 300)


def some_tensor(rng: random.Random, dtypes: list[str]) -> str:
    """A tensor to be filled: contiguous, permuted, or with gaps; with none, few or many elements."""
    shape = [rng.randint(1, 7) for _ in range(rng.randint(0, 4))]
    if rng.random() < 0.65:
        shape = [rng.choice([rng.randint(0, 40), rng.choice([100, 623, 624, 625, 1000])])]
    order = rng.sample(range(len(shape)), len(shape))
    turned = rng.choice(
        ["", "", f".permute({order})", "".join(f"[{':, ' * d}::2]" for d in range(len(shape)))]
    )
    return f"torch.zeros({shape}, dtype=torch.{rng.choice(dtypes)}){turned}"


def some_call(rng: random.Random) -> str:
    """A call that draws from `g`."""
    name = rng.choice(
        ["normal_"] * 3 + ["uniform_", "random_from_", "bernoulli_"] * 2 + ["randperm"]
    )
    t = some_tensor(rng, FLOATS if name in {"normal_", "uniform_"} else NUMBERS)
    if name == "uniform_":
        low, high = rng.choice([(0.0, 1.0), sorted((some_number(rng), some_number(rng)))])
        return f"{t}.uniform_({low}, {high}, generator=g)"
    if name == "normal_":
        return f"{t}.normal_({some_number(rng)}, {abs(some_number(rng))}, generator=g)"
    if name == "random_from_":
        low, high = sorted((some_bound(rng), some_bound(rng)))
        return f"{t}.random_({low}, {high if rng.random() < 0.8 else None}, generator=g)"
    if name == "bernoulli_":
        return f"{t}.bernoulli_({rng.choice([0.0, 1.0, rng.random()])}, generator=g)"
    return f"torch.randperm({rng.choice([rng.randint(0, 40), 1000])}, generator=g)"


def outcome(call: str, engine: Any, gen: Any) -> tuple[Any, ...]:
    try:
        drawn = eval(call, {"torch": engine, "g": gen})
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__, str(error)
    a = drawn.contiguous().numpy()
    return (
        str(drawn.dtype),
        tuple(drawn.shape),
        a.round(12).tolist() if a.itemsize == 8 else a.tobytes(),
    )


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:.*is out of bounds")
def test_mixed_sequences_are_torchs_bit_for_bit() -> None:
    import torch

    rng = random.Random(SEED)
    mine, theirs = tinytorch.Generator(), torch.Generator()
    for _ in range(250):
        seed = rng.choice([rng.randint(0, 99), rng.randint(-(2**63), 2**64 - 1)])
        mine.manual_seed(seed)
        theirs.manual_seed(seed)
        for _ in range(rng.randint(1, 12)):
            call = some_call(rng)
            assert outcome(call, tinytorch, mine) == outcome(call, torch, theirs), (seed, call)
            assert digest(mine.get_state()) == digest(theirs.get_state()), (seed, call)


@pytest.mark.torch
def test_states_travel_to_torch_and_back() -> None:
    import torch

    mine, theirs = seeded(11), torch.Generator()
    tinytorch.empty(5, dtype=tinytorch.float64).normal_(generator=mine)
    theirs.set_state(torch.from_numpy(mine.get_state().numpy()))
    torch.empty(700).normal_(generator=theirs)
    mine.set_state(tinytorch.from_numpy(theirs.get_state().numpy()))
    assert (
        tinytorch.empty(9).normal_(generator=mine).tolist()
        == torch.empty(9).normal_(generator=theirs).tolist()
    )
