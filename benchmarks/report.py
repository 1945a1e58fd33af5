"""From samples to ratios, and from ratios to tables: the long one is printed, the short one is in docs/speed.md."""

from __future__ import annotations

import datetime as dt
import platform
import re
import statistics
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BASE = "torch"
CURVES = ("mul", "(x*y).sum() + backward")

# The rows of docs/speed.md: what it says, and the case behind it.
SHORT = {
    "`detach()`, 1 element": "copies/detach/1",
    "`clone()`, 1 element": "copies/clone/1",
    "`view(-1, 1)`, 1 element": "views/view/1",
    "`x * y`, 1 element": "ops/mul/1",
    "`(x * y).sum()` and backward, 1 element": "ops/(x*y).sum() + backward/1",
    "`clone()`, 1,000,000 elements": "copies/clone/1000000",
    "`x * y`, 1,000,000 elements": "ops/mul/1000000",
    "`x.exp()`, 1,000,000 elements": "ops/exp/1000000",
    "MLP 784-128-10, batch 64: one step of SGD": "network/step/64",
    "chain of 10,000 nodes and backward": "chain/forward + backward/10000",
}
COLUMNS = {
    "tinytorch": "tinytorch",
    "numpy": "bare NumPy",
    "mygrad": "MyGrad",
    "autograd": "HIPS autograd",
    "micrograd": "micrograd",
    "tinygrad": "tinygrad",
}
CLOCKS = {"wall": "time", "cpu": "processor time"}
START, END = (
    "<!-- benchmarks: written by benchmarks/run.py --page -->",
    "<!-- end of benchmarks -->",
)


def _quartiles(values: list[float]) -> list[float]:
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def machine() -> str:
    """The processor and the system, in words."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        if lines:
            name = (
                f"{lines[0].partition(':')[2].strip()}, {len(lines)} core{'s' * (len(lines) > 1)}"
            )
    return f"{name}, {platform.system()}, Python {platform.python_version()}"


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """Medians of the samples, and of the ratios of samples of one round to PyTorch's and NumPy's, with quartiles."""
    cases = {}
    for name, taken in found["samples"].items():
        row: dict[str, Any] = {}
        for key, values in taken.items():
            seconds = [s for s, _ in values]
            row[key] = {
                "seconds": _short(statistics.median(seconds)),
                "faults": _short(statistics.median([f for _, f in values])),
            }
            for base in (BASE, "numpy"):
                if base in taken and base != key:
                    ratios = [s / b for s, (b, _) in zip(seconds, taken[base], strict=False)]
                    row[key][f"to {base}"] = [_short(q) for q in _quartiles(ratios)]
        cases[name] = row
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": machine(),
        "clock": found["clock"],
        "libraries": found["libraries"],
        "missing": found["missing"],
        "errors": found["errors"],
        "cases": cases,
    }


def _short(x: float) -> float:
    return float(f"{x:.4g}")


def in_words(seconds: float) -> str:
    """A time with a unit that fits: 250 ns, 1.2 ms, 3.4 s."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "0 ns"


def _plain(x: float) -> str:
    return f"{x:.0f}" if x >= 10 else f"{x:.2g}"


def _ratio(row: dict[str, Any], key: str) -> list[float] | None:
    return row[key].get(f"to {BASE}") if key in row else None


def full_table(results: dict[str, Any]) -> str:
    """Every case: PyTorch's time, then each library's ratio to it with its quartiles."""
    keys = [k for k in results["libraries"] if k != BASE]
    lines = [
        f"{results['date']}  {results['machine']}",
        *[f"  {k}: {v}" for k, v in results["libraries"].items()],
    ]
    lines += [f"  left out: {k}: {v}" for k, v in results["missing"].items()]
    lines += ["", f"{'case':<48}{BASE:>10}" + "".join(f"{k:>20}" for k in keys)]
    for name, row in results["cases"].items():
        line = f"{name:<48}{in_words(row[BASE]['seconds']) if BASE in row else '-':>10}"
        for key in keys:
            cell = "-"
            if key in row:
                ratio = _ratio(row, key)
                cell = (
                    "{1:.2f} ({0:.2f}-{2:.2f})".format(*ratio)
                    if ratio
                    else in_words(row[key]["seconds"])
                )
            line += f"{cell:>20}"
        lines.append(line)
    for heading, values in results.get("once", {}).items():
        lines += ["", heading]
        for name, value in values.items():
            entries = value if isinstance(value, dict) else {"": value}
            lines += [
                f"  {name} {k}: {in_words(v) if heading != 'bytes a node' else f'{v:.0f}'}"
                for k, v in entries.items()
            ]
    lines += [f"error: {k}: {v}" for k, v in results["errors"].items()]
    return "\n".join(lines)


