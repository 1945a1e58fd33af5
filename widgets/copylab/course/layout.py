"""Laying the lessons out in a folder of the learner's own.

What learners wrote is never overwritten. For each file the digest of the edition that was laid out
is recorded; a file that has changed since belongs to the learner. The record is written before the
files: if the disk is full in between, or the process is ended, the next call still knows which
files are nobody's work.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import tinytorch

from ..course_folder import COURSE_STATE_FILE, SOLUTIONS
from ..quiz import PROGRESS_FILE
from ..safe_files import RefusedFileError, SafeFolder, read_file
from ..wording import gettext, join_list, join_sentences
from .cheatsheet import render_cheat_sheet
from .lesson import digest_of_file, find_lesson, lessons_folder, remove_answers
from .translation import TRANSLATIONS, list_languages, read_translated, require_language

TRUST = ".copylab"
"""The folder, in that of the course, with the key and the signatures of what was laid out there."""

_LIMIT_OF_STATE = 2**20
_LIMIT_OF_KEY = 2**16
_SOLUTIONS = "solutions/"
_COURSE_NAME = re.compile(r"(?:\w[\w-]*/)*\w(?:[\w.-]*\w)?", re.ASCII)
"""Names that files of the course have; others in a state file were not written by copylab."""


class Edition(NamedTuple):
    """A file of the course in a language, and the digest of its content."""

    language: str
    digest: str


@dataclass
class Record:
    """The content of the state file."""

    language: str = "en"
    files: dict[str, Edition] = field(default_factory=dict)
    pending: dict[str, Edition] = field(default_factory=dict)
    """Editions that were about to be written when the record was: each is in the folder or is
    not."""
    hides_solutions: bool = False
    """True if the folder was laid out without solutions, and is to show none."""

    def find_edition(self, name: str, digest: str | None) -> Edition | None:
        """Return what was laid out under a name where the file there now has this digest."""
        pending = self.pending.get(name)
        if pending is not None and pending.digest == digest:
            return pending
        return self.files.get(name)

    def is_untouched(self, name: str, digest: str | None) -> bool:
        """Return True if the file that now has this digest is as it was laid out."""
        edition = self.find_edition(name, digest)
        return edition is not None and edition.digest == digest


@dataclass
class FolderComparison:
    """The files of a folder, compared with the editions of today."""

    outdated: dict[str, Edition] = field(default_factory=dict)
    """Editions to write: the file is missing, or an older one that nobody changed."""

    edited: list[str] = field(default_factory=list)
    """Files that the learner has changed and of which there is a new edition."""

    refused: dict[str, str] = field(default_factory=dict)
    """Names of links, devices and the like, which are not read or replaced, with the reason."""

    remarks: list[str] = field(default_factory=list)


def lay_out(folder: Path, language: str | None = None) -> list[str]:
    """Copy the files of the course that are missing or outdated into `folder`, and return remarks.

    A file that the learner changed stays as it is, and in its language; `reset_lesson` gives the
    edition of today. Links stay as well, and are not followed. With COPYLAB_SOLUTIONS=off no
    solutions are laid out, now and later, until it says something else.
    language: by default that of the last time, and English at first. Raises ValueError if the
    course is not there in the language, OSError if the folder cannot be written.
    """
    require_language(language or "en", lessons_folder())
    course = SafeFolder(folder)
    course.make()
    with course.lock():
        record, remarks = _open_record(course)
        return _lay_out(course, record, language) + remarks


def _lay_out(course: SafeFolder, record: Record, language: str | None) -> list[str]:
    record_before = _format_record(record)
    is_switched = language not in (None, record.language)
    record.language = language or record.language
    if choice := os.environ.get(SOLUTIONS):
        record.hides_solutions = choice == "off"
    editions = _read_editions(record.language)
    comparison = _compare_with_editions(course, record, editions, is_switched)
    if comparison.outdated:
        # Before the files are: if the disk is full after some of them, the next call still knows
        # that nobody has changed those.
        record.pending = comparison.outdated
        _write_record(course, record)
        for name, edition in comparison.outdated.items():
            course.write(name, editions[name])
            record.files[name] = edition
    record.pending = {}
    remarks = comparison.remarks + _remove_old_files(course, record, editions)
    for name, why in comparison.refused.items():
        remarks.append(gettext("{name} stays as it is: {why}.", name=name, why=why))
    if comparison.edited:
        remarks.append(
            gettext(
                "What you have begun stays as it is: {names}. `copylab reset LESSON` gives the new "
                "edition of a lesson and keeps yours beside it.",
                names=join_list(comparison.edited),
            )
        )
    # A folder that is up to date may be read-only.
    if _format_record(record) != record_before or not course.has(COURSE_STATE_FILE):
        _write_record(course, record)
    return remarks + _sign_notebooks(course, {name: editions[name] for name in comparison.outdated})


def _compare_with_editions(
    course: SafeFolder, record: Record, editions: Mapping[str, bytes], is_switched: bool
) -> FolderComparison:
    """Compare what is in the folder with today's editions, and record which of them are there.

    is_switched: the language is another than last time.
    """
    result = FolderComparison()
    for name, data in editions.items():
        if record.hides_solutions and name.startswith(_SOLUTIONS):
            continue
        try:
            digest = _find_digest(course, name)
        except OSError as error:
            result.refused[error.filename] = error.strerror or str(error)
            continue
        new = Edition(record.language, digest_of_file(data))
        old = record.find_edition(name, digest)
        in_other_language = old is not None and old.language != new.language
        if digest is None or (record.is_untouched(name, digest) and old != new):
            result.outdated[name] = new
            # Another language was asked for: that it comes is no news.
            if digest is not None and not in_other_language:
                remark = gettext(
                    "{name} has a new edition; you had not changed yours, so it was replaced.",
                    name=name,
                )
                result.remarks.append(remark)
            continue
        is_changed = digest != new.digest
        # A changed file in another language is not recorded below: without `is_switched` it would
        # be named each time.
        if is_changed and old != new and (is_switched or not in_other_language):
            result.edited.append(name)
        # Recorded, so that the remark on a new edition is made once. But the record of a changed
        # file says which language it is in.
        if not (is_changed and in_other_language):
            record.files[name] = new
    return result


def reset_lesson(folder: Path, lesson: str, language: str | None = None) -> list[str]:
    """Lay one lesson out anew, keep the learner's file beside it, and return remarks.

    lesson: `02_clone`, `clone`, `02`. language: by default that of the course; another is
    remembered. Raises ValueError if there is no such lesson or language, OSError if the folder
    cannot be written.
    """
    require_language(language or "en", lessons_folder())
    stem = find_lesson(
        lesson.removesuffix(".ipynb"),
        [path.stem for path in sorted(lessons_folder().glob("*.ipynb"))],
    )
    course = SafeFolder(folder)
    course.make()
    with course.lock():
        record, remarks = _open_record(course)
        record.language = language or record.language
        editions = _read_editions(record.language)
        name = f"{stem}.ipynb"
        old_name = None
        remark = gettext("{name} is as it was at first.", name=name)
        if not _is_missing_or_untouched(course, record, name):
            old_name = course.find_free_name(name, f"{stem} (yours{{}}).ipynb")
            remark = gettext(
                "{name} is as it was at first; yours is kept as {kept!r}.", name=name, kept=old_name
            )
        new = Edition(record.language, digest_of_file(editions[name]))
        # First what is about to be written, then the file, then that it was written: whoever is
        # interrupted in between finds the lesson untouched, and not changed by the learner.
        record.pending[name] = new
        _write_record(course, record)
        course.write(name, editions[name], keep_old_as=old_name)
        record.files[name] = record.pending.pop(name)
        _write_record(course, record)
        # Signed anew: Jupyter trusts a notebook by its content, and shows no player of another one.
        return [remark, *remarks, *_sign_notebooks(course, {name: editions[name]})]


def remembered_language(folder: Path) -> str | None:
    """Return the language in which the course was laid out in a folder; None if it was not."""
    with contextlib.suppress(OSError, ValueError):
        return _read_record(SafeFolder(folder)).language
    return None


def list_lessons(folder: Path) -> list[str]:
    """Return the notebooks in a course folder, in order; none if it cannot be read."""
    with contextlib.suppress(OSError):
        return [name for name in SafeFolder(folder).list_files() if name.endswith(".ipynb")]
    return []


def can_sign(folder: Path) -> bool:
    """Return True if Jupyter can write signatures in a course folder, and no link leads elsewhere.

    Where it cannot write them, opening a lesson ends in an error of the server.
    """
    course = SafeFolder(folder)
    try:
        _require_safe_trust(course)
    except OSError:
        return False
    return os.access(folder / TRUST, os.W_OK)


def _read_editions(language: str) -> dict[str, bytes]:
    """Return the files of the course by name; the cheat sheet is in the widgets' language."""
    source = lessons_folder()
    require_language(language, source)
    editions = {}
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source).as_posix()
        is_hidden = any(
            part.startswith((".", "__")) or part == TRANSLATIONS for part in name.split("/")
        )
        if is_hidden or not file.is_file():
            continue
        is_prose = file.suffix in (".ipynb", ".md")
        data = read_translated(file, language).encode() if is_prose else read_file(file)
        # The solutions, in a folder below, keep their outputs.
        if file.suffix == ".ipynb" and file.parent == source:
            lesson = remove_answers(json.loads(data))
            text = json.dumps(lesson, ensure_ascii=False, indent=1, sort_keys=True)
            data = f"{text}\n".encode()
        # The page that is stored is in English, and its answers are found by running.
        if name == "cheat_sheet.html" and language != "en":
            data = render_cheat_sheet(tinytorch).encode()
        editions[name] = data
    return editions


