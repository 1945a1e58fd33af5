"""What some tests need and a machine may lack: real PyTorch and a browser.

The one place that says whether they are there, in words that tell the reader how to get them.
Standard library alone: the test command asks here before anything else is imported.
"""

import importlib.metadata
import os
import shutil
from pathlib import Path

TORCH = "2.13.0"
"""The version to get where there is none: that which tinytorch follows. The tests run with any."""

REQUIRE_ALL = os.environ.get("COPYLAB_REQUIRE_ALL") == "1"
"""True where nothing may be left unchecked: a skipped test then counts as failed."""

_BROWSERS = (
    # The same engine without windows: its pages open a fifth sooner.
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)


def torch_missing() -> str | None:
    """Return why tests against PyTorch cannot run, or None if they can."""
    # Its metadata alone: to import it takes seconds.
    try:
        importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return f"PyTorch is not installed (get it with: .venv/bin/pip install torch=={TORCH})"
    return None


def find_browser() -> str | None:
    """Return the path of a Chromium-like browser, or None.

    That is COPYLAB_BROWSER if it is set, else the first one on the PATH.
    """
    named = os.environ.get("COPYLAB_BROWSER")
    if named:
        # No other in its place: whoever names one wants to know that it is missing.
        return named if Path(named).is_file() else None
    for name in _BROWSERS:
        if path := shutil.which(name):
            return path
    return None


def browser_missing() -> str | None:
    """Return why browser tests cannot run, or None if they can."""
    if find_browser():
        return None
    return (
        "no Chromium or Chrome was found (on Debian: apt install chromium libatomic1; "
        "or name yours in COPYLAB_BROWSER)"
    )
