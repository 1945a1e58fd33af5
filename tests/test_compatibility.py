"""docs/compatibility.md says what tinytorch has of PyTorch's names; it is made from the code, and current."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest
from releases import FOLLOWED, installed_release

import tinytorch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
make = importlib.import_module("make_compatibility")


def _shared(text: str) -> dict[str, set[str]]:
    found = {}
    for part in text.partition("\n## What is absent")[0].split("\n## ")[1:]:
        place, _, rest = part.partition("\n")
        found[place.strip("`")] = set(rest.strip().replace("`", "").split(", "))
    return found


def test_what_the_document_names_is_there() -> None:
    shared = _shared(make.DOCUMENT.read_text(encoding="utf-8"))
    assert set(shared) == set(make.PLACES)
    for place, names in shared.items():
        assert names <= make.names("tinytorch", place), place


def test_what_the_document_calls_absent_is_absent() -> None:
    absent = make.DOCUMENT.read_text(encoding="utf-8").partition("\n## What is absent")[2]
    names, _, forms = absent.partition("And these forms")
    found = re.findall(r"`(\w+)`", names)
    assert len(found) > 100
    assert [name for name in found if hasattr(tinytorch.Tensor, name)] == []
    assert "`bmm(Tensor self, Tensor mat2, ScalarType out_dtype)`" in forms


@pytest.mark.torch
def test_the_page_is_current() -> None:
    def compared(
        text: str,
    ) -> str:  # another release has more names or fewer, of which tinytorch need have none
        return (
            text
            if installed_release() == FOLLOWED
            else re.sub(r"\| \d+ \|$", "|", text, flags=re.MULTILINE)
        )

    stored = make.DOCUMENT.read_text(encoding="utf-8")
    assert compared(stored) == compared(make.HEAD + make.table()), "run docs/make_compatibility.py"


@pytest.mark.torch
def test_nothing_public_is_made_up() -> None:
    for place in make.PLACES:
        made_up = make.names("tinytorch", place) - make.names("torch", place)
        assert made_up <= {"absolute_"}, place  # which PyTorch has as a method alone


@pytest.mark.parametrize("place", [p for p in make.PLACES if p != "torch.Tensor"])
def test_what_is_missing_says_so(place: str) -> None:
    where = make.at("tinytorch", place)
    assert not hasattr(where, "surely_nothing")
    with pytest.raises(
        AttributeError, match=f"module '{place}' has no attribute 'surely_nothing'"
    ) as error:
        _ = where.surely_nothing
    assert "tinytorch has no 'surely_nothing'" in error.value.__notes__[0]


@pytest.mark.torch
def test_what_a_tensor_lacks_says_so() -> None:
    absent = make.names("torch", "torch.Tensor") - make.names("tinytorch", "torch.Tensor")
    assert "svd" in absent
    t = tinytorch.ones(1)
    for name in absent:
        assert not hasattr(tinytorch.Tensor, name)
        with pytest.raises(
            AttributeError, match=f"^'Tensor' object has no attribute '{name}'"
        ) as error:
            getattr(t, name)
        assert f"tinytorch has no '{name}'" in error.value.__notes__[0]
