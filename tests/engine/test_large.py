"""Large tensors take ways of their own: their values, dtypes and strides are still PyTorch's, whatever the layout."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from needs import torch_missing

import tinytorch

torch = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch

SIDE = 200  # 40,000 elements

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "row-major": lambda t: t,
    "flat": lambda t: t.reshape(-1),
    "in columns": lambda t: t.t(),
    "every other row": lambda t: t[::2],
    "every other column": lambda t: t[:, ::2],
    "flat with an odd length": lambda t: t.reshape(-1)[:-3],
    "one row repeated": lambda t: t[:1].expand(SIDE, SIDE),
    "one column repeated": lambda t: t[:, :1].expand(SIDE, SIDE),
    "one value repeated": lambda t: t[:1, :1].expand(SIDE, SIDE),
    "with a dimension of size 1": lambda t: t.reshape(SIDE, 1, SIDE),
    "three dimensions, permuted": lambda t: t.reshape(20, 10, SIDE).permute(2, 0, 1),
}
NOT_FOLLOWED = [n for n in LAYOUTS if "repeated" in n or "permuted" in n]  # the order in which torch sums these
ONE: dict[str, Callable[[Any], Any]] = {
    "exp": lambda t: t.exp(),
    "sqrt": lambda t: t.abs().sqrt(),
    "relu": lambda t: t.relu(),
    "neg": lambda t: -t,
    "clone": lambda t: t.clone(),
    "times a number": lambda t: t * 3,
    "compared": lambda t: t > 0.5,
    "sum": lambda t: t.sum(),
    "sum of rows": lambda t: t.sum(0),
    "sum of columns": lambda t: t.sum(-1),
    "to double": lambda t: t.double() + 1,
}
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "add with alpha": lambda a, b: a.add(b, alpha=0.3),
    "sub with alpha": lambda a, b: a.sub(b, alpha=-1.7),
    "add_ with alpha": lambda a, b: a.clone().add_(b, alpha=0.3),
    "mixed dtypes": lambda a, b: a + b.double(),
    "maximum": lambda a, b: a.maximum(b),
}


def matrix(engine: Any, seed: int) -> Any:
    a = np.random.default_rng(seed).standard_normal((SIDE, SIDE)).astype(np.float32)
    a[0, :6] = [0.0, -0.0, np.inf, -np.inf, np.nan, -1e-42]
    return engine.tensor(a)


def check(ours: Any, theirs: Any, last_bits: bool = False) -> None:
    assert str(ours.dtype) == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert tuple(ours.stride()) == tuple(theirs.stride())
    a, b = ours.numpy(), theirs.numpy()
    if last_bits:
        np.testing.assert_allclose(a, b, rtol=3e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(a, b)
        if a.dtype.kind == "f":
            here = ~np.isnan(a)
            np.testing.assert_array_equal(np.signbit(a)[here], np.signbit(b)[here])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ONE)
def test_of_one(name: str, layout: str) -> None:
    ours, theirs = (ONE[name](LAYOUTS[layout](matrix(engine, 1))) for engine in (tinytorch, torch))
    check(ours, theirs, last_bits=name in ("exp", "sqrt") or (name.startswith("sum") and layout in NOT_FOLLOWED))


# A clone of what is repeated has another layout, and cannot be added to in place as it lies.
PAIRS = [(name, layout) for name in TWO for layout in LAYOUTS if name != "add_ with alpha" or "repeated" not in layout]


@pytest.mark.parametrize(("name", "layout"), PAIRS)
def test_of_two(name: str, layout: str) -> None:
    arrange, f = LAYOUTS[layout], TWO[name]
    pairs = [(arrange(matrix(e, 1)), arrange(matrix(e, 2))) for e in (tinytorch, torch)]
    check(f(*pairs[0]), f(*pairs[1]))
    mixed = [(arrange(matrix(e, 1)), pair[1].clone()) for e, pair in zip((tinytorch, torch), pairs, strict=True)]
    check(f(*mixed[0]), f(*mixed[1]))


@pytest.mark.parametrize("shapes", [((300, 200), (200,)), ((300, 200), (300, 1)), ((300, 1, 200), (4, 200)), ((1,), (300, 200)),
                                    ((), (300, 200)), ((300, 1), (1, 200)), ((0, 40_000), (40_000,))])  # fmt: skip
def test_broadcast(shapes: tuple) -> None:
    rng = np.random.default_rng(0)
    a, b = (np.asarray(rng.standard_normal(s), np.float32) for s in shapes)
    for name in ("add", "mul", "maximum", "add with alpha"):
        f, about = TWO[name], name == "add with alpha"  # at the ends of rows torch may round twice
        check(f(tinytorch.tensor(a), tinytorch.tensor(b)), f(torch.tensor(a), torch.tensor(b)), about)
        check(f(tinytorch.tensor(b), tinytorch.tensor(a)), f(torch.tensor(b), torch.tensor(a)), about)


def test_shapes_that_do_not_fit_are_told_as_ever() -> None:
    for engine in (tinytorch, torch):
        with pytest.raises(RuntimeError, match=r"size of tensor a \(300\) must match the size of tensor b \(200\)"):
            engine.ones(200, 300) + engine.ones(300, 200)


def test_functions_of_the_largest_are_off_in_the_last_bits_at_most() -> None:
    a = np.random.default_rng(0).standard_normal(300_000).astype(np.float32)
    for name in ("exp", "log", "sin", "cos", "tanh", "expm1", "log1p", "atan"):
        source = np.abs(a) if name.startswith("log") else a
        got, want = (getattr(e.tensor(source), name)().numpy() for e in (tinytorch, torch))
        np.testing.assert_allclose(got, want, rtol=5e-7, atol=1e-7, err_msg=name)


def test_sums_of_negative_zeros() -> None:
    for n in (100_000, 7):
        check(tinytorch.full((n,), -0.0).sum(), torch.full((n,), -0.0).sum())
    check(tinytorch.full((100, 500), -0.0).sum(0), torch.full((100, 500), -0.0).sum(0))