def _row_of_processes(words: str, seconds: dict[str, float], columns: dict[str, str]) -> str:
    """A row of the README's table, of what each library took in processes of its own."""
    base, cells = seconds[BASE], []
    for key in columns:
        told = _plain(seconds[key] / base) if key in seconds else ""
        cells.append(f"**{told}**" if key == "tinytorch" else told)
    return f"| {words} | {in_words(base)} | " + " | ".join(cells) + " |"


def short_table(results: dict[str, Any]) -> str:
    """The page's table, in Markdown: PyTorch's time, and the others' ratios to it."""
    columns = {
        k: v for k, v in COLUMNS.items() if any(k in row for row in results["cases"].values())
    }
    lines = [
        "| | PyTorch | " + " | ".join(columns.values()) + " |",
        "|---|" + "--:|" * (len(columns) + 1),
    ]
    for words, name in SHORT.items():
        row = results["cases"].get(name, {})
        if BASE not in row:
            continue
        cells = []
        for key in columns:
            ratio = _ratio(row, key)
            cells.append(
                ""
                if ratio is None
                else f"**{ratio[1]:.2f}**"
                if key == "tinytorch"
                else _plain(ratio[1])
            )
        lines.append(f"| {words} | {in_words(row[BASE]['seconds'])} | " + " | ".join(cells) + " |")
    once = results.get("once", {})
    for state, seconds in once.get("heap", {}).items():
        step = f"`(x * y).exp().sum()` and backward, 1,000,000 elements, {state}"
        lines.append(_row_of_processes(step, seconds, columns))
    if {"numpy", "tinytorch", "torch"} <= set(once.get("import", {})):
        lines.append(_row_of_processes("`import`", once["import"], columns))
    return "\n".join(lines)


def _pictured(results: dict[str, Any]) -> str:
    """A sentence on what pictures take; they have no peer to be a ratio to."""
    drawn = results.get("once", {}).get("pictures", {}).get("tinytorch", {})
    if not drawn:
        return ""
    return (
        "And on tinytorch: "
        + ", ".join(f"{picture} {in_words(seconds)}" for picture, seconds in drawn.items())
        + ".\n\n"
    )


def section(results: dict[str, Any]) -> str:
    """What is between the page's markers."""
    missing = f" Not run here: {', '.join(results['missing'])}." if results["missing"] else ""
    return (
        f"{START}\n"
        f"Measured on {results['date']}: {results['machine']}.\n"
        f"PyTorch's {CLOCKS[results['clock']]} on one thread, then how many times that the others take: medians of\n"
        "the ratios within each round of one run, in which all take turns, a process for each."
        f"{missing}\n\n"
        f"{short_table(results)}\n\n"
        f"{_pictured(results)}"
        '<picture><source media="(prefers-color-scheme: dark)" srcset="benchmarks/size-dark.svg">'
        '<img alt="Cost of x * y, and of (x * y).sum() with backward, against the number of elements, on log axes: '
        'small tensors cost what the call costs, large ones what the memory costs" '
        'src="benchmarks/size-light.svg"></picture>\n'
        f"{END}"
    )


def write_page(results: dict[str, Any], path: Path = ROOT / "docs" / "speed.md") -> None:
    """Replace what stands between the markers. ValueError if they are not there."""
    text = path.read_text(encoding="utf-8")
    found = re.search(f"{re.escape(START)}.*?{re.escape(END)}", text, re.DOTALL)
    if found is None:
        raise ValueError(f"{path.name} has no place for the table: {START} ... {END}")
    path.write_text(
        text[: found.start()] + section(results) + text[found.end() :], encoding="utf-8"
    )
