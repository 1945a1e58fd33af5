"""What a memory picture says of what is too large to be shown, and of what modules keep."""

import random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from viz.test_memory import words_in

from tinytorch.viz import explain, memory, snapshot
from tinytorch.viz.read.cell_summary import summarize_cells


def test_large_storages_are_summarized(engine: ModuleType) -> None:
    x = engine.arange(0, 1000, dtype=engine.float32)
    picture = memory(x)
    assert "  all cells: min 0.0, max 999.0, mean 499.5\n" in picture.text
    assert "1,000 cells min 0.0, max 999.0, mean 499.5" in " ".join(words_in(picture.svg))
    x[3], x[5], x[6] = float("nan"), float("inf"), float("-inf")
    said = "all cells: min 0.0, max 999.0, mean 501.0; 1 NaN; 2 infinite"
    mean = f"mean {(499500 - 14) / 997:.5g}"
    assert said.replace("mean 501.0", mean) in memory(x).text
    assert "all cells: 30 NaN" in memory(nan=engine.full((30,), float("nan"))).text
    ints = memory(n=engine.arange(50)).text
    assert "all cells: min 0, max 49, mean 24.5" in ints
    assert "all cells" not in memory(small=engine.zeros(24)).text
    assert "all cells" not in memory(x, values=False).text
    assert x._version == 3
    assert snapshot(x).storages[0].summary is not None


@pytest.mark.torch
def test_what_numpy_does_not_have_is_summarized_too() -> None:
    import torch

    half = torch.arange(64, dtype=torch.bfloat16)
    assert "all cells: min 0.0, max 63.0, mean 31.5" in memory(half).text
    assert "all cells" not in memory(torch.zeros(64, dtype=torch.complex64)).text
    assert "all cells" not in memory(torch.zeros(64, device="meta")).text
    flags = torch.arange(64) % 4 == 0
    assert "all cells: min False, max True, mean 0.25" in memory(flags).text


def test_a_summary_is_that_of_all_cells_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tinytorch.viz.read.cell_summary._CELLS_AT_ONCE", 7)
    choose = random.Random(1)
    for size in (1, 7, 30, 100):
        values = np.array([choose.choice((1.5, -2.0, 3.25, np.nan, np.inf)) for _ in range(size)])

        class Part:
            def __init__(self, start: int, length: int, values: Any = values) -> None:
                self.values = values[start : start + length]

            def clone(self) -> Any:
                return self

            def numpy(self) -> Any:
                return self.values

        found = summarize_cells(size, Part)
        good = values[np.isfinite(values)]
        assert found is not None
        assert found[3:] == (len(good), int(np.isnan(values).sum()), int(np.isinf(values).sum()))
        if len(good):
            assert (found.lowest, found.highest) == (good.min(), good.max())
            assert found.mean == pytest.approx(good.mean())


def test_a_model_has_a_total(engine: ModuleType) -> None:
    net = engine.nn.Sequential(engine.nn.Linear(4, 4), engine.nn.Linear(4, 4))
    net[1].weight = net[0].weight
    picture = memory(net)
    assert picture.text.startswith("Memory: 3 tensors in 3 storages, 96 bytes.\n")
    assert "3 tensors in 3 storages, 96 bytes" in picture.svg
    assert memory(x=engine.zeros(2)).text.startswith("Memory: 1 tensor in 1 storage.\n")


def test_what_is_not_finite_is_counted_in_folds(engine: ModuleType) -> None:
    net = engine.nn.Sequential(*[engine.nn.Linear(4, 4) for _ in range(20)])
    assert "NaN" not in memory(net).text
    with engine.no_grad():
        net[3].weight[0, 0] = float("nan")
        net[4].bias[1] = float("inf")
    assert "1 NaN, 1 infinite" in memory(net).text


def test_what_a_module_keeps_with_its_graph_is_flagged(engine: ModuleType) -> None:
    said = "Note: a module holds it, and with it the graph that computed it."
    net = engine.nn.Sequential(*[engine.nn.Linear(2, 2) for _ in range(20)])
    net[7].register_buffer("mean", engine.zeros(2))
    net.losses = []
    assert said not in memory(net).text
    assert "net.8 to 19, 12 times" in memory(net).text
    h = net[7](engine.ones(1, 2))
    net[7].mean = 0.9 * net[7].mean + 0.1 * h.sum(0)
    net.losses.append(h.sum())
    net[2].last = h
    text = memory(net, h).text
    assert text.count(said) == 3, "in a model of which most is folded"
    for name in ("net.7.mean", "net.losses.0", "net.2.last = h"):
        assert f"{name}: shape" in text
    assert said not in memory(h).text
    assert "a module holds it" not in explain(h).text
    with engine.no_grad():
        net[7].mean = net[7].mean.detach()
    assert memory(net, h).text.count(said) == 2