def _find_digest(course: SafeFolder, name: str) -> str | None:
    """Return the digest of a file in the folder, None if it is missing.

    RefusedFileError if it is not read.
    """
    try:
        return digest_of_file(course.read(name))
    except FileNotFoundError:
        return None


def _is_missing_or_untouched(course: SafeFolder, record: Record, name: str) -> bool:
    try:
        digest = _find_digest(course, name)
    except OSError:
        # A link, or what may not be read: somebody put it there.
        return False
    return digest is None or record.is_untouched(name, digest)


def _remove_old_files(course: SafeFolder, record: Record, editions: Iterable[str]) -> list[str]:
    """Remove untouched files that are no longer part of the course, and return remarks."""
    # A lesson that moved to another place in the course has another number in its name.
    current = {_without_number(name): name for name in editions}
    # On a file system that ignores case, a name in other letters is a file of today.
    taken = {name.casefold() for name in editions}
    remarks = []
    for name in sorted(record.files.keys() - set(editions)):
        digest = None
        # A link, or what may not be read, is left alone.
        with contextlib.suppress(OSError):
            digest = None if name.casefold() in taken else _find_digest(course, name)
        is_untouched = record.is_untouched(name, digest)
        del record.files[name]
        if digest is None:
            continue
        remark = gettext("{name} is no longer part of the course.", name=name)
        if _without_number(name) in current:
            remark = gettext("{name} is now {new}.", name=name, new=current[_without_number(name)])
        if is_untouched:
            course.remove(name)
        else:
            remark = join_sentences([remark, gettext("Yours is kept under the old name.")])
        remarks.append(remark)
    return remarks


