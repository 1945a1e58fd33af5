"""Laying the lessons out in a folder of the learner's own.

What learners wrote is never overwritten. Of each file the digest of the edition that was laid out is kept; a file that
has changed since is theirs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tinytorch
from tinytorch.viz.catalogue import gettext

from ..quiz.progress import replace
from .cheatsheet import page
from .lesson import digest, lessons, meant, without_answers
from .translation import FOLDER, check, text_in

STATE = ".copylab.json"
TRUST = ".copylab"
"""The folder, in that of the course, with the key and the signatures of what was laid out there."""


def lay_out(folder: Path, language: str | None = None) -> list[str]:
    """Copy what of the course is missing or outdated into `folder` and return what is worth telling.

    A file that the learner changed stays as it is, and in its language; `reset` gives the edition of today.
    language: by default that of the last time, and English at first. Raises ValueError if the course is not there in
    the language, OSError if the folder cannot be written.
    """
    state = _read_state(folder)
    switched = language not in (None, state["language"])
    state["language"] = language = language or state["language"]
    editions = _editions(language)
    told, kept, written = [], [], []
    for name, data in editions.items():
        mine, new = folder / name, {"language": language, "digest": digest(data)}
        now = mine.read_bytes() if mine.exists() else None
        known = state["files"].get(name)
        other = known is not None and known["language"] != language
        if now is None or (_untouched(now, known) and known != new):
            written.append(_write(data, mine))
            if now is not None and not other:
                told.append(
                    gettext("{name} has a new edition; you had not changed yours, so it was replaced.", name=name)
                )
        elif digest(now) != new["digest"]:
            if known != new and (switched or not other):
                kept.append(name)
            if other:
                continue
        state["files"][name] = new
    told += _gone(folder, state["files"], editions)
    if kept:
        told.append(
            gettext(
                "What you have begun stays as it is: {names}. `copylab reset LESSON` gives the new edition of a lesson "
                "and keeps yours beside it.",
                names=", ".join(kept),
            )
        )
    _keep(folder, state, written)
    return told


def reset(folder: Path, lesson: str) -> list[str]:
    """Lay one lesson out anew, and keep the learner's file beside it. Return what is worth telling.

    lesson: `02_clone`, `clone`, `02`. Raises ValueError if there is no such lesson, OSError if the folder cannot be
    written.
    """
    state = _read_state(folder)
    editions = _editions(state["language"])
    stems = [Path(name).stem for name in editions if "/" not in name and name.endswith(".ipynb")]
    name = f"{meant(lesson.removesuffix('.ipynb'), stems)}.ipynb"
    mine, told = folder / name, gettext("{name} is as it was at first.", name=name)
    if mine.exists() and not _untouched(mine.read_bytes(), state["files"].get(name)):
        kept = mine.rename(_free(mine))
        told = gettext("{name} is as it was at first; yours is kept as {kept!r}.", name=name, kept=kept.name)
    state["files"][name] = {"language": state["language"], "digest": digest(editions[name])}
    _keep(folder, state, [_write(editions[name], mine)])
    return [told]


def remembered(folder: Path) -> str | None:
    """Return the language in which the course was laid out in a folder; None if it was not."""
    return _read_state(folder)["language"] if (folder / STATE).exists() else None


def _editions(language: str) -> dict[str, bytes]:
    """The files of the course as they are laid out, by their names; the cheat sheet in the words of the widgets."""
    source = lessons()
    check(language, source)
    found = {}
    for file in sorted(source.rglob("*")):
        name = _name(source, file)
        if not file.is_file() or any(part.startswith((".", "__")) or part == FOLDER for part in name.split("/")):
            continue
        data = text_in(file, language).encode() if file.suffix in (".ipynb", ".md") else file.read_bytes()
        if file.suffix == ".ipynb" and file.parent == source:
            lesson = without_answers(json.loads(data))
            data = (json.dumps(lesson, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
        if name == "cheat_sheet.html" and language != "en":
            data = page(tinytorch).encode()
        found[name] = data
    return found


def _gone(folder: Path, files: dict[str, dict[str, str]], editions: Iterable[str]) -> list[str]:
    """Tell what was laid out under another name before; what of it the learner has not changed is removed."""
    now = {_unnumbered(name): name for name in editions}
    told = []
    for name in sorted(files.keys() - set(editions)):
        mine, known = folder / name, files.pop(name)
        if not mine.exists():
            continue
        said = gettext("{name} is no longer part of the course.", name=name)
        if _unnumbered(name) in now:
            said = gettext("{name} is now {new}.", name=name, new=now[_unnumbered(name)])
        if _untouched(mine.read_bytes(), known):
            mine.unlink()
        else:
            said += " " + gettext("Yours is kept under the old name.")
        told.append(said)
    return told


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _unnumbered(name: str) -> str:
    return re.sub(r"(^|/)\d+_", r"\1", name)


def _read_state(folder: Path) -> dict[str, Any]:
    """Return the language and the editions laid out before; a file that has no whole record is the learner's own."""
    found: Any = None
    with contextlib.suppress(OSError, ValueError):
        found = json.loads((folder / STATE).read_text(encoding="utf-8"))
    found = found if isinstance(found, dict) else {}
    language, files = found.get("language"), found.get("files")
    editions = files.items() if isinstance(files, dict) else ()
    return {
        "language": language if isinstance(language, str) else "en",
        "files": {name: known for name, known in editions if _is_edition(known)},
    }


def _is_edition(known: object) -> bool:
    return isinstance(known, dict) and all(isinstance(known.get(part), str) for part in ("language", "digest"))


def _keep(folder: Path, state: dict[str, Any], written: list[Path]) -> None:
    """Note what was laid out, and sign what of it was written, so that JupyterLab shows its outputs as they are."""
    (folder / STATE).write_text(json.dumps(state, indent=1), encoding="utf-8")
    notebooks = [path for path in written if path.suffix == ".ipynb"]
    if not notebooks or importlib.util.find_spec("nbformat") is None:
        return
    import nbformat
    from nbformat.sign import NotebookNotary

    place = folder / TRUST
    place.mkdir(exist_ok=True)
    with NotebookNotary(data_dir=str(place)) as notary:  # type: ignore[no-untyped-call]
        for path in notebooks:
            notary.sign(nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]


def _untouched(data: bytes, known: dict[str, str] | None) -> bool:
    """Whether a file is what was laid out."""
    return known is not None and known["digest"] == digest(data)


def _write(data: bytes, to: Path) -> Path:
    """Write a file so that, whenever this is cut short, `to` is there whole or not at all."""
    to.parent.mkdir(parents=True, exist_ok=True)
    replace(to, data)
    return to


def _free(file: Path) -> Path:
    number = 1
    while (beside := file.with_stem(f"{file.stem} (yours{'' if number == 1 else f' {number}'})")).exists():
        number += 1
    return beside
