"""What several processes of one run found under `copylab watch`: a file for each, and one page of all.

Each process writes its report into a file of its own, and makes the page anew of all files that are
there. So the last one to end makes the whole page, none waits for the page of another, and one that
is killed has left what it had found.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

from tinytorch.viz import join_few_names

from ..doc import Box, InPage, Paragraph, Part, html_element
from ..ranks import find_rank
from ..ui import panel_style_sheet
from ..wording import current_language, gettext, join_sentences, ngettext
from .findings import Finding
from .observer import Watch

RUNNING, ENDED, DONE = "running", "ended", "done"
"""The program runs; it has ended; and its process will not write the page again."""
_POLL_SECONDS = 0.1
_MOST_WRITTEN_EARLY = 20
"""So many findings are written when they are found. All are written each time: time is quadratic."""


class ReportedFinding(NamedTuple):
    """A finding as plain data.

    lines: the sentence and the lines that are named; findings with the same ones are one, in
    whatever process. html: all of it, for the page.
    """

    lines: str
    html: str


class ProcessReport(NamedTuple):
    """What one process has found so far.

    rank, size: None and 1 if it is no rank. host, pid: the machine and the process number. parent:
    the process number of the watched program that started it, 0 for that program itself. state:
    "running", "ended" or "done". reading_summary: what the watch says of what was read and of what
    was not seen. findings: those so far. missing: at its end, what optimizers have stepped without
    a gradient.
    """

    rank: int | None
    size: int
    host: str
    pid: int
    parent: int
    state: str
    reading_summary: str
    findings: tuple[ReportedFinding, ...]
    missing: tuple[ReportedFinding, ...]

    @property
    def label(self) -> str:
        """What the page calls the process."""
        if self.rank is None:
            return gettext("process {number}", number=self.pid)
        if self.parent:
            return gettext("rank {rank}, process {number}", rank=self.rank, number=self.pid)
        return gettext("rank {rank}", rank=self.rank)

    @property
    def file_name(self) -> str:
        """The file that it is written into."""
        # Not the process number for a rank: the next run finds and replaces what a dead one left.
        name = f"process-{self.pid}" if self.rank is None else f"rank-{self.rank}"
        return f"{name}-{self.pid}.json" if self.parent else f"{name}.json"

    def is_alive(self) -> bool:
        """Return True if the process runs on this machine."""
        if self.host != socket.gethostname() or os.name == "nt":  # there, signal 0 is Ctrl-C
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # somebody else's
            return False
        # One that has ended, and whose parent has not asked for it yet, can still be signalled.
        with suppress(OSError, IndexError):
            state = Path(f"/proc/{self.pid}/stat").read_text("ascii", "replace")
            # Behind the name of the program, which is in brackets and may have such in it.
            return state.rpartition(")")[2].split()[0] != "Z"
        return True


class RunReports:
    """The reports of all processes of a run, in a folder, and the page that is made of them.

    page: where the page is written; None for none. title: its title. A program that runs alone has no file, but
    the processes that it forks have.
    """

    def __init__(self, watched: Watch, page: str | None, title: str) -> None:
        self.watched, self.title = watched, title
        self.page = None if page is None else Path(page).absolute()  # programs change folders
        self.pid = os.getpid()
        self.rank = find_rank()
        self.error: OSError | None = None
        """Why the last page could not be written."""
        self.own_folder = Path(tempfile.gettempdir()) / f"copylab-watch-{uuid.uuid4().hex}"
        """Made by the first child that has a finding."""
        self.meeting_folder = _find_meeting_folder()
        watched.after_finding = self._write_early
        if self.rank is not None:
            # The file that a rank of an earlier run has left, too, is replaced.
            self.write()

    @property
    def is_child(self) -> bool:
        """True in a process that was forked from the watched program."""
        return os.getpid() != self.pid

    @property
    def folder(self) -> Path:
        """The folder in which the processes meet; that of ranks is beside the page."""
        if self.rank is None:
            return self.own_folder
        if self.page is None:
            return self.meeting_folder
        return self.page.with_name(self.page.name + ".ranks")

    def _write_early(self) -> None:
        """Write the report after a finding, in a process that may be ended by others."""
        self.rank = find_rank() or self.rank
        is_in_danger = self.rank is not None or self.is_child
        if is_in_danger and len(self.watched.findings) <= _MOST_WRITTEN_EARLY:
            self.write()

    def write(self, state: str = RUNNING) -> None:
        """Write the report of this process, and the page of all, if it belongs to this process."""
        self.rank = find_rank() or self.rank  # a program may leave its group before it ends
        try:
            if self.rank is not None or self.is_child:
                report = self._make_report(state)
                # It may be in the folder for temporary files, which all users share.
                self.folder.mkdir(mode=0o700, exist_ok=True)
                _replace_file(self.folder / report.file_name, json.dumps(report))
            # DONE adds nothing: it only tells the other ranks that this one leaves the folder.
            if self.page is not None and not self.is_child and state != DONE:
                self._write_page(self.page)
                self.error = None
        except OSError as error:
            self.error = error

    def _make_report(self, state: str) -> ProcessReport:
        return ProcessReport(
            rank=None if self.rank is None else self.rank.number,
            size=1 if self.rank is None else self.rank.size,
            host=socket.gethostname(),
            pid=os.getpid(),
            parent=self.pid if self.is_child else 0,
            state=state,
            reading_summary=join_sentences(
                [*self.watched.describe_reads(), *self.watched.describe_next_look()]
            ),
            findings=tuple(map(_report_finding, list(self.watched.findings))),
            # As long as it runs, a backward may still give them one.
            missing=() if state == RUNNING else tuple(self._report_missing()),
        )

    def _report_missing(self) -> Iterator[ReportedFinding]:
        for gradient in self.watched.missing_gradients:
            yield ReportedFinding(gradient.text, gradient.tree().html())

    def _write_page(self, page: Path) -> None:
        """Write the page of the reports that are there, until no other has come meanwhile.

        Of two ranks that write it at once, the later one has seen the report of the other.
        """
        reports: list[ProcessReport] = []
        while (newer := self.read_all()) != reports:
            reports = newer
            is_alone = self.rank is None and len(reports) == 1
            html = self.watched.html if is_alone else describe_reports(reports).html()
            _replace_file(page, _compose_page(self.title, html))

    def read_all(self) -> list[ProcessReport]:
        """Return the reports that are there, in order."""
        # A program that is no rank has no file of its own.
        reports = [] if self.rank is not None else [self._make_report(ENDED)]
        for path in sorted(self.folder.glob("*.json")):
            with suppress(OSError, ValueError, TypeError):
                # JSON has a list for each tuple.
                report = ProcessReport(*json.loads(path.read_text("utf-8")))
                findings = tuple(starmap(ReportedFinding, report.findings))
                missing = tuple(starmap(ReportedFinding, report.missing))
                reports.append(report._replace(findings=findings, missing=missing))
        # Without those that an earlier run of more ranks has left.
        size = 1 if self.rank is None else self.rank.size
        reports = [report for report in reports if report.rank is None or report.rank < size]
        return sorted(reports, key=lambda report: (report.rank or 0, report.parent, report.pid))

    def find_reports_of_children(self) -> list[ProcessReport]:
        """Return the reports of processes that this one started, and that found something."""
        return [
            report for report in self.read_all() if report.parent == self.pid and report.findings
        ]

    def wait_for_other_ranks(self) -> None:
        """Wait until no other rank on this machine runs its program.

        A launcher stops all when the first ends with an error, and what was found is no reason to
        cut off a rank that stores the model. Without a watch, too, the launcher would wait for it.
        """
        while self.rank is not None and any(
            report.state == RUNNING
            and not report.parent
            and report.pid != self.pid
            and report.is_alive()
            for report in self.read_all()
        ):
            time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Remove the folder, unless another rank will make the page of what is in it."""
        if self.rank is not None:
            self.write(DONE)
            others = [report for report in self.read_all() if report.pid != self.pid]
            if any(report.state != DONE and report.is_alive() for report in others):
                return
        # First by another name: nobody reads half of it.
        new_name = self.folder.with_name(f"{self.folder.name}.{self.pid}")
        with suppress(OSError):
            self.folder.rename(new_name)
            shutil.rmtree(new_name, ignore_errors=True)


