"""What a watch says where a graph that an earlier backward has freed is gone through once more."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

from tinytorch.graph import name_of_node
from tinytorch.viz import choose_objects_of_program, collect_tensors_by_name, grad_fn_or_none

from ..wording import gettext, join_sentences
from .aliases import copy_locals
from .findings import Finding, phrase_times
from .node_lines import FreedGraph
from .places import Place, iterate_callers

_MAX_FRAMES = 30


@dataclass(eq=False, repr=False)
class FreedFinding(Finding):
    """A result that leads into a graph which an earlier backward has freed: the engine raises."""

    made: Place | None = None
    """The line that made what is used once more; None if it is not known."""
    freed: Place | None = None
    """The line of the backward that freed its graph."""
    carried: Place | None = None
    """The line that has computed with it since; None if there is none, or if it is not known."""
    is_carried: bool = True
    """False if the result itself was made before that backward: nothing was computed since."""
    old_name: str = ""
    """What the program calls that which is used once more; empty without a name."""
    new_name: str = ""
    """What it calls the nearest newer result that leads to it; empty without a name."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What two findings have in common that are one."""
        return "freed", self.made, self.freed, self.carried, self.backward

    @property
    def _places_of_headline(self) -> tuple[Place | None, ...]:
        return self.made, self.freed, self.carried

    @property
    def title(self) -> str:
        """The finding in two sentences."""
        values = {
            "name": self.old_name or self.new_name,
            "made": self._name_known(self.made),
            "freed": self._name_known(self.freed),
            "carried": self._name_known(self.carried),
        }
        # Nothing was computed since: backward was called on the result itself once more.
        if not self.is_carried:
            if self.old_name:
                headline = gettext(
                    "{name} leads back to a result of {made}, whose graph the backward on {freed} has freed.",
                    **values,
                )
            else:
                headline = gettext(
                    "This backward leads back to a result of {made}, whose graph the backward on {freed} has freed.",
                    **values,
                )
        elif self.old_name:
            headline = gettext(
                "{name} was made by {made} in a graph that the backward on {freed} has freed, and {carried} "
                "has computed with it since.",
                **values,
            )
        elif self.new_name:
            headline = gettext(
                "{name} leads back through {carried} to an earlier result of {made}, whose graph the backward on "
                "{freed} has freed.",
                **values,
            )
        else:
            headline = gettext(
                "This backward leads through {carried} to an earlier result of {made}, whose graph the backward on "
                "{freed} has freed.",
                **values,
            )
        return join_sentences([headline, gettext("PyTorch raises an error.")])

    def _name_known(self, place: Place | None) -> str:
        return self._name_line(place) or gettext("a line that is not known")

    @property
    def lines(self) -> str:
        """The lines that made it, freed its graph, computed with it since, and called backward."""
        return "\n".join([*list_lines_of_graph(self), *self._list_last_rows()])

    def _describe_times(self) -> str:
        return phrase_times(self.times)

    @property
    def way_out(self) -> str:
        """What to do instead."""
        if self.is_carried:
            return gettext(
                "If you want no gradient from there, compute with its detach(), which has the "
                "same values and no graph. Otherwise compute it anew, or give the earlier "
                "backward retain_graph=True."
            )
        return gettext(
            "Compute the result anew before each backward, add up the losses and call backward once, or give the "
            "earlier one retain_graph=True."
        )


def list_lines_of_graph(graph: FreedGraph | FreedFinding) -> list[str]:
    """Return the lines that made what is used once more, freed its graph, and computed with it since."""
    unknown = gettext("a line that is not known")
    rows = [
        gettext("made     {place}", place=graph.made or unknown),
        gettext("freed    {place}", place=graph.freed or unknown),
    ]
    if graph.is_carried:
        rows.append(gettext("carried  {place}", place=graph.carried or unknown))
    return rows


def make_freed_finding(graph: FreedGraph, frame: FrameType | None) -> FreedFinding:
    """Make the finding, with the names that the callers of backward have.

    frame: the line that called it.
    """
    # Where nothing was computed since, the root of this backward is itself what is used once more.
    old_node = graph.old_node if graph.is_carried else graph.root
    names = _find_names(frame)
    old_name = names.get(id(old_node), "")
    new_name = next(filter(None, (names.get(id(node)) for node in graph.new_nodes)), "")
    return FreedFinding(
        silent=False,
        node=name_of_node(old_node),
        kind="freed",
        names=tuple(filter(None, (old_name, new_name))),
        made=graph.made,
        freed=graph.freed,
        carried=graph.carried,
        is_carried=graph.is_carried,
        old_name=old_name,
        new_name=new_name,
    )


def _find_names(frame: FrameType | None) -> dict[int, str]:
    """Return what the callers of backward call the results of nodes, by the identity of the node."""
    names: dict[int, str] = {}
    for caller in islice(iterate_callers(frame), _MAX_FRAMES):
        objects = choose_objects_of_program(caller)
        for path, tensor in collect_tensors_by_name(copy_locals(caller), objects):
            node = grad_fn_or_none(tensor)
            if node is not None:
                # The name that is nearest to the line of backward.
                names.setdefault(id(node), path)
    return names
