"""What a program does beyond its names: files, random numbers, settings, threads, other programs.

While a program runs, Python's functions that write files, start programs and the like are replaced
by stand-ins that note the call and pass it on. What compiled code writes past Python is not
noticed, except for `torch.save`; nor is what is written through a function that was taken from its
module before the run.
"""

from __future__ import annotations

import builtins
import contextlib
import decimal
import functools
import gc
import os
import random
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np

from tinytorch.graph import MODES, set_saved_tensor_hooks
from tinytorch.viz import join_few_names, join_names

from ..wording import gettext, gettext_noop, ngettext
from .surroundings import stabilize_text, truncate_text

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_TEMPORARY = gettext_noop("a temporary file")
_BUILTINS = vars(builtins)
_DECIMAL_FIELDS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
_AUTOCAST_DEVICES = ("cpu", "cuda")
_SETTERS = (__name__, "os", "collections.abc", "_collections_abc", "unittest.mock", "contextlib")
"""The modules of frames between a line that sets a variable of the environment, and its note."""
_RANDOM_NAME = re.compile(r"tmp[a-z0-9_]{8}(?![a-z0-9_])")


class Effects:
    """Notes what one run does, inside of a `with`; `report()` returns it afterwards.

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
        # A session has threads of its own: IPython, for example, saves its history in one.
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
        self._modules_by_place = _list_modules()
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
        # A program can take a module away (`sys.modules['numpy'] = None`): later cells need it.
        gone = {}
        # All at once first: with PyTorch there are thousands.
        if _list_modules() != self._modules_by_place:
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
                    # What could not be read (a folder that was removed) cannot be put back either.
                    setting.write(before)

    def _replace_function(self, owner: Any, name: str, note: Note) -> None:
        # Any module with a Tensor can be an engine, and need not have a `save`.
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
        ident = threading.get_ident()
        return not self._busy() if ident == self._thread else ident not in self._threads

    def report(self) -> EffectsReport:
        """Return what was noted, as plain data."""
        generators = []
        for name, state in self._before.items():
            if self._random and self._after.get(name) != state:
                generators.append(name)
        done = {kind: tuple(things) for kind, things in self._done.items()}
        return EffectsReport(done, tuple(generators), tuple(self._changed))


class EffectsReport(NamedTuple):
    """What a program did that remains after it, and what stepping does not show."""

    done: Mapping[str, tuple[str, ...]]
    """Kind of deed, a key of _SENTENCES -> the things that it was done to."""
    generators: tuple[str, ...] = ()
    """The generators of random numbers that go on with other numbers."""
    settings: tuple[str, ...] = ()
    """The settings that it changed and that were put back, in English."""

    def sentences(self) -> Iterator[str]:
        """Yield it in sentences, in the language in use."""
        for kind, make_sentence in _SENTENCES.items():
            if things := self.done.get(kind):
                yield make_sentence(list(things))
        if self.generators:
            yield gettext(
                "The code changed the global random state of {generators} "
                "(it drew numbers or set a seed): "
                "what your session draws next differs.",
                generators=join_few_names(self.generators),
            )
        if settings := [gettext(about) for about in self.settings]:
            yield gettext(
                "The code changed a setting of the session, which was put back: {settings}.",
                settings=join_names(settings),
            )


# -- settings: read before the run, put back after it ----------------------------------


class Setting(NamedTuple):
    """A setting of the session: what it is about, how it is read, how it is put back."""

    about: str
    read: Callable[[], Any]
    write: Callable[[Any], Any]

    def read_safely(self) -> Any:
        """Return its value; None if it cannot be read (a current folder that was removed)."""
        try:
            return self.read()
        except Exception:  # noqa: BLE001  # whatever it is, the run must not fail on it
            return None

    def has_changed(self, before: Any) -> bool:
        """Return True if its value is another one; also if the program's own objects do not tell."""
        try:
            return bool(self.read_safely() != before)
        except BaseException:  # noqa: BLE001  # an `__eq__` of the program's may raise anything
            return True


