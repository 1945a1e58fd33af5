"""What a learner has predicted and solved so far, in one file of the learner's own.

The file is `copylab-progress.json` in the current folder, or whatever the environment variable COPYLAB_PROGRESS names.
It is plain JSON, stays where it is, and is sent nowhere; deleting it forgets everything. Outputs that a notebook
stores do not depend on it, except for that of `progress()` (overview.py).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tinytorch.viz.catalogue import gettext

VARIABLE = "COPYLAB_PROGRESS"
NAME = "copylab-progress.json"
_KINDS = ("predictions", "exercises", "misconceptions")
_FIELDS: dict[str, type] = {"state": str, "in": str, "hints": int, "right": int, "of": int}  # what is reckoned with
_PATIENCE = 10.0  # seconds to wait for another kernel


def path() -> Path:
    """The file: what COPYLAB_PROGRESS names, else `copylab-progress.json` in the current folder."""
    return Path(os.environ.get(VARIABLE) or NAME).expanduser()


def load() -> dict[str, dict[str, Any]]:
    """Everything noted so far, by kind and key: predictions, exercises, misconceptions; all empty without a file.

    A file that cannot be understood is set aside as `NAME.broken` and a warning says so. Nothing in it is lost.
    """
    file = path()
    try:
        if file.exists() and not file.is_file():  # a pipe, or a device, might be read for ever
            raise OSError(errno.EINVAL, "it is no file")
        read = json.loads(file.read_text("utf-8"))
        entries = {kind: read.get(kind, {}) for kind in _KINDS}
        if not all(_understood(note) for kind in entries.values() for note in kind.values()):
            raise ValueError("not written by copylab")
    except FileNotFoundError:
        pass
    except OSError as error:
        what = {"name": file.name, "why": error.strerror}
        _warn(gettext("the progress file {name} cannot be read ({why}): starting without it", **what))
    except (ValueError, AttributeError, RecursionError):
        aside = _free(file)
        with contextlib.suppress(OSError):
            file.replace(aside)
            what = {"name": file.name, "aside": aside.name}
            _warn(gettext("the progress file {name} could not be understood; it is kept as {aside}", **what))
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
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _alone(file):
            known = load()
            known[kind][key] = {**known[kind].get(key, {}), **entry}
            text = json.dumps({"version": 1, **known}, ensure_ascii=False, indent=1, sort_keys=True)
            replace(file, (text + "\n").encode("utf-8", "backslashreplace"))  # of half a character the JSON escape
    except OSError as error:
        what = {"name": file.name, "why": error.strerror}
        _warn(gettext("the progress file {name} cannot be written ({why}): this is not kept", **what))


def recall(kind: str, key: str | None) -> dict[str, Any]:
    """What is noted under `key`; empty if nothing is."""
    return {} if key is None else dict(load()[kind].get(key, {}))


def _understood(entry: Any) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(name, kind()), kind) for name, kind in _FIELDS.items())


def _free(file: Path) -> Path:
    aside, number = file.with_name(f"{file.name}.broken"), 1
    while aside.exists():
        number += 1
        aside = file.with_name(f"{file.name}.broken{number}")
    return aside


def replace(file: Path, content: bytes) -> None:
    """Put a whole file in place of another: whoever reads sees the one or the other, whenever this is cut off."""
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)  # left by a process that was ended, or a link to somewhere else
    try:
        with part.open("xb") as made:
            made.write(content)
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Keep other kernels from writing at the same time. The system lets go of the lock when a process ends."""
    own = file.with_name(f"{file.name}.lock")  # Windows locks no folders
    lock = os.open(own, os.O_CREAT | os.O_RDWR) if sys.platform == "win32" else os.open(file.parent, os.O_RDONLY)
    try:
        until = time.monotonic() + _PATIENCE
        while not _locked(lock):
            if time.monotonic() > until:
                raise OSError(errno.EAGAIN, "another kernel is writing to it")
            time.sleep(0.01)
        yield
    finally:
        os.close(lock)
        if sys.platform == "win32":
            with contextlib.suppress(OSError):  # another kernel waits for it
                own.unlink()


def _locked(lock: int) -> bool:
    """Whether the lock is ours now."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
