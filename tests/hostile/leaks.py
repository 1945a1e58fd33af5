"""Pictures, widgets and steps in great numbers: what they took is given back.

    python tests/hostile/leaks.py               10,000 pictures, 1,000 widgets, 100,000 steps; some minutes
    python tests/hostile/leaks.py --part 0.01   a hundredth of that

Prints the memory of the process after each tenth. The first two load what is loaded late; from then on Python's objects
and the memory may grow by 2 %, and comms, widgets and threads are as many as before. The interpreter makes its table of
names anew now and then, 2 MB at once: these are not counted.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import threading
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import copylab
import ipywidgets
from comm import get_comm_manager

import tinytorch as torch
from tinytorch.viz import graph, memory, snapshot

GROWS = 0.02
TABLE = 4.0  # MB
PROGRAM = """
x = torch.ones(3, requires_grad=True)
for k in range(49):
    y = x * k
    z = y.detach()
    y.sum().backward()
"""


def in_use() -> float:
    """Memory of the process, in MB."""
    gc.collect()
    return (
        int(Path("/proc/self/statm").read_text("ascii").split()[1])
        * os.sysconf("SC_PAGE_SIZE")
        / 1e6
    )


def open_now() -> tuple[int, int, int]:
    """Count the comms, widgets and threads."""
    return (
        len(get_comm_manager().comms),
        len(ipywidgets.widgets.widget._instances),
        threading.active_count(),
    )


def pictures(number: int) -> int:
    """Draw as many pictures of memory and graph, of other tensors each time; give their number."""
    for n in range(number // 2):
        x = torch.ones(2 + n % 5, requires_grad=True)
        names = {f"x{n % 100}": x, "y": x * n, "view": x.detach()[1:]}
        for one in (memory(names), graph(snapshot(names))):
            assert one.svg
            assert one.text
    return number // 2 * 2


def check(t: object) -> str | None:
    """A check of an exercise."""
    return None if t else "no"


MAKERS: tuple[Callable[[], ipywidgets.Widget], ...] = (
    lambda: copylab.CopyLab(engine=torch),
    lambda: copylab.compare("clone", "detach", engine=torch),
    lambda: copylab.predict("x = torch.ones(2)\ny = x.clone()", engine=torch).live(),
    lambda: copylab.exercise("leak", "do", check, solution="t = 1").live(),
    lambda: copylab.steps("x = torch.ones(2)\ny = x.clone()", engine=torch).live(),
)


def widgets(number: int) -> int:
    """Open and close as many widgets; give their number."""
    for make in islice(cycle(MAKERS), number):
        make().close()
    return number


def steps(number: int) -> int:
    """Step through programs of about 200 steps each until there were as many; give their number."""
    done = 0
    while done < number:
        made = copylab.steps(PROGRAM, engine=torch)
        assert made.text
        done += len(made)
    return done


KINDS = {"pictures": (pictures, 10_000), "widgets": (widgets, 1_000), "steps": (steps, 100_000)}


def attack(kind: str, part: float) -> tuple[int, list[float], str]:
    """Make ten times a tenth: how many there were, the memory after each tenth, and what is left over or ""."""
    do, number = KINDS[kind]
    tenth = max(len(MAKERS), int(number * part / 10))
    made, sizes = do(tenth), [in_use()]
    before, objects = open_now(), sys.getallocatedblocks()
    for _ in range(9):
        made += do(tenth)
        sizes.append(in_use())
    if (after := open_now()) != before:
        return made, sizes, f"comms, widgets, threads: {before} before, {after} after"
    if (more := sys.getallocatedblocks() / objects - 1) > GROWS:
        return made, sizes, f"{more:.1%} more objects"
    grown = (sizes[-1] - TABLE) / sizes[1] - 1
    return made, sizes, f"{grown:.1%} more memory" if grown > GROWS else ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", type=float, default=1.0)
    parser.add_argument("kinds", nargs="*")
    asked = parser.parse_args()
    failed = 0
    for kind in asked.kinds or KINDS:
        count, taken, wrong = attack(kind, asked.part)
        failed += bool(wrong)
        print(
            f"{count} {kind}: {', '.join(f'{size:.1f}' for size in taken)} MB. {wrong or 'Nothing is left.'}",
            flush=True,
        )
    sys.exit(bool(failed))
