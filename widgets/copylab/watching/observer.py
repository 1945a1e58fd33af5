"""`watch()`: report writes to what a program's graphs have saved, when backward reads it."""

from __future__ import annotations

import re
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self

from tinytorch.graph import FREED_MESSAGE, name_of_node
from tinytorch.viz import (
    COMPARISON_FINDERS,
    EXIT_FINDERS,
    FREED_GRAPH_FINDERS,
    MAKING_LINE_FINDERS,
    NO_GRAPH_FINDERS,
    THREADS_IN_LOOK,
    ExitKind,
    FormulaUse,
    GraphExit,
    engine_name,
    format_repr,
    is_observed,
    mark_look,
    memory,
    snapshot,
)

from ..doc import Box, InPage, Paragraph, Part, Presentation, html_element, indent_text
from ..ranks import find_rank
from ..run import CELL_NUMBERS
from ..ui import panel_style_sheet
from ..wording import gettext, join_sentences, ngettext
from . import scope
from .aliases import find_aliases
from .backward_log import BackwardLog
from .engine_runs import EngineRun
from .exits import ExitLog, LeafReference, MakingLog
from .findings import Finding, GradientWarning
from .formulas import find_use
from .freed_findings import list_lines_of_graph, make_freed_finding
from .gaps import WatchGaps
from .kept_attributes import KeptAttribute, KeptComparison
from .missing import MissingGradient, StepLog
from .no_graph_findings import NoGraph, find_why_no_graph, make_no_graph_finding
from .node_lines import FreedGraph, NodeLines, RunStart
from .on_tinytorch import TinyTorchHooks
from .on_torch import TorchHooks
from .packed_saves import PackedSave
from .places import NodeLine, Place, PlaceFinder, place_of
from .tracebacks import drop_own_frames
from .watched_backward import BackwardMeasurement
from .watched_memory import Span, memory_span
from .watched_save import WatchedSave

_MOST_SEARCHED = 100
"""So many saved tensors are compared before a backward, in a small program alone."""
_NO_GRAPH_MESSAGE = re.compile(
    r"element (\d+) of tensors does not require grad and does not have a grad_fn"
)
_NO_GRAD_OF_INPUT_MESSAGES = (
    "One of the differentiated Tensors does not require grad",
    # of `backward(inputs=...)`, which has each of them keep its gradient
    "can't retain_grad on Tensor that has requires_grad=False",
)
_SMALLEST_PRUNING = 1_000
"""The first `Watch._prune_at`: a program with fewer storages is never searched."""


def watch(*, silent: Literal["warn", "raise", "record"] = "warn") -> Watch:
    """Watch a running program for writes to what its graphs have saved.

        with copylab.watch() as w:
            loss = net(x).sum()
            net.weight.data.mul_(0.9)
            loss.backward()             # GradientWarning: both lines are named
        w.findings

    Sees writes through any alias: views, `.data`, `out=`, lists of tensors, optimizers; what NumPy writes is found by
    comparing bytes. When backward reads a tensor that was written since it was saved, and the engine raises, its own
    error has the line that saved and the line that wrote as a note; where the engine would be silent, a
    `GradientWarning` says so. With `silent="raise"` it is raised, with "record" it is not said: either way the findings
    are in `.findings`, and the watch shows itself in a notebook. While it lasts, `graph`, `memory` and `explain` name
    the line that wrote to what a node had saved.

    Works over tinytorch, and over PyTorch whether it is imported before or while the watch lasts, in the thread that
    enters it and in the threads that are started from there. Gradients, random numbers and the versions of what
    graphs save are those of a run without it, but for a few operations that PyTorch computes otherwise while it is
    looked at (docs/watch.md). It does not look into what `torch.compile` has compiled, nor into graphs that were made
    before it. What a Function keeps as an attribute of `ctx` is compared, and what hooks of the program's own give
    back (`save_on_cpu`, a checkpoint that computes again). On a GPU bytes are compared there; while a CUDA graph is
    captured they cannot be, and of more than 16 MB only pieces are: there, what operations write is told. A watch
    whose backwards have read nothing says that nothing was checked.

    UserWarning at the end, where PyTorch is there and was never attached. Raises ValueError for another `silent`.
    Source: `torch.autograd.graph.saved_tensors_hooks`, `TorchDispatchMode`.
    """
    return Watch(silent)


class EngineHooks(Protocol):
    """PyTorch or tinytorch under a watch, in one thread."""

    def attach(self) -> None:
        """Call the watch for saves, writes and reads of this thread from now on."""

    def detach(self) -> None:
        """Stop calling it."""


class WriteInProgress(NamedTuple):
    """A write that was noted and is being done."""

    watch: Watch
    """The watch that has noted it."""
    saves: list[WatchedSave]
    """The saved tensors that it may change."""
    place: Place | None
    """The line that writes; None if it is not known."""
    span: Span | None
    """The memory that it may change; None for other memory that the tensor itself gets."""

    def end(self) -> None:
        """Note what it has done."""
        self.watch.record_result(self)


