"""What a program does beyond its names: files, random numbers, settings, threads, other programs. Noticed, and said.

While a program runs, functions of Python's that write files, start programs and the like are stood in for by others
that take note and call them. What compiled code writes past Python goes unnoticed, but for `torch.save`; and so does
what is written through a function that was taken from its module before the run.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import gc
import os
import random
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np

from tinytorch.viz import gettext, gettext_noop, join_few_names, ngettext

from .surroundings import stabilize_text, truncate_text

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_TEMPORARY = gettext_noop("a temporary file")
_BUILTINS = vars(builtins)
_RANDOM_NAME = re.compile(r"tmp[a-z0-9_]{8}(?![a-z0-9_])")


class Effects:
    """Watches one run, from `with` to its end; `sentences()` then says what it did.

    `busy` tells whether the program's thread is being looked at, so that what happens is not the program's doing.
    random: whether to speak of random numbers, which may be put back.
    """

    def __init__(
        self, engine: ModuleType, busy: Callable[[], bool], *, random: bool = True
    ) -> None:
        self._engine, self._busy, self._random = engine, busy, random
        self._done: dict[str, dict[str, None]] = {}  # what was done, to which things, in order

    def __enter__(self) -> Self:
        self._before = _read_random_states(self._engine)
        self._settings = [(setting, setting.now()) for setting in _list_settings(self._engine)]
        self._mended = False
        self._thread = threading.get_ident()
        self._threads = {thread.ident for thread in threading.enumerate()}
        self._stood_in: list[tuple[Any, str, Any, Any]] = []
        for owner, name, says in _list_observed_functions():
            self._stand_in(owner, name, says)
        self._stand_in(
            threading.Thread,
            "start",
            lambda *_: ("threads", str(len(self._done.get("threads", ())))),
        )
        # torch.save writes in compiled code.
        self._stand_in(self._engine, "save", lambda _, f, *__, **___: _note_written_path(f))
        self._builtins, self._modules = dict(_BUILTINS), dict(sys.modules)
        return self

    def mend(self) -> None:
        """Put Python's own functions back where the program has exchanged them. Calls none of them."""
        if self._builtins != _BUILTINS:
            _BUILTINS.update(self._builtins)
            self._mended = True

    def __exit__(self, *_: object) -> None:
        for owner, name, original, ours in self._stood_in:
            if getattr(owner, name, None) is ours:  # or the program has put its own there
                setattr(owner, name, original)
        gone = {
            name: module
            for name, module in self._modules.items()
            if sys.modules.get(name) is not module
        }
        sys.modules.update(gone)
        self._after = _read_random_states(self._engine)
        self._changed = [gettext_noop("Python's own functions")] * self._mended
        self._changed += [gettext_noop("loaded modules")] * bool(gone)
        for setting, before in self._settings:
            if setting.now() != before:
                self._changed.append(setting.about)
                with contextlib.suppress(Exception):
                    setting.write(before)

    def _stand_in(self, owner: Any, name: str, says: Callable[..., tuple[str, str] | None]) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def ours(*args: Any, **kwargs: Any) -> Any:
            said = None
            if self._mine():
                with contextlib.suppress(
                    Exception
                ):  # odd arguments are for the function itself to refuse
                    said = says(*args, **kwargs)
            result = original(*args, **kwargs)
            if said is not None:
                self._done.setdefault(said[0], {})[said[1]] = None
            return result

        setattr(owner, name, ours)
        self._stood_in.append((owner, name, original, ours))

    def _mine(self) -> bool:
        here = threading.get_ident()
        return not self._busy() if here == self._thread else here not in self._threads

    def sentences(self) -> Iterator[str]:
        """What the program did that goes on after it, and what stepping does not show."""
        for what, say in _SENTENCES.items():
            if things := list(self._done.get(what, ())):
                yield say(things)
        generators = [
            name for name, state in self._before.items() if self._after.get(name) != state
        ]
        if self._random and generators:
            yield gettext(
                "The code changed the global random state of {generators} (it drew numbers or set a seed): "
                "what your session draws next differs.",
                generators=join_few_names(generators),
            )
        if settings := [gettext(about) for about in self._changed]:
            yield gettext(
                "The code changed a setting of the session, which was put back: {settings}.",
                settings=join_few_names(settings),
            )


class Setting(NamedTuple):
    """What holds for the whole process: what it is about, how it is read, how it is put back."""

    about: str
    read: Callable[[], Any]
    write: Callable[[Any], Any]

    def now(self) -> Any:
        """How it stands; None where that cannot be said (a current folder that was removed)."""
        try:
            return self.read()
        except Exception:  # noqa: BLE001  # whatever it is, it is not for the run to fail on
            return None


def _list_settings(engine: Any) -> Iterator[Setting]:
    if hasattr(engine, "is_grad_enabled"):  # any module with a Tensor will do
        yield Setting(
            gettext_noop("whether gradients are recorded"),
            engine.is_grad_enabled,
            engine.set_grad_enabled,
        )
        yield Setting(
            gettext_noop("the default dtype"), engine.get_default_dtype, engine.set_default_dtype
        )
    yield Setting(gettext_noop("the current folder"), Path.cwd, os.chdir)
    yield Setting(
        gettext_noop("garbage collection"),
        gc.isenabled,
        lambda on: gc.enable() if on else gc.disable(),
    )
    yield Setting(gettext_noop("the recursion limit"), sys.getrecursionlimit, sys.setrecursionlimit)
    yield Setting(gettext_noop("the trace function"), sys.gettrace, sys.settrace)
    yield Setting(gettext_noop("the profile function"), sys.getprofile, sys.setprofile)
    yield Setting(gettext_noop("signal handlers"), _read_handlers, _put_handlers)


