"""The course folder that the current folder is in, its language, and if it shows solutions.

Loaded with the first public name, so that a Jupyter which `copylab` did not start, such as a class's
JupyterHub or VS Code, shows widgets and pictures in the language of the lessons beside them.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from .safe_files import SafeFolder, is_regular_file
from .wording import set_default_language

COURSE_STATE_FILE = ".copylab.json"
"""The file by which a folder of the course is known. `course/layout.py` writes it."""
SOLUTIONS = "COPYLAB_SOLUTIONS"
"""The variable that says `off` where no solutions are to be shown."""
_LIMIT = 2**20
"""Maximum size in bytes of a state file that is asked for a language: a hundred times ours."""


def find_course_folder() -> Path | None:
    """Return the course folder that the current folder is or is in; None if there is none."""
    # The current folder may have been removed.
    with contextlib.suppress(OSError):
        current = Path.cwd()
        # Upwards: the solutions are in a folder of the course, and a learner may work in one.
        for folder in (current, *current.parents):
            if is_regular_file(folder / COURSE_STATE_FILE):
                return folder
    return None


def find_course_language() -> str | None:
    """Return the language that the lessons around the current folder were laid out in.

    None for English, without a course folder, and where its file cannot be understood: the command
    `copylab` says so, an import has nobody to say it to.
    """
    language = _read_state().get("language")
    # It becomes a part of a path: letters alone.
    if isinstance(language, str) and language.isascii() and language.isalpha():
        return None if language == "en" else language
    return None


def hides_solutions() -> bool:
    """Return True if solutions are not to be shown here.

    COPYLAB_SOLUTIONS=off says so, and so does a course folder that was laid out with it, in every
    Jupyter that is started there; any other value of the variable shows them again.
    """
    if choice := os.environ.get(SOLUTIONS):
        return choice == "off"
    return bool(_read_state().get("solutions") == "off")


def _read_state() -> dict[str, Any]:
    """Return the state file around the current folder; empty if there is none or it is none."""
    folder = find_course_folder()
    if folder is not None:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            content: Any = json.loads(SafeFolder(folder).read(COURSE_STATE_FILE, _LIMIT))
            if isinstance(content, dict):
                return content
    return {}


set_default_language(find_course_language())
