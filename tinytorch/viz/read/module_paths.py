"""The module in whose forward a node of the graph was made.

No node says so. While `modules` is on, each call of a module notes the numbers that the engine
gives to new nodes: those from the beginning of the call to its end are its own. What was noted of a
model's call is left at the nodes of what it returned, as plain numbers and names in their
`metadata`, and goes with them. Other threads count for themselves: a number is believed only beside
the results of its call, and only if no two nodes of the graph have it.
"""

from __future__ import annotations

import sys
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Self
from weakref import WeakKeyDictionary

from .naming import tensors_in
from .probe import engine_name, getattr_or_none, grad_fn_or_none

_METADATA_KEY = "tinytorch.viz.modules"
_MODULE_FILES = ("torch.nn.modules.module", "tinytorch.nn.module")


class _Note(NamedTuple):
    """From this number of a node on, this module was at work; None after the call has ended."""

    number: int
    path: str | None
    """ "layers.3.attn"; None after the call."""


_NotesOfCall = list[_Note]
"""All notes of one call of a model, in order. The last one is its end."""


class _OpenCall(NamedTuple):
    """A module whose forward is running, and where its notes begin."""

    module: Any
    first_note: int
    """The position of the first note that was made while it was at work."""


class modules:
    """Note in which module nodes of the graph are made, for pictures of what is computed inside.

    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    >>> with modules(net):
    ...     y = net(torch.ones(1, 2))
    >>> [(node.name, node.module) for node in snapshot(y).nodes][:2]
    [('ReluBackward0', '1'), ('AddmmBackward0', '0')]

    Nodes are named "layers.3.attn", and those of the model's own forward ""; `modules(D=D, G=G)`
    puts the names before it: "D.0". Without an argument all models are noted, under the names of
    their classes. `start()` and `stop()` do the same as `with`. Nothing is added to the model; what
    other threads compute is not noted.

    Raises TypeError for an argument that is not a module.
    """

    ever = False
    """True once any `modules` was started in this process."""

    def __init__(self, net: Any = None, /, **named: Any) -> None:
        # Weak, so that a model that the program drops is freed.
        self._models: WeakKeyDictionary[Any, None] = WeakKeyDictionary()
        self._paths: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._notes_all_models = net is None and not named
        self._handles: list[Any] = []
        self._open: list[_OpenCall] = []
        """The modules at work, the innermost last."""
        self._notes: _NotesOfCall = []
        if net is not None:
            self._add_model(net, "")
        for name, model in named.items():
            self._add_model(model, name)

    def _add_model(self, model: Any, name: str) -> None:
        if not callable(getattr(model, "named_modules", None)):
            raise TypeError(f"modules() takes models (torch.nn.Module), not {type(model).__name__}")
        for path, module in model.named_modules():
            # A model that is part of this one is no model of its own: its calls are inner ones.
            self._models.pop(module, None)
            self._paths[module] = f"{name}.{path}".strip(".")
        self._models[model] = None

    def start(self) -> None:
        """Note calls from now on, in this thread."""
        self.stop()
        modules.ever, self._thread = True, threading.get_ident()
        # What torch.compile traces of a hook has to end here: it would compile the noting, too.
        compiler = getattr_or_none(sys.modules.get("torch"), "compiler")
        # Without torch nothing compiles, and `bool()` is False.
        self._is_compiling = getattr_or_none(compiler, "is_compiling") or bool
        for name in _MODULE_FILES:
            module_file = sys.modules.get(name)
            if module_file is not None:
                enter, leave = self._enter_module, self._leave_module
                self._handles.append(module_file.register_module_forward_pre_hook(enter))
                self._handles.append(module_file.register_module_forward_hook(leave))

    def stop(self) -> None:
        """Note no more. What was noted stays with the graphs."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._open.clear()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _enter_module(self, module: Any, _args: Any) -> None:
        if self._is_compiling() or threading.get_ident() != self._thread:
            return
        if module in self._models:
            # An error may have ended an earlier call of it, which then never left.
            self._open.clear()
        elif self._notes_all_models and not self._open:
            self._add_model(module, type(module).__name__)
        if module not in self._paths:
            return
        if not self._open:
            self._notes = []
        self._open.append(_OpenCall(module, len(self._notes)))
        self._add_note(module, self._paths[module])

    def _leave_module(self, module: Any, _args: Any, result: Any) -> None:
        if self._is_compiling() or threading.get_ident() != self._thread:
            return
        depth = self._find_open(module)
        if depth is None:
            return
        notes = self._notes
        if depth + 1 < len(self._open):
            # An error ended the calls inside of this one, and was caught: nobody said when, so
            # whose the nodes since are is not known.
            first_note = self._open[depth + 1].first_note
            notes[first_note:] = [_Note(notes[first_note].number, None)]
        del self._open[depth:]
        self._add_note(module, self._paths[self._open[-1].module] if self._open else None)
        # Of a call under no_grad, the numbers are those of the nodes that come after it.
        has_made_nodes = notes[0].number < notes[-1].number
        if not self._open and has_made_nodes:
            _attach_to_results(result, notes)

    def _find_open(self, module: Any) -> int | None:
        """Return how deep the innermost running call of a module is."""
        for depth in reversed(range(len(self._open))):
            if self._open[depth].module is module:
                return depth
        return None

    def _add_note(self, module: Any, path: str | None) -> None:
        engine = sys.modules[engine_name(module)]
        self._notes.append(_Note(engine._C._autograd._get_sequence_nr(), path))


def _attach_to_results(result: Any, notes: _NotesOfCall) -> None:
    for _, tensor in tensors_in("", result):
        metadata = getattr_or_none(grad_fn_or_none(tensor), "metadata")
        if metadata is not None:
            metadata.setdefault(_METADATA_KEY, []).append(notes)


def find_module_paths(nodes: Sequence[Any]) -> list[str | None]:
    """Return, for each node of a graph, the path of the module that made it; None if not known."""
    calls: list[_NotesOfCall] = []
    for node in nodes:
        calls += (getattr_or_none(node, "metadata") or {}).get(_METADATA_KEY, ())
    calls.sort(key=_first_number)
    numbers, call_indices = [], []
    for node in nodes:
        number = node._sequence_nr()
        numbers.append(number)
        call_indices.append(_find_call(calls, number))
    # Two nodes with one number are of two threads, of which only one made the call: neither its
    # nodes nor those of the other can be told apart.
    counts = Counter(zip(call_indices, numbers, strict=True))
    ambiguous_calls = {index for (index, _), count in counts.items() if count > 1}
    paths: list[str | None] = []
    for index, number in zip(call_indices, numbers, strict=True):
        if index is None or index in ambiguous_calls:
            paths.append(None)
        else:
            paths.append(_path_at(calls[index], number))
    return paths


def _first_number(notes: _NotesOfCall) -> int:
    return notes[0].number


def _find_call(calls: list[_NotesOfCall], number: int) -> int | None:
    """Return the index of the call in which a number was given to a node; None if in none."""
    index = bisect_right(calls, number, key=_first_number) - 1
    if index >= 0 and number < calls[index][-1].number:
        return index
    return None


def _path_at(notes: _NotesOfCall, number: int) -> str | None:
    return notes[bisect_right(notes, number, key=lambda note: note.number) - 1].path
