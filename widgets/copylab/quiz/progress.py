"""What a learner has predicted and solved so far, in one file of the learner's own.

In a folder that the command `copylab` laid out, and in the folders below it, the file is
`copylab-progress.json` in the current folder. Elsewhere nothing is written, unless the environment
variable COPYLAB_PROGRESS names a file: notes are known until the process ends, as a notebook's own
variables are. The file is plain JSON and is sent nowhere; deleting it forgets everything. Stored
outputs of notebooks do not depend on it, except for that of `progress()` (`course/overview.py`).
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import secrets
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..course_folder import find_course_folder
from ..safe_files import RefusedFileError, SafeFolder
from ..wording import gettext

VARIABLE = "COPYLAB_PROGRESS"
PROGRESS_FILE = "copylab-progress.json"

_KINDS = ("predictions", "exercises", "misconceptions", "recalls")
_TYPES_OF_FIELDS: dict[str, type] = {
    "state": str,
    "in": str,
    "hints": int,
    "right": int,
    "of": int,
    "retests": int,
}
"""Fields that others compute with. With another type in one, copylab did not write the note."""

_notes_of_process: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
"""The notes where no file is written."""
_followers: dict[str, Callable[[], None]] = {}
"""What is called after each note, by what it shows."""


def find_progress_file() -> Path | None:
    """Return the file that COPYLAB_PROGRESS names, else that of the current course folder.

    None if nothing is to be written.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    # In these alone: a `predict` in one's own notebook, or in CI, left a file beside it.
    return None if find_course_folder() is None else Path(PROGRESS_FILE)


def load_notes() -> dict[str, dict[str, Any]]:
    """Return the notes on predictions, exercises, misconceptions and recalls, by kind and key.

    A file that cannot be understood, or a link in its place, is set aside as `NAME.broken` and a
    warning says so. Nothing in it is lost.
    """
    file = find_progress_file()
    if file is None:
        # A copy, as what is read from a file is one: the caller may change it.
        return copy.deepcopy(_notes_of_process)
    try:
        return parse_notes(SafeFolder(file.parent).read(file.name))
    except FileNotFoundError:
        pass
    except OSError as error:
        # Somebody else may need what is no file, such as a device that COPYLAB_PROGRESS names.
        is_replaceable = file.is_file() or not file.exists()
        is_refused = isinstance(error, RefusedFileError)
        if not (is_refused and is_replaceable and _set_aside(file)):
            names = {"name": file.name, "why": error.strerror}
            _warn_caller(
                gettext(
                    "the progress file {name} cannot be read ({why}): starting without it", **names
                )
            )
    except (ValueError, AttributeError, RecursionError):
        _set_aside(file)
    return {kind: {} for kind in _KINDS}


def load_seed() -> int:
    """Return the number by which this learner's retests are drawn; 0 where no file is written yet."""
    file = find_progress_file()
    # `load_notes` says what is wrong with a file.
    with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError):
        if file is not None:
            seed = json.loads(SafeFolder(file.parent).read(file.name).decode("utf-8")).get("seed")
            return seed if isinstance(seed, int) else 0
    return 0


def parse_notes(content: bytes) -> dict[str, dict[str, Any]]:
    """Return the notes in a file of progress, by kind and key.

    ValueError, AttributeError or RecursionError if copylab did not write it.
    """
    parsed = json.loads(content.decode("utf-8"))
    notes = {kind: parsed.get(kind, {}) for kind in _KINDS}
    for notes_of_kind in notes.values():
        if not all(_is_valid_note(note) for note in notes_of_kind.values()):
            raise ValueError("not written by copylab")
    return notes


def _is_valid_note(note: Any) -> bool:
    if not isinstance(note, dict):
        return False
    return all(
        isinstance(note[field], expected)
        for field, expected in _TYPES_OF_FIELDS.items()
        if field in note
    )


def follow_notes(place: str, follower: Callable[[], None]) -> None:
    """Have a function called after each note, in place of the one that followed for this place.

    A cell that is run again shows its tables anew: those of before are gone from the page, and the kernel
    should not renew them for ever.
    """
    _followers[place] = follower


def add_note(kind: str, key: str | None, entry: Mapping[str, Any]) -> None:
    """Write `entry` under `key`, over the fields that are there already, and tell who follows.

    Without a key nothing is written.

    kind: "predictions", "exercises", "misconceptions" or "recalls". A file that cannot be written is a warning
    and no error: the answers remain, they are only not stored.
    """
    if key is None:
        return
    _write_note(kind, key, entry)
    for follower in list(_followers.values()):
        # A page that is gone must not cost an answer; a fault of ours is said all the same.
        try:
            follower()
        except Exception as error:  # noqa: BLE001
            _warn_caller(
                gettext(
                    "the tables of `progress()` could not be renewed ({error}): run their cell again",
                    error=f"{type(error).__name__}: {error}",
                )
            )


def _write_note(kind: str, key: str, entry: Mapping[str, Any]) -> None:
    file = find_progress_file()
    if file is None:
        notes = _notes_of_process[kind]
        notes[key] = {**notes.get(key, {}), **entry}
        return
    folder = SafeFolder(file.parent)
    try:
        folder.make()
        # Two notebooks may commit at once: each reads and writes the whole file.
        with folder.lock():
            all_notes = load_notes()
            all_notes[kind][key] = {**all_notes[kind].get(key, {}), **entry}
            # Drawn once, so that hardly two of a class get the same retests.
            seed = load_seed() or 1 + secrets.randbelow(10**6)
            content = {"version": 1, "seed": seed, **all_notes}
            text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
            # UTF-8 has no bytes for half of a surrogate pair: it becomes the JSON escape.
            folder.write(file.name, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        names = {"name": file.name, "why": error.strerror}
        _warn_caller(
            gettext(
                "the progress file {name} cannot be written ({why}): this is not kept", **names
            ),
            stacklevel=5,
        )


def find_note(kind: str, key: str | None) -> dict[str, Any]:
    """Return the note under `key`; empty if there is none."""
    return {} if key is None else dict(load_notes()[kind].get(key, {}))


def _set_aside(file: Path) -> bool:
    """Rename a file that cannot be understood, and warn; return True if it could be renamed."""
    folder = SafeFolder(file.parent)
    try:
        new_name = folder.find_free_name(file.name, f"{file.name}.broken{{}}")
        folder.rename(file.name, new_name)
    except OSError:
        return False
    names = {"name": file.name, "aside": new_name}
    _warn_caller(
        gettext("the progress file {name} could not be understood; it is kept as {aside}", **names)
    )
    return True


def _warn_caller(message: str, stacklevel: int = 4) -> None:
    warnings.warn(message, UserWarning, stacklevel=stacklevel)