def _report_finding(finding: Finding) -> ReportedFinding:
    plain = replace(finding, rank=None)  # the page names all ranks that have it
    return ReportedFinding(f"{plain.title}\n{plain.lines}", plain.tree().html())


def _find_meeting_folder() -> Path:
    """Return the place for a folder of all ranks that one launcher has started, private to the user."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"copylab-watch-{user}-{os.getppid()}"
    with suppress(FileNotFoundError):
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or (os.name != "nt" and found.st_uid != user):
            # A stranger's, or a link: the ranks do not find each other.
            return folder.with_name(f"{folder.name}-{uuid.uuid4().hex}")
    return folder


def _replace_file(path: Path, text: str) -> None:
    """Write a file so that nobody reads half of it."""
    # With the process in its name: two may write the page at once.
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


# -- the page ----------------------------------------------------------------------


class SharedFinding(NamedTuple):
    """A finding, and the labels of the processes that met it."""

    finding: ReportedFinding
    labels: list[str]

    @property
    def sentence(self) -> str:
        """The processes that met it, in words."""
        return gettext("Found by {processes}:", processes=join_few_names(self.labels))


def group_findings(reports: Sequence[ProcessReport]) -> list[SharedFinding]:
    """Return each finding once: a DataLoader begins new processes in each epoch."""
    found: dict[str, SharedFinding] = {}
    for report in reports:
        for finding in (*report.findings, *report.missing):
            shared = found.setdefault(finding.lines, SharedFinding(finding, []))
            shared.labels.append(report.label)
    return list(found.values())


def describe_reports(reports: Sequence[ProcessReport]) -> Part:
    """Return each finding once, with the processes that met it, and what each program has read."""
    parts: list[Part] = [InPage(html_element("style", panel_style_sheet()))]
    for shared in group_findings(reports):
        parts += [Paragraph(shared.sentence, class_="cl-title"), InPage(shared.finding.html)]
    parts += [Paragraph(_describe_process(report)) for report in reports if not report.parent]
    size = max((report.size for report in reports), default=1)
    absent = size - len({report.rank for report in reports if report.rank is not None})
    if size > 1 and absent:
        message = ngettext(
            "Nothing is known here about {number} rank: it ran on another machine, or has not "
            "begun.",
            "Nothing is known here about {number} ranks: they ran on another machine, or have "
            "not begun.",
            absent,
        )
        parts.append(Paragraph(message))
    return Box(*parts, spaced=True, class_="cl-panel")


def _describe_process(report: ProcessReport) -> str:
    """Say what a process has read, how much it found, and whether it came to its end."""
    sentences = [report.reading_summary]
    if report.state == RUNNING:
        # It has read more than its file says.
        sentences = [
            gettext("It had not come to its end when this was written; what it had found is above.")
        ]
    if report.findings:
        number = len(report.findings)
        sentences.insert(0, ngettext("{number} finding.", "{number} findings.", number))
    return gettext(
        "**{what}**: {sentences}",
        what=report.label,
        sentences=join_sentences(filter(None, sentences)),
    )


def _compose_page(title: str, body: str) -> str:
    """Return a page that needs no network."""
    return (
        f'<!doctype html>\n<html lang="{current_language() or "en"}">\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{escape(title)}</title>\n'
        "<style>:root { color-scheme: light dark } "
        "body { max-width: 60em; margin: 2em auto; padding: 0 1em; font: 16px sans-serif }</style>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</html>\n"
    )
