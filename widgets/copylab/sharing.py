"""`shared()`: which objects and which memory the arguments have in common, a sentence for each pair.

assert not copylab.shared(target, net)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tinytorch.viz import (
    FoundSharing,
    Picture,
    SharedFact,
    find_sharing,
    format_repr,
    join_few_names,
    labels,
    memory,
)

from .doc import (
    Box,
    Figure,
    InPage,
    Paragraph,
    Part,
    Presentation,
    html_element,
    protect_marks,
)
from .ui import panel_style_sheet
from .wording import gettext, join_sentences, ngettext

__all__ = ["Sharing", "shared"]

_MOST_SENTENCES = 20


def shared(*things: Any, **named: Any) -> Sharing:
    """Say what the arguments share with each other: a sentence for each pair that is one object or one memory.

        >>> target = copy.copy(net)
        >>> print(shared(target, net))
        target and net have 2 tensors in common: weight and bias.
        >>> assert not shared(copy.deepcopy(net), net)

    The arguments are tensors of PyTorch or tinytorch, NumPy arrays, modules, state dicts, optimizers, lists, dicts, and
    objects that hold such; also their `.grad`. A single argument is searched inside: for two names of one tensor or
    module, for views of one storage, for tensors that see a cell several times (`expand`). `shared(locals())` compares
    all variables. The result is falsy if nothing is shared. Two views of one storage without a cell in common share
    something, too: a version counter, and the memory lives as long as either; the sentence says so.

    Nothing is changed, and nothing kept alive. Raises TypeError for an argument that can hold no tensor.
    Source: `torch.Tensor.untyped_storage`, `numpy.shares_memory`.
    """
    # The caller's frame: the names of the arguments are read from the source of the call.
    found = find_sharing(things, named, sys._getframe(1))
    picture = memory(found.pictured) if found.pictured else None
    return Sharing(found, picture)


class Sharing(Presentation):
    """What `shared` found: `facts`, in words in `sentences` and `text`. False if nothing is shared."""

    def __init__(self, found: FoundSharing, picture: Picture | None) -> None:
        self.labels: Sequence[str] = found.labels
        self.facts: tuple[SharedFact, ...] = found.facts
        self.notes: tuple[str, ...] = found.notes
        """What could not be compared."""
        self.picture = picture
        """The memory picture of the first tensors that share memory; None without one."""

    def __bool__(self) -> bool:
        return bool(self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def sentences(self) -> list[str]:
        """A sentence for each fact."""
        return list(map(_describe_fact, self.facts))

    def tree(self) -> Part:
        """The sentences, what could not be compared, and a picture."""
        sentences = list(map(_describe_fact, self.facts[:_MOST_SENTENCES]))
        left_out = len(self.facts) - len(sentences)
        if left_out:
            more = ngettext("And {number} more sentence.", "And {number} more sentences.", left_out)
            sentences.append(more)
        if not sentences:
            sentences = [self._describe_nothing()]
        sentences += [gettext("Not compared: {note}.", note=note) for note in self.notes]
        sentences = [protect_marks(sentence) for sentence in sentences]
        paragraphs = [Paragraph(sentence) for sentence in sentences]
        figure = None
        if self.picture is not None:
            title = gettext("the memory of what is shared")
            # For the page alone: in words, the sentences say it.
            figure = InPage(Figure(self.picture, title))
        sheet = InPage(html_element("style", panel_style_sheet()))
        return Box(sheet, *paragraphs, figure, class_="cl-panel")

    def _describe_nothing(self) -> str:
        names = [labels.escape_name(label) for label in self.labels if label]
        if len(names) == 1:
            return gettext("Nothing is shared inside of {name}.", name=names[0])
        if not names:
            return gettext("Nothing is shared.")
        return gettext("Nothing is shared by {names}.", names=join_few_names(names))

    def __repr__(self) -> str:
        return format_repr(self.text.partition("\n")[0])


# Keys of dicts are parts of names, and may have any character.
def _escape_names(fact: SharedFact) -> SharedFact:
    return fact._replace(
        names=tuple(map(labels.escape_name, fact.names)),
        parts=tuple(map(labels.escape_name, fact.parts)),
        repeats=tuple((labels.escape_name(name), times) for name, times in fact.repeats),
    )


def _describe_fact(fact: SharedFact) -> str:
    """Return a fact as a sentence."""
    fact = _escape_names(fact)
    names = join_few_names(fact.names)
    if fact.parts:
        return _describe_parts(fact, names)
    match fact.kind:
        case "object":
            return gettext("{names} are one object: {kind}.", names=names, kind=fact.noun)
        case "steps":
            parameters = join_few_names(fact.names[1:])
            return gettext("{optimizer} steps {names}.", optimizer=fact.names[0], names=parameters)
        case "tensor" if fact.noun:
            return gettext("{names} are one NumPy array.", names=names)
        case "tensor":
            return gettext("{names} are one tensor.", names=names)
        case "cells":
            return join_sentences([_describe_cells(fact, names), *_list_repeats(fact)])
        case "overlap":
            return join_sentences([_describe_overlap(fact), *_list_repeats(fact)])
        case "storage":
            return _describe_storage(fact, names)
    # What is left is the kind "repeat".
    (times,) = fact.counts
    # Overlapping windows, as `unfold` gives: cells in the middle are seen more often than those at
    # the ends.
    if times is None:
        return gettext("{name} sees some of its cells more than once.", name=names)
    return gettext("{name} sees each cell {number} times.", name=names, number=f"{times:,}")


def _describe_parts(fact: SharedFact, names: str) -> str:
    """Return the sentence on parts of the same names, for each of which the fact holds."""
    values = {"names": names, "parts": join_few_names(fact.parts)}
    match fact.kind:
        case "object":
            return ngettext(
                "{names} have {number} object in common: {parts}.",
                "{names} have {number} objects in common: {parts}.",
                len(fact.parts),
                **values,
            )
        case "tensor":
            return ngettext(
                "{names} have {number} tensor in common: {parts}.",
                "{names} have {number} tensors in common: {parts}.",
                len(fact.parts),
                **values,
            )
    # What is left is the kind "cells".
    return ngettext(
        "{names} see the same cells through {number} tensor each: {parts}.",
        "{names} see the same cells through {number} tensors each: {parts}.",
        len(fact.parts),
        **values,
    )


def _describe_cells(fact: SharedFact, names: str) -> str:
    (cells,) = fact.counts
    if cells is None:
        return gettext("{names} see the same cells.", names=names)
    return ngettext(
        "{names} see the same {number} cell.",
        "{names} see the same {number} cells.",
        cells,
        names=names,
    )


def _describe_overlap(fact: SharedFact) -> str:
    first, second = fact.names
    common, of_first, of_second = fact.counts
    # Of two views with strides the number of common cells may take too long to count.
    if common is None:
        return gettext("{first} and {second} have cells in common.", first=first, second=second)
    # All cells of the second are common: it is the one inside of the other, and is named first.
    if common == of_second:
        first, second, of_first = second, first, of_second
        of_second = fact.counts[1]
    if common == of_first and of_second is not None:
        # The same twice in English, where other languages have two forms.
        return ngettext(
            "{first} sees {number} of the {all} cells of {second}.",
            "{first} sees {number} of the {all} cells of {second}.",
            common,
            first=first,
            second=second,
            all=f"{of_second:,}",
        )
    return ngettext(
        "{first} and {second} have {number} cell in common.",
        "{first} and {second} have {number} cells in common.",
        common,
        first=first,
        second=second,
    )


def _list_repeats(fact: SharedFact) -> list[str]:
    return [
        gettext("{name} sees each cell {number} times.", name=name, number=f"{times:,}")
        for name, times in fact.repeats
    ]


def _describe_storage(fact: SharedFact, names: str) -> str:
    (pairs,) = fact.counts
    if len(fact.names) == 2:
        return gettext("{names} share one storage, but no cell.", names=names)
    return ngettext(
        "{names} share one storage; {number} pair of them has no cell in common.",
        "{names} share one storage; {number} pairs of them have no cell in common.",
        pairs or 0,
        names=names,
    )
