"""Freed memory is kept for the next large arrays, on glibc and once; elsewhere nothing is done."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tinytorch
from tinytorch.base import heap

GLIBC = "glibc 2.36"


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the blocks that are allocated, in a process that has made nothing large so far."""
    made: list[int] = []

    def allocate(size: int, dtype: Any) -> Any:
        made.append(size)
        return np.zeros(0, dtype)

    heap.keep_freed_memory.cache_clear()
    monkeypatch.setattr(heap, "np", type("FakeNumPy", (), {"empty": allocate, "uint8": np.uint8}))
    monkeypatch.setattr(os, "confstr", lambda name: GLIBC, raising=False)
    monkeypatch.delenv("TINYTORCH_KEEP_MEMORY", raising=False)
    return made


def test_the_first_large_tensor_does_it_once(blocks: list[int]) -> None:
    tinytorch.ones(100)
    assert blocks == []
    tinytorch.from_numpy(np.zeros(1 << 14, np.float32))
    tinytorch.ones(1 << 20)
    assert blocks == [16 << 20]


def test_it_can_be_left_out(blocks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINYTORCH_KEEP_MEMORY", "0")
    tinytorch.ones(1 << 20)
    assert blocks == []


@pytest.mark.parametrize("answer", [None, "", OSError(22), ValueError(), AttributeError()])
def test_other_c_libraries_are_left_as_they_are(
    answer: Any, blocks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def confstr(name: str) -> str | None:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(os, "confstr", confstr, raising=False)
    tinytorch.ones(1 << 20)
    assert blocks == []


_FAULTS = """
import resource, numpy as np, tinytorch as torch
block = np.ones(4 << 20, np.uint8)
del block
x = torch.full((1 << 20,), 0.5, requires_grad=True)
def step():
    x.grad = None
    (x * x).exp().sum().backward()
step(); step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
step(); step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not heap._is_glibc(), reason="of glibc")
def test_a_step_faults_no_pages_in_anew() -> None:
    found = {}
    for value in ("0", "1"):
        env = {**os.environ, "TINYTORCH_KEEP_MEMORY": value}
        found[value] = int(subprocess.check_output([sys.executable, "-c", _FAULTS], env=env))
    assert found["0"] > 1000
    assert found["1"] < 100