def list_settings(engine: Any) -> Iterator[Setting]:
    """Yield the settings, in the order in which they are put back."""
    # Any module with a Tensor can be an engine, with or without these.
    if hasattr(engine, "is_grad_enabled"):
        yield from _list_settings_of_engine(engine)
    if engine.__name__ == "torch":
        yield from _list_settings_of_torch(engine)
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
    yield Setting(
        gettext_noop("where Python searches for modules"), _read_search_paths, _put_search_paths
    )
    yield Setting(
        gettext_noop("how errors and results are shown"), _read_display_hooks, _put_display_hooks
    )
    yield Setting(gettext_noop("the umask"), _read_umask, os.umask)
    yield Setting(gettext_noop("the decimal context"), _read_decimal_context, _put_decimal_context)
    yield Setting(gettext_noop("the switch interval"), sys.getswitchinterval, sys.setswitchinterval)


# -- of the engine ---------------------------------------------------------------------


def _list_settings_of_engine(engine: Any) -> Iterator[Setting]:
    yield Setting(
        gettext_noop("whether gradients are recorded"),
        engine.is_grad_enabled,
        engine.set_grad_enabled,
    )
    yield Setting(
        gettext_noop("the default dtype"), engine.get_default_dtype, engine.set_default_dtype
    )
    yield Setting(
        gettext_noop("anomaly mode"),
        lambda: (engine.is_anomaly_enabled(), engine.is_anomaly_check_nan_enabled()),
        lambda modes: engine.autograd.set_detect_anomaly(*modes),  # its constructor sets them
    )
    if engine.__name__ == "tinytorch":
        yield Setting(
            gettext_noop("hooks on saved tensors"),
            lambda: MODES.thread.saved_tensor_hooks,
            set_saved_tensor_hooks,
        )


