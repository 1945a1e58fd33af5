"""What a program does beyond its names: files, random numbers, threads, other programs. Noticed, and said.

Files and programs are reported by Python's own audit events, which cannot be unhooked again: one hook is set on first
use, and it does nothing while no program is watched. What compiled code writes past Python goes unnoticed, but for
`torch.save`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Self

import numpy as np

from tinytorch.viz.catalogue import gettext, gettext_noop, ngettext
from tinytorch.viz.labels import few

from .capture import cut, steady

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_TEMPORARY = gettext_noop("a temporary file")
_RANDOM_NAME = re.compile(r"tmp[a-z0-9_]{8}(?![a-z0-9_])")

_watching: list[Effects] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watching and event in _EVENTS:  # `id()` is an event too: the way out must be short
        for effects in _watching:
            with contextlib.suppress(Exception):  # an error here would forbid what the program is about to do
                effects.heard(event, args)


@functools.cache
def _set_hook() -> None:
    sys.addaudithook(_hook)


class Effects:
    """Watches one run, from `with` to its end; `sentences()` then says what it did.

    `busy` tells whether the program's thread is being looked at, so that what happens is not the program's doing.
    random: whether to speak of random numbers, which may be put back.
    """

    def __init__(self, engine: ModuleType, busy: Callable[[], bool], *, random: bool = True) -> None:
        self._engine, self._busy, self._random = engine, busy, random
        self._done: dict[str, dict[str, None]] = {}  # what was done, to which things, in order

    def __enter__(self) -> Self:
        _set_hook()
        self._before = _states(self._engine)
        self._thread = threading.get_ident()
        self._threads = {thread.ident for thread in threading.enumerate()}
        self._stood_in: list[tuple[Any, str, Any, Any]] = []
        self._stand_in(threading.Thread, "start", self._starting)
        self._stand_in(self._engine, "save", self._saving)
        _watching.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _watching.remove(self)
        for owner, name, original, ours in self._stood_in:
            if getattr(owner, name, None) is ours:  # or the program has put its own there
                setattr(owner, name, original)
        self._after = _states(self._engine)

    def _stand_in(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        original = getattr(owner, name, None)
        if original is not None:
            ours = make(original)
            setattr(owner, name, ours)
            self._stood_in.append((owner, name, original, ours))

    def heard(self, event: str, args: tuple[Any, ...]) -> None:
        """An audit event of Python's."""
        if self._mine() and (said := _EVENTS[event](*args)) is not None:
            self._note(*said)

    def _mine(self) -> bool:
        here = threading.get_ident()
        return not self._busy() if here == self._thread else here not in self._threads

    def _note(self, what: str, thing: str) -> None:
        self._done.setdefault(what, {})[thing] = None

    def _starting(self, start: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(start)
        def started(thread: threading.Thread) -> None:
            if self._mine():
                self._note("threads", str(len(self._done.get("threads", ()))))
            start(thread)

        return started

    def _saving(self, save: Callable[..., Any]) -> Callable[..., Any]:
        """torch.save writes in compiled code, where no audit event is raised."""

        @functools.wraps(save)
        def saved(obj: object, f: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(f, str | os.PathLike) and self._mine():
                self._note("wrote", _named(f))
            return save(obj, f, *args, **kwargs)

        return saved

    def sentences(self) -> Iterator[str]:
        """What the program did that goes on after it, and what stepping does not show."""
        for what, say in _SAID.items():
            if things := list(self._done.get(what, ())):
                yield say(things)
        differ = [name for name, state in self._before.items() if self._after.get(name) != state]
        if self._random and (generators := [name for name in differ if name not in _SETTINGS]):
            yield gettext(
                "The code changed the global random state of {generators} (it drew numbers or set a seed): "
                "what your session draws next differs.",
                generators=few(generators),
            )
        if settings := [gettext(_SETTINGS[name]) for name in differ if name in _SETTINGS]:
            yield gettext("The code changed a setting of your session: {settings}.", settings=few(settings))


_SETTINGS = {
    "is_grad_enabled": gettext_noop("whether gradients are recorded"),
    "get_default_dtype": gettext_noop("the default dtype"),
}
"""What is asked of an engine, and what the answer is about."""


def _states(engine: Any) -> dict[str, object]:
    """The states of the global random generators and the settings, to be compared."""
    found: dict[str, object] = {}
    with contextlib.suppress(Exception):
        found["torch"] = engine.get_rng_state().numpy().tobytes()
    # This loads the module: a run that is the first to seed it is seen, too.
    state: Any = np.random.get_state(legacy=False)  # noqa: NPY002  # the global state is what is asked about
    found["NumPy"] = (state["state"]["key"].tobytes(), state["state"]["pos"], state["has_gauss"], state["gauss"])
    found["Python"] = random.getstate()
    for ask in _SETTINGS:
        with contextlib.suppress(Exception):
            found[ask] = str(getattr(engine, ask)())
    return found


def _opened(path: Any, _mode: object, flags: int) -> tuple[str, str] | None:
    if isinstance(path, int) or not flags & _WRITES or os.fspath(path) == os.devnull or _tries_a_folder():
        return None
    if Path(os.fsdecode(path)).is_dir():  # a temporary file is announced by its folder
        return "wrote", _TEMPORARY
    return _path("wrote")(path)


def _tries_a_folder() -> bool:
    """Whether `tempfile` looks for a folder that can be written, which it does once, by writing into it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "_get_default_tempdir":
        frame = frame.f_back
    return frame is not None


def _named(path: Any) -> str:
    text = os.fsdecode(path)
    # Such names differ from run to run, and what is said is stored.
    return _TEMPORARY if _RANDOM_NAME.search(text) else cut(steady(text), 100)


def _removed(path: Any, *_: object) -> tuple[str, str] | None:
    return None if _tries_a_folder() else _path("removed")(path)


def _path(what: str) -> Callable[..., tuple[str, str] | None]:
    # What Python compiles on import and keeps beside a module is not the program's doing.
    return lambda path, *_: None if "__pycache__" in str(path) else (what, _named(path))


_EVENTS: dict[str, Callable[..., tuple[str, str] | None]] = {
    "open": _opened,
    "os.truncate": _path("wrote"),
    "sqlite3.connect": lambda database, *_: None if database == ":memory:" else ("wrote", _named(database)),
    "os.remove": _removed,
    "os.rmdir": _path("removed"),
    "os.rename": _path("renamed"),
    "os.mkdir": _path("made"),
    "os.chdir": _path("moved"),
    "os.putenv": lambda name, *_: ("environment", os.fsdecode(name)),
    "os.unsetenv": lambda name, *_: ("environment", os.fsdecode(name)),
    "os.system": lambda command: _started(command),  # noqa: PLW0108  # defined below
    "subprocess.Popen": lambda program, args, *_: _started(program or (args if isinstance(args, str) else args[0])),
    "socket.connect": lambda *_: ("network", "connection"),
}


def _started(program: Any) -> tuple[str, str]:
    return "programs", cut(steady(os.fsdecode(program)), 60)


_SAID: dict[str, Callable[[list[str]], str]] = {
    "wrote": lambda files: _files(gettext_noop("The code wrote to {files}."), files),
    "removed": lambda files: _files(gettext_noop("The code removed {files}."), files),
    "renamed": lambda files: _files(gettext_noop("The code renamed {files}."), files),
    "made": lambda folders: ngettext(
        "The code made the folder {folders}.",
        "The code made the folders {folders}.",
        len(folders),
        folders=few(folders),
    ),
    "moved": lambda folders: gettext("The code changed the current folder to {folder}.", folder=folders[-1]),
    "environment": lambda names: gettext("The code changed environment variables: {names}.", names=few(names)),
    "programs": lambda names: gettext("The code started other programs: {names}.", names=few(names)),
    "network": lambda _: gettext("The code opened a network connection."),
    "threads": lambda every: ngettext(
        "The code started {number} thread: what threads do is not stepped, only what they print is shown.",
        "The code started {number} threads: what threads do is not stepped, only what they print is shown.",
        len(every),
    ),
}


def _files(sentence: str, names: list[str]) -> str:
    if names == [_TEMPORARY]:
        return gettext(sentence, files=gettext(_TEMPORARY))
    files = ngettext("the file {names}", "the files {names}", len(names), names=few(names))
    return gettext(sentence, files=files)