def _without_number(name: str) -> str:
    return re.sub(r"(^|/)\d+_", r"\1", name)


def _open_record(course: SafeFolder) -> tuple[Record, list[str]]:
    """Return the record of a folder, and remarks about it.

    One that cannot be understood is set aside; every file then counts as the learner's own.
    """
    try:
        return _read_record(course), []
    except FileNotFoundError:
        return Record(), []
    except (OSError, ValueError) as error:
        why = (
            error.strerror
            if isinstance(error, OSError)
            else gettext("it was not written by copylab")
        )
    aside = course.find_free_name(COURSE_STATE_FILE, f"{COURSE_STATE_FILE}.broken{{}}")
    course.rename(COURSE_STATE_FILE, aside)
    remark = gettext(
        "The record of what was laid out, {name}, could not be read: {why}. It is kept as {aside}.",
        name=COURSE_STATE_FILE,
        why=why,
        aside=aside,
    )
    return Record(), [remark]


def _read_record(course: SafeFolder) -> Record:
    """Return the record of a folder, without names and languages that the course does not have.

    Raises FileNotFoundError if there is none, OSError if it cannot be read, ValueError if it cannot
    be understood.
    """
    try:
        content: Any = json.loads(course.read(COURSE_STATE_FILE, _LIMIT_OF_STATE))
    # From json, for brackets within thousands of brackets.
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    language = content.get("language", "en") if isinstance(content, dict) else None
    if not isinstance(language, str) or not isinstance(content.get("files"), dict):
        raise ValueError("no record")  # noqa: TRY004  # of the content of a file
    is_known = language in ("en", *list_languages(lessons_folder()))
    return Record(
        language if is_known else "en",
        _parse_editions(content["files"]),
        _parse_editions(content.get("pending")),
        content.get("solutions") == "off",
    )


