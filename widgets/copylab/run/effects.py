"""What a program does beyond its names: files, random numbers, settings, threads, other programs.

While a program runs, Python's functions that write files, start programs and the like are replaced
by stand-ins that note the call and pass it on. What compiled code writes past Python is not
noticed, except for `torch.save`; nor is what is written through a function that was taken from its
module before the run.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import os
import random
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np

from tinytorch.viz import join_few_names, join_names

from ..wording import gettext, gettext_noop, ngettext
from .settings import list_settings
from .surroundings import stabilize_text, truncate_text

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_TEMPORARY = gettext_noop("a temporary file")
_BUILTINS = vars(builtins)
_RANDOM_NAME = re.compile(r"tmp[a-z0-9_]{8}(?![a-z0-9_])")


class Effects:
    """Notes what one run does, inside of a `with`; `sentences()` says it afterwards.

    busy: returns True while the program's thread is observed: what happens then is not the
        program's doing.
    random: whether random numbers are mentioned; not if they are put back.
    """

    def __init__(
        self, engine: ModuleType, busy: Callable[[], bool], *, random: bool = True
    ) -> None:
        self._engine, self._busy, self._random = engine, busy, random
        # Kind of deed -> the things that it was done to, in order (a dict as an ordered set).
        self._done: dict[str, dict[str, None]] = {}

    def __enter__(self) -> Self:
        self._before = _read_random_states(self._engine)
        self._settings = [
            (setting, setting.read_safely()) for setting in list_settings(self._engine)
        ]
        self._restored = False
        self._thread = threading.get_ident()
        self._threads = {thread.ident for thread in threading.enumerate()}
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        for function in _list_observed_functions():
            self._replace_function(*function)
        self._replace_function(
            threading.Thread,
            "start",
            # Numbered, so that each one counts.
            lambda *_: Deed("threads", str(len(self._done.get("threads", ())))),
        )
        # torch.save writes in compiled code.
        self._replace_function(self._engine, "save", lambda _, f, *__, **___: _note_written_path(f))
        # Last, so that `restore_functions` puts back the stand-ins, which note what is done.
        self._builtins, self._modules = dict(_BUILTINS), dict(sys.modules)
        return self

    def restore_functions(self) -> None:
        """Put Python's own functions back that the program has exchanged. Calls none of them."""
        if self._builtins != _BUILTINS:
            _BUILTINS.update(self._builtins)
            self._restored = True

    def __exit__(self, *_: object) -> None:
        for owner, name, original, stand_in in self._replaced:
            # Not if the program has put its own there.
            if getattr(owner, name, None) is stand_in:
                setattr(owner, name, original)
        gone = {
            name: module
            for name, module in self._modules.items()
            if sys.modules.get(name) is not module
        }
        sys.modules.update(gone)
        self._after = _read_random_states(self._engine)
        self._changed = [gettext_noop("Python's own functions")] * self._restored
        self._changed += [gettext_noop("loaded modules")] * bool(gone)
        for setting, before in self._settings:
            if setting.has_changed(before):
                self._changed.append(setting.about)
                with contextlib.suppress(Exception):
                    setting.write(before)

    def _replace_function(self, owner: Any, name: str, note: Note) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            deed = None
            if self._is_doing_of_program():
                # Bad arguments are for the function itself to refuse.
                with contextlib.suppress(Exception):
                    deed = note(*args, **kwargs)
            result = original(*args, **kwargs)
            # Not noted if it raised: then it was not done.
            if deed is not None:
                self._done.setdefault(deed.kind, {})[deed.thing] = None
            return result

        setattr(owner, name, stand_in)
        self._replaced.append((owner, name, original, stand_in))

    def _is_doing_of_program(self) -> bool:
        here = threading.get_ident()
        return not self._busy() if here == self._thread else here not in self._threads

    def sentences(self) -> Iterator[str]:
        """Yield what the program did that remains after it, and what stepping does not show."""
        for kind, make_sentence in _SENTENCES.items():
            if things := list(self._done.get(kind, ())):
                yield make_sentence(things)
        generators = [
            name for name, state in self._before.items() if self._after.get(name) != state
        ]
        if self._random and generators:
            yield gettext(
                "The code changed the global random state of {generators} "
                "(it drew numbers or set a seed): "
                "what your session draws next differs.",
                generators=join_few_names(generators),
            )
        if settings := [gettext(about) for about in self._changed]:
            yield gettext(
                "The code changed a setting of the session, which was put back: {settings}.",
                settings=join_names(settings),
            )


