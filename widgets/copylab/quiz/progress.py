"""What a learner has predicted and solved so far, in one file of the learner's own.

In a folder that the command `copylab` laid out, and in the folders below it, the file is
`copylab-progress.json` in the current folder. Elsewhere nothing is written, unless the environment
variable COPYLAB_PROGRESS names a file: what is noted is known until the process ends, as a notebook's
own variables are. The file is plain JSON, stays where it is, and is sent nowhere; deleting it forgets
everything. Outputs that a notebook stores do not depend on it, except for that of `progress()`
(overview.py).
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinytorch.viz import gettext

from ..safe_files import RefusedFileError, SafeFolder, is_regular_file

VARIABLE = "COPYLAB_PROGRESS"
NAME = "copylab-progress.json"
STATE = ".copylab.json"
"""The file by which a folder of the course is known. `course/layout.py` writes it."""

_KINDS = ("predictions", "exercises", "misconceptions")
_FIELDS: dict[str, type] = {
    "state": str,
    "in": str,
    "hints": int,
    "right": int,
    "of": int,
}  # what is reckoned with

_notes_of_process: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
"""What is noted where no file is written."""


def path() -> Path | None:
    """The file: what COPYLAB_PROGRESS names, else `copylab-progress.json` in the current folder if that is of a course.

    None if nothing is to be written.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    with contextlib.suppress(OSError):  # the current folder was removed
        here = Path.cwd()
        if any(is_regular_file(folder / STATE) for folder in (here, *here.parents)):
            return Path(NAME)
    return None


def load() -> dict[str, dict[str, Any]]:
    """Everything noted so far, by kind and key: predictions, exercises, misconceptions; all empty without a file.

    A file that cannot be understood, or a link in its place, is set aside as `NAME.broken` and a
    warning says so. Nothing in it is lost.
    """
    file = path()
    if file is None:
        return copy.deepcopy(_notes_of_process)
    folder = SafeFolder(file.parent)
    try:
        read = json.loads(folder.read(file.name).decode("utf-8"))
        entries = {kind: read.get(kind, {}) for kind in _KINDS}
        if not all(_understood(note) for kind in entries.values() for note in kind.values()):
            raise ValueError("not written by copylab")
    except FileNotFoundError:
        pass
    except OSError as error:
        # Of what is no file, such as a device that COPYLAB_PROGRESS names, others may be in need.
        if not (
            isinstance(error, RefusedFileError)
            and (file.is_file() or not file.exists())
            and _set_aside(file)
        ):
            what = {"name": file.name, "why": error.strerror}
            _warn(
                gettext(
                    "the progress file {name} cannot be read ({why}): starting without it", **what
                )
            )
    except (ValueError, AttributeError, RecursionError):
        _set_aside(file)
    else:
        return entries
    return {kind: {} for kind in _KINDS}


def note(kind: str, key: str | None, entry: Mapping[str, Any]) -> None:
    """Note `entry` under `key`; what was noted there before is updated. Without a key nothing is noted.

    kind: "predictions", "exercises" or "misconceptions". A file that cannot be written is a warning and no error:
    answers are not lost for it, they are only not kept.
    """
    if key is None:
        return
    file = path()
    if file is None:
        notes = _notes_of_process[kind]
        notes[key] = {**notes.get(key, {}), **entry}
        return
    folder = SafeFolder(file.parent)
    try:
        folder.make()
        with folder.lock():
            known = load()
            known[kind][key] = {**known[kind].get(key, {}), **entry}
            text = json.dumps({"version": 1, **known}, ensure_ascii=False, indent=1, sort_keys=True)
            folder.write(
                file.name, (text + "\n").encode("utf-8", "backslashreplace")
            )  # of half a character the JSON escape
    except OSError as error:
        what = {"name": file.name, "why": error.strerror}
        _warn(
            gettext("the progress file {name} cannot be written ({why}): this is not kept", **what)
        )


def recall(kind: str, key: str | None) -> dict[str, Any]:
    """What is noted under `key`; empty if nothing is."""
    return {} if key is None else dict(load()[kind].get(key, {}))


def _understood(entry: Any) -> bool:
    return isinstance(entry, dict) and all(
        isinstance(entry.get(name, kind()), kind) for name, kind in _FIELDS.items()
    )


def _set_aside(file: Path) -> bool:
    """Rename a file that cannot be understood, and warn; return True if that could be done."""
    folder = SafeFolder(file.parent)
    try:
        aside = folder.find_free_name(file.name, f"{file.name}.broken{{}}")
        folder.rename(file.name, aside)
    except OSError:
        return False
    what = {"name": file.name, "aside": aside}
    _warn(
        gettext("the progress file {name} could not be understood; it is kept as {aside}", **what)
    )
    return True


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
