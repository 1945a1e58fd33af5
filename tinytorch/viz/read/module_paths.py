"""In which module's forward a node of the graph was made.

No node says so. While `modules` is on, each call of a module notes the numbers that the engine gives to new nodes: those
from the beginning of the call to its end are its own. What was noted of a model's call is left at the nodes of what it
returned, as plain numbers and names in their `metadata`, and goes with them. Other threads count for themselves: a
number is believed only beside the results of its call, and only if no two nodes of the graph have it.
"""

from __future__ import annotations

import sys
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Self
from weakref import WeakKeyDictionary

from .naming import tensors_in
from .probe import engine_name, getattr_or_none

_KEY = "tinytorch.viz.modules"
_ENGINES = ("torch.nn.modules.module", "tinytorch.nn.module")


_Call = list[tuple[int, str | None]]
"""A call of a model: from which number on which module was at work. The last entry is the end, with no module."""


class modules:
    """Note in which module nodes of the graph are made, for the pictures of what was computed inside of this context.

    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    >>> with modules(net):
    ...     y = net(torch.ones(1, 2))
    >>> [(node.name, node.module) for node in snapshot(y).nodes][:2]
    [('ReluBackward0', '1'), ('AddmmBackward0', '0')]

    Nodes are named "layers.3.attn", and those of the model's own forward ""; `modules(D=D, G=G)` puts the names before
    it: "D.0". Without an argument all models are noted, under the names of their classes. `start()` and `stop()` do the
    same as `with`. Nothing is added to the model; what other threads compute is not noted.
    """

    ever = False

    def __init__(self, net: Any = None, /, **named: Any) -> None:
        self._roots: WeakKeyDictionary[Any, None] = WeakKeyDictionary()
        self._paths: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._all = net is None and not named
        self._handles: list[Any] = []
        self._open: list[tuple[Any, int]] = []
        """The modules at work, the innermost last, with where in the call's notes they begin."""
        self._call: _Call = []
        for name, model in [("", net)] * (net is not None) + [*named.items()]:
            self._take(model, name)

    def _take(self, model: Any, name: str) -> None:
        if not callable(getattr(model, "named_modules", None)):
            raise TypeError(f"modules() takes models (torch.nn.Module), not {type(model).__name__}")
        for path, module in model.named_modules():
            self._roots.pop(module, None)
            self._paths[module] = f"{name}.{path}".strip(".")
        self._roots[model] = None

    def start(self) -> None:
        """Note calls from now on, in this thread."""
        self.stop()
        modules.ever, self._thread = True, threading.get_ident()
        # What torch.compile traces of a hook has to end here.
        self._compiling = (
            getattr_or_none(getattr_or_none(sys.modules.get("torch"), "compiler"), "is_compiling")
            or bool
        )
        for path in _ENGINES:
            where = sys.modules.get(path)
            if where is not None:
                self._handles.append(where.register_module_forward_pre_hook(self._enter))
                self._handles.append(where.register_module_forward_hook(self._leave))

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

    def _enter(self, module: Any, _args: Any) -> None:
        if self._compiling() or threading.get_ident() != self._thread:
            return
        if module in self._roots:
            self._open.clear()  # an error may have ended an earlier call of it
        elif self._all and not self._open:
            self._take(module, type(module).__name__)
        if module not in self._paths:
            return
        if not self._open:
            self._call = []
        self._open.append((module, len(self._call)))
        self._note(module, self._paths[module])

    def _leave(self, module: Any, _args: Any, result: Any) -> None:
        if self._compiling():
            return
        where = next(
            (k for k, (one, _) in reversed(list(enumerate(self._open))) if one is module), None
        )
        if where is None or threading.get_ident() != self._thread:
            return
        call = self._call
        for _, begin in self._open[where + 1 : where + 2]:
            # An error ended these calls, and was caught: when, nobody said.
            call[begin:] = [(call[begin][0], None)]
        del self._open[where:]
        self._note(module, self._paths[self._open[-1][0]] if self._open else None)
        if not self._open and call[0][0] < call[-1][0]:
            for _, tensor in tensors_in("", result):
                metadata = getattr_or_none(getattr_or_none(tensor, "grad_fn"), "metadata")
                if metadata is not None:
                    metadata.setdefault(_KEY, []).append(call)

    def _note(self, module: Any, path: str | None) -> None:
        self._call.append((sys.modules[engine_name(module)]._C._autograd._get_sequence_nr(), path))


def find_module_paths(nodes: Sequence[Any]) -> list[str | None]:
    """For each node of a graph the path of the module that made it; None where that is not known."""
    calls: list[_Call] = [
        call for node in nodes for call in (getattr_or_none(node, "metadata") or {}).get(_KEY, ())
    ]
    calls.sort(key=lambda call: call[0][0])
    found: list[tuple[int, int] | None] = []
    for node in nodes:
        number = node._sequence_nr()
        which = bisect_right(calls, number, key=lambda call: call[0][0]) - 1
        found.append((which, number) if which >= 0 and number < calls[which][-1][0] else None)
    often = Counter(found)
    mixed = {pair[0] for pair in found if pair is not None and often[pair] > 1}

    def path(which: int, number: int) -> str | None:
        return calls[which][bisect_right(calls[which], number, key=itemgetter(0)) - 1][1]

    return [None if pair is None or pair[0] in mixed else path(*pair) for pair in found]