class _CountedFinding:
    """A finding, and how many saved tensors the last backward of each thread has read for it."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        self._last_backwards: dict[int, int] = {}
        """The number of the last backward that met it, by thread."""
        self._first_spans: dict[int, Span | None] = {}
        """The memory of the first one that it read, by thread; None if not known."""
        self._read_counts: dict[int, int] = {}

    def count_read(self, finding: Finding, backward_nr: int, span: Span | None) -> None:
        """Count a saved tensor that the same line wrote to, and that a backward has read.

        finding: what would be reported of it, were it alone.
        span: its memory; None if not known.
        """
        thread = scope.find_program_thread()
        if self._last_backwards.get(thread) != backward_nr:
            is_first_backward = not self._last_backwards
            self._last_backwards[thread], self._read_counts[thread] = backward_nr, 0
            # A finding has 1 for `times` when it is made, which counts the first backward.
            self.finding.times += not is_first_backward
        self._read_counts[thread] += 1
        # The first one is what the finding is about.
        if self._read_counts[thread] > 1:
            is_same_memory = span is not None and span == self._first_spans[thread]
            # True as long as all of the others are the same memory.
            is_first_other = not self.finding.other_savers
            were_all_same = is_first_other or self.finding.is_saved_again
            self.finding.is_saved_again = is_same_memory and were_all_same
            savers = (*self.finding.other_savers, finding.node_and_line)
            self.finding.other_savers = tuple(dict.fromkeys(savers))
        else:
            self._first_spans[thread] = span
        self.finding.more = max(self.finding.more, self._read_counts[thread] - 1)


class Watch(Presentation):
    """A watch, and what it found. Made by `watch`."""

    has_node_hooks = False
    """True once a node of a graph has got a hook, under this watch."""

    _newest_nr_of_ended_threads = -1
    """The highest number that a node of PyTorch has had in a thread that has ended since."""

    _threads_of_runs: set[int]
    """The threads that have run a backward."""

    read_count = 0
    """Number of saved tensors that backward has read."""

    after_finding: Callable[[], None] | None = None
    """Called after each new finding, in its thread: the process may not come to its end."""

    def __init__(self, silent: Literal["warn", "raise", "record"] = "warn") -> None:
        if silent not in ("warn", "raise", "record"):
            raise ValueError(f'silent must be "warn", "raise" or "record", not {silent!r}')
        self.findings: list[Finding] = []
        """What it found, one for each line that wrote and each backward that read it."""
        self.ended = True
        """True before it begins and after it ends."""
        self._silent = silent
        """What to do with a finding where the engine raises no error: "warn", "raise", "record"."""
        self._place_finder = PlaceFinder()
        """Finds the place of the line of the program that runs."""
        self._exits = ExitLog(self._place_finder)
        """The lines on which values left the graph."""
        self._makings = MakingLog(self._place_finder)
        """The lines that made parameters."""
        self._steps = StepLog(self._place_finder)
        """The steps of optimizers."""
        self._backwards = BackwardLog(self._place_finder, self._exits.find_exits)
        """The backwards that have run."""
        self._lock = threading.Lock()
        """Held where two threads may change counts, saves or findings."""
        self._thread = 0
        """The thread that entered the watch."""
        self._attached: dict[int, dict[str, EngineHooks]] = {}
        """The engines that call this watch, by thread and by name."""
        self._ever_attached: set[str] = set()
        """Engines that were attached in any thread."""
        self._attached_at_end: set[str] = set()
        """Engines that were attached in the thread that entered."""
        self._attach_errors: dict[str, str] = {}
        """Engines that could not be attached when they were imported, and the error."""
        self._engines_not_attached: set[str] = set()
        """Engines imported by the end, and never attached in the thread that entered."""
        self._saves_by_address: dict[int, dict[int, weakref.ref[WatchedSave]]] = {}
        """The saved tensors, by the address of their storage and the save's id."""
        self._prune_at = _SMALLEST_PRUNING
        """Number of storages from which they are searched for storages that are gone."""
        self._save_count = 0
        """Number of tensors that were saved."""
        self._uncompared_count = self._partly_compared_count = 0
        """Number of those read whose bytes cannot be compared, or in pieces alone."""
        self.gaps = WatchGaps()
        """What it could not look at."""
        self.measurement = BackwardMeasurement()
        """Computes the numbers of findings."""

        self._findings_by_lines: dict[Any, _CountedFinding] = {}
        """By what makes two findings one: silent or not, the line to blame, the line of backward."""
        self._findings_in_other_threads: list[Finding] = []
        """Those that were raised where the program's own thread does not see the error."""

    def __enter__(self) -> Self:
        if not self.ended:
            raise RuntimeError("this watch has begun; begin another one with copylab.watch()")
        self.ended = False
        self._thread = threading.get_ident()
        self._attached[self._thread] = {}
        self._threads_of_runs = set()
        # Before a line is named: IPython gives all cells one number where nbval runs them.
        CELL_NUMBERS.follow_shell()
        scope.register_watch(self)
        EXIT_FINDERS.append(self.find_exits)
        FREED_GRAPH_FINDERS.append(self.find_freed_lines)
        NO_GRAPH_FINDERS.append(self.find_lines_without_graph)
        MAKING_LINE_FINDERS.append(self._makings.find_making_line)
        COMPARISON_FINDERS.append(self.find_comparison)
        try:
            for name in scope.ENGINES:
                self._attach_engine(name, sys.modules.get(name))
        # An interrupt, too, must not leave an engine with the hooks of a watch.
        except BaseException:
            self._end_watch()
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
        if not self.is_entering_thread():
            raise RuntimeError("a watch ends in the thread in which it was begun")
        drop_own_frames(error)
        self._end_watch()
        self._engines_not_attached = {
            name for name in scope.ENGINES if _can_be_attached(sys.modules.get(name))
        }
        self._engines_not_attached -= self._attached_at_end
        place = self._place_finder.find_place()
        # One that another thread of the program imported was attached there: no warning for that.
        if self._engines_not_attached - self._ever_attached and place is not None:
            _warn_at(place, join_sentences(self.describe_gaps()), UserWarning)

    def start(self) -> Self:
        """Begin, as `with` does, where a program cannot be put into a block: in a notebook.

        RuntimeError if it has begun.
        """
        return self.__enter__()

    def stop(self) -> Self:
        """End what `start` has begun. RuntimeError in another thread."""
        self.__exit__(None, None, None)
        return self

    def __dir__(self) -> list[str]:
        """List what users need: the other names are called by the engines."""
        results = {"findings", "html", "missing_gradients", "read_count", "text"}
        names = {"ended", "start", "stop"} | results
        return sorted({name for name in super().__dir__() if name.startswith("__")} | names)

    def _end_watch(self) -> None:
        self.ended = True
        scope.unregister_watch(self)
        EXIT_FINDERS.remove(self.find_exits)
        FREED_GRAPH_FINDERS.remove(self.find_freed_lines)
        NO_GRAPH_FINDERS.remove(self.find_lines_without_graph)
        MAKING_LINE_FINDERS.remove(self._makings.find_making_line)
        COMPARISON_FINDERS.remove(self.find_comparison)
        self._attached_at_end = set(self._attached[self._thread])
        self._detach_from_thread()
        # A graph may live on, and be read and written to by others: what happens then is nothing that this
        # watch has seen.
        for address in list(self._saves_by_address):
            for save in self._find_saves_at(address):
                save.note_end()

    # -- where it looks ----------------------------------------------------------------

    def is_entering_thread(self) -> bool:
        """Return True in the thread that entered the watch, and where an engine runs for it."""
        return self._thread == scope.find_program_thread()

    def covers_this_thread(self) -> bool:
        """Return True in the thread that entered the watch and in those started from there."""
        return not self.ended and scope.find_program_thread() in self._attached

    def is_attached_to(self, thread: int) -> bool:
        """Return True if the engines call this watch in a thread."""
        return thread in self._attached

    def _attach_engine(self, name: str, module: Any) -> None:
        attached = self._attached[threading.get_ident()]
        if name in attached or not _can_be_attached(module):
            return
        # The line to name is the program's, whatever the engine calls in Python of its own.
        self._place_finder.skip_folder(str(Path(str(module.__file__)).parent))
        hooks: EngineHooks
        hooks = TorchHooks(self, module) if name == "torch" else TinyTorchHooks(self)
        hooks.attach()
        attached[name] = hooks
        self._ever_attached.add(name)

    def attach_imported(self, name: str, module: Any) -> None:
        """Attach an engine that was imported in this thread; an error is reported at the end."""
        try:
            self._attach_engine(name, module)
        except Exception as error:  # noqa: BLE001
            # A release of PyTorch that has moved something must not break the program's import.
            self._attach_errors[name] = f"{type(error).__name__}: {error}"

    def begin_in_forked_child(self) -> None:
        """Go on in a process that was forked, with findings of its own."""
        # Another thread may have held the lock, and is not there to give it back.
        self._lock = threading.Lock()
        self.findings, self._findings_by_lines, self._findings_in_other_threads = [], {}, []

    def _detach_from_thread(self) -> None:
        for hooks in reversed(self._attached.pop(threading.get_ident()).values()):
            hooks.detach()
            if isinstance(hooks, TorchHooks):
                with self._lock:
                    newest_nr = max(self._newest_nr_of_ended_threads, hooks.find_newest_nr())
                    self._newest_nr_of_ended_threads = newest_nr

    @contextmanager
    def cover_thread(self) -> Iterator[None]:
        """Look at this thread, which a watched thread started."""
        self._attached[threading.get_ident()] = {}
        for name in scope.ENGINES:
            self.attach_imported(name, sys.modules.get(name))
        try:
            yield
        finally:
            attached = self._attached[threading.get_ident()]
            absent = set(scope.ENGINES) - attached.keys() - self._attach_errors.keys()
            if any(_can_be_attached(sys.modules.get(name)) for name in absent):
                self.gaps.count_thread()  # imported meanwhile in another thread
            self._detach_from_thread()

    # -- what the engines call -------------------------------------------------------

    def record_save(
        self,
        tensor: Any,
        node_line: NodeLine | None,
        *,
        sequence_nr: int,
        is_output: bool,
        was_leaf: bool,
        output_nr: int | None,
    ) -> WatchedSave:
        """Return the `WatchedSave` of a tensor, which the node that saves it holds in its place.

        node_line: the one that saves it, which makes the node.
        """
        save = WatchedSave(
            tensor,
            node_line,
            sequence_nr=sequence_nr,
            is_output=is_output,
            was_leaf=was_leaf,
            output_nr=output_nr,
        )
        # What is given back must be a save all the same: the node unpacks it later.
        if self.ended:  # in a thread that goes on after the end
            save.is_harmless = True
            return save
        self._register_save(save)
        return save

    def record_alias(self, alias: Any, node_line: NodeLine | None) -> WatchedSave:
        """Return the `WatchedSave` of what a Function keeps as an attribute, or hooks of the program's own packed.

        alias: a detached one, since it must not keep the graph alive. node_line: the one that kept it.
        """
        save = WatchedSave(
            alias, node_line, sequence_nr=-1, is_output=True, was_leaf=True, output_nr=0
        )
        self._register_save(save, is_of_node=False)
        return save

    def _register_save(self, save: WatchedSave, *, is_of_node: bool = True) -> None:
        """Let writes to the storage of a saved tensor find it. is_of_node: count it, too."""
        address = _storage_address(save.tensor)
        with self._lock:
            self._save_count += is_of_node
            saves_over_storage = self._saves_by_address.get(address)
            if saves_over_storage is None:
                saves_over_storage = self._saves_by_address[address] = {}
                # It has no saved tensor yet, and is not to be taken for one that is gone.
                self._prune_saves(address)
            save.saves_over_storage = saves_over_storage
            saves_over_storage[id(save)] = weakref.ref(save)

    def holds_saves(self) -> bool:
        """Return True if a node still holds something that it saved under this watch."""
        return any(list(self._saves_by_address.values()))

    def _find_saves_at(self, address: int) -> Iterator[WatchedSave]:
        """Yield the saved tensors that are still held over the storage at an address."""
        for reference in list(self._saves_by_address.get(address, {}).values()):
            save = reference()
            if save is not None:
                yield save

    def _prune_saves(self, new_address: int) -> None:
        """Forget storages without saved tensors, now and then: a training run makes many."""
        if len(self._saves_by_address) <= self._prune_at:
            return
        self._saves_by_address = {
            address: saves_over_storage
            for address, saves_over_storage in self._saves_by_address.items()
            if saves_over_storage or address == new_address
        }
        # Twice as many as are left, so that the searches take a constant time for each storage.
        self._prune_at = _SMALLEST_PRUNING + 2 * len(self._saves_by_address)

    def record_write(
        self, tensor: Any, excused_nr: int | None = None, *, are_bytes_written: bool = False
    ) -> WriteInProgress | None:
        """Note a write to a tensor's storage, before its version counter counts it.

        PyTorch's dispatch mode calls this before the bytes are written. tinytorch's listener is
        called between the bytes and the counter, with `are_bytes_written`. A save whose `sequence_nr`
        is `excused_nr` is not needed as it was. Returns None if nobody saved what is
        over that storage.
        """
        saves = self._find_saves_over(tensor)
        if not saves:
            return None
        place, span = self._place_finder.find_writing_place(), memory_span(tensor)
        saves_at_risk = []
        for save in saves:
            if save.sequence_nr == excused_nr:
                save.is_harmless = True
            elif not save.is_harmless:
                saves_at_risk.append(save)
        with self._lock:  # two threads may write to one storage
            for save in saves_at_risk:
                save.note_write(place, span, are_bytes_written=are_bytes_written)
        return WriteInProgress(self, saves_at_risk, place, span)

    def record_result(self, write: WriteInProgress) -> None:
        """Note what a write has done, and where the saved tensors are now."""
        with self._lock:
            for save in write.saves:
                save.note_result(write.place, write.span)
                self._move_save(save)
                self.measurement.has_new_changes |= save.first_changing_write is not None

    def record_assignment(self, tensor: Any) -> WriteInProgress | None:
        """Note that a tensor is about to get other memory, by `tensor.data = ...`."""
        # Views of it, and what `detach()` gave, stay over the memory that it had.
        saves = [save for save in self._find_saves_over(tensor) if save.tensor is tensor]
        if not saves:
            return None
        place = self._place_finder.find_writing_place()
        with self._lock:
            for save in saves:
                save.note_write(place, None, are_bytes_written=False)
        return WriteInProgress(self, saves, place, None)

    def _find_saves_over(self, tensor: Any) -> list[WatchedSave]:
        """Return the saved tensors that are over the storage of a tensor now."""
        address = _storage_address(tensor)
        if not self._saves_by_address.get(address):
            return []  # of most writes: the rest takes longest
        found = []
        for save in self._find_saves_at(address):
            # The memory that was saved may be given back, and be another tensor's by now.
            if _storage_address(save.tensor) == address:
                found.append(save)
            else:
                with self._lock:
                    self._move_save(save)
        return found

    def _move_save(self, save: WatchedSave) -> None:
        """Note where the saved tensor is, if it is over another storage than before."""
        saves_over_storage = self._saves_by_address.setdefault(_storage_address(save.tensor), {})
        if saves_over_storage is not save.saves_over_storage:
            save.saves_over_storage.pop(id(save), None)
            save.saves_over_storage = saves_over_storage
            saves_over_storage[id(save)] = weakref.ref(save)
            save.span = memory_span(save.tensor)

    def excuse_node(self, tensor: Any, sequence_nr: int) -> None:
        """Note that the node with this number does not need a tensor as it was when it saved it."""
        for save in self._find_saves_over(tensor):
            if save.sequence_nr == sequence_nr:
                save.is_harmless = True

    def _is_in_look(self) -> bool:
        """Return True while a look (`mark_look`) reads or computes in this thread, and not the program."""
        if not THREADS_IN_LOOK:
            return False  # of nearly all that is asked
        # A backward that a look runs on a GPU reads in a thread of the engine's own.
        threads = (threading.get_ident(), scope.find_program_thread())
        return any(thread in THREADS_IN_LOOK for thread in threads)

    def check_read(self, save: WatchedSave, find_node: Callable[[], Any], backward_nr: int) -> None:
        """Compare the bytes of a saved tensor that a node reads, and that is not stale.

        Raises GradientWarning for a modified one with `silent="raise"`.
        """
        if self._is_in_look():
            return
        has_changed = save.has_changed
        # Of small tensors the bytes were noted, and all are compared.
        is_whole = isinstance(save.checksum, bytes)
        is_compared = is_whole or save.is_compared
        with self._lock:
            self.read_count += 1
            if not is_whole:
                self._uncompared_count += not is_compared
                self._partly_compared_count += is_compared and save.is_sampled
        if has_changed is False:
            return
        node = find_node()
        use = find_use(node, save)
        if use is FormulaUse.NOTHING:
            save.is_harmless = True
            return
        # Before it ran, this backward was computed from the values that are there and from those that
        # were saved. If all leaves get the same, no gradient arrives here, or none is changed by it.
        if self.measurement.find_measured().is_same:
            return
        finding = Finding(
            silent=True,
            node=name_of_node(node),
            # None where a write was seen to what cannot be compared.
            was_compared=bool(has_changed),
            is_partly_read=use is FormulaUse.COMPARISONS,
        )
        finding, is_new = self._add_finding(save, finding, backward_nr)
        self._report_silent_finding(finding, is_new)

    def check_attribute(
        self, attribute: KeptAttribute, tensor: Any, node: Any, backward_nr: int
    ) -> None:
        """Compare what a Function keeps as an attribute, before its backward may read it."""
        if self._is_in_look():
            return
        save, comparison = attribute.save, attribute.compare(tensor)
        if save is None or comparison is None:
            return
        with self._lock:
            self.read_count += 1
            self._uncompared_count += not save.is_compared
            self._partly_compared_count += save.is_compared and save.is_sampled
        if comparison.has_changed is False:
            return
        finding = Finding(
            silent=True,
            node=name_of_node(node),
            saved=save.saving_place,
            # None where pieces alone were compared: the same values may have been written.
            was_compared=bool(comparison.has_changed),
            kind="attribute",
            holder=attribute.path,
        )
        finding, is_new = self._add_finding(comparison.watched_save, finding, backward_nr)
        self._report_silent_finding(finding, is_new)

    def find_comparison(self, node: Any, name: str) -> KeptComparison | None:
        """Return what is known of an attribute that a Function keeps; called by looks."""
        hooks = self.find_torch_hooks()
        return None if hooks is None else hooks.attributes.find_comparison(node, name)

    def check_unpacked(
        self, packed_save: PackedSave, tensor: Any, node: Any, backward_nr: int
    ) -> None:
        """Compare what hooks of the program's own give to a node with what it saved."""
        if self._is_in_look():
            return
        differs = packed_save.has_other_values(tensor)
        if differs is None:
            self.gaps.count_unseen_save(packed_save.kind)
            return
        with self._lock:
            self.read_count += 1
            # Not when it was packed: what cannot be compared counts as a gap instead.
            self._save_count += 1
        use = find_use(node, packed_save) if differs else FormulaUse.NOTHING
        if use is FormulaUse.NOTHING:
            return
        cause = packed_save.find_cause()
        finding = Finding(
            silent=True,
            node=name_of_node(node),
            # Only where nothing was written: else `_add_finding` takes both lines from the cause.
            saved=packed_save.saving_place,
            kind="unpacked",
            holder=packed_save.kind,
            is_partly_read=use is FormulaUse.COMPARISONS,
        )
        finding, is_new = self._add_finding(cause, finding, backward_nr)
        self._report_silent_finding(finding, is_new)

    def _report_silent_finding(self, finding: Finding, is_new: bool) -> None:
        """Warn of a finding where the engine raises no error, or raise it."""
        if self._silent == "raise":
            # The error ends backward in a thread that may swallow it: the test that began the watch
            # fails anyway.
            if not self.is_entering_thread():
                with self._lock:
                    self._findings_in_other_threads.append(finding)
            raise GradientWarning(finding.summary)  # raises as the engine does
        if is_new and self._silent == "warn":
            place = finding.backward or Place("<unknown>", 0, "")
            _warn_at(place, finding.summary, GradientWarning)

    def begin_backward(self, root: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
        """Compute the numbers for findings of a backward that is about to run, if they are due.

        Returns True if they were: then `measurement.end` has to follow it.
        """
        if self.ended:
            return False
        # The numbers take two backwards more, which a mode or profiler of the program's would see; to
        # ask whether they are due, a mode of functions would.
        if is_observed(root) or not self.measurement.is_due(args, kwargs, self._has_small_change):
            return False
        self.measurement.begin(root, self._place_finder.find_frame())
        return True

    def _has_small_change(self) -> bool:
        """Return True if one of a few small saved tensors was changed by what reports no write."""
        # Of a training, that would take as long as saving once more.
        if len(self._saves_by_address) > _MOST_SEARCHED:
            return False
        references: list[weakref.ref[WatchedSave]] = []
        # Not by `_find_saves_at`: most storages have no saved tensor any more, see `_prune_saves`.
        for saves_over_storage in list(self._saves_by_address.values()):
            if saves_over_storage:
                references += saves_over_storage.values()
        if len(references) > _MOST_SEARCHED:
            return False
        saves = [reference() for reference in references]
        return any(save is not None and save.is_small and save.has_changed for save in saves)

    def report_stale_read(
        self, save: WatchedSave, node_name: str, backward_nr: int, error: RuntimeError
    ) -> None:
        """Note the finding on a stale saved tensor, and add its lines to the engine's own error."""
        if self._is_in_look():
            return
        with self._lock:
            self.read_count += 1
        finding, _ = self._add_finding(save, Finding(silent=False, node=node_name), backward_nr)
        _add_lines(error, finding)

    def begin_run(self, call: EngineRun) -> RunStart:
        """Note a backward that is about to run, and return what was known in this thread before it."""
        if call.accumulates and not self._is_in_look():
            self._steps.has_backward = True
        hooks = self._find_hooks(call.engine)
        if hooks is None:
            return RunStart(0, 0)
        self._threads_of_runs.add(scope.find_program_thread())
        return hooks.node_lines.begin_run(call)

    def report_error(self, call: EngineRun, start: RunStart, error: RuntimeError) -> None:
        """Note the finding on a backward that has raised: its graph is freed, or there is none, or none of an input.

        start: what `begin_run` has returned.
        """
        hooks = self._find_hooks(call.engine)
        text = str(error)
        is_freed = text.startswith(FREED_MESSAGE.partition(" (")[0])
        no_graph = _NO_GRAPH_MESSAGE.match(text)
        is_of_input = text.startswith(_NO_GRAD_OF_INPUT_MESSAGES)
        is_explained = is_freed or no_graph or is_of_input
        if hooks is None or not is_explained or self._is_in_look():
            return
        with mark_look():
            frame = self._place_finder.find_frame()
            finding: Finding | None = None
            # What objects of the program raise when they are asked must not take the place of the error.
            with suppress(Exception):
                if no_graph is not None:
                    finding = self._find_no_graph(hooks, call, int(no_graph[1]), frame)
                elif is_of_input:
                    finding = self._find_input_without_graph(hooks, call, frame)
                elif found := self._find_freed_graph(hooks, call, start):
                    finding = make_freed_finding(found, frame)
            if finding is None:
                return
            finding.backward = None if frame is None else place_of(frame)
            finding.rank = find_rank()
        # Each error is a backward of its own, whether it has read something or not.
        finding, _ = self._store_finding(finding.key, finding, -self._exits.note_moment(), None)
        _add_lines(error, finding)

    def _find_no_graph(
        self,
        hooks: TorchHooks | TinyTorchHooks,
        call: EngineRun,
        position: int,
        frame: FrameType | None,
    ) -> Finding | None:
        """Return the finding on a tensor without a graph, by its position among those that backward begins at."""
        if position >= len(call.outputs) or isinstance(call.outputs[position], tuple):
            return None
        found = self._find_why_no_graph(hooks, call.outputs[position], frame)
        return make_no_graph_finding(found, position)

    def _find_input_without_graph(
        self, hooks: TorchHooks | TinyTorchHooks, call: EngineRun, frame: FrameType | None
    ) -> Finding | None:
        """Return the finding on the first of the tensors whose gradients are wanted that requires no grad."""
        for position, tensor in enumerate(call.inputs):
            if getattr(tensor, "requires_grad", None) is False:
                found = self._find_why_no_graph(hooks, tensor, frame)
                return make_no_graph_finding(found, position, is_input=True)
        return None

    def _find_why_no_graph(
        self, hooks: TorchHooks | TinyTorchHooks, root: Any, frame: FrameType | None
    ) -> NoGraph:
        return find_why_no_graph(root, frame, self._exits, made_nodes=hooks.has_made_nodes)

    def find_lines_without_graph(self, root: Any) -> str:
        """Return what was seen before a result that requires no grad, as rows of text; called by looks."""
        hooks = self._find_hooks(engine_name(root))
        if hooks is None:
            return ""
        found = self._find_why_no_graph(hooks, root, self._place_finder.find_frame())
        return "\n".join(found.list_rows())

    def find_freed_lines(self, root: Any) -> str:
        """Return the lines that lead from a result into a graph which a backward has freed; called by looks."""
        call = EngineRun(engine_name(root), (root,), (), accumulates=True)
        hooks = self._find_hooks(call.engine)
        if hooks is None:
            return ""
        found = self._find_freed_graph(hooks, call, hooks.node_lines.note_start())
        return "" if found is None else "\n".join(list_lines_of_graph(found))

    def _find_freed_graph(
        self, hooks: TorchHooks | TinyTorchHooks, call: EngineRun, start: RunStart
    ) -> FreedGraph | None:
        newest_foreign_nr = self._find_newest_foreign_nr(hooks)
        found = hooks.node_lines.find_freed_graph(call, start, newest_foreign_nr)
        if found is None and len(self._threads_of_runs) < 2:
            found = hooks.node_lines.find_freed_unread(call, start, newest_foreign_nr)
        return found

    def _find_newest_foreign_nr(self, hooks: TorchHooks | TinyTorchHooks) -> int:
        """Return the number of the newest node that another thread than these hooks' has made; -1 without any."""
        # PyTorch numbers the nodes of each thread for itself, tinytorch those of all together.
        if not isinstance(hooks, TorchHooks):
            return -1
        # A copy: another thread may begin meanwhile.
        others: list[Any] = [engines.get("torch") for engines in list(self._attached.values())]
        numbers: list[int] = [self._newest_nr_of_ended_threads]
        numbers += [each.find_newest_nr() for each in others if each and each is not hooks]
        return max(numbers)

    def _find_hooks(self, engine: str) -> TorchHooks | TinyTorchHooks | None:
        """Return an engine under this watch in this thread; None if it is not watched here."""
        attached: Any = self._attached.get(scope.find_program_thread(), {})
        hooks: TorchHooks | TinyTorchHooks | None = attached.get(engine)
        return hooks

    def find_place(self) -> Place | None:
        """Return the place of the line of the program that runs."""
        return self._place_finder.find_place()

    def find_node_line(self) -> NodeLine | None:
        """Return the line of the program that runs as a `NodeLine`: faster than its place."""
        return self._place_finder.find_node_line()

    def make_node_lines(self) -> NodeLines:
        """Return what notes the lines of one thread's nodes."""
        return NodeLines(self._place_finder)

    def record_exit(
        self,
        tensors: Sequence[Any],
        kind: ExitKind,
        operation: str,
        make_reference: Callable[[Any], LeafReference],
        *,
        is_use: bool = False,
    ) -> None:
        """Note that values of tensors go on without their history; of a new leaf, find whose."""
        if self.ended or self._is_in_look():
            return
        if kind == "new leaf":
            self._exits.record_new_leaf(make_reference)
        else:
            self._exits.record(tensors, kind, operation, make_reference, is_use=is_use)

    def find_exits(self, leaf: Any) -> tuple[GraphExit, ...] | None:
        """Return the lines on which values of a leaf left the graph; None if it is not watched."""
        is_watched = engine_name(leaf) in self._ever_attached
        return self._exits.find_exits(leaf) if is_watched else None

    def record_parameter(self, parameter: Any, reference: LeafReference) -> None:
        """Note the line that made a parameter."""
        if not self.ended and not self._is_in_look():
            self._makings.record(parameter, reference)

    def begin_step(self, optimizer: Any) -> None:
        """Note what has a gradient before a step of an optimizer."""
        if not self._is_in_look():
            self._steps.begin(optimizer)

    def record_step(self, optimizer: Any) -> None:
        """Note what has no gradient after a step of an optimizer."""
        if self.ended or self._is_in_look():
            return
        with mark_look():
            self._steps.record(optimizer)

    def record_backward(self) -> None:
        """Note what has no gradient after a backward, which has just ended."""
        self._exits.note_backward()
        # Where optimizers step, that is asked of what they step.
        if self.ended or self._steps.has_step or self._is_in_look():
            return
        with mark_look():
            self._backwards.record()

    @property
    def missing_gradients(self) -> list[MissingGradient]:
        """What optimizers have stepped and no backward has given a gradient, so far.

        Where none has stepped, what modules have and had no gradient after any backward.
        """
        log = self._steps if self._steps.has_step else self._backwards
        return list(log.list_missing())

    def is_of_program(self, file: str) -> bool:
        """Return True for a file that is neither of an engine nor of copylab."""
        return not self._place_finder.skips_file(file)

    def find_torch_hooks(self) -> TorchHooks | None:
        """Return PyTorch under this watch in this thread; None if it is not watched here."""
        hooks = self._attached.get(scope.find_program_thread(), {}).get("torch")
        return hooks if isinstance(hooks, TorchHooks) else None

    def take_findings_of_other_threads(self) -> list[Finding]:
        """Return the findings that were raised in other threads than the one that entered, once."""
        with self._lock:
            findings, self._findings_in_other_threads = self._findings_in_other_threads, []
        # Each backward that meets it raises the same finding again.
        return list(dict.fromkeys(findings))

    def _add_finding(
        self, save: WatchedSave | None, finding: Finding, backward_nr: int
    ) -> tuple[Finding, bool]:
        """Return the finding for a modified saved tensor with its names, and True if it is a new one.

        All findings come through here, and what a `WatchedSave` knows of them is filled in here.
        What one line wrote, and one line's backwards read, is one finding. save: the one that was
        written; None if a checkpoint computed other values, and it is not known why.
        """
        if save is not None:
            # Two lines of the program, see `Finding`.
            finding.saved = save.saving_place
            finding.written = save.find_place_to_blame()
        with mark_look():
            frame = self._place_finder.find_frame()
            finding.backward = None if frame is None else place_of(frame)
            key = finding.key
            span = None if save is None else save.span
            with self._lock:
                earlier = self._findings_by_lines.get(key)
                if earlier is not None:
                    earlier.count_read(finding, backward_nr, span)
                    return earlier.finding, False
            # Without the lock: a snapshot may run code of a tensor subclass of the program's own.
            aliases = {} if save is None else find_aliases(save.tensor, frame)
            finding.names = tuple(aliases)
            finding.rank = find_rank()
            # Of one name it would show what the lines above it say.
            finding.picture = memory(snapshot(**aliases)) if len(aliases) > 1 else None
            if finding.silent and finding.kind == "saved":
                finding.gradients = self.measurement.find_measured().numbers
            return self._store_finding(key, finding, backward_nr, span)

    def _store_finding(
        self, key: Any, finding: Finding, backward_nr: int, span: Span | None
    ) -> tuple[Finding, bool]:
        """Store a finding, and return it with True, unless another thread was first."""
        with self._lock:
            counted = self._findings_by_lines.setdefault(key, _CountedFinding(finding))
            counted.count_read(finding, backward_nr, span)
            if counted.finding is not finding:
                return counted.finding, False
            self.findings.append(finding)
        if self.after_finding is not None:
            self.after_finding()
        return finding, True

    # -- what it says ------------------------------------------------------------------

    def tree(self) -> Part:
        """The findings, or what was looked at if there are none; and what was not looked at."""
        sheet = InPage(html_element("style", panel_style_sheet()))
        parts = [finding.tree() for finding in self.findings]
        parts += [gradient.tree() for gradient in self.missing_gradients]
        reads = self.describe_reads()
        if reads:
            parts.append(Paragraph(join_sentences(reads)))
        parts += map(Paragraph, self.describe_next_look())
        return Box(sheet, *parts, spaced=True, class_="cl-panel")

    def describe_reads(self) -> list[str]:
        """Return sentences on what was read, if nothing was found, and on what was not looked at."""
        clean = [] if self.findings else [self._describe_clean()]
        return [*clean, *self.describe_gaps()]

    def describe_next_look(self) -> list[str]:
        """Return a sentence on what to ask next, where the watch has ended and found nothing."""
        if not (self.ended and self.read_count) or self.findings or self.missing_gradients:
            return []
        # These may be wrong without a write to anything that was saved.
        return [
            gettext(
                "check_gradients(step, net) measures whether hooks and Functions give the "
                "right gradient."
            )
        ]

    def _describe_clean(self) -> str:
        """Say how much was read without a finding."""
        if not self.read_count:
            return join_sentences([_describe_nothing_checked(), self._explain_nothing_read()])
        if not self._uncompared_count and not self._partly_compared_count:
            return ngettext(
                "Backward has read {number} saved tensor under this watch; it was as it was saved.",
                "Backward has read {number} saved tensors under this watch; each was as it was saved.",
                self.read_count,
            )
        message = ngettext(
            "Backward has read {number} saved tensor under this watch; no change was found.",
            "Backward has read {number} saved tensors under this watch; no change was found.",
            self.read_count,
        )
        if self._partly_compared_count:
            in_part = ngettext(
                "{number} of them is so large that only pieces of it were compared; "
                "no operation was seen to write to it.",
                "{number} of them are so large that only pieces of them were compared; "
                "no operation was seen to write to them.",
                self._partly_compared_count,
            )
            message = join_sentences([message, in_part])
        if self._uncompared_count:
            uncompared = ngettext(
                "{number} of them could not be compared; no operation was seen to write to it.",
                "{number} of them could not be compared; no operation was seen to write to them.",
                self._uncompared_count,
            )
            message = join_sentences([message, uncompared])
        return message

    def _explain_nothing_read(self) -> str:
        """Say what the reason may be that backward has read nothing."""
        if self._save_count:
            return ngettext(
                "{number} tensor was saved under it: no backward has reached the node that saved it.",
                "{number} tensors were saved under it: no backward has reached the nodes that saved them.",
                self._save_count,
            )
        if "torch" not in sys.modules:
            return gettext(
                "PyTorch was not imported, and no operation of tinytorch has saved a tensor."
            )
        return gettext(
            "No tensor was saved under it. It does not see what is saved before it begins, in "
            "threads that were started before, in processes that were started and not forked, "
            "or by compiled code."
        )

    def describe_gaps(self) -> list[str]:
        """Return sentences on what the watch could not look at, as far as it knows."""
        sentences = [self._describe_engine_gap(name) for name in sorted(self._engines_not_attached)]
        return sentences + self.gaps.describe(self._save_count)

    def _describe_engine_gap(self, name: str) -> str:
        engine = "PyTorch" if name == "torch" else name
        if name in self._attach_errors:
            return gettext(
                "{engine} could not be watched: {why}.",
                engine=engine,
                why=self._attach_errors[name],
            )
        return gettext(
            "{engine} was not watched in the thread that began this watch: it was imported in another "
            "thread, or not by Python's import.",
            engine=engine,
        )

    def __repr__(self) -> str:
        if self.findings:
            summary = ngettext("{number} finding", "{number} findings", len(self.findings))
        elif self.read_count:
            summary = self._describe_clean()
        else:
            summary = _describe_nothing_checked()
        return format_repr(gettext("watch: {said}", said=summary))


def _add_lines(error: RuntimeError, finding: Finding) -> None:
    """Add the lines of a finding to the engine's own error."""
    error.add_note(gettext("Seen by copylab.watch:") + "\n" + indent_text(finding.lines))


def _describe_nothing_checked() -> str:
    return gettext("Nothing was checked: backward has read no saved tensor under this watch.")


def _can_be_attached(module: Any) -> bool:
    """Return True for an engine that is wholly imported, and not another module of its name."""
    return hasattr(module, "Tensor") and hasattr(module, "autograd")


def _warn_at(place: Place, message: str, category: type[Warning]) -> None:
    """Warn as if from a line of the program."""
    warnings.warn_explicit(message, category, place.file_for_warnings, place.line)


def _storage_address(tensor: Any) -> int:
    try:
        # Of most tensors it follows from their own address, for which no object is made.
        address: int = tensor.data_ptr()
        if address:
            address -= tensor.storage_offset() * tensor.element_size()
        else:
            address = tensor.untyped_storage().data_ptr()
        return address
    except (RuntimeError, NotImplementedError, AttributeError):
        # A subclass or a layout without a storage.
        return 0
