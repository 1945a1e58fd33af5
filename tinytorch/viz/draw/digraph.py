"""The graph picture as an object: a `graphviz.Digraph` that draws itself.

Its source is plain DOT that any Graphviz can render. Its own SVG takes only the
places from Graphviz and draws the boxes itself, so the picture has the same colours,
marks and themes as the memory picture. Labels are plain ones: HTML-like labels would
be dropped without a word by the WebAssembly build. No URL is ever written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import graphviz

from ..diff import changes
from ..read.records import Snapshot
from ..words import graph_text
from . import layout
from .cards import Card, Wire, build
from .export import MISSING, convert, write
from .picture import bundle
from .restyle import restyle
from .route import draw

_DOT_COLOURS = {
    "node": {"fillcolor": "#ffffff", "color": "#7c8590"},
    "fold": {"fillcolor": "#f3f5f8", "color": "#7c8590", "style": "dashed,filled"},
    "name": {"fillcolor": "#dcecff", "color": "#1f6fd0", "style": "rounded,filled"},
    "leaf": {"fillcolor": "#dcf5e3", "color": "#1b7a38", "style": "rounded,filled"},
    "off": {"fillcolor": "#ffffff", "color": "#7c8590", "style": "rounded,dashed"},
}
_OURS = ("svg", "png", "pdf")
_FRESH = {"fillcolor": "#fff3bf", "color": "#946200", "penwidth": "2"}
_MARKS = {"": "", "check": "+ ", "cross": "! ", "warn": "! ", "void": "- ", "dot": "", "was": "~ "}


class GraphPicture(graphviz.Digraph):
    """The autograd graph of a snapshot: a Digraph with `.svg`, `.text` and a notebook display of its own.

    With `since`, an earlier snapshot, what is new or changed is marked.
    """

    def __init__(self, snap: Snapshot | None = None, since: Snapshot | None = None, **options: Any) -> None:
        options.setdefault("name", "autograd")
        options.setdefault("format", "svg")
        super().__init__(**options)
        self._snap, self._since = snap, since
        self._cards: list[Card] = []
        self._wires: list[Wire] = []
        if snap is not None and not self.body:
            self._fill(snap)
        self._as_made: str = self.source
        self._drawn: dict[tuple[str, str | None], str] = {}

    def _fill(self, snap: Snapshot) -> None:
        self.graph_attr.update(rankdir="TB", nodesep="0.3", ranksep="0.4", ordering="out")
        self.node_attr.update(shape="box", style="filled", fontname="Helvetica", fontsize="11", fixedsize="true")
        self.edge_attr.update(arrowsize="0.7", fontname="Helvetica", fontsize="10")
        self._cards, self._wires = build(snap, changes(snap, self._since))
        for card in self._cards:
            lines = [graphviz.escape(_MARKS[mark] + text) for text, _, mark in card.lines]
            lines[0] = ("new: " if card.fresh else "") + lines[0]
            label = str(lines[0]) if len(lines) == 1 else "".join(f"{line}\\l" for line in lines)
            self.node(
                card.name,
                label=graphviz.nohtml(label),
                width=f"{card.width / 72:.3f}",
                height=f"{card.height / 72:.3f}",
                **_DOT_COLOURS[card.kind] | (_FRESH if card.fresh else {}),
            )
        for wire in self._wires:
            style = {"next": "solid", "name": "dashed", "leaf": "solid"}[wire.kind]
            self.edge(wire.tail, wire.head, label=wire.label or None, style=style)

    @property
    def svg(self) -> str:
        """The picture as a self-contained SVG document that follows the page's theme.

        Raises layout.LayoutError where neither the WebAssembly build nor `dot` is found.
        """
        return self.themed(None)

    @property
    def text(self) -> str:
        """Everything that the picture says, in words; needs no Graphviz."""
        return graph_text(self._snap, changes(self._snap, self._since)) if self._snap is not None else self.source

    @property
    def dot(self) -> str:
        """The DOT source, as `source`."""
        return self.source

    def themed(self, theme: str | None) -> str:
        """The SVG in one fixed theme, "light", "dark" or "print"; ValueError for another."""
        if theme not in (None, "light", "dark", "print"):
            raise ValueError(f'theme must be "light", "dark" or "print", not {theme!r}')
        source = self.source
        if (source, theme) not in self._drawn:
            self._drawn[source, theme] = (
                draw(self._snap, self._cards, self._wires, changes(self._snap, self._since), theme)
                if self._snap is not None and source == self._as_made
                # Someone added to the graph: then Graphviz draws it, and only the colours are ours.
                else restyle(layout.render(source, "svg", self.engine), theme)
            )
        return self._drawn[source, theme]

    # -- what people expect of a Digraph ----------------------------------------

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> dict[str, Any]:
        try:
            svg = self.svg
        except layout.LayoutError as error:
            return {"text/plain": f"{self.text}\n\n({error})"}
        return bundle(svg, self.text)

    def __repr__(self) -> str:
        return self.text

    def pipe(self, format: str | None = None, *args: Any, encoding: str | None = None, **options: Any) -> Any:
        """The rendered bytes (a str with `encoding`), as Digraph.pipe; SVG, PNG and PDF need no `dot`."""
        kind = format or self.format
        if kind in _OURS and not args and not any(options.values()):
            made = self._made(kind)
            if made is not None:
                return made.decode(encoding) if encoding else made
        return _or_say(super().pipe, format, *args, encoding=encoding, **options)

    def _made(self, kind: str) -> bytes | None:
        """The picture in one of the kinds that are drawn here; None where that takes typst and it is missing."""
        if kind == "svg":
            return self.svg.encode()
        try:
            return convert(self.themed("light" if kind == "png" else "print"), kind)
        except ImportError:
            return None

    def render(
        self,
        filename: Any = None,
        directory: Any = None,
        view: bool = False,
        cleanup: bool = False,
        format: str | None = None,
        *args: Any,
        outfile: Any = None,
        **options: Any,
    ) -> str:
        """Write the DOT source and the rendered file, as Digraph.render; SVG, PNG and PDF need no `dot`."""
        kind = format or (Path(outfile).suffix.removeprefix(".") if outfile else None) or self.format
        made = self._made(kind) if kind in _OURS and not args and not any(options.values()) else None
        if made is None:
            return _or_say(
                super().render,
                filename,
                *args,
                directory=directory,
                view=view,
                cleanup=cleanup,
                format=format,
                outfile=outfile,
                **options,
            )
        if outfile and filename is None:
            filename = Path(outfile).with_suffix(".gv")
        saved = super().save(filename, directory=directory)
        target = str(outfile) if outfile else f"{saved}.{kind}"
        Path(target).write_bytes(made)
        if cleanup:
            Path(saved).unlink()
        if view:
            self._view(target, format=kind, quiet=False)
        return target

    def save(self, filename: Any = None, directory: Any = None, *, theme: str | None = None, **options: Any) -> str:
        """Write the picture (.svg, .txt; .png and .pdf with typst) or the DOT source (any other name)."""
        path = Path(directory or self.directory or "", filename or self.filename)
        if write(path, self.themed, lambda: self.text, theme):
            return str(path)
        return str(super().save(filename, directory=directory, **options))

    def copy(self) -> GraphPicture:
        """An independent copy, as Digraph.copy."""
        other = super().copy()
        other._snap, other._since, other._as_made = self._snap, self._since, self._as_made
        other._cards, other._wires = self._cards, self._wires
        return other


def _or_say(call: Any, *args: Any, **options: Any) -> Any:
    try:
        return call(*args, **options)
    except graphviz.ExecutableNotFound as error:
        raise layout.LayoutError(
            f"this format needs the program `dot` (Debian: `apt install graphviz`). {MISSING[0].upper()}{MISSING[1:]}"
        ) from error
