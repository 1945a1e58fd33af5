"""The benchmarks run, count right, and docs/speed.md shows what they measured. No timing is judged here."""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from project_files import ROOT

FOLDER = ROOT / "benchmarks"
RESULTS = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))


def module(name: str) -> Any:
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


report, run, torchlike = module("report"), module("run"), module("libraries.torchlike")


def sample(**taken: list[float]) -> dict[str, Any]:
    return {
        "clock": "wall", "libraries": dict.fromkeys(taken, "x"), "missing": {}, "errors": {},
        "samples": {"ops/add/1": {key: [[s, 0.0] for s in values] for key, values in taken.items()}},
    }  # fmt: skip


def test_the_page_shows_the_stored_results() -> None:
    text = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    assert report.section(RESULTS) in text
    assert RESULTS["date"] in text
    assert RESULTS["machine"] in text
    for path in re.findall(r"benchmarks/[\w.-]+svg", report.section(RESULTS)):
        assert (ROOT / "docs" / path).exists()


def test_every_row_of_the_page_was_measured() -> None:
    known = {name for name, _ in run.cases(list(run.GROUPS), "")}
    assert set(report.SHORT.values()) <= known
    for name in report.SHORT.values():
        assert RESULTS["cases"][name]["tinytorch"]["to torch"]


def test_ratios_are_taken_within_a_round() -> None:
    found = report.summary(
        sample(torch=[1.0, 2.0, 4.0], tinytorch=[0.5, 1.5, 1.0], numpy=[0.5, 0.5, 0.5])
    )
    row = found["cases"]["ops/add/1"]
    assert row["torch"]["seconds"] == 2.0
    # The quartiles of 0.5, 0.75 and 0.25: not the ratio of the medians, 1 / 2.
    assert row["tinytorch"]["to torch"] == [
        0.375,
        0.5,
        0.625,
    ]
    assert row["tinytorch"]["to numpy"] == [1.5, 2.0, 2.5]
    assert "to torch" not in row["torch"]
    assert (
        report.summary(sample(torch=[2.0], tinytorch=[1.0]))["cases"]["ops/add/1"]["tinytorch"][
            "to torch"
        ]
        == [0.5] * 3
    )


def test_it_runs(tmp_path: Path) -> None:
    libraries = (
        run.Library("tinytorch", "tinytorch"),
        run.Library("numpy", "numpy"),
        run.Library("none", "nothing"),
    )
    names = [
        ("ops/add, no grad/1", False),
        ("copies/detach/10", True),
        ("chain/forward + backward/10", False),
    ]
    results = report.summary(run.measure(names, 2, libraries))
    assert results["errors"] == {}
    assert list(results["missing"]) == ["none"]
    assert "ModuleNotFoundError" in results["missing"]["none"]
    assert set(results["libraries"]) == {"tinytorch", "numpy"}
    assert set(results["cases"]["ops/add, no grad/1"]) == {"tinytorch", "numpy"}
    assert set(results["cases"]["chain/forward + backward/10"]) == {"tinytorch"}
    for row in results["cases"].values():
        assert 0 < row["tinytorch"]["seconds"] < 1
    assert "ops/add, no grad/1" in report.full_table(results)
    page = tmp_path / "speed.md"
    page.write_text("nothing to replace", encoding="utf-8")
    with pytest.raises(ValueError, match="no place"):
        report.write_page(RESULTS, page)
    page.write_text(f"before\n{report.START}\nold\n{report.END}\nafter\n", encoding="utf-8")
    report.write_page(RESULTS, page)
    assert page.read_text(encoding="utf-8") == f"before\n{report.section(RESULTS)}\nafter\n"


def test_a_case_that_fails_is_told() -> None:
    found = run.measure([("network/step/-1", False)], 1, (run.Library("tinytorch", "tinytorch"),))
    assert list(found["errors"]) == ["tinytorch: network/step/-1"]
    assert found["samples"] == {"network/step/-1": {}}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def test_every_case_is_there_in_both_engines(engine: str) -> None:
    torch = importlib.import_module(engine)
    names = [
        f"{group}/{what}/1"
        for group in ("copies", "views", "ops")
        for what in torchlike.names(group)
    ]
    assert len(names) > 60
    for name in [*names, "network/step/2", "chain/forward + backward/5"]:
        torchlike.build(torch, name)()


@pytest.mark.stress
def test_the_plot_is_the_same_each_time_and_legible_in_both_themes(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot = module("plot")
    first = [p.read_text(encoding="utf-8") for p in plot.draw(RESULTS, tmp_path / "a")]
    assert first == [p.read_text(encoding="utf-8") for p in plot.draw(RESULTS, tmp_path / "b")]
    light, dark = first
    for svg in first:
        assert "tinytorch" in svg
        assert "elements (float32)" in svg
    assert plot.THEMES["light"][0] in light
    assert plot.THEMES["dark"][0] in dark


@pytest.mark.torch
def test_the_page_of_watch_shows_what_the_tools_say() -> None:
    pytest.importorskip("torch")
    peers = module("watch_peers")
    page = peers.PAGE.read_text(encoding="utf-8")
    table = page.partition(peers.START)[2].partition(peers.END)[0]
    alone, watched, *_ = peers.list_tools()
    for tool in (alone, watched):
        cells = [peers.judge(code, peers.run_fault(code, tool)) for code in peers.FAULTS.values()]
        assert f"| {tool.name} | {' | '.join(cells)} |" in table
    silent = peers.run_fault(peers.FAULTS["`.data`"], alone)
    assert (silent.raised, silent.is_right) == (False, False)


@pytest.mark.torch
def test_the_page_beside_other_tools_shows_what_copylab_says() -> None:
    pytest.importorskip("torch")
    peers = module("picture_peers")
    table = peers.PAGE.read_text(encoding="utf-8").partition(peers.START)[2]
    for doubt in peers.DOUBTS:
        found = peers.find_difference(peers.COPYLAB[doubt.call], doubt)
        assert f"`{doubt.call}`: {peers.make_cell(found)} |" in table
        assert peers.find_difference(lambda program: f"{len(program)} letters", doubt)
    assert peers.make_cell([]) == "no difference"
