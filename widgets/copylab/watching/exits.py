"""Exits from the graph: the lines on which values of leaves left it, while a program runs under a watch.

An operation whose arguments require grad, and that makes no node, gives values from which no path
leads back. Which leaves are behind its arguments is read from the graph at that moment, as a look
after the step would find it gone.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import wraps
from itertools import count, product
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tinytorch.viz import ExitKind, GraphExit, find_leaves

from .aliases import copy_locals
from .places import Place, PlaceFinder, place_of
from .scope import ENGINES, Replacement, find_program_thread

_SAMPLED_VISITS = 32
"""So often the leaves behind what a line reads are sought each time, then at powers of two."""
_MAX_FRAMES = 40
_READS_OF_TEXT = frozenset({"__repr__", "__format__", "_str", "__deepcopy__"})
_READS_OF_STATE = frozenset({"_save_to_state_dict", "__reduce_ex__", "__setstate__"})
_NO_EXIT = _READS_OF_TEXT | _READS_OF_STATE
"""Functions of the engines that read values for a text or a copy: no loss is computed of these."""
_TENSOR_CALL = re.compile(r"^(?!.*(?:detach|\.data)\b).*\btensor\(")
"""A line that calls `torch.tensor`, and nothing that detaches."""
_SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled")

LeafReference = Callable[[Any], bool]
"""Says of a tensor whether it is still the leaf that was meant."""


@dataclass
class _ExitLine:
    """A line on which values leave the graph, in one way."""

    kind: ExitKind
    """How they lose their history."""
    operation: str
    """The operation that read them."""
    places: tuple[Place, ...]
    """The line, and those that called it."""
    visits: int = 0
    """How often values that were computed left there."""
    leaves: dict[int, bool] = field(default_factory=dict)
    """The identities of the leaves that these values came from, and True if they were used."""
    last_moment: int = 0
    """When values left there last: `ExitLog.note_moment`."""

    def is_sampled(self) -> bool:
        """Return True if the leaves behind a value are to be sought at this visit."""
        # A loop reads the same loss at each step, and to walk through its graph takes time.
        return self.visits <= _SAMPLED_VISITS or not self.visits & (self.visits - 1)


@dataclass
class SeenExit:
    """A line on which values left the graph, whatever leaves they came from."""

    graph_exit: GraphExit
    """How they left it."""
    leaf_ids: set[int]
    """The identities of the leaves."""
    ways: list[tuple[Place, ...]]
    """The lines that read them, each with those that called it: several in a block without grad mode."""
    last_moment: int
    """When values left there last: `ExitLog.note_moment`."""
    is_of_earlier_step: bool
    """True if a backward of this thread has come to its end since."""


class _LineKey(NamedTuple):
    """What makes two exits one."""

    code: CodeType
    """The code of the function."""
    line: int
    """The line of its file."""
    kind: ExitKind
    """How values lose their history there."""
    operation: str
    """The operation that reads them."""


class ExitLog:
    """The lines on which values left the graph, with the leaves that they came from."""

    def __init__(self, place_finder: PlaceFinder) -> None:
        self._place_finder = place_finder
        self._lines: dict[_LineKey, _ExitLine] = {}
        self._references: dict[int, LeafReference] = {}
        self._moments = count(1)
        self._last_backwards: dict[int, int] = {}
        """When the last backward of each thread came to its end."""
        self._lock = threading.Lock()

    def note_moment(self) -> int:
        """Return a number that is higher than those of all exits until now, and lower than all to come."""
        return next(self._moments)

    def note_backward(self) -> None:
        """Note that a backward of this thread has come to its end."""
        self._last_backwards[find_program_thread()] = self.note_moment()

    def record(
        self,
        tensors: Sequence[Any],
        kind: ExitKind,
        operation: str,
        make_reference: Callable[[Any], LeafReference],
        *,
        is_use: bool = False,
    ) -> None:
        """Note that values of tensors, which require grad, go on without their history.

        make_reference: how the engine knows a leaf again without keeping it alive. is_use: True if
        the operation computes with leaves, and does not only read them.
        """
        frame = self._place_finder.find_frame()
        if frame is None:
            return
        key = _LineKey(frame.f_code, frame.f_lineno, kind, operation)
        line = self._lines.get(key)
        if line is None:
            line = self._start_line(kind, operation)
            if line is None:
                return
            # Another thread may have come first.
            line = self._lines.setdefault(key, line)
        line.last_moment = next(self._moments)
        for tensor in tensors:
            if tensor.is_leaf:
                self._add_leaf(line, tensor, make_reference, is_use=is_use)
                continue
            line.visits += 1
            if line.is_sampled():
                for leaf in find_leaves(tensor):
                    self._add_leaf(line, leaf, make_reference, is_use=True)

    def record_new_leaf(self, make_reference: Callable[[Any], LeafReference]) -> None:
        """Note that the line that runs makes a tensor of what it names.

        PyTorch reads the numbers of `torch.tensor([a, b])` past all modes, so that the call's names
        tell what they came from.
        """
        frame = self._place_finder.find_frame()
        sources = [] if frame is None else _find_named_in_call(frame)
        if sources:
            self.record(sources, "new leaf", "tensor", make_reference)

    def _start_line(self, kind: ExitKind, operation: str) -> _ExitLine | None:
        """Return the record of a line that is seen for the first time; None if it is no exit."""
        places: list[Place] = []
        forward_codes = _find_forward_codes() if kind == "grad mode" else set()
        frame: FrameType | None = sys._getframe(2)
        for _ in range(_MAX_FRAMES):
            if frame is None:
                break
            code = frame.f_code
            # A Function has a node of its own, or else nothing in it is recorded.
            if code in forward_codes and _has_recorded_arguments(frame):
                return None
            if not self._place_finder.skips_file(code.co_filename):
                places.append(place_of(frame))
            elif not places and (
                code.co_name in _NO_EXIT or self._place_finder.is_in_optimizer(frame)
            ):
                return None
            elif code.co_name == "checkpoint" and kind == "grad mode":
                # The line that calls it, and not one of the block inside.
                kind, places = "checkpoint", []
            frame = frame.f_back
        return _ExitLine(kind, operation, tuple(places)) if places else None

    def _add_leaf(
        self,
        line: _ExitLine,
        leaf: Any,
        make_reference: Callable[[Any], LeafReference],
        *,
        is_use: bool,
    ) -> None:
        # Not known is -1, read 0, used 1: only what says more is noted.
        if line.leaves.get(id(leaf), -1) >= is_use or not leaf.requires_grad:
            return
        with self._lock:
            self._forget_if_gone(leaf)
            if id(leaf) not in self._references:
                self._references[id(leaf)] = make_reference(leaf)
            line.leaves[id(leaf)] = is_use or line.leaves.get(id(leaf), False)

    def _forget_if_gone(self, leaf: Any) -> None:
        """Forget what was seen of another leaf, which had the same identity and is gone."""
        is_same = self._references.get(id(leaf))
        if is_same is None or is_same(leaf):
            return
        del self._references[id(leaf)]
        for line in self._lines.values():
            line.leaves.pop(id(leaf), None)

    def find_exits(self, leaf: Any) -> tuple[GraphExit, ...]:
        """Return the lines on which values of a leaf left the graph, the first one first."""
        with self._lock:
            self._forget_if_gone(leaf)
            lines = [line for line in self._lines.values() if id(leaf) in line.leaves]
        found: dict[GraphExit, None] = {}
        for line in _leave_out_sources(lines):
            found[_make_exit(line, is_use=line.leaves[id(leaf)])] = None
        return tuple(found)

    def list_seen(self) -> list[SeenExit]:
        """Return all lines on which values left the graph."""
        # Copies: another thread may add to them.
        lines = _leave_out_sources(list(self._lines.values()))
        found: dict[GraphExit, SeenExit] = {}
        for line in lines:
            graph_exit = _make_exit(line, is_use=True)
            seen = found.setdefault(graph_exit, SeenExit(graph_exit, set(), [], 0, False))
            seen.leaf_ids.update(list(line.leaves))
            seen.ways.append(line.places)
            seen.last_moment = max(seen.last_moment, line.last_moment)
        last_backward = self._last_backwards.get(find_program_thread(), 0)
        for seen in found.values():
            seen.is_of_earlier_step = seen.last_moment < last_backward
        return list(found.values())

    def is_known(self, leaf: Any) -> bool:
        """Return True for a leaf some of whose values have left the graph."""
        reference = self._references.get(id(leaf))
        return reference is not None and reference(leaf)


def _leave_out_sources(lines: Sequence[_ExitLine]) -> list[_ExitLine]:
    """Return lines without the numbers that a new leaf was made of: `torch.tensor([loss.item()])`."""
    with_new_leaf = {line.places[0][:2] for line in lines if line.kind == "new leaf"}
    return [
        line for line in lines if line.kind != "number" or line.places[0][:2] not in with_new_leaf
    ]


def _make_exit(line: _ExitLine, *, is_use: bool) -> GraphExit:
    kind, place = line.kind, line.places[0]
    if kind == "grad mode":
        place = next(filter(None, map(_find_mode_switch, line.places)), place)
    # PyTorch's `torch.tensor(t)` detaches.
    if kind == "detach" and _TENSOR_CALL.search(place.code):
        kind = "new leaf"
    # What grad mode switches off is every operation.
    operation = line.operation if kind in ("indices", "no derivative") else ""
    return GraphExit(kind, str(place), operation, is_use)


class MakingLog:
    """The lines that made parameters."""

    def __init__(self, place_finder: PlaceFinder) -> None:
        self._place_finder = place_finder
        self._lines: dict[int, tuple[LeafReference, Place]] = {}
        """How a parameter is known again, and its line, by the parameter's identity."""

    def record(self, parameter: Any, reference: LeafReference) -> None:
        """Note the line that made a parameter."""
        frame = self._place_finder.find_frame()
        if frame is None:
            return
        place = place_of(frame)
        # `net.head = Head(3)`: that line, and none of those that fill the new object.
        while frame is not None:
            is_of_program = not self._place_finder.skips_file(frame.f_code.co_filename)
            if is_of_program and frame.f_code.co_name != "__init__":
                place = place_of(frame)
                break
            frame = frame.f_back
        self._lines[id(parameter)] = (reference, place)

    def find_making_line(self, parameter: Any) -> str:
        """Return the line that made a parameter; empty if it was not seen."""
        is_same, place = self._lines.get(id(parameter), (None, ""))
        return str(place) if is_same is not None and is_same(parameter) else ""


