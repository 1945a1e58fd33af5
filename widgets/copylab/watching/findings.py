"""What a watch found: a write to what a graph had saved, with the line that saved and the line that wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tinytorch.viz import format_repr, gettext, ngettext, short_node_name

from ..doc import Alarm, Code, Figure, Paragraph, Part, Presentation
from .places import Place


class GradientWarning(UserWarning):
    """A gradient that is computed from other values than those that were saved, where no error says so."""


@dataclass(eq=False, repr=False)
class Finding(Presentation):
    """A saved tensor that was written before backward read it."""

    silent: bool
    """Whether the engine says nothing: the gradient is computed from the new values."""
    node: str
    """The node of the graph that saved it, such as "MulBackward0"."""
    saved: Place | None
    """The line that saved it; None if not known."""
    written: Place | None
    """The line that wrote to its memory; None if not known, as for a write by NumPy or by another thread."""
    backward: Place | None = None
    """The line whose backward reached it."""
    names: tuple[str, ...] = ()
    """The names under which its memory was found in the callers of that backward."""
    compared: bool = True
    """Whether its bytes were seen to be others than those saved; False where they could not be compared."""
    more: int = 0
    """How many other saved tensors the same line wrote to, and the same backward reached."""
    picture: Any = None
    """Who looks at that memory, as `memory` draws it, at the moment of backward; None where nobody with a name does."""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return format_repr(self.title)

    @property
    def title(self) -> str:
        """What is the matter, in one sentence."""
        name = self.names[0] if self.names else gettext("a tensor")
        values = {"node": short_node_name(self.node), "names": name}
        if not self.silent:
            return gettext(
                "{names}, saved by {node}, was written before backward: PyTorch raises.", **values
            )
        if not self.compared:
            return gettext(
                "{names}, saved by {node}, was written before backward, and no error says so. Its values could not be "
                "compared: unless the same were written, the gradient is wrong.",
                **values,
            )
        return gettext(
            "{names}, saved by {node}, holds other values than those saved, and no error says so: the gradient is "
            "computed from the new ones.",
            **values,
        )

    @property
    def summary(self) -> str:
        """The sentence and the two lines."""
        return f"{self.title}\n{self.lines}"

    @property
    def lines(self) -> str:
        """The line that saved and the line that wrote, one below the other."""
        saved = self.saved or gettext("a line that is not known")
        if self.written is not None:
            written: Any = self.written
        elif self.silent:
            written = gettext(
                "no line that was seen: by NumPy, another thread, or a kernel that tells nobody"
            )
        else:
            written = gettext("a line that is not known")
        rows = [
            gettext("saved    {place}", place=saved),
            gettext("written  {place}", place=written),
        ]
        if self.backward is not None:
            rows.append(gettext("reached  {place}", place=self.backward))
        return "\n".join(rows)

    @property
    def way_out(self) -> str:
        """What to do instead."""
        if self.written is not None and self.written.optimizer:
            return gettext(
                "Call backward before the optimizer's step, or compute the result again after it."
            )
        if self.silent:
            return gettext(
                "Write to a copy (clone), or write after backward. "
                "PyTorch sees a write through .detach(), but none through .data."
            )
        return gettext("Write to a copy (clone), or write after backward.")

    def tree(self) -> Part:
        """The sentence, the lines, the way out, the picture."""
        many = ngettext(
            "The same line wrote to {number} more saved tensor.",
            "The same line wrote to {number} more saved tensors.",
            self.more,
        )
        drawn = (
            None if self.picture is None else Figure(self.picture, gettext("memory at backward"))
        )
        return Alarm(
            self.title.rstrip("."),
            Code(self.lines, by=""),
            Paragraph(many) if self.more else None,
            Paragraph(self.way_out),
            drawn,
            kind="wrong" if self.silent else "error",
        )
