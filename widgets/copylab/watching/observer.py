"""`watch()`: what a program writes to what its graphs have saved, told where backward meets it."""

from __future__ import annotations

import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Literal, Self

from tinytorch.viz import memory, snapshot
from tinytorch.viz.catalogue import gettext, ngettext
from tinytorch.viz.labels import bracket
from tinytorch.viz.read.naming import collect

from ..doc import Box, InPage, Paragraph, Part, Told, element, indented
from ..ui.theme import style
from .findings import Finding, GradientWarning
from .kept import Kept, span
from .places import Caller, Place, place_of

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

    Works in the thread that enters it, over PyTorch and tinytorch. Gradients, random numbers and the versions of what
    graphs save are those of a run without it, but for a few operations that PyTorch computes otherwise while it is
    looked at (docs/watch.md). It does not look into what `torch.compile` has compiled, nor into what is saved while
    hooks of the program's own hold (`save_on_cpu`, a checkpoint). What lies on another device than the CPU cannot be
    compared, and of more than 16 MB only pieces are: there, what operations write is told.

    Raises ValueError for another `silent`. Source: `torch.autograd.graph.saved_tensors_hooks`, `TorchDispatchMode`.
    """
    return Watch(silent)


class Watch(Told):
    """A watch, and what it found. Made by `watch`."""

    def __init__(self, silent: Literal["warn", "raise", "record"] = "warn") -> None:
        if silent not in ("warn", "raise", "record"):
            raise ValueError(f'silent must be "warn", "raise" or "record", not {silent!r}')
        self.findings: list[Finding] = []
        self._silent = silent
        self._context: ExitStack | None = None
        self._thread = 0
        self._caller = Caller()
        self._homes: dict[int, dict[int, weakref.ref[Kept]]] = {}
        self._crowd = 1_000
        self._known: dict[Any, Finding] = {}
        self._looking = False
        self._read = self._not_compared = 0

    def __enter__(self) -> Self:
        if self._context is not None:
            raise RuntimeError("this watch has begun; begin another one with copylab.watch()")
        from .on_tinytorch import TinyTorch
        from .on_torch import Torch

        self._thread = threading.get_ident()
        with ExitStack() as stack:
            for name, engine in (("torch", Torch), ("tinytorch", TinyTorch)):
                module = sys.modules.get(name)
                if module is not None and hasattr(module, "Tensor"):
                    self._caller.passes(str(Path(str(module.__file__)).parent))
                    stack.enter_context(engine(self, module).attached())
            self._context = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        context = self._context
        if context is not None:
            if self._thread != threading.get_ident():
                raise RuntimeError("a watch ends in the thread in which it was begun")
            self._context = None
            context.__exit__(kind, error, trace)

    # -- what the engines tell -------------------------------------------------------

    def keep(self, tensor: Any, **how: Any) -> Kept:
        """A tensor is saved."""
        kept = Kept(tensor, self._caller.place(), **how)
        where = _storage(tensor)
        home = self._homes.get(where)
        if home is None:
            home = self._homes[where] = {}
            if len(self._homes) > self._crowd:
                self._homes = {key: value for key, value in self._homes.items() if value or key == where}
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
                    kept.wrote(place, where, done=done)

    def spares(self, tensor: Any, node: int) -> None:
        """No write to a tensor does harm to what the node of number `node` has saved."""
        for reference in list(self._homes.get(_storage(tensor), {}).values()):
            kept = reference()
            if kept is not None and kept.made == node:
                kept.harmless = True

    def check(self, kept: Kept, node: Callable[[], Any]) -> None:
        """A node reads what it saved, at the version at which it saved it."""
        if self._looking or kept.told:
            return
        self._read += 1
        changed = kept.changed
        self._not_compared += kept.bytes is None
        if changed is not False:
            kept.told = True
            finding, new = self._found(kept, node().name(), silent=True, compared=bool(changed))
            if self._silent == "raise":
                raise GradientWarning(finding.summary)
            if new and self._silent == "warn":
                at = finding.backward or Place("<unknown>", 0, "")
                warnings.warn_explicit(finding.summary, GradientWarning, at.file, at.line)

    def raises(self, kept: Kept, node: str, error: RuntimeError) -> None:
        """The engine's own error is raised, for a node reads what was written since."""
        if not self._looking:
            self._read += 1
            finding, _ = self._found(kept, node, silent=False)
            error.add_note(gettext("Seen by copylab.watch:") + "\n" + indented(finding.lines))

    def _found(self, kept: Kept, node: str, *, silent: bool, compared: bool = True) -> tuple[Finding, bool]:
        """The finding, and whether it is a new one: what one line wrote and one backward met is one."""
        self._looking = True
        try:
            frame, written = self._caller.frame(), kept.writer()
            backward = None if frame is None else place_of(frame)
            key = (silent, written or kept.place, backward)
            known = self._known.get(key)
            if known is not None:
                known.more += 1
                return known, False
            seen = _seen(kept.tensor, frame)
            picture = memory(snapshot(**seen)) if seen else None
            finding = Finding(silent, node, kept.place, written, backward, tuple(seen), compared, picture=picture)
            self._known[key] = finding
            self.findings.append(finding)
            return finding, True
        finally:
            self._looking = False

    # -- what it says ------------------------------------------------------------------

    def tree(self) -> Part:
        """Each finding; without any, what was looked at."""
        sheet = InPage(element("style", style()))
        if not self.findings:
            return Box(sheet, Paragraph(self._clear()), kind="cl-panel")
        return Box(sheet, *(finding.tree() for finding in self.findings), apart=True, kind="cl-panel")

    def _clear(self) -> str:
        if not self._read:
            return gettext("Backward has read no saved tensor under this watch.")
        said = ngettext(
            "Backward has read {number} saved tensor under this watch; it was as it was saved.",
            "Backward has read {number} saved tensors under this watch; each was as it was saved.",
            self._read,
        )
        if self._not_compared:
            said += " " + ngettext(
                "{number} of them could not be compared; no operation wrote to it.",
                "{number} of them could not be compared; no operation wrote to them.",
                self._not_compared,
            )
        return said

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        said = ngettext("{number} finding", "{number} findings", len(self.findings)) if self.findings else self._clear()
        return bracket(gettext("watch: {said}", said=said))


def _storage(tensor: Any) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError, AttributeError):  # a subclass or a layout without storage
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
        for path, tensor in collect((names,), {}, None):
            low, high = span(tensor)
            if low < stop and start < high:
                name, dot, inside = path.partition(".")
                found.setdefault(id(tensor), (f"{name} {home}{dot}{inside}" if name in hidden else path, tensor))
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
    if frame.f_code.co_flags & _FAST_LOCALS and sys.version_info < (3, 13) and sys.getrefcount(local) == _ITS_OWN:
        local.clear()
    return names


def _same(one: Any, other: Any) -> bool:
    return one is other or (span(one) == span(other) and one.shape == other.shape and one._version == other._version)
