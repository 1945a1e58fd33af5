"""`pytest --copylab-watch`: a user's tests under `watch(silent="raise")`.

A test fails where backward meets a tensor that was written since it was saved, whether the engine says so or not.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    about = "fail a test whose gradients are computed from saved tensors that were written since (copylab.watch)"
    parser.getgroup("copylab").addoption("--copylab-watch", action="store_true", help=about)


def pytest_configure(config: pytest.Config) -> None:
    """Watch the session, if that was asked for."""
    if config.getoption("--copylab-watch"):
        config.pluginmanager.register(WatchedSession(), "copylab-watched-session")


class WatchedSession:
    """One watch for all tests: what a fixture of a module saves in the first of them is seen in the others, too.

    None of its hooks wraps another one: pytest 7 and 8 differ in how that is done.
    """

    def __init__(self) -> None:
        from .observer import watch

        self.watch = watch(silent="raise")
        self.has_run = False
        self.read_before = 0
        self.tests = self.read = self.tests_without_reads = 0

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
        self.has_run, self.read_before = False, self.watch.read_count

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_setup(self) -> None:
        """Fail for what a thread has met, where Python lets the error end with the thread."""
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
        found = self.watch.take_from_other_threads()
        if found:
            from .findings import GradientWarning

            raise GradientWarning("\n".join(finding.summary for finding in found))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a test. Its report takes the number from a worker of pytest-xdist to the process that counts."""
        if report.when == "call" and not report.skipped:
            self.has_run = True
        if report.when != "teardown":
            return
        if not hasattr(report, "copylab_read"):
            report.copylab_read = self.watch.read_count - self.read_before if self.has_run else None
        if report.copylab_read is not None:
            self.tests += 1
            self.read += report.copylab_read
            self.tests_without_reads += not report.copylab_read

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how much was looked at."""
        from tinytorch.viz import gettext

        said = gettext(
            "copylab watch: watched {tests} tests, {read} saved tensors read, {without} tests read none",
            tests=self.tests,
            read=self.read,
            without=self.tests_without_reads,
        )
        terminalreporter.write_line(said)
        if self.tests_without_reads:
            why = gettext(
                "Nothing was checked in a test that read none: no backward ran in it, or its graph was made where the "
                "watch does not look (in a thread or process that it did not see start, in compiled code, inside of "
                "hooks of the program's own)."
            )
            terminalreporter.write_line(why)
        for note in self.watch.not_attached():
            terminalreporter.write_line(note)