def _read_handlers() -> dict[int, Any]:
    return {
        number: signal.getsignal(number)
        for number in (signal.SIGTERM, getattr(signal, "SIGALRM", signal.SIGTERM))
    }


def _put_handlers(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
    if hasattr(signal, "alarm"):
        signal.alarm(0)


def _read_random_states(engine: Any) -> dict[str, object]:
    """The states of the global random generators, to be compared."""
    found: dict[str, object] = {}
    with contextlib.suppress(Exception):
        found["torch"] = engine.get_rng_state().numpy().tobytes()
    # This loads the module: a run that is the first to seed it is seen, too.
    state: Any = np.random.get_state(legacy=False)  # noqa: NPY002  # the global state is what is asked about
    found["NumPy"] = (
        state["state"]["key"].tobytes(),
        state["state"]["pos"],
        state["has_gauss"],
        state["gauss"],
    )
    found["Python"] = random.getstate()
    return found


# -- what is noted -----------------------------------------------------------------

_PATHS = (str, bytes, os.PathLike)


def _note_open(file: Any, mode: str = "r", *_: object, **__: object) -> tuple[str, str] | None:
    return _note_written_path(file) if set(mode) & set("wax+") else None


def _note_os_open(path: Any, flags: int, *_: object, **__: object) -> tuple[str, str] | None:
    return _note_written_path(path) if flags & _WRITES else None


def _note_written_path(path: Any, *_: object) -> tuple[str, str] | None:
    if not isinstance(path, _PATHS) or os.fspath(path) == os.devnull:
        return None
    if Path(os.fsdecode(path)).is_dir():  # a temporary file is made in its folder
        return "wrote", _TEMPORARY
    return _make_path_note("wrote")(path)


def _name_of_path(path: Any) -> str:
    text = os.fsdecode(path)
    # Such names differ from run to run, and what is said is stored.
    return _TEMPORARY if _RANDOM_NAME.search(text) else truncate_text(stabilize_text(text), 100)


def _make_path_note(what: str) -> Callable[..., tuple[str, str] | None]:
    # What Python compiles on import and keeps beside a module is not the program's doing.
    return lambda path, *_, **__: (
        None if "__pycache__" in str(path) else (what, _name_of_path(path))
    )


def _note_program(program: Any, *_: object, **__: object) -> tuple[str, str]:
    first = program if isinstance(program, _PATHS) else program[0]
    return "programs", truncate_text(stabilize_text(os.fsdecode(first)), 60)


def _note_database(database: Any, *_: object, **__: object) -> tuple[str, str] | None:
    return None if database == ":memory:" else ("wrote", _name_of_path(database))


@functools.cache
def _list_observed_functions() -> tuple[
    tuple[Any, str, Callable[..., tuple[str, str] | None]], ...
]:
    """Where functions stand that do such things, their names, and what is to be said of a call."""
    process, connection, database = map(import_module, ("subprocess", "socket", "sqlite3"))
    with contextlib.suppress(OSError):
        tempfile.gettempdir()  # the first time it tries folders, by writing into them
    paths = {
        "wrote": ["truncate"],
        "removed": ["remove", "unlink", "rmdir"],
        "renamed": ["rename", "replace"],
    }
    return (
        *((os, name, _make_path_note(what)) for what, names in paths.items() for name in names),
        (builtins, "open", _note_open),
        (import_module("io"), "open", _note_open),
        (os, "open", _note_os_open),
        (os, "mkdir", _make_path_note("made")),
        (os, "putenv", lambda name, *_: ("environment", os.fsdecode(name))),
        (os, "unsetenv", lambda name: ("environment", os.fsdecode(name))),
        (os, "system", _note_program),
        (process.Popen, "__init__", lambda _, args, *__, **___: _note_program(args)),
        (connection.socket, "connect", lambda *_: ("network", "connection")),
        (database, "connect", _note_database),
    )


_SENTENCES: dict[str, Callable[[list[str]], str]] = {
    "wrote": lambda files: _sentence_on_files(gettext_noop("The code wrote to {files}."), files),
    "removed": lambda files: _sentence_on_files(gettext_noop("The code removed {files}."), files),
    "renamed": lambda files: _sentence_on_files(gettext_noop("The code renamed {files}."), files),
    "made": lambda folders: ngettext(
        "The code made the folder {folders}.",
        "The code made the folders {folders}.",
        len(folders),
        folders=join_few_names(folders),
    ),
    "environment": lambda names: gettext(
        "The code changed environment variables: {names}.", names=join_few_names(names)
    ),
    "programs": lambda names: gettext(
        "The code started other programs: {names}.", names=join_few_names(names)
    ),
    "network": lambda _: gettext("The code opened a network connection."),
    "threads": lambda every: ngettext(
        "The code started {number} thread: what threads do is not stepped, only what they print is shown.",
        "The code started {number} threads: what threads do is not stepped, only what they print is shown.",
        len(every),
    ),
}


def _sentence_on_files(sentence: str, names: list[str]) -> str:
    if names == [_TEMPORARY]:
        return gettext(sentence, files=gettext(_TEMPORARY))
    files = ngettext(
        "the file {names}", "the files {names}", len(names), names=join_few_names(names)
    )
    return gettext(sentence, files=files)
