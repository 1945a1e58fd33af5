"""What a watch says of a tensor that requires no grad, where backward begins at it or is to give its gradient."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple

from tinytorch.viz import (
    GraphExit,
    choose_objects_of_program,
    collect_tensors_by_name,
    describe_exits,
    describe_why_no_grad,
    engine_name,
    join_few_names,
)

from ..wording import gettext, join_sentences
from .aliases import copy_locals
from .exits import ExitLog, SeenExit
from .findings import Finding, phrase_times
from .name_flow import Likelihood, NameFlow
from .places import iterate_callers, place_of

_MAX_FRAMES = 30
_MAX_EXITS = 4


@dataclass(eq=False, repr=False)
class NoGraphFinding(Finding):
    """A tensor without a graph that backward begins at, or whose gradient is wanted: the engine raises."""

    exits: tuple[GraphExit, ...] = ()
    """The lines on which values left the graph before, the most likely first."""
    rows: tuple[str, ...] = ()
    """What is known, and those lines, as rows of text."""
    position: int = 0
    """Which of the tensors that backward was called on it is, or of the inputs, from 0."""
    is_input: bool = False
    """True if its gradient is wanted, False if backward begins at it."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What two findings have in common that are one."""
        return "no graph", self.exits, self.position, self.is_input, self.backward

    @property
    def title(self) -> str:
        """The finding in two sentences."""
        name = self.names[0] if self.names else ""
        headline = _phrase_headline_of_input if self.is_input else _phrase_headline
        return join_sentences([headline(name), gettext("PyTorch raises an error.")])

    @property
    def lines(self) -> str:
        """The known facts, the lines on which values left the graph, and the line that called backward."""
        return "\n".join([*self.rows, *self._list_last_rows()])

    @property
    def way_out(self) -> str:
        """What to do instead."""
        if self.is_input:
            return gettext("Call requires_grad_() on it before anything is computed from it.")
        if self.exits:
            return gettext(
                "If the result is computed from these values, compute it from the tensors "
                "themselves, which have a graph."
            )
        return gettext("Call requires_grad_() on the leaf before computing.")

    def _describe_times(self) -> str:
        return phrase_times(self.times)


class NoGraph(NamedTuple):
    """The facts on a result that requires no grad."""

    name: str
    """What the program calls it; empty without a name."""
    facts: list[str]
    """What is certain, in sentences."""
    exits: list[GraphExit]
    """The lines on which values left the graph, the most likely first."""
    sentences: list[str]
    """The same in words, each with the names of the leaves."""

    def list_rows(self) -> list[str]:
        """Return all of it as rows of text."""
        rows = [gettext("known    {sentence}", sentence=fact) for fact in self.facts]
        if self.exits:
            # No path leads back from a value without history.
            rows.append(
                gettext(
                    "Seen before; whether {root} was computed from these values is not known:",
                    root=self.name or gettext("the result"),
                )
            )
        rows += [gettext("left     {exit}", exit=sentence) for sentence in self.sentences]
        return rows


def _phrase_headline(name: str) -> str:
    if name:
        return gettext("{name} requires no grad: backward has no graph to go through.", name=name)
    return gettext("The result requires no grad: backward has no graph to go through.")


def _phrase_headline_of_input(name: str) -> str:
    if name:
        return gettext("{name} requires no grad: no gradient can be computed for it.", name=name)
    return gettext("An input requires no grad: no gradient can be computed for it.")


def make_no_graph_finding(
    found: NoGraph, position: int, *, is_input: bool = False
) -> NoGraphFinding:
    """Make the finding.

    position: which of the tensors that backward was called on has no graph; with is_input, of the inputs.
    """
    return NoGraphFinding(
        silent=False,
        node="",
        kind="no graph",
        names=tuple(filter(None, [found.name])),
        exits=tuple(found.exits),
        rows=tuple(found.list_rows()),
        position=position,
        is_input=is_input,
    )


