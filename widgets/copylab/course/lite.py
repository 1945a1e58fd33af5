"""The course in the browser's own Python: a JupyterLite, which any static host can serve.

    pip wheel --wheel-dir wheels copylab
    copylab site FOLDER --lite wheels

Lessons run in the reader's browser, without a server. Pyodide, the Python of the browser, and NumPy come from its own
host on the network when a lesson is opened; copylab comes from the wheels that are given here.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tinytorch.viz.catalogue import gettext

from .lesson import lessons

INSTALL = "%pip install -q copylab"


def build_lite(folder: Path, wheels: Path) -> None:
    """Build a JupyterLite of the course into `folder`; `wheels` holds a wheel of copylab and those that it needs.

    Of the wheels, those that run everywhere are taken. Raises RuntimeError where JupyterLite is not installed or fails,
    ValueError if there is no wheel of copylab among them.
    """
    if any(importlib.util.find_spec(name) is None for name in ("jupyterlite_core", "jupyterlite_pyodide_kernel")):
        raise RuntimeError(gettext("JupyterLite is not installed here. Install it with: pip install 'copylab[lite]'"))
    found = sorted(wheels.glob("*-none-any.whl"))
    if not any(wheel.name.startswith("copylab-") for wheel in found):
        raise ValueError(
            gettext(
                "there is no wheel of copylab in {wheels}. Make it with: pip wheel -w {wheels} copylab", wheels=wheels
            )
        )
    with tempfile.TemporaryDirectory() as work:
        contents = Path(work) / "contents"
        contents.mkdir()
        for path in sorted(lessons().glob("*")):
            if path.is_file():
                text = path.read_text("utf-8")
                (contents / path.name).write_text(installing(text) if path.suffix == ".ipynb" else text, "utf-8")
        command = [sys.executable, "-m", "jupyterlite_core.app", "build", "--contents", str(contents)]
        command += ["--lite-dir", work, "--output-dir", str(folder.resolve())]
        command += [word for wheel in found for word in ("--piplite-wheels", str(wheel.resolve()))]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr or done.stdout).strip()[-2000:])


def installing(text: str) -> str:
    """A lesson whose first cell of code installs copylab into the browser's Python."""
    notebook: dict[str, Any] = json.loads(text)
    first = next(at for at, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "code")
    install = {"id": "install", "source": [INSTALL]}
    notebook["cells"].insert(first, notebook["cells"][first] | install | {"metadata": {}, "outputs": []})
    notebook["metadata"]["kernelspec"] = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    return json.dumps(notebook, ensure_ascii=False, indent=1)
