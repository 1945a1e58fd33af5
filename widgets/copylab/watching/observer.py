"""`watch()`: what a program writes to what its graphs have saved, told where backward meets it."""

from __future__ import annotations

import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Literal, Protocol, Self

from tinytorch.viz import collect_tensors, format_repr, gettext, memory, ngettext, snapshot

from ..doc import Box, InPage, Paragraph, Part, Presentation, html_element, indent_text
from ..ui import panel_style_sheet
from . import scope
from .cells import CELL_NUMBERS
from .findings import Finding, GradientWarning
from .kept import Kept, span
from .places import Caller, Place, place_of

_LOOK = threading.RLock()
_MOST_FRAMES = 30
_MOST_NAMES = 6
_FAST_LOCALS = 1  # of a code object's flags: `f_locals` of its frames is a copy
_ITS_OWN = 3  # references to it where the program has not asked for `locals()` itself: the frame's and two of ours


def watch(*, silent: Literal["warn", "raise", "record"] = "warn") -> Watch:
    """Watch a program as it runs, for writes to what its graphs have saved.

        with copylab.watch() as w:
            loss = net(x).sum()
            net.weight.data.mul_(0.9)
            loss.backward()             # GradientWarning: both lines are named
        w.findings

    Sees writes through any alias: views, `.data`, `out=`, lists of tensors, optimizers; what NumPy writes is found by
    comparing bytes. When backward reads a tensor that was written since it was saved, and the engine raises, its own
    error has the line that saved and the line that wrote as a note; where the engine would be silent, a
    `GradientWarning` says so. With `silent="raise"` it is raised, with "record" it is not said: either way the findings
    are in `.findings`, and the watch shows itself in a notebook.

    Works over tinytorch, and over PyTorch whether it is imported before or while the watch lasts, in the thread that
    enters it and in the threads that are started from there. Gradients, random numbers and the versions of what
    graphs save are those of a run without it, but for a few operations that PyTorch computes otherwise while it is
    looked at (docs/watch.md). It does not look into what `torch.compile` has compiled, nor into what is saved while
    hooks of the program's own hold (`save_on_cpu`, a checkpoint), nor into graphs that were made before it. What lies
    on another device than the CPU cannot be compared, and of more than 16 MB only pieces are: there, what operations
    write is told. A watch whose backwards have read nothing says that nothing was checked.

    UserWarning at the end, where PyTorch is there and was never attached. Raises ValueError for another `silent`.
    Source: `torch.autograd.graph.saved_tensors_hooks`, `TorchDispatchMode`.
    """
    return Watch(silent)


class Engine(Protocol):
    """PyTorch or tinytorch under a watch, in one thread."""

    def attach(self) -> None:
        """Tell the watch of this thread from now on."""

    def leave(self) -> None:
        """Tell it no more."""