def find_why_no_graph(
    root: Any, frame: FrameType | None, log: ExitLog, *, made_nodes: bool
) -> NoGraph:
    """Find what is known of a tensor that requires no grad.

    frame: the line that calls backward, or asks. made_nodes: False if nothing that this thread has
    computed required grad.
    """
    callers = list(islice(iterate_callers(frame), _MAX_FRAMES))
    tensors = list(_list_named_tensors(callers))
    names: dict[int, str] = {}
    for path, tensor in tensors:
        names.setdefault(id(tensor), path)
    # Reversed: of several names of a tensor the nearest one stays.
    known_names = {id(leaf): path for path, leaf in reversed(tensors) if log.is_known(leaf)}
    name = names.get(id(root), "")
    flow = NameFlow([place_of(caller) for caller in callers], name)
    seen_exits = _choose_exits(log.list_seen(), flow)
    sentences: list[str] = []
    for seen in seen_exits:
        labels = [known_names[key] for key in seen.leaf_ids if key in known_names]
        label = join_few_names(sorted(labels)) if labels else gettext("values that require grad")
        sentences += describe_exits([(label, (seen.graph_exit,))])
    facts = list(describe_why_no_grad(root))
    # Only then is it worth saying what was not seen.
    if not seen_exits and not facts:
        facts += _describe_nothing_seen(tensors, made_nodes=made_nodes)
        place = flow.find_assignment() if made_nodes else None
        if place is not None:
            facts.append(gettext("{name} was last set at {place}", name=name, place=place))
    exits = [seen.graph_exit for seen in seen_exits]
    return NoGraph(name, facts, exits, sentences)


def _list_named_tensors(callers: Sequence[FrameType]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors that the callers know with their names, the nearest first."""
    for caller in callers:
        yield from collect_tensors_by_name(copy_locals(caller), choose_objects_of_program(caller))


def _choose_exits(exits: Sequence[SeenExit], flow: NameFlow) -> list[SeenExit]:
    """Return the lines that a tensor is most likely computed from, the most likely first."""
    judged = [(min(map(flow.judge, seen.ways)), seen) for seen in exits]
    # What is read for a log is not to blame where there is another line.
    likely = [pair for pair in judged if pair[0] is not Likelihood.ELSEWHERE]
    judged = sorted(
        likely or judged,
        key=lambda pair: (pair[1].is_of_earlier_step, pair[0], -pair[1].last_moment),
    )
    chosen = [seen for _, seen in judged]
    # `max(1)[0]` gives indices, too: where the same line does more, they are not what is computed with.
    others = {seen.graph_exit.place for seen in chosen if seen.graph_exit.kind != "indices"}
    return [
        seen
        for seen in chosen
        if seen.graph_exit.kind != "indices" or seen.graph_exit.place not in others
    ][:_MAX_EXITS]


def _describe_nothing_seen(
    tensors: Sequence[tuple[str, Any]], *, made_nodes: bool
) -> Iterator[str]:
    """Yield what is known where no values were seen to leave the graph."""
    if made_nodes:
        yield gettext("No line was seen on which values that require grad left the graph.")
    else:
        yield gettext("Nothing that this thread has computed under the watch required grad.")
    frozen: dict[int, str] = {}
    has_trainable = False
    for path, tensor in tensors:
        if not _is_parameter(tensor):
            continue
        has_trainable |= tensor.requires_grad
        if not tensor.requires_grad:
            frozen.setdefault(id(tensor), path)
    names = join_few_names(frozen.values())
    if frozen and has_trainable:
        yield gettext("requires_grad is False for {names}.", names=names)
    elif frozen:
        yield gettext("No parameter in sight requires grad ({names}).", names=names)


def _is_parameter(tensor: Any) -> bool:
    engine: Any = sys.modules[engine_name(tensor)]
    return isinstance(tensor, engine.nn.Parameter)
