"""Time tinytorch beside PyTorch, other engines and bare NumPy: in one run, round by round, a process for each library.

    python benchmarks/run.py                  everything; prints the table, writes benchmarks/results.json
    python benchmarks/run.py --page           and puts table and plot into docs/
    python benchmarks/run.py ops network      some groups: copies views ops network chain size heap import pictures
    python benchmarks/run.py --rounds 5       fewer rounds than the usual 15
    python benchmarks/run.py --only "add/"    the cases with this in their name
    python benchmarks/run.py --libraries torch,tinytorch      some libraries
    python benchmarks/run.py --cpu            processor time in place of time: for a machine that has other work to do

Libraries that cannot be imported are left out, and the table says so. To have them all:
pip install ".[bench]" torch==2.13.0. tinygrad needs clang besides.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT)]

import once  # noqa: E402
import plot  # noqa: E402
import report  # noqa: E402

RESULTS = HERE / "results.json"


@dataclass(frozen=True)
class Library:
    """A library as it is run: its module in `libraries`, and how many threads it may use (0: as many as it takes)."""

    key: str
    module: str
    threads: int = 1


LIBRARIES = (
    Library("torch", "torch"),  # the others are ratios to it
    Library("tinytorch", "tinytorch"),
    Library("numpy", "numpy"),
    Library("torch-threads", "torch", 0),
    Library("mygrad", "mygrad"),
    Library("autograd", "autograd"),
    Library("tinygrad", "tinygrad"),
    Library("micrograd", "micrograd"),
)
SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)


class Process:
    """A worker, and the pipe to it."""

    def __init__(self, library: Library, clock: str = "wall") -> None:
        limits = {
            f"{name}_NUM_THREADS": str(library.threads) for name in ("OMP", "OPENBLAS", "MKL")
        }
        env = {**os.environ, "PYTHONPATH": str(ROOT), **(limits if library.threads else {})}
        self.pipe = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), library.module, str(library.threads), clock],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env,
        )  # fmt: skip
        self.greeting = self._answer()

    def _answer(self) -> dict[str, Any]:
        line = self.pipe.stdout.readline()  # type: ignore[union-attr]
        return json.loads(line) if line else {"error": "the process ended"}

    def ask(self, request: str, name: str) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        try:
            self.pipe.stdin.write(json.dumps({request: name}) + "\n")  # type: ignore[union-attr]
            self.pipe.stdin.flush()  # type: ignore[union-attr]
        except BrokenPipeError:
            return {"error": "the process ended"}
        return self._answer()

    def close(self) -> None:
        """End the process."""
        self.pipe.stdin.close()  # type: ignore[union-attr]
        self.pipe.stdout.close()  # type: ignore[union-attr]
        try:
            self.pipe.wait(10)
        except subprocess.TimeoutExpired:
            self.pipe.kill()
            self.pipe.wait()


def cases(groups: list[str], only: str) -> list[tuple[str, bool]]:
    """The names of the cases to run, "group/what/size", and whether each is long: then it gets few rounds."""
    from libraries import torchlike

    found: list[tuple[str, bool]] = []
    for group in ("copies", "views", "ops"):
        found += [
            (f"{group}/{case}/{n}", False)
            for n in (1, 1_000_000)
            for case in torchlike.names(group)
        ]
    found += [("network/step/64", False), ("network/1000 steps/64", True)]
    found += [("chain/forward + backward/10000", False), ("chain/forward + backward/1000000", True)]
    found += [(f"size/{operation}/{n}", False) for operation in report.CURVES for n in SIZES]
    return [(name, long) for name, long in found if name.split("/")[0] in groups and only in name]


def measure(
    names: list[tuple[str, bool]],
    rounds: int,
    libraries: tuple[Library, ...] = LIBRARIES,
    clock: str = "wall",
) -> dict[str, Any]:
    """Run the cases: in each round every library that has the case takes one sample, one after another."""
    processes: dict[str, Process] = {}
    about, missing = {}, {}
    for library in libraries:
        process = Process(library, clock)
        if "about" in process.greeting:
            processes[library.key], about[library.key] = process, process.greeting["about"]
        else:
            missing[library.key] = process.greeting.get(
                "missing", process.greeting.get("error", "")
            )
            process.close()
    samples: dict[str, dict[str, list]] = {}
    errors: dict[str, str] = {}
    for at, (name, long) in enumerate(names):
        print(f"\r{at + 1}/{len(names)} {name:<60}", end="", file=sys.stderr, flush=True)
        here = []
        for key, process in processes.items():
            answer = process.ask("prepare", name)
            if "calls" in answer:
                here.append(key)
            elif "error" in answer:
                errors[f"{key}: {name}"] = answer["error"]
        taken: dict[str, list] = {key: [] for key in here}
        for _ in range(min(rounds, 2) if long else rounds):
            for key in here:
                answer = processes[key].ask("time", name)
                if "seconds" in answer:
                    taken[key].append([answer["seconds"], answer["faults"]])
        samples[name] = {key: values for key, values in taken.items() if values}
    print(file=sys.stderr)
    for process in processes.values():
        process.close()
    return {
        "clock": clock,
        "libraries": about,
        "missing": missing,
        "errors": errors,
        "samples": samples,
    }


GROUPS = ("copies", "views", "ops", "network", "chain", "size", "heap", "import", "pictures")


def main() -> int:
    """Measure, print the table, write what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=" ".join(GROUPS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--libraries", default=",".join(x.key for x in LIBRARIES), metavar="NAMES")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    groups = options.groups or list(GROUPS)
    if unknown := set(groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    chosen = tuple(x for x in LIBRARIES if x.key in options.libraries.split(","))
    found = measure(
        cases(groups, options.only), options.rounds, chosen, "cpu" if options.cpu else "wall"
    )
    results = report.summary(found)
    apart = [g for g in ("chain", "heap", "import", "pictures") if g in groups and not options.only]
    results["once"] = once.measure(apart, options.rounds, "cpu" if options.cpu else "wall")
    options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(report.full_table(results))
    if options.page:
        plot.draw(results, ROOT / "docs" / "benchmarks")
        report.write_page(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
