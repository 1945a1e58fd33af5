"""The course folder that the current folder is in, and its language.

Loaded with the first public name, so that a Jupyter which `copylab` did not start, such as a class's
JupyterHub or VS Code, shows widgets and pictures in the language of the lessons beside them.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from .safe_files import SafeFolder, is_regular_file
from .wording import set_default_language

COURSE_STATE_FILE = ".copylab.json"
"""The file by which a folder of the course is known. `course/layout.py` writes it."""
_LIMIT = 2**20
"""Maximum size in bytes of a state file that is asked for a language: a hundred times ours."""


def find_course_folder() -> Path | None:
    """Return the course folder that the current folder is or is in; None if there is none."""
    # The current folder may have been removed.
    with contextlib.suppress(OSError):
        current = Path.cwd()
        for folder in (current, *current.parents):
            if is_regular_file(folder / COURSE_STATE_FILE):
                return folder
    return None


def find_course_language() -> str | None:
    """Return the language that the lessons around the current folder were laid out in.

    None for English, without a course folder, and where its file cannot be understood: the command
    `copylab` says so, an import has nobody to say it to.
    """
    folder = find_course_folder()
    if folder is None:
        return None
    with contextlib.suppress(OSError, ValueError, RecursionError):
        content: Any = json.loads(SafeFolder(folder).read(COURSE_STATE_FILE, _LIMIT))
        language = content.get("language") if isinstance(content, dict) else None
        # It becomes a part of a path: letters alone.
        if isinstance(language, str) and language.isascii() and language.isalpha():
            return None if language == "en" else language
    return None


set_default_language(find_course_language())
