"""Attributes of torch.Tensor that tinytorch's lacks: the list is current, and a name on it says what to do."""

from __future__ import annotations

import pytest

import tinytorch
from tinytorch.base.errors import ABSENT_FROM_TENSOR


@pytest.mark.torch
def test_the_list_is_current() -> None:
    import torch

    theirs = {name for name in dir(torch.Tensor) if not name.startswith("_")}
    theirs -= set(dir(tinytorch.Tensor))
    assert {
        name
        for name in theirs
        if name not in ABSENT_FROM_TENSOR and name.rstrip("_") not in ABSENT_FROM_TENSOR
    } == set()
    assert set(ABSENT_FROM_TENSOR) <= theirs


def test_an_absent_name_says_so_and_is_no_attribute() -> None:
    x = tinytorch.ones(2)
    assert not hasattr(x, "svd") and "svd" not in dir(x)
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'svd'") as caught:
        x.svd()  # type: ignore[attr-defined]
    assert "the pictures and widgets work on its tensors too" in caught.value.__notes__[0]
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'svd'") as caught:
        tinytorch.svd(x)  # type: ignore[attr-defined]
    assert "tinytorch has no 'svd'" in caught.value.__notes__[0]


def test_what_would_be_another_value_is_refused() -> None:
    a = tinytorch.arange(6.0).view(3, 2).t()
    row = a.split(1, 0)[1]
    with pytest.raises(NotImplementedError, match="clone"):
        row.data.index_put_((tinytorch.tensor([0, 0]),), row, accumulate=True)
    assert a.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert row.index_put((tinytorch.tensor([0, 0]),), row.clone(), accumulate=True).tolist() == [
        [3, 9, 15]
    ]