class Watch(Presentation):
    """A watch, and what it found. Made by `watch`."""

    def __init__(self, silent: Literal["warn", "raise", "record"] = "warn") -> None:
        if silent not in ("warn", "raise", "record"):
            raise ValueError(f'silent must be "warn", "raise" or "record", not {silent!r}')
        self.findings: list[Finding] = []
        self._silent = silent
        self.ended = True
        self._thread = 0
        self._attached: dict[int, dict[str, Engine]] = {}
        """The engines that tell this watch, by thread and by name."""
        self._ever_attached: set[str] = set()
        self._attached_at_end: set[str] = set()
        """Engines that were attached in any thread, and in the thread that entered."""
        self._attach_errors: dict[str, str] = {}
        """Engines that could not be attached when they were imported, and why."""
        self._engines_not_attached: set[str] = set()
        """Engines that were there at the end, and never attached in the thread that entered."""
        self._threads_not_attached = 0
        self._caller = Caller()
        self._homes: dict[int, dict[int, weakref.ref[Kept]]] = {}
        self._crowd = 1_000
        self._known: dict[Any, Finding] = {}
        self._lock = threading.Lock()
        self._looking: set[int] = set()
        """The threads in which the watch itself reads saved tensors."""
        self._saved = self._not_compared = 0
        self.read_count = 0
        """How many saved tensors backward has read."""
        self._in_other_threads: list[Finding] = []

    def __enter__(self) -> Self:
        if not self.ended:
            raise RuntimeError("this watch has begun; begin another one with copylab.watch()")
        self.ended = False
        self._thread = threading.get_ident()
        self._attached[self._thread] = {}
        CELL_NUMBERS.follow()
        scope.begin(self)
        try:
            for name in scope.ENGINES:
                self._attach(name, sys.modules.get(name))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.ended:
            return
        if not self.entered_here():
            raise RuntimeError("a watch ends in the thread in which it was begun")
        self._end()
        self._engines_not_attached = {
            name for name in scope.ENGINES if _can_be_attached(sys.modules.get(name))
        }
        self._engines_not_attached -= self._attached_at_end
        if self._engines_not_attached - self._ever_attached and (place := self._caller.place()):
            warn_at(place, " ".join(self.not_attached()), UserWarning)

    def _end(self) -> None:
        self.ended = True
        scope.end(self)
        self._attached_at_end = set(self._attached[self._thread])
        self._leave()

    # -- where it looks ----------------------------------------------------------------

    def entered_here(self) -> bool:
        """Return True in the thread that entered it."""
        return self._thread == threading.get_ident()

    def holds_here(self) -> bool:
        """Return True in the threads that it looks at: the one that entered it, and those started from there."""
        return not self.ended and threading.get_ident() in self._attached

    def _attach(self, name: str, module: Any) -> None:
        attached = self._attached[threading.get_ident()]
        if name in attached or not _can_be_attached(module):
            return
        from .on_tinytorch import TinyTorch
        from .on_torch import Torch

        self._caller.passes(str(Path(str(module.__file__)).parent))
        engine: Engine = Torch(self, module) if name == "torch" else TinyTorch(self, module)
        engine.attach()
        attached[name] = engine
        self._ever_attached.add(name)

    def attach_imported(self, name: str, module: Any) -> None:
        """Attach an engine that was imported in this thread. The import goes on if that fails: the end says so."""
        try:
            self._attach(name, module)
        except Exception as error:  # noqa: BLE001 - a release that has moved something must not break the import
            self._attach_errors[name] = f"{type(error).__name__}: {error}"

    def _leave(self) -> None:
        """Take what is attached off this thread."""
        for engine in reversed(self._attached.pop(threading.get_ident()).values()):
            engine.leave()

    @contextmanager
    def in_thread(self) -> Iterator[None]:
        """Look at this thread, which a watched thread started."""
        self._attached[threading.get_ident()] = {}
        for name in scope.ENGINES:
            self.attach_imported(name, sys.modules.get(name))
        try:
            yield
        finally:
            attached = self._attached[threading.get_ident()]
            absent = [
                name
                for name in scope.ENGINES
                if name not in attached and name not in self._attach_errors
            ]
            if any(_can_be_attached(sys.modules.get(name)) for name in absent):
                self._threads_not_attached += 1  # imported meanwhile in another thread
            self._leave()

    # -- what the engines tell -------------------------------------------------------

    def keep(self, tensor: Any, **how: Any) -> Kept:
        """A tensor is saved."""
        kept = Kept(tensor, self._caller.place(), **how)
        if self.ended:  # in a thread that goes on after the end
            kept.harmless = True
            return kept
        where = _storage(tensor)
        with self._lock:
            self._saved += 1
            home = self._homes.get(where)
            if home is None:
                home = self._homes[where] = {}
                if len(self._homes) > self._crowd:
                    self._homes = {
                        key: value for key, value in self._homes.items() if value or key == where
                    }
                    self._crowd = 1_000 + 2 * len(self._homes)
            kept.home = home
            home[id(kept)] = weakref.ref(kept)
        return kept

    def wrote(self, tensor: Any, unless: int | None = None, *, done: bool = False) -> None:
        """A tensor is about to be written, or was (`done`); node number `unless` needs it not as it was."""
        home = self._homes.get(_storage(tensor))
        if home:
            place, where = self._caller.writer(), span(tensor)
            for reference in list(home.values()):
                kept = reference()
                if kept is not None and kept.made == unless:
                    kept.harmless = True
                elif kept is not None:
                    with self._lock:  # two threads may write to what it is
                        kept.wrote(place, where, done=done)

    def spares(self, tensor: Any, node: int) -> None:
        """No write to a tensor does harm to what the node of number `node` has saved."""
        for reference in list(self._homes.get(_storage(tensor), {}).values()):
            kept = reference()
            if kept is not None and kept.made == node:
                kept.harmless = True

    def check(self, kept: Kept, node: Callable[[], Any]) -> None:
        """A node reads what it saved, at the version at which it saved it."""
        # Raised each time: a graph that a fixture made is read by one test after the other.
        if threading.get_ident() in self._looking or (kept.told and self._silent != "raise"):
            return
        changed = kept.changed
        with self._lock:
            self.read_count += 1
            self._not_compared += kept.bytes is None
        if changed is not False:
            kept.told = True
            finding, new = self._found(kept, node().name(), silent=True, compared=bool(changed))
            if self._silent == "raise":
                if not self.entered_here():
                    with self._lock:
                        self._in_other_threads.append(finding)
                raise GradientWarning(finding.summary)
            if new and self._silent == "warn":
                warn_at(
                    finding.backward or Place("<unknown>", 0, ""), finding.summary, GradientWarning
                )

    def raises(self, kept: Kept, node: str, error: RuntimeError) -> None:
        """The engine's own error is raised, for a node reads what was written since."""
        if threading.get_ident() not in self._looking:
            with self._lock:
                self.read_count += 1
            finding, _ = self._found(kept, node, silent=False)
            error.add_note(gettext("Seen by copylab.watch:") + "\n" + indent_text(finding.lines))

    def take_from_other_threads(self) -> list[Finding]:
        """The findings that were raised in other threads than the one that entered, each once."""
        with self._lock:
            found, self._in_other_threads = self._in_other_threads, []
        return list(dict.fromkeys(found))

    def _found(
        self, kept: Kept, node: str, *, silent: bool, compared: bool = True
    ) -> tuple[Finding, bool]:
        """The finding, and whether it is a new one: what one line wrote and one backward met is one."""
        self._looking.add(threading.get_ident())
        try:
            frame, written = self._caller.frame(), kept.writer()
            backward = None if frame is None else place_of(frame)
            key = (silent, written or kept.place, backward)
            with self._lock:
                known = self._known.get(key)
                if known is not None:
                    known.more += 1
                    return known, False
            # A look lists all objects of the process, and no two threads may do that at once: Python raises SystemError
            # where a tuple that one of them builds from a generator is in the list of the other.
            with _LOOK:
                seen = _seen(kept.tensor, frame)
                picture = memory(snapshot(**seen)) if seen else None
            finding = Finding(
                silent, node, kept.place, written, backward, tuple(seen), compared, picture=picture
            )
            with (
                self._lock
            ):  # not held above, where a tensor subclass of the program's own may be asked
                known = self._known.setdefault(key, finding)
                if known is not finding:
                    known.more += 1
                    return known, False
                self.findings.append(finding)
            return finding, True
        finally:
            self._looking.discard(threading.get_ident())

    # -- what it says ------------------------------------------------------------------

    def tree(self) -> Part:
        """Each finding; without any, what was looked at; and what was not."""
        sheet = InPage(html_element("style", panel_style_sheet()))
        missed = self.not_attached()
        if not self.findings:
            return Box(sheet, Paragraph(" ".join([self._clear(), *missed])), kind="cl-panel")
        notes = [Paragraph(" ".join(missed))] if missed else []
        return Box(
            sheet,
            *(finding.tree() for finding in self.findings),
            *notes,
            apart=True,
            kind="cl-panel",
        )

    def _clear(self) -> str:
        if not self.read_count:
            return self._nothing_read()
        said = ngettext(
            "Backward has read {number} saved tensor under this watch; it was as it was saved.",
            "Backward has read {number} saved tensors under this watch; each was as it was saved.",
            self.read_count,
        )
        if self._not_compared:
            said += " " + ngettext(
                "{number} of them could not be compared; no operation wrote to it.",
                "{number} of them could not be compared; no operation wrote to them.",
                self._not_compared,
            )
        return said

    def _nothing_read(self) -> str:
        """That nothing was checked, and what the reason may be."""
        return f"{self._nothing_checked()} {self._why_nothing_read()}"

    def _nothing_checked(self) -> str:
        return gettext("Nothing was checked: backward has read no saved tensor under this watch.")

    def _why_nothing_read(self) -> str:
        if self._saved:
            return ngettext(
                "{number} tensor was saved under it: no backward has come to the node that saved it.",
                "{number} tensors were saved under it: no backward has come to the nodes that saved them.",
                self._saved,
            )
        if "torch" not in sys.modules:
            return gettext(
                "PyTorch was not imported, and no operation of tinytorch has saved a tensor."
            )
        return gettext(
            "None was saved under it. It does not see what is saved before it begins, in threads that were started "
            "before, by compiled code, and inside of hooks of the program's own (save_on_cpu, a checkpoint)."
        )

    def not_attached(self) -> list[str]:
        """What it could not look at, as far as it knows, in sentences."""
        said = []
        for name in sorted(self._engines_not_attached):
            engine = "PyTorch" if name == "torch" else name
            if name in self._attach_errors:
                said.append(
                    gettext(
                        "{engine} could not be watched: {why}.",
                        engine=engine,
                        why=self._attach_errors[name],
                    )
                )
            else:
                said.append(
                    gettext(
                        "{engine} was not watched in the thread that began this watch: it was imported in another "
                        "thread, or not by Python's import.",
                        engine=engine,
                    )
                )
        if self._threads_not_attached:
            said.append(
                ngettext(
                    "{number} thread was not watched: PyTorch was imported in another one after it had started.",
                    "{number} threads were not watched: PyTorch was imported in another one after they had started.",
                    self._threads_not_attached,
                )
            )
        return said

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        if self.findings:
            said = ngettext("{number} finding", "{number} findings", len(self.findings))
        else:
            said = self._clear() if self.read_count else self._nothing_checked()
        return format_repr(gettext("watch: {said}", said=said))


