"""What optimizers step, and what modules have, although no backward has ever given it a gradient."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tinytorch.viz import (
    GraphExit,
    Snapshot,
    describe_exits,
    describe_replaced,
    find_replaced,
    format_repr,
    is_added_name,
    is_module,
    join_few_names,
    list_stepped,
    read_snapshot,
    things_in,
)

from ..code_marks import CodeWords
from ..doc import Alarm, Box, Code, Paragraph, Part, Presentation, protect_marks
from ..wording import gettext, ngettext
from .aliases import copy_locals
from .places import Place, PlaceFinder

_MAX_FRAMES = 30


@dataclass(eq=False, repr=False)
class MissingGradient(Presentation):
    """Parameters that an optimizer stepped, and that had no gradient at any of its steps.

    In a program without optimizers, parameters that had none after any of its backwards.
    """

    optimizer: str
    """What the program calls the optimizer; its class if no name was found; empty without one."""
    step: Place | None
    """The line that called it first; without an optimizer, the line of backward."""
    names: tuple[str, ...]
    """The parameters."""
    exits: tuple[GraphExit, ...] = ()
    """The lines on which their values left the graph."""
    replaced: str = ""
    """That the optimizer holds them in the place of others that are used; empty if it does not."""
    times: int = 1
    """Number of steps, or of backwards."""
    is_all: bool = False
    """True if it has stepped nothing else, at least once after a backward."""

    @property
    def is_fault(self) -> bool:
        """True if nothing that is stepped has a gradient, or if a layer was replaced."""
        # What a model has and does not use is no fault: many have such parts, and validation under
        # no_grad or a log of numbers may use them. A plot of learning rates steps without backward.
        return bool(self.replaced or self.is_all)

    @property
    def title(self) -> str:
        """What had no gradient, in a sentence."""
        if not self.optimizer:
            return ngettext(
                "{names} had no gradient after backward.",
                "{names} had no gradient after any of the {number} backwards.",
                self.times,
                names=join_few_names(self.names),
            )
        return ngettext(
            "{names} had no gradient when {optimizer} made its step.",
            "{names} had no gradient at any of the {number} steps of {optimizer}.",
            self.times,
            names=join_few_names(self.names),
            optimizer=self.optimizer,
        )

    @property
    def causes(self) -> list[str]:
        """Why, as far as it was seen: sentences."""
        if self.replaced:
            return [self.replaced]
        # Of a look at a parameter (a norm, an average of weights) nothing else is computed.
        exits = tuple(graph_exit for graph_exit in self.exits if graph_exit.is_use)
        first, *others = describe_exits([(join_few_names(self.names), exits)]) if exits else [""]
        # Whether a loss was computed of these values is not known.
        return [gettext("also seen: {cause}", cause=first), *others] if first else []

    @property
    def code_words(self) -> CodeWords:
        """The code that its sentences may have."""
        # A place ends with the source of its line, where that is known.
        sources = {graph_exit.place.partition(": ")[2] for graph_exit in self.exits}
        names = {*self.names, *filter(None, [self.optimizer])}
        if made_by := re.search(r"  (\S.*)[.\u3002]$", self.replaced):
            sources.add(made_by[1])
            names.add(made_by[1].partition(" = ")[0])
        return CodeWords(sources - {""}, names)

    def tree(self) -> Part:
        """The title, the line that steps, the causes."""
        place = self.step or gettext("a line that is not known")
        line = (
            gettext("stepped  {place}", place=place)
            if self.optimizer
            else gettext("backward {place}", place=place)
        )
        lines = [line, *self.causes]
        code = Code("\n".join(lines), indent="")
        if self.is_fault:
            return Alarm(self.title, code, severity="wrong")
        # A line for each: a run-on of places and code is not read.
        return Box(Paragraph(protect_marks(self.title)), Code("\n".join(lines)))

    def __repr__(self) -> str:
        return format_repr(self.title)


@dataclass
class _Missing:
    """A parameter that has had no gradient so far."""

    name: str = ""
    """What it is called; empty as long as nobody has looked."""
    exits: tuple[GraphExit, ...] = ()
    """Where its values left the graph."""
    replaced: str = ""
    """See `MissingGradient`."""


@dataclass
class _Stepped:
    """An optimizer that was seen to step. It is not kept alive."""

    reference: weakref.ref[Any]
    """The optimizer."""
    name: str
    """What it is called; its class as long as no name was found."""
    step: Place | None
    """The line that called it first."""
    steps: int = 0
    """How many steps it has made."""
    is_after_backward: bool = False
    """True if one of them came after a backward under the watch."""
    size: int = 0
    """Number of its parameters when it was last looked through."""
    missing: dict[int, _Missing] = field(default_factory=dict)
    """Those without a gradient before and after each step, by position among all parameters."""


class StepLog:
    """The optimizers that were seen to step, with what had no gradient each time."""

    def __init__(self, place_finder: PlaceFinder) -> None:
        self._place_finder = place_finder
        self._stepped: dict[int, _Stepped] = {}
        self._gone: list[_Stepped] = []
        """Those whose optimizer is no more."""
        self.has_backward = False
        """True once a backward has been called."""
        self._lock = threading.Lock()

    @property
    def has_step(self) -> bool:
        """True once an optimizer has begun a step."""
        return bool(self._stepped)

    def begin(self, optimizer: Any) -> None:
        """Note what has a gradient at a step of an optimizer, which is about to be made.

        A step of the program's own may free the gradients: then it leaves none.
        """
        with self._lock:
            entry = self._find_entry(optimizer)
        self._forget_reached(entry, optimizer)

    def record(self, optimizer: Any) -> None:
        """Note what has no gradient at a step of an optimizer, which has just been made."""
        with self._lock:
            entry = self._find_entry(optimizer)
            entry.steps += 1
            entry.is_after_backward |= self.has_backward
        # A closure computes gradients within the step.
        self._forget_reached(entry, optimizer)
        # A look takes as long as many steps: at the first one, the second, the fourth.
        if entry.missing and not entry.steps & (entry.steps - 1):
            # What a snapshot of the program's own objects raises must not end the program.
            with suppress(Exception):
                self._look_at(entry, optimizer)

    def _forget_reached(self, entry: _Stepped, optimizer: Any) -> None:
        """Forget the parameters of an optimizer that have a gradient now."""
        # Of most optimizers nothing is missing after the first step: the rest is rare.
        parameters: list[Any] | None = None
        size = sum([len(group["params"]) for group in optimizer.param_groups])
        if size != entry.size:
            parameters = _list_parameters(optimizer)
            new = range(entry.size, size)
            entry.missing |= {k: _Missing() for k in new if can_miss(parameters[k])}
            entry.size = size
        if not entry.missing:
            return
        parameters = parameters or _list_parameters(optimizer)
        for position in list(entry.missing):
            if position >= size or not can_miss(parameters[position]):
                del entry.missing[position]

    def _find_entry(self, optimizer: Any) -> _Stepped:
        entry = self._stepped.get(id(optimizer))
        if entry is None or entry.reference() is not optimizer:
            if entry is not None:
                # This one has the address of another that is gone.
                self._gone.append(entry)
            name = type(optimizer).__name__
            entry = _Stepped(weakref.ref(optimizer), name, self._place_finder.find_place())
            self._stepped[id(optimizer)] = entry
        return entry

    def _look_at(self, entry: _Stepped, optimizer: Any) -> None:
        """Find the names of what is missing, and why it is."""
        name, modules = self._find_names(optimizer)
        entry.name = name or entry.name
        owners = _find_owners(modules, _list_parameters(optimizer))
        snap = read_snapshot((), {**owners, entry.name: optimizer}, values=False)
        for position, missing in entry.missing.items():
            tensor = list_stepped(snap)[entry.name][position]
            missing.name, missing.exits = snap.label(tensor.id), tensor.exits or ()
        # A layer that was replaced may have a name of its own by now: `old = net.head`.
        main = dict([*owners.items()][:1])
        snap = read_snapshot((), {**main, entry.name: optimizer}, values=False)
        for position, sentence in _describe_replaced_by_position(snap, entry.name).items():
            if position in entry.missing:
                entry.missing[position].replaced = sentence

    def _find_names(self, optimizer: Any) -> tuple[str, dict[str, Any]]:
        """Return what the callers call an optimizer, and the modules that they know, by name."""
        frame = self._place_finder.find_frame()
        name = ""
        modules: dict[str, Any] = {}
        for _ in range(_MAX_FRAMES):
            if frame is None:
                break
            variables = {
                key: value for key, value in copy_locals(frame).items() if not is_added_name(key)
            }
            for path, thing in things_in("", variables, objects=True):
                if thing is optimizer:
                    name = name or path
                elif is_module(thing):
                    modules.setdefault(path, thing)
            # The frames above may be those of the machinery of a notebook or a test, with all they hold.
            if name and modules:
                break
            frame = frame.f_back
        return name, modules

    def list_missing(self) -> Iterator[MissingGradient]:
        """Yield what never had a gradient, grouped by what took it."""
        for entry in [*self._gone, *self._stepped.values()]:
            if not entry.steps:
                continue  # its first step has raised
            groups: dict[tuple[Any, str], list[str]] = {}
            for position, missing in entry.missing.items():
                name = missing.name or gettext(
                    "parameter {number} of {optimizer}",
                    number=position,
                    optimizer=entry.name,
                )
                groups.setdefault((missing.exits, missing.replaced), []).append(name)
            for (exits, replaced), names in groups.items():
                yield MissingGradient(
                    entry.name,
                    entry.step,
                    tuple(names),
                    exits,
                    replaced,
                    entry.steps,
                    is_all=entry.is_after_backward and len(entry.missing) == entry.size,
                )


def _list_parameters(optimizer: Any) -> list[Any]:
    parameters: list[Any] = []
    for group in optimizer.param_groups:
        parameters += group["params"]
    return parameters


def can_miss(parameter: Any) -> bool:
    """Return True for a parameter that is to be trained and has no gradient."""
    # A parameter of which other processes have all parts (FSDP) gets none here.
    return bool(parameter.requires_grad and parameter.numel()) and parameter.grad is None


def _find_owners(modules: dict[str, Any], parameters: list[Any]) -> dict[str, Any]:
    """Return the modules that have some parameters, by name, the one with most of them first."""
    ids_left = {id(parameter) for parameter in parameters}
    ids_of_module = {name: set(map(id, module.parameters())) for name, module in modules.items()}
    owners: dict[str, Any] = {}
    while any(ids_left & ids for ids in ids_of_module.values()):
        # The smallest of them: a module that has the net and more has no better names.
        name = max(
            modules, key=lambda name: (len(ids_left & ids_of_module[name]), -name.count("."))
        )
        owners[name] = modules[name]
        ids_left -= ids_of_module[name]
    return owners


def _describe_replaced_by_position(snap: Snapshot, optimizer: str) -> dict[int, str]:
    """Say what an optimizer holds in the place of others that backward has reached, by position."""
    positions = {tensor.id: k for k, tensor in enumerate(list_stepped(snap)[optimizer])}
    described: dict[int, str] = {}
    for replaced in find_replaced(snap):
        has_reached_absent = any(snap.tensor(absent).grad for absent in replaced.absent)
        # What has a gradient is used: it is no former layer's.
        is_stray_used = any(snap.tensor(stray).grad for stray in replaced.strays)
        if has_reached_absent and not is_stray_used:
            places = [positions[stray] for stray in replaced.strays]
            described |= dict.fromkeys(places, describe_replaced(snap, replaced))
    return described
