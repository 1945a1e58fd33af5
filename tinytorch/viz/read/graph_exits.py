"""Exits from the graph: the lines on which values of a leaf left it, which only a watch has seen.

A graph shows what leads to a result and not what once did. Whoever looks on while a program runs
knows the line, and answers here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, Literal, NamedTuple

ExitKind = Literal[
    "detach",  # .detach(), .data
    "number",  # .item(), float(), .tolist()
    "new leaf",  # torch.tensor of tensors
    "parameter",  # nn.Parameter of a result
    "grad mode",  # no_grad, inference_mode, set_grad_enabled(False)
    "checkpoint",  # a reentrant one, none of whose inputs requires grad
    "no derivative",  # argmax, a comparison, a conversion to integers
    "indices",  # of sort, topk, max
]
"""How values go on without their history."""


class GraphExit(NamedTuple):
    """A line after which values of a leaf have no history that leads back to it."""

    kind: ExitKind
    """How they lost it."""
    place: str
    """The line: "train.py, line 12", with its source where that is known."""
    operation: str
    """The operation that gave the values without history, as "argmax"."""
    is_use: bool = True
    """False if the leaf itself was read there, as for a log or an average, and nothing else."""


EXIT_FINDERS: list[Callable[[Any], tuple[GraphExit, ...] | None]] = []
"""Each returns what it has seen of a leaf, or None if it does not look at the leaf's engine; there
is one for each watch that is on."""


MAKING_LINE_FINDERS: list[Callable[[Any], str]] = []
"""Each returns the line that made a parameter ("train.py:10  net.head = ..."), empty where it has seen
none; there is one for each watch that is on."""


FREED_GRAPH_FINDERS: list[Callable[[Any], str]] = []
"""Each returns the lines that lead from a result into a graph which a backward has freed, as rows of text;
empty where it has not seen them; there is one for each watch that is on."""


NO_GRAPH_FINDERS: list[Callable[[Any], str]] = []
"""Each returns what it has seen before a result that requires no grad, the lines on which values left
the graph, as rows of text; empty where it does not look; there is one for each watch that is on."""


def find_lines_without_graph(root: Any) -> str:
    """Return what was seen before a result that requires no grad, as rows of text; empty if nobody looks on."""
    return next(filter(None, (finder(root) for finder in NO_GRAPH_FINDERS)), "")


def find_freed_lines(root: Any) -> str:
    """Return the lines that lead from a result into a graph which a backward has freed; empty if nobody has seen them."""
    return next(filter(None, (finder(root) for finder in FREED_GRAPH_FINDERS)), "")


def find_making_line(parameter: Any) -> str:
    """Return the line that made a parameter; empty if nobody has seen it."""
    return next(filter(None, (finder(parameter) for finder in MAKING_LINE_FINDERS)), "")


def find_exits(leaf: Any) -> tuple[GraphExit, ...] | None:
    """Return the lines on which values of a leaf left the graph; None if nobody looks on."""
    answers = [answer for finder in EXIT_FINDERS if (answer := finder(leaf)) is not None]
    if not answers:
        return None
    # Of two watches, one inside of the other, both have seen the same line.
    return tuple(dict.fromkeys(chain.from_iterable(answers)))