def _parse_editions(content: object) -> dict[str, Edition]:
    editions = {}
    # A record of another shape must not end the laying out with an AttributeError.
    for name, entry in content.items() if isinstance(content, Mapping) else ():
        parts: list[Any] = [None]
        if isinstance(entry, Mapping):
            parts = [entry.get(part) for part in Edition._fields]
        # What a record names and the course does not have any more is removed: a record that
        # somebody else has written must not name the learner's progress.
        if (
            _COURSE_NAME.fullmatch(name)
            and name != PROGRESS_FILE
            and all(isinstance(part, str) for part in parts)
        ):
            editions[name] = Edition(*parts)
    return editions


def _format_record(record: Record) -> str:
    files = {name: edition._asdict() for name, edition in record.files.items()}
    # Only what is set: an older copylab that reads the file knows nothing of fields added since.
    content: dict[str, Any] = {"language": record.language, "files": files}
    if record.hides_solutions:
        content["solutions"] = "off"
    if record.pending:
        content["pending"] = {name: edition._asdict() for name, edition in record.pending.items()}
    return json.dumps(content, indent=1)


def _write_record(course: SafeFolder, record: Record) -> None:
    course.write(COURSE_STATE_FILE, _format_record(record).encode())


def _require_safe_trust(course: SafeFolder) -> None:
    """Raise RefusedFileError if a link in the folder of signatures would lead Jupyter elsewhere."""
    course.require_files_only(TRUST)
    with contextlib.suppress(FileNotFoundError):
        course.read(f"{TRUST}/notebook_secret", _LIMIT_OF_KEY)


def _sign_notebooks(course: SafeFolder, written: Mapping[str, bytes]) -> list[str]:
    """Sign the notebooks that were written, so that JupyterLab shows their outputs as they are."""
    notebooks = [data for name, data in written.items() if name.endswith(".ipynb")]
    if not notebooks or importlib.util.find_spec("nbformat") is None:
        return []
    import nbformat.sign

    try:
        course.make_folder(TRUST)
        _require_safe_trust(course)
    except RefusedFileError as error:
        return [gettext("{name} stays as it is: {why}.", name=error.filename, why=error.strerror)]
    with nbformat.sign.NotebookNotary(data_dir=str(course.path / TRUST)) as notary:  # type: ignore[no-untyped-call]
        for data in notebooks:
            notary.sign(nbformat.reads(data.decode(), as_version=4))  # type: ignore[no-untyped-call]
    return []
