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

from tinytorch.viz import gettext

from ..safe_files import SafeFolder, read_text
from .lesson import lessons
from .site_folder import prepare_site
from .translation import check, text_in

INSTALL = "%pip install -q copylab"
SPEAK = "%env COPYLAB_LANGUAGE={language}"


def build_lite(folder: Path, wheels: Path, language: str = "en") -> None:
    """Build a JupyterLite of the course into `folder`; `wheels` holds a wheel of copylab and those that it needs.

    Of the wheels, those that run everywhere are taken. An existing folder must be empty or a site that this has
    built. Raises RuntimeError where JupyterLite is not installed or fails, ValueError if there is no wheel of copylab
    among them or no such language, OSError if the folder cannot be written or holds something else.
    """
    check(language, lessons())
    if any(
        importlib.util.find_spec(name) is None
        for name in ("jupyterlite_core", "jupyterlite_pyodide_kernel")
    ):
        raise RuntimeError(
            gettext(
                "JupyterLite is not installed here. Install it with: pip install 'copylab[lite]'"
            )
        )
    found = sorted(wheels.glob("*-none-any.whl"))
    if not any(wheel.name.startswith("copylab-") for wheel in found):
        raise ValueError(
            gettext(
                "there is no wheel of copylab in {wheels}. Make it with: pip wheel -w {wheels} copylab",
                wheels=wheels,
            )
        )
    site = prepare_site(folder)
    with tempfile.TemporaryDirectory() as work:
        contents, built = Path(work) / "contents", Path(work) / "site"
        source = SafeFolder(contents)
        source.make()
        for path in sorted(lessons().glob("*")):
            if path.is_file():
                text = (
                    text_in(path, language) if path.suffix in (".ipynb", ".md") else read_text(path)
                )
                source.write(
                    path.name,
                    (installing(text, language) if path.suffix == ".ipynb" else text).encode(),
                )
        command = [
            sys.executable,
            "-m",
            "jupyterlite_core.app",
            "build",
            "--contents",
            str(contents),
        ]
        command += ["--lite-dir", work, "--output-dir", str(built)]
        command += [word for wheel in found for word in ("--piplite-wheels", str(wheel.resolve()))]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr or done.stdout).strip()[-2000:])
        site.move_in(built)


def installing(text: str, language: str = "en") -> str:
    """Return a lesson whose first cell of code installs copylab into the browser's Python, and sets its language."""
    notebook: dict[str, Any] = json.loads(text)
    first = next(at for at, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "code")
    lines = [INSTALL] if language == "en" else [f"{INSTALL}\n", SPEAK.format(language=language)]
    install = {"id": "install", "source": lines}
    notebook["cells"].insert(
        first, notebook["cells"][first] | install | {"metadata": {}, "outputs": []}
    )
    notebook["metadata"]["kernelspec"] = {
        "name": "python",
        "display_name": "Python (Pyodide)",
        "language": "python",
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1)