def _list_settings_of_torch(torch: Any) -> Iterator[Setting]:
    yield Setting(
        gettext_noop("the default device"),
        lambda: str(torch.get_default_device()),
        # It is a mode of its own where it was ever set: None ends that.
        lambda name: torch.set_default_device(None if name == "cpu" else name),
    )
    stacks = [
        _ModeStack(import_module(module), f"_get_current_{kind}_mode_stack")
        for module, kind in (
            ("torch.overrides", "function"),
            ("torch.utils._python_dispatch", "dispatch"),
        )
    ]
    yield Setting(
        gettext_noop("the modes that are entered"),
        lambda: [stack.read() for stack in stacks],
        lambda found: [stack.write(modes) for stack, modes in zip(stacks, found, strict=True)],
    )
    autograd = torch._C._autograd
    yield Setting(
        gettext_noop("hooks on saved tensors"),
        lambda: _read_hooks(autograd),
        lambda pairs: _put_hooks(autograd, pairs),
    )
    yield Setting(
        gettext_noop("whether algorithms are deterministic"),
        lambda: (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
        lambda modes: torch.use_deterministic_algorithms(modes[0], warn_only=modes[1]),
    )
    yield Setting(
        gettext_noop("autocast"),
        lambda: _read_autocast(torch),
        lambda modes: _put_autocast(torch, modes),
    )
    yield Setting(
        gettext_noop("the number of threads"), torch.get_num_threads, torch.set_num_threads
    )


class _ModeStack(NamedTuple):
    """The modes of one kind that are entered, and the module that has the functions for them."""

    module: Any
    reader: str

    def read(self) -> tuple[Any, ...]:
        return tuple(getattr(self.module, self.reader)())

    def write(self, modes: tuple[Any, ...]) -> None:
        entered = self.read()
        common = 0
        while common < min(len(entered), len(modes)) and entered[common] is modes[common]:
            common += 1
        for mode in reversed(entered[common:]):
            # By its own end, which puts PyTorch's flags for "a mode is entered" back, too.
            with contextlib.suppress(Exception):
                mode.__exit__(None, None, None)
        while len(self.read()) > common:
            self.module._pop_mode()
        for mode in modes[common:]:
            self.module._push_mode(mode)


def _read_hooks(autograd: Any) -> tuple[Any, ...]:
    """Return the pairs of hooks on saved tensors. PyTorch shows the top one alone."""
    pairs = _pop_hooks(autograd)
    for pair in pairs:
        autograd._push_saved_tensors_default_hooks(*pair)
    return pairs


def _put_hooks(autograd: Any, pairs: tuple[Any, ...]) -> None:
    _pop_hooks(autograd)
    for pair in pairs:
        autograd._push_saved_tensors_default_hooks(*pair)


def _pop_hooks(autograd: Any) -> tuple[Any, ...]:
    pairs = []
    # True: also under a tracer, which otherwise hides the hooks.
    while (top := autograd._top_saved_tensors_default_hooks(True)) is not None:
        autograd._pop_saved_tensors_default_hooks()
        pairs.append(top)
    return tuple(reversed(pairs))


def _read_autocast(torch: Any) -> tuple[Any, ...]:
    # PyTorch tells how deep blocks of autocast are nested only by changing the number.
    nesting = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    states = [
        (name, torch.is_autocast_enabled(name), torch.get_autocast_dtype(name))
        for name in _AUTOCAST_DEVICES
    ]
    return (nesting, torch.is_autocast_cache_enabled(), states)


def _put_autocast(torch: Any, before: tuple[Any, ...]) -> None:
    nesting, has_cache, states = before
    for name, is_enabled, dtype in states:
        torch.set_autocast_enabled(name, is_enabled)
        torch.set_autocast_dtype(name, dtype)
    torch.set_autocast_cache_enabled(has_cache)
    # The cast weights are given back where the last block ends.
    while _read_autocast(torch)[0] > nesting:
        torch.autocast_decrement_nesting()
    if not nesting:
        torch.clear_autocast_cache()


# -- of Python and the process ---------------------------------------------------------


def _read_handlers() -> dict[int, Any]:
    return {
        number: signal.getsignal(number)
        # Not SIGINT, which the stopwatch puts back. Windows has no SIGALRM.
        for number in (signal.SIGTERM, getattr(signal, "SIGALRM", signal.SIGTERM))
    }


def _put_handlers(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
    # An alarm that is left would end the process, now that the program's handler is gone.
    if hasattr(signal, "alarm"):
        signal.alarm(0)


def _read_search_paths() -> list[list[Any]]:
    return [list(sys.path), list(sys.meta_path), list(sys.path_hooks)]


def _put_search_paths(paths: list[list[Any]]) -> None:
    # In place: others refer to these lists.
    sys.path[:], sys.meta_path[:], sys.path_hooks[:] = paths


def _read_display_hooks() -> tuple[Any, ...]:
    return sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook


def _put_display_hooks(hooks: tuple[Any, ...]) -> None:
    sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook = hooks


def _read_umask() -> int:
    # It cannot be read without being set.
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _read_decimal_context() -> tuple[list[Any], dict[Any, bool]]:
    # Not its flags: each inexact result sets one.
    context = decimal.getcontext()
    return [getattr(context, name) for name in _DECIMAL_FIELDS], dict(context.traps)


def _put_decimal_context(before: tuple[list[Any], dict[Any, bool]]) -> None:
    values, traps = before
    context = decimal.getcontext()
    for name, value in zip(_DECIMAL_FIELDS, values, strict=True):
        setattr(context, name, value)
    context.traps.update(traps)


# -- random numbers --------------------------------------------------------------------


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
    # A descriptor or an open file: its `open` was noted already.
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


def _note_environment(name: Any, *_: object) -> Deed | None:
    # `torch.compile` sets TORCHINDUCTOR_CACHE_DIR for itself, which no line of the program says.
    return None if _is_called_by_torch() else Deed("environment", os.fsdecode(name))


def _is_called_by_torch() -> bool:
    """Return True if PyTorch's own code is what sets a variable of the environment."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _SETTERS:
        frame = frame.f_back
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    return package in ("torch", "triton")


def _note_program(program: Any, *_: object, **__: object) -> Deed:
    first = program if isinstance(program, _PATHS) else program[0]
    return Deed("programs", truncate_text(stabilize_text(os.fsdecode(first)), 60))


def _note_database(database: Any, *_: object, **__: object) -> Deed | None:
    return None if database == ":memory:" else Deed("wrote", _name_of_path(database))


def _list_modules() -> tuple[list[str], list[int]]:
    """Return the names of all modules, and which objects they are.

    By identity: a program may put there what answers `==` with something else than a bool.
    """
    return list(sys.modules), list(map(id, sys.modules.values()))


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
        # The same function under the name by which `Path.open` and `write_text` call it.
        (import_module("io"), "open", _note_open),
        (os, "open", _note_os_open),
        (os, "mkdir", _make_path_note("made")),
        # What `os.environ[...] = ...` and `del` call.
        (os, "putenv", _note_environment),
        (os, "unsetenv", _note_environment),
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
        "The code started {number} thread: threads are not stepped, and only what they print "
        "is shown.",
        "The code started {number} threads: threads are not stepped, and only what they print "
        "is shown.",
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