def report_parameters(
    parameter_class: Any, report_result: Callable[[Any], None], report_made: Callable[[Any], None]
) -> Replacement:
    """Return what reports each new parameter, and before it the result of which it is made, if it is one.

    No gradient goes back to that.
    """

    def replace(make: Any) -> Any:
        @wraps(make)
        def make_reported(cls: Any, *args: Any, **keywords: Any) -> Any:
            data: Any = args[0] if args else keywords.get("data")
            # A leaf has no history to lose; modules take over the weights of others like this.
            if getattr(data, "requires_grad", False) and not data.is_leaf:
                report_result(data)
            parameter = make(cls, *args, **keywords)  # raises as the engine does
            report_made(parameter)
            return parameter

        return staticmethod(make_reported)

    return Replacement(parameter_class, "__new__", replace)


def _find_forward_codes() -> set[CodeType]:
    """Return the code of `forward` of each Function in Python that there is."""
    codes: set[CodeType] = set()
    for name in ENGINES:
        engine: Any = sys.modules.get(name)
        classes = [engine.autograd.Function] if hasattr(engine, "autograd") else []
        while classes:
            each_class = classes.pop()
            classes += each_class.__subclasses__()
            forward: Any = getattr(vars(each_class).get("forward"), "__func__", None)
            if hasattr(forward, "__code__"):
                codes.add(forward.__code__)
    return codes


