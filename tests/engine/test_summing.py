"""Sums and means of floats are added in torch's order: equal to the last bit, whatever the layout."""

from __future__ import annotations

import numpy as np
import pytest
from needs import torch_missing

import tinytorch

torch = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch

SHAPES = [(1,), (3,), (5,), (7,), (8,), (15,), (16,), (31,), (33,), (64,), (100,), (513,), (5000,), (20000,), (6, 5),
          (5, 40), (40, 5), (100, 70), (1, 9), (9, 1), (3, 17, 4), (4, 3, 33), (2, 3, 4, 5), (600, 9)]  # fmt: skip


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_agree_to_the_last_bit(shape: tuple, kind: type) -> None:
    data: np.ndarray = np.random.default_rng(len(shape) + shape[0]).standard_normal(shape).astype(kind)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # with more, torch adds large arrays in as many parts
    try:
        for dims in [None, *range(len(shape)), tuple(range(1, len(shape))), tuple(range(len(shape) - 1))]:
            for turn in (lambda t: t, lambda t: t.mT if t.ndim > 1 else t[::2]):
                theirs, ours = turn(torch.from_numpy(data)), turn(tinytorch.from_numpy(data))
                for name in ("sum", "mean"):
                    expected = getattr(theirs, name)(dims) if dims is not None else getattr(theirs, name)()
                    got = getattr(ours, name)(dims) if dims is not None else getattr(ours, name)()
                    assert expected.numpy().tobytes() == got.numpy().tobytes(), (name, dims)
    finally:
        torch.set_num_threads(threads)


def test_sums_of_minus_zero_are_zero() -> None:
    for shape in [(1,), (3,), (9,), (40,), (5, 3), (3, 5)]:
        data = -torch.zeros(shape)
        for dim in range(len(shape)):
            expected = data.sum(dim)
            got = tinytorch.from_numpy(data.numpy()).sum(dim)
            assert repr(expected) == repr(got)


def test_small_batches_of_products_agree_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        m, k, n = (int(i) for i in rng.integers(1, 7, 3))
        a, b = rng.standard_normal((2, m, k)).astype(np.float32), rng.standard_normal((2, k, n)).astype(np.float32)
        expected = torch.bmm(torch.from_numpy(a), torch.from_numpy(b))
        got = tinytorch.bmm(tinytorch.from_numpy(a), tinytorch.from_numpy(b))
        assert expected.numpy().tobytes() == got.numpy().tobytes()
