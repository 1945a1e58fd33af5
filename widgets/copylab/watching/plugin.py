"""`pytest --copylab-watch`: a user's tests under `watch(silent="raise")`.

A test fails if backward reads a tensor that was modified since it was saved, whether the engine
raises an error or not.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from ..wording import gettext
from .findings import GradientWarning
from .observer import watch
from .tracebacks import drop_own_frames


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    help_text = "fail a test whose gradients are computed from saved tensors that were written to since (copylab.watch)"
    parser.getgroup("copylab").addoption("--copylab-watch", action="store_true", help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    """Watch the session if the option is given."""
    if config.getoption("--copylab-watch"):
        config.pluginmanager.register(WatchedSession(), "copylab-watched-session")


class WatchedSession:
    """One watch for all tests: what a fixture of a module saves in the first of them is seen in the others, too.

    None of its hooks wraps another one: pytest 7 and 8 differ in how that is done.
    """

    def __init__(self) -> None:
        # An error, since a warning of one test among thousands is read by nobody.
        self.watch = watch(silent="raise")
        self.has_run = False
        """True if the body of the running test has run, and was not skipped."""
        self.reads_before = 0
        """How many saved tensors backward had read when the running test began."""
        self.test_count = 0
        self.total_reads = 0
        self.tests_without_reads = 0

    def pytest_sessionstart(self) -> None:
        """Begin before tests are collected: a module may make a graph when it is imported."""
        self.watch.__enter__()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """End after the last fixture."""
        with warnings.catch_warnings(action="ignore"):  # the summary says what was not attached
            self.watch.__exit__(None, None, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Note where a test begins, its fixtures included."""
        self.has_run, self.reads_before = False, self.watch.read_count

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_setup(self) -> None:
        """Fail for findings of other threads: Python lets an error end with its thread."""
        self._raise_from_threads()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self) -> None:
        """Likewise."""
        self._raise_from_threads()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self) -> None:
        """Likewise."""
        self._raise_from_threads()

    def _raise_from_threads(self) -> None:
        findings = self.watch.take_findings_of_other_threads()
        if findings:
            raise GradientWarning("\n".join(finding.summary for finding in findings))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> None:
        """Leave the frames of the watch out of what a failed test shows."""
        drop_own_frames(None if call.excinfo is None else call.excinfo.value)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a test. Its report takes the number from a worker of pytest-xdist to the process that counts."""
        if report.when == "call" and not report.skipped:
            self.has_run = True
        if report.when != "teardown":
            return
        # Under pytest-xdist this runs in the worker, which adds the number, and again in the process that was
        # started, which has made no backward and finds it there.
        if not hasattr(report, "copylab_read"):
            report.copylab_read = (
                self.watch.read_count - self.reads_before if self.has_run else None
            )
        if report.copylab_read is not None:
            self.test_count += 1
            self.total_reads += report.copylab_read
            self.tests_without_reads += not report.copylab_read

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print how much was looked at."""
        summary = gettext(
            "copylab watch: watched {tests} tests, {read} saved tensors read, {without} tests read none",
            tests=self.test_count,
            read=self.total_reads,
            without=self.tests_without_reads,
        )
        terminalreporter.write_line(summary)
        if self.tests_without_reads:
            reason = gettext(
                "Nothing was checked in a test that read none: no backward ran in it, or its graph was made where the "
                "watch does not look (in a thread or process that it did not see start, in compiled code, inside of "
                "hooks of the program's own)."
            )
            terminalreporter.write_line(reason)
        for note in self.watch.describe_gaps():
            terminalreporter.write_line(note)