def _has_recorded_arguments(frame: FrameType) -> bool:
    """Return True if a Function was given a tensor that requires grad, and so has a node."""
    code, variables = frame.f_code, copy_locals(frame)
    count = code.co_argcount + bool(code.co_flags & inspect.CO_VARARGS)
    arguments = [variables.get(name) for name in code.co_varnames[:count]]
    return any(tensor.requires_grad for tensor in _tensors_in(arguments))


def _find_named_in_call(frame: FrameType) -> list[Any]:
    """Return the tensors that require grad among the variables that a frame's call names."""
    code = frame.f_code
    # One for each code unit, which has two bytes; `f_lasti` counts bytes.
    positions: list[Any] = [*code.co_positions()]
    first, last, start, stop = positions[frame.f_lasti // 2]
    if None in (first, last, start, stop):
        return []
    names: list[str] = []
    attributes: list[str] = []
    for instruction in dis.get_instructions(code):
        at: Any = instruction.positions
        if at is None or None in at or not instruction.opname.startswith("LOAD_"):
            continue
        begin, end = (at.lineno, at.col_offset), (at.end_lineno, at.end_col_offset)
        if (first, start) <= begin and end <= (last, stop):
            # One instruction of Python 3.13 loads two names.
            words = instruction.argrepr.replace("NULL + ", "").split(", ")
            (attributes if "ATTR" in instruction.opname else names).extend(words)
    variables = {**frame.f_globals, **copy_locals(frame)}
    values = [variables.get(name) for name in dict.fromkeys(names)]
    # `out.loss`: what an object holds; a property would run code of the program's.
    pairs = product(values, attributes)
    fields = [getattr(value, "__dict__", {}).get(name) for value, name in pairs]
    tensors = {id(tensor): tensor for tensor in _tensors_in([values, fields])}
    return [tensor for tensor in tensors.values() if tensor.requires_grad]


def _tensors_in(value: Any, depth: int = 4) -> Iterator[Any]:
    """Yield a tensor, or those in lists and dicts."""
    if isinstance(value, (list, tuple, dict)):
        # Not deeper: a list may contain itself.
        if depth:
            for part in value.values() if isinstance(value, dict) else value:
                yield from _tensors_in(part, depth - 1)
    elif hasattr(type(value), "requires_grad") and hasattr(type(value), "is_leaf"):
        yield value


# -- the block or decorator that switches grad mode off ----------------------------------


def _find_mode_switch(place: Place) -> Place | None:
    """Return the line of the innermost block or decorator around a line that switches grad mode."""
    lines = linecache.getlines(place.file)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):  # a file that was edited since, a cell with magics
        return None
    found: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.With | ast.AsyncWith):
            switches: list[ast.expr] = [item.context_expr for item in node.items]
            first_line = node.body[0].lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            switches, first_line = node.decorator_list, node.lineno
        else:
            continue
        if first_line <= place.line <= (node.end_lineno or 0):
            found += [switch.lineno for switch in switches if _switches_grad_mode(switch)]
    # Of blocks inside of each other, the innermost begins last.
    return place._replace(line=max(found)) if found else None


def _switches_grad_mode(expression: ast.expr) -> bool:
    return any(name in ast.unparse(expression) for name in _SWITCHES)
