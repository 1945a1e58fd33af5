"""What a watch found: a write to what a graph had saved, with the line that saved and the line that wrote."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tinytorch.viz import format_repr, join_few_names, short_node_name

from ..code_marks import CodeWords, MarkedAlarm, MarkedItems, MarkedParagraph
from ..doc import Code, Figure, Part, Presentation
from ..ranks import Rank
from ..wording import gettext, join_sentences, ngettext
from .places import Place
from .watched_backward import GradientNumbers

CHECKPOINT = "checkpoint"
"""The kind of hooks that compute again what they did not save."""


class GradientWarning(UserWarning):
    """A gradient is computed from values that were modified since they were saved, without an error."""


@dataclass(eq=False, repr=False)
class Finding(Presentation):
    """A saved tensor that was written to before backward read it.

    `saved`, `written` and `backward` are lines of the program. The tensor itself is not kept.
    """

    silent: bool
    """True if the engine raises no error: the gradient is computed from the modified values."""
    node: str
    """The node of the graph that saved it, such as "MulBackward0"."""
    # Three lines. What was saved is a `WatchedSave`, and in pictures a `SavedRecord`.
    saved: Place | None = None
    """The line that saved it; None if not known."""
    written: Place | None = None
    """The line that wrote to its memory; None if not known, as for a write by NumPy or by another thread."""
    backward: Place | None = None
    """The line whose backward read it."""
    names: tuple[str, ...] = ()
    """The names under which its memory was found in the callers of that backward."""
    was_compared: bool = True
    """False if its bytes could not be compared: that it was written is known, and not that it changed."""
    kind: Literal["saved", "unpacked", "attribute", "freed", "no graph"] = "saved"
    """How the node has it: saved; unpacked by hooks of the program's own; an attribute of a Function; freed. Or there
    is no graph."""
    holder: str = ""
    """The class of those hooks ("checkpoint"), or the attribute ("ctx.y")."""
    is_partly_read: bool = False
    """True if the formula reads only signs of it, or which value is larger: the gradient may be right."""
    gradients: tuple[GradientNumbers, ...] = ()
    """Spoiled gradients in numbers, of small tensors; empty where they are not known."""
    more: int = 0
    """Number of other saved tensors that the same line wrote to and the same backward read."""
    other_savers: tuple[str, ...] = ()
    """The nodes that saved those, each once, in words: "MulBackward0 on line 3"."""
    is_saved_again: bool = False
    """True if those others are one memory with it, by its names: `w * w` saves `w` twice."""
    times: int = 1
    """Number of backwards, called by the same line, that have met it: the steps of a training."""
    rank: Rank | None = None
    """The process that found it, of several that train together; None if it is the only one."""
    picture: Any = None
    """The memory picture of its aliases when backward read it; None if fewer than two of them have a name."""

    def __repr__(self) -> str:
        return format_repr(self.title)

    @property
    def key(self) -> tuple[Any, ...]:
        """What two findings have in common that are one: the line that wrote and the line of backward."""
        cause: Any = self.written
        if cause is None:
            # What a checkpoint computes again differs in many lines for one reason.
            cause = self.holder if self.kind == "unpacked" else self.saved
        return self.silent, self.kind, self.is_partly_read, cause, self.backward

    @property
    def title(self) -> str:
        """The finding in one or two sentences."""
        name = self.names[0] if self.names else gettext("a tensor")
        values = {"node": short_node_name(self.node), "name": name, "holder": self.holder}
        # No line wrote: the function that was run again has read something else, or drawn other
        # numbers.
        if self.kind == "unpacked":
            return self._describe_unpacked(values)
        if self.kind == "attribute" and not self.was_compared:
            return gettext(
                "{name} was written to after {node} had kept it as {holder}, and PyTorch checks no attribute. Its "
                "values could not be compared: unless the same values were written, what its backward computes with it "
                "is wrong.",
                **values,
            )
        if self.kind == "attribute":
            return gettext(
                "{name} was changed after {node} had kept it as {holder}, and PyTorch checks no attribute. If its "
                "backward computes with it, the gradient is computed from the changed values.",
                **values,
            )
        headline = self._make_headline()
        if not self.silent:
            return join_sentences([headline, gettext("PyTorch raises an error.")])
        # On a device that may not be waited for, or on memory that cannot be read, only the write
        # is known.
        if not self.was_compared:
            rest = gettext(
                "PyTorch raises no error. Its values could not be compared: unless the same "
                "values were written, the gradient is wrong."
            )
        # `relu` asks for signs alone: halving what it saved changes no gradient.
        elif self.is_partly_read:
            rest = gettext(
                "PyTorch raises no error. The formula reads only signs of it, or which value is "
                "larger: unless they are the same as before, the gradient is wrong."
            )
        else:
            rest = gettext(
                "PyTorch raises no error; the gradient is computed from the changed values."
            )
        return join_sentences([headline, rest])

    def _make_headline(self) -> str:
        """Return the first sentence: `h was changed by line 12 after line 9 saved it`."""
        values = {
            "name": self.names[0] if self.names else gettext("a tensor"),
            "saved": self._name_line(self.saved) or short_node_name(self.node),
            "written": self._name_line(self.written),
        }
        # The same values may have been written where an error comes, or where none were compared.
        is_changed = self.silent and self.was_compared
        if self.written is None:
            if is_changed:
                return gettext("{name} was changed after {saved} saved it.", **values)
            return gettext("{name} was written to after {saved} saved it.", **values)
        if is_changed:
            return gettext("{name} was changed by {written} after {saved} saved it.", **values)
        return gettext("{name} was written to by {written} after {saved} saved it.", **values)

    @property
    def _places_of_headline(self) -> tuple[Place | None, ...]:
        return self.saved, self.written

    def _name_line(self, place: Place | None) -> str:
        if place is None:
            return ""
        # Of lines in two files, the number alone does not say which is meant.
        files = {each.file for each in self._places_of_headline if each is not None}
        return gettext("line {line}", line=place.line) if len(files) == 1 else place.label

    @property
    def _is_computed_again(self) -> bool:
        """True if a checkpoint came to other values, and what it read was not seen to change."""
        is_known = self.names or self.written is not None
        return self.kind == "unpacked" and self.holder == CHECKPOINT and not is_known

    def _describe_unpacked(self, values: dict[str, str]) -> str:
        if self._is_computed_again:
            return gettext(
                "{holder} gives {node} other values than it saved, and PyTorch raises no error: the gradient is "
                "computed from those. What is computed again reads something that has changed, or draws other "
                "random numbers.",
                **values,
            )
        if self.holder == CHECKPOINT and self.written is not None:
            # Not what the node saved was changed, but what that is computed from.
            return gettext(
                "{name} was changed by {written} before {holder} computed again what {node} saved. PyTorch raises no "
                "error; the gradient is computed from the changed values.",
                written=self._name_line(self.written),
                **values,
            )
        if self.holder == CHECKPOINT:
            return gettext(
                "{name} was changed before {holder} computed again what {node} saved. PyTorch raises no error; the "
                "gradient is computed from the changed values.",
                **values,
            )
        return gettext(
            "{name} was changed after {node} had saved it inside of {holder}. PyTorch raises no error; the gradient "
            "is computed from the changed values.",
            **values,
        )

    @property
    def node_and_line(self) -> str:
        """The node that saved it, with its line if that is known."""
        node = short_node_name(self.node)
        line = self._name_line(self.saved)
        return gettext("{node} on {line}", node=node, line=line) if line else node

    @property
    def summary(self) -> str:
        """The title, the numbers and the lines."""
        return "\n".join([self.title, *map(str, self.gradients), self.lines])

    @property
    def lines(self) -> str:
        """The lines that saved, wrote and reached it, one below the other, and the rank."""
        saved = self.saved or gettext("a line that is not known")
        if self.written is not None:
            written: Any = self.written
        elif self._is_computed_again:
            written = gettext("no line that was seen")
        # An operation would have reported its write, and the line would be known.
        elif self.silent:
            written = gettext(
                "no line that was seen: by NumPy, another thread, or a kernel that reports no write"
            )
        else:
            written = gettext("a line that is not known")
        rows = [
            gettext("saved    {place}", place=saved),
            gettext("written  {place}", place=written),
        ]
        return "\n".join([*rows, *self._list_last_rows()])

    def _list_last_rows(self) -> list[str]:
        """Return the lines on the backward and the rank."""
        rows = []
        if self.backward is not None:
            rows.append(gettext("reached  {place}", place=self.backward))
        # Several processes print into one terminal.
        if self.rank is not None:
            number, size = self.rank
            rows.append(gettext("rank     {number} of {all}", number=number, all=size))
        return rows

    @property
    def _program_to_step(self) -> str:
        """The file to step through: that of the backward, or a name that stands for it."""
        name = "" if self.backward is None else Path(self.backward.file).name
        return shlex.quote(name) if name.endswith(".py") else "train.py"

    @property
    def way_out(self) -> str:
        """What to do instead."""
        if self.written is not None and self.written.optimizer:
            return gettext(
                "Call backward before the optimizer's step, or compute the result again after it."
            )
        if self._is_computed_again:
            return gettext(
                "Leave what the checkpointed function reads as it is until backward, and keep preserve_rng_state=True."
            )
        # The bytes differ, and no operation has written them: only a run by lines finds such a
        # write.
        if self.written is None and self.silent and self.was_compared:
            return gettext(
                "Write to a copy (clone), or write after backward. A run line by line shows "
                "which line wrote: copylab steps --rounds 1 {program}",
                program=self._program_to_step,
            )
        if self.kind == "attribute":
            return gettext(
                "Keep it by ctx.save_for_backward: PyTorch then sees a write, and raises an error."
            )
        # Only of a program that has it: others write by NumPy, a storage, a counter that was put back.
        if self.silent and self.written is not None and ".data" in self.written.code:
            return gettext(
                "Write to a copy (clone), or write after backward. "
                "PyTorch sees a write through .detach(), but none through .data."
            )
        return gettext("Write to a copy (clone), or write after backward.")

    def _describe_others(self) -> str:
        """Say what else the same line wrote to."""
        if self._is_computed_again:
            return ngettext(
                "{number} more of its saved tensors differs.",
                "{number} more of its saved tensors differ.",
                self.more,
            )
        savers = join_few_names(self.other_savers)
        if self.is_saved_again:
            return ngettext(
                "It was saved once more, by {savers}.",
                "It was saved {number} more times, by {savers}.",
                self.more,
                savers=savers,
            )
        return ngettext(
            "The same line wrote to {number} more saved tensor, saved by {savers}.",
            "The same line wrote to {number} more saved tensors, saved by {savers}.",
            self.more,
            savers=savers,
        )

    def _describe_times(self) -> str:
        """Say how often it happened."""
        return ngettext(
            "It happened in {number} step: that is how many backwards have read what the "
            "line wrote.",
            "It happened in {number} steps: that is how many backwards have read what the "
            "line wrote.",
            self.times,
        )

    @property
    def code_words(self) -> CodeWords:
        """The code that its sentences may have."""
        places = filter(None, (*self._places_of_headline, self.backward))
        gradients = (each.name for each in self.gradients)
        names = {*self.names, *gradients, *filter(None, [self.holder])} - {CHECKPOINT}
        return CodeWords({place.code for place in places} - {""}, names)

    def tree(self) -> Part:
        """The title, the lines, the way out, the picture."""
        words = self.code_words
        others = (
            MarkedParagraph(self._describe_others(), words, class_="cl-aside")
            if self.more
            else None
        )
        repeated = None
        if self.times > 1:
            repeated = MarkedParagraph(self._describe_times(), words, class_="cl-aside")
        figure = None
        if self.picture is not None:
            figure = Figure(self.picture, gettext("Memory at backward"))
        return MarkedAlarm(
            self.title,
            words,
            MarkedItems(map(str, self.gradients), words, class_="cl-why")
            if self.gradients
            else None,
            Code(self.lines, indent=""),
            others,
            repeated,
            MarkedParagraph(self.way_out, words, class_="cl-advice"),
            figure,
            severity="wrong" if self.silent else "error",
        )


def phrase_times(times: int) -> str:
    """Say how often an error was raised."""
    return ngettext("It happened once.", "It happened {number} times.", times)
