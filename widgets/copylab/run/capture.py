"""Catch what a program prints and warns while it is stepped, cut to a size that can be shown."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import TextIO

from tinytorch.viz.catalogue import gettext, ngettext

_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]{4,}")
_TRIGGERED = re.compile(r"\s*\(Triggered internally at [^()]*\)\.?")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")
_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # they would turn the text around them


def steady(text: str) -> str:
    """`text` without what differs from run to run: addresses of objects; and as `shown`."""
    return shown(_ADDRESS.sub("0x...", text))


def shown(text: str) -> str:
    """`text` without what cannot be shown: control characters, and marks that turn the direction of the text."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n"))
    return _TURNING.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text).encode("utf-8", "replace").decode("utf-8")


def describe_error(error: BaseException) -> str:
    """The last line of a traceback, `KeyError: 'x'`; never raises, whatever the exception's own methods do."""
    name = type(error).__name__
    try:
        message = str(error)
    except BaseException:  # noqa: BLE001  # a broken __str__, were it to end the program, is its own business, and is said
        message = gettext("<the message of this exception could not be read>")
    return cut(steady(f"{name}: {message}" if message else name), 4000)


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, and how many more there were."""
    return text if len(text) <= limit else text[:limit] + _more(len(text) - limit)


def _more(count: int) -> str:
    return "\n" + ngettext("... {number} more character, not shown", "... {number} more characters, not shown", count)


class Output:
    """Gathers the output of the step that runs, as (kind, text) pairs; kinds: "out", "err", "warning", "value".

    Keeps at most `per_step` characters of a step and `in_all` of a run, and counts the rest.
    """

    def __init__(self, per_step: int = 4000, in_all: int = 100_000) -> None:
        self._per_step = per_step
        self._left = in_all
        self._parts: list[tuple[str, str]] = []
        self._room = min(per_step, in_all)
        self._dropped = 0
        self.length = 0

    def add(self, kind: str, text: str) -> None:
        """Append `text` to the running step."""
        kept = text[: self._room]
        self._room -= len(kept)
        self._left -= len(kept)
        self._dropped += len(text) - len(kept)
        self.length += len(text)
        if not kept:
            return
        if kind in ("out", "err") and self._parts and self._parts[-1][0] == kind:
            self._parts[-1] = (kind, self._parts[-1][1] + kept)
        else:
            self._parts.append((kind, kept))

    def take(self) -> tuple[tuple[str, str], ...]:
        """End the step: its output so far; the next step starts empty."""
        parts = [(kind, steady(text)) for kind, text in self._parts]
        if self._dropped:
            parts.append(("cut", _more(self._dropped).strip()))
        self._parts, self._dropped = [], 0
        self._room = min(self._per_step, self._left)
        return tuple(parts)


class _Stream(io.TextIOBase):
    """Stands in for sys.stdout; what threads print that were there before goes where it always went."""

    encoding = "utf-8"

    def __init__(self, kind: str, output: Output, original: TextIO | None) -> None:
        self._kind, self._output, self._original = kind, output, original
        self._others = {thread.ident for thread in threading.enumerate()} - {threading.get_ident()}

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if threading.get_ident() in self._others and self._original is not None:
            return self._original.write(text)
        self._output.add(self._kind, text)
        return len(text)


@contextlib.contextmanager
def capturing(output: Output) -> Iterator[None]:
    """Send stdout, stderr and warnings to `output`; afterwards all three are as they were.

    A warning is shown as `UserWarning: message`, without the path and the process id that differ everywhere, and
    once for each line that gives it, whatever filters are set outside: the same program shows the same warnings.
    """
    stdout, stderr = _Stream("out", output, sys.stdout), _Stream("err", output, sys.stderr)
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr), warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("default")
        warnings.showwarning = _shower(output)
        yield


def _shower(output: Output) -> Callable[..., None]:
    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        output.add("warning", f"{category.__name__}: {_TRIGGERED.sub('', str(message))}")

    return show
