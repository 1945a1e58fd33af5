"""What a learner has predicted and solved so far, in one file of the learner's own.

The file is `copylab-progress.json` in the current folder, or whatever the environment variable COPYLAB_PROGRESS names.
It is plain JSON, stays where it is, and is sent nowhere; deleting it forgets everything. Outputs that a notebook
stores do not depend on it, except for that of `progress()` (overview.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

VARIABLE = "COPYLAB_PROGRESS"
NAME = "copylab-progress.json"
_KINDS = ("predictions", "exercises", "misconceptions")
_STALE = 10.0  # seconds after which a lock was left by a process that is gone


def path() -> Path:
    """The file: what COPYLAB_PROGRESS names, else `copylab-progress.json` in the current folder."""
    return Path(os.environ.get(VARIABLE) or NAME).expanduser()


def load() -> dict[str, dict[str, Any]]:
    """Everything noted so far, by kind and key: predictions, exercises, misconceptions; all empty without a file.

    A file that cannot be understood is set aside as `NAME.broken` and a warning says so. Nothing in it is lost.
    """
    file = path()
    try:
        read = json.loads(file.read_text("utf-8"))
        entries = {kind: read.get(kind, {}) for kind in _KINDS}
        if not all(isinstance(note, dict) for kind in entries.values() for note in kind.values()):
            raise ValueError("not written by copylab")
    except FileNotFoundError:
        return {kind: {} for kind in _KINDS}
    except OSError as error:
        _warn(f"the progress file {file.name} cannot be read ({error.strerror}): starting without it")
        return {kind: {} for kind in _KINDS}
    except (ValueError, AttributeError):
        aside = _free(file)
        with contextlib.suppress(OSError):
            file.replace(aside)
            _warn(f"the progress file {file.name} could not be understood; it is kept as {aside.name}")
        return {kind: {} for kind in _KINDS}
    return entries


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
            part = file.with_name(f"{file.name}.part")
            text = json.dumps({"version": 1, **known}, ensure_ascii=False, indent=1, sort_keys=True)
            part.write_text(text + "\n", "utf-8")
            part.replace(file)
    except OSError as error:
        _warn(f"the progress file {file.name} cannot be written ({error.strerror}): this is not kept")


def recall(kind: str, key: str | None) -> dict[str, Any]:
    """What is noted under `key`; empty if nothing is."""
    return {} if key is None else dict(load()[kind].get(key, {}))


def _free(file: Path) -> Path:
    aside, number = file.with_name(f"{file.name}.broken"), 1
    while aside.exists():
        number += 1
        aside = file.with_name(f"{file.name}.broken{number}")
    return aside


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Keep other kernels from writing at the same time; one that died while writing is not waited for long."""
    lock = file.with_name(f"{file.name}.lock")
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                if time.time() - lock.stat().st_mtime > _STALE:
                    lock.unlink()
            time.sleep(0.01)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