def _can_be_attached(module: Any) -> bool:
    """Return True for an engine that is imported: not half of it, and no other module of its name."""
    return hasattr(module, "Tensor") and hasattr(module, "autograd")


def warn_at(place: Place, message: str, category: type[Warning]) -> None:
    """Warn as of a line of the program. That of a cell is named as IPython does, without its process number."""
    warnings.warn_explicit(message, category, place.warned_at, place.line)


def _storage(tensor: Any) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (
        RuntimeError,
        NotImplementedError,
        AttributeError,
    ):  # a subclass or a layout without storage
        return 0


def _seen(saved: Any, frame: FrameType | None) -> dict[str, Any]:
    """The tensors over a saved tensor's memory that the callers of backward know, by their names, itself first.

    A name means what it means on the line that calls backward: the variable of a caller of which a function further in
    has the name, too, is told apart by where it is, as in `steps`.
    """
    found: dict[int, tuple[str, Any]] = {}
    hidden: set[str] = set()
    start, stop = span(saved)
    for _ in range(_MOST_FRAMES):
        if frame is None or not stop:
            break
        names, code = _names(frame), frame.f_code
        home = f"in {code.co_name}" if code.co_flags & _FAST_LOCALS else "(global)"
        for path, tensor in collect_tensors((names,), {}, None):
            low, high = span(tensor)
            if low < stop and start < high:
                name, dot, inside = path.partition(".")
                found.setdefault(
                    id(tensor), (f"{name} {home}{dot}{inside}" if name in hidden else path, tensor)
                )
        hidden.update(names, code.co_varnames, code.co_cellvars, code.co_freevars)
        frame = frame.f_back
    by_name: dict[str, Any] = {}
    for name, tensor in sorted(found.values(), key=lambda one: not _same(one[1], saved)):
        by_name.setdefault(name, tensor)
    return dict([*by_name.items()][:_MOST_NAMES])


def _names(frame: FrameType) -> dict[str, Any]:
    """What the names of a frame stand for. Python's own copy, kept for as long as a function runs, is let go again."""
    local = frame.f_locals
    names = dict(local)
    if (
        frame.f_code.co_flags & _FAST_LOCALS
        and sys.version_info < (3, 13)
        and sys.getrefcount(local) == _ITS_OWN
    ):
        local.clear()
    return names


def _same(one: Any, other: Any) -> bool:
    return one is other or (
        span(one) == span(other) and one.shape == other.shape and one._version == other._version
    )