def _read_random_states(engine: Any) -> dict[str, object]:
    """Return the states of the global random generators, to be compared."""
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


# -- notes: what a call does -------------------------------------------------------

_PATHS = (str, bytes, os.PathLike)


class Deed(NamedTuple):
    """What a call does: its kind, a key of _SENTENCES, and to what."""

    kind: str
    thing: str


Note = Callable[..., Deed | None]
"""Takes the arguments of a call; returns what it does, or None if that is nothing to mention."""


def _note_open(file: Any, mode: str = "r", *_: object, **__: object) -> Deed | None:
    return _note_written_path(file) if set(mode) & set("wax+") else None


def _note_os_open(path: Any, flags: int, *_: object, **__: object) -> Deed | None:
    return _note_written_path(path) if flags & _WRITES else None


def _note_written_path(path: Any, *_: object) -> Deed | None:
    if not isinstance(path, _PATHS) or os.fspath(path) == os.devnull:
        return None
    # A temporary file is made in its folder.
    if Path(os.fsdecode(path)).is_dir():
        return Deed("wrote", _TEMPORARY)
    return _make_path_note("wrote")(path)


def _name_of_path(path: Any) -> str:
    text = os.fsdecode(path)
    # Such names differ from run to run, and the sentences are stored.
    return _TEMPORARY if _RANDOM_NAME.search(text) else truncate_text(stabilize_text(text), 100)


def _make_path_note(kind: str) -> Note:
    """Make the note of a function whose first argument is a path."""

    def note_path(path: Any, *_: object, **__: object) -> Deed | None:
        # What Python compiles on import and stores beside a module is not the program's doing.
        return None if "__pycache__" in str(path) else Deed(kind, _name_of_path(path))

    return note_path


def _note_program(program: Any, *_: object, **__: object) -> Deed:
    first = program if isinstance(program, _PATHS) else program[0]
    return Deed("programs", truncate_text(stabilize_text(os.fsdecode(first)), 60))


def _note_database(database: Any, *_: object, **__: object) -> Deed | None:
    return None if database == ":memory:" else Deed("wrote", _name_of_path(database))


@functools.cache
def _list_observed_functions() -> tuple[tuple[Any, str, Note], ...]:
    """Return the functions with effects: their module or class, their name, the note of a call."""
    process, connection, database = map(import_module, ("subprocess", "socket", "sqlite3"))
    with contextlib.suppress(OSError):
        # Now, because the first time it tries folders, by writing into them.
        tempfile.gettempdir()
    kinds = {
        "truncate": "wrote",
        "remove": "removed",
        "unlink": "removed",
        "rmdir": "removed",
        "rename": "renamed",
        "replace": "renamed",
    }
    paths = ((os, name, _make_path_note(kind)) for name, kind in kinds.items())
    return (
        *paths,
        (builtins, "open", _note_open),
        (import_module("io"), "open", _note_open),
        (os, "open", _note_os_open),
        (os, "mkdir", _make_path_note("made")),
        # What `os.environ[...] = ...` and `del` call.
        (os, "putenv", lambda name, *_: Deed("environment", os.fsdecode(name))),
        (os, "unsetenv", lambda name: Deed("environment", os.fsdecode(name))),
        (os, "system", _note_program),
        (process.Popen, "__init__", lambda _, args, *__, **___: _note_program(args)),
        (connection.socket, "connect", lambda *_: Deed("network", "connection")),
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
        "The code started {number} thread: "
        "what threads do is not stepped, only what they print is shown.",
        "The code started {number} threads: "
        "what threads do is not stepped, only what they print is shown.",
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
