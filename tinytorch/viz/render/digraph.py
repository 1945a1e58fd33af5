"""The graph picture as an object: a `graphviz.Digraph` that draws itself.

Its source is plain DOT that any Graphviz can render. Its own SVG takes only the layout from Graphviz
and draws the boxes itself, so the picture has the same colours, signs and themes as the memory
picture. Labels are plain: the WebAssembly build drops HTML-like labels without an error. No URL is
ever written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import graphviz

from ..diagnose import Changes, compare_snapshots
from ..read import Snapshot
from ..show import NodeSelection, describe_graph, find_freed_cuts, select_nodes
from ..wording import cache_in_language, current_language, gettext
from . import layout
from .graph_cards import MEANING_OF_CUTS, Card
from .graph_svg import PAGE, GraphSheet, Room, draw_sheet, list_folds, make_sheet
from .picture import FIXED, TYPST_MISSING, Folded, PictureBase, convert
from .style import colour, lang_attribute, stylesheet
from .text import write_graph_text

_DOT_COLOURS = {
    "node": {"fillcolor": "#ffffff", "color": "#7c8590"},
    "sum": {"fillcolor": "#ffffff", "color": "#7c8590", "style": "rounded,filled"},
    "fold": {"fillcolor": "#f3f5f8", "color": "#7c8590", "style": "dashed,filled"},
    "leaf": {"fillcolor": "#dcf5e3", "color": "#1b7a38", "style": "rounded,filled"},
    "cut": {"fillcolor": "#ffffff", "color": "#7c8590", "style": "rounded,dashed"},
    "off": {"fillcolor": "#ffffff", "color": "#7c8590", "style": "rounded,dashed"},
}
_LOUD_COLOURS = {"fillcolor": "#fff3bf", "color": "#946200", "penwidth": "2"}
_LOUD_STATES = ("new", "found", "flows")
_STYLE_OF_GRAPHVIZ = (
    ".tt-pic .node polygon,.tt-pic .node path,.tt-pic .node ellipse"
    f"{{fill:{colour('card')};stroke:{colour('line')}}}"
    f".tt-pic .edge path{{stroke:{colour('ink')}}}"
    f".tt-pic .edge polygon{{fill:{colour('ink')};stroke:{colour('ink')}}}"
    f".tt-pic .graph>polygon{{fill:{colour('bg')}}}.tt-pic g text{{fill:{colour('ink')}}}"
)
_DOT_ENDINGS = (".gv", ".dot", "")
# Graphviz draws labels: there, a sign is a character.
_SIGNS = {"cross": "! ", "warn": "! ", "was": "~ "}


class GraphPicture(PictureBase, graphviz.Digraph):
    """The autograd graph of a snapshot: a Digraph with `.svg`, `.text` and a notebook display of its own.

    With `since`, an earlier snapshot, what is new or changed is marked. `subject`: see `describe_graph`.
    """

    def __init__(
        self,
        snap: Snapshot | None = None,
        since: Snapshot | None = None,
        find: str = "",
        fold: bool = True,
        room: Room = PAGE,
        subject: str = "",
        **options: Any,
    ) -> None:
        # `Digraph.copy` calls the constructor, with what it copies as options and without a
        # snapshot.
        super().__init__(**{"name": "autograd", "format": "svg"} | options)
        self._make_sheet: Callable[[], GraphSheet] | None = None
        self._room = room
        if snap is not None:
            changes = compare_snapshots(snap, since)
            selection = select_nodes(changes, find, fold)
            # No function within this one: a picture can be pickled.
            make_own_sheet = cache_in_language()(partial(_make_sheet, changes, selection, subject))
            self._make_sheet, sheet = make_own_sheet, make_own_sheet()
            # With "out", edges leave a node in the order in which they are added: that of its inputs.
            rank = "LR" if room.direction == "right" else "TB"
            self.graph_attr.update(rankdir=rank, nodesep="0.3", ranksep="0.4", ordering="out")
            # Sizes are fixed: Graphviz would measure the fonts of the machine.
            self.node_attr.update(
                shape="box", style="filled", fontname="Helvetica", fontsize="11", fixedsize="true"
            )
            self.edge_attr.update(arrowsize="0.7", fontname="Helvetica", fontsize="10")
            for card in sheet.cards:
                self._add_card(card)
            for edge in sheet.edges:
                is_cut = edge.kind in MEANING_OF_CUTS
                style = "dashed" if is_cut or edge.kind == "saved" else "solid"
                label = gettext("cut off") if is_cut else edge.label
                self.edge(edge.tail, edge.head, label=label or None, style=style)
        # To notice whether somebody adds to the graph: then Graphviz has to draw it. The attributes
        # above are for that, and for those who take the source elsewhere.
        self._own_source: str = self.source
        self._svg_by_source: dict[tuple[str, str | None], str] = {}

    @property
    def _current_sheet(self) -> GraphSheet | None:
        """The cards of the snapshot, in the language in use; None without a snapshot."""
        if self._make_sheet is None:
            return None
        return self._make_sheet()

    def _add_card(self, card: Card) -> None:
        # Graphviz reads backslashes in a label as commands.
        lines = [graphviz.escape(_SIGNS.get(line.sign, "") + line.text) for line in card.lines]
        # There is no room for it beside a box.
        if card.beside:
            lines.append(graphviz.escape(" ".join(part.text for part in card.beside)))
        colours = _DOT_COLOURS[card.kind]
        if card.state in _LOUD_STATES:
            colours = colours | _LOUD_COLOURS
        label = str(lines[0])
        if len(lines) > 1:
            # "\\l" ends a line and aligns it left.
            label = "".join(f"{line}\\l" for line in lines)
        size = card.size
        self.node(
            card.name,
            # A label in angle brackets would be read as HTML.
            label=graphviz.nohtml(label),
            width=f"{max(size.width, size.beside_width) / 72:.3f}",
            height=f"{(size.height + size.beside_height) / 72:.3f}",
            # What the tooltip of our own drawing says; as `tooltip`, Graphviz would make a link of it.
            comment=graphviz.escape(card.whole),
            **colours,
        )

    @property
    def text(self) -> str:
        """Everything that the picture says, in words; needs no Graphviz."""
        if self._current_sheet is None:
            return self.source
        return write_graph_text(self._current_sheet.contents)

    @property
    def title(self) -> str:
        """What the picture shows, in half a sentence."""
        if self._current_sheet is None:
            return "Digraph"
        return self._current_sheet.contents.title

    @property
    def dot(self) -> str:
        """The DOT source, as `source`."""
        return self.source

    @property
    def svg(self) -> str:
        """The picture as a self-contained SVG document that follows the page's theme.

        Raises LayoutError where neither the WebAssembly build of Graphviz nor `dot` is found.
        """
        source = self.source
        key = source, current_language()
        if key not in self._svg_by_source:
            if self._current_sheet is not None and source == self._own_source:
                svg = draw_sheet(self._current_sheet, self._room)
            else:
                # Where someone added to the graph, Graphviz draws it, and only the colours are ours.
                svg = _apply_own_style(layout.render(source, "svg", self.engine))
            self._svg_by_source[key] = svg
        return self._svg_by_source[key]

    def _folded_parts(self) -> list[Folded]:
        # The sheet knows nothing of what somebody added.
        if self._current_sheet is None or self.source != self._own_source:
            return []
        return list_folds(self._current_sheet.contents, self._room)

    # -- what people expect of a Digraph ----------------------------------------

    def pipe(
        self, format: str | None = None, *args: Any, encoding: str | None = None, **options: Any
    ) -> Any:
        """Return the rendered bytes (a str with `encoding`), as Digraph.pipe.

        SVG, PNG and PDF need no `dot`.
        """
        content = self._render_own(format or self.format, args, *options.values())
        if content is None:
            return _call_graphviz(super().pipe, format, *args, encoding=encoding, **options)
        if encoding:
            return content.decode(encoding)
        return content

    def _render_own(self, kind: str, *wishes: Any) -> bytes | None:
        """Render without `dot`; None for kinds and wishes that need it, and if typst is missing."""
        if kind not in ("svg", "png", "pdf") or any(wishes):
            return None
        if kind == "svg":
            return self.svg.encode()
        try:
            return convert(self.svg_in_theme(FIXED[kind]), kind)
        except ImportError:
            return None

    def render(
        self,
        filename: Any = None,
        directory: Any = None,
        view: bool = False,
        cleanup: bool = False,
        format: str | None = None,
        *,
        outfile: Any = None,
        **options: Any,
    ) -> str:
        """Write the DOT source and the rendered file, as Digraph.render.

        SVG, PNG and PDF need no `dot`.
        """
        ending = Path(outfile).suffix.removeprefix(".") if outfile else ""
        kind = format or ending or self.format
        content = self._render_own(kind, *options.values())
        if content is None:
            options |= {"view": view, "cleanup": cleanup, "format": format, "outfile": outfile}
            return str(_call_graphviz(super().render, filename, directory, **options))
        if outfile and filename is None:
            filename = Path(outfile).with_suffix(".gv")
        source_file = super().save(filename, directory=directory)
        target = str(outfile) if outfile else f"{source_file}.{kind}"
        Path(target).write_bytes(content)
        if cleanup:
            Path(source_file).unlink()
        if view:
            self._view(target, format=kind, quiet=False)
        return target

    def save(
        self,
        filename: Any = None,
        directory: Any = None,
        *,
        theme: str | None = None,
        **options: Any,
    ) -> str:
        """Write the picture (.svg, .txt; with typst .png, .pdf) or the DOT source (.gv, .dot, no ending).

        Raises ValueError for another ending, before anything is written; otherwise as Picture.save
        and Digraph.save.
        """
        path = Path(directory or self.directory or "", filename or self.filename)
        # Digraph.render writes its source by this method, under any name.
        is_rendering = options.get("skip_existing", False) is None
        content = None if is_rendering else self.content(path, theme)
        if content is not None:
            path.write_bytes(content)
            return str(path)
        if not is_rendering and path.suffix.lower() not in _DOT_ENDINGS:
            raise ValueError(
                f"cannot save a graph as {path.name!r}: the name must end in .svg, .png, .pdf or "
                ".txt, or in .gv or .dot for its DOT source. Other formats need Graphviz: "
                "render(outfile=...)"
            )
        return str(super().save(filename, directory=directory, **options))

    def copy(self) -> GraphPicture:
        """Return an independent copy, as Digraph.copy."""
        other = super().copy()
        # Both share what makes the sheet: a copy must not keep that there was none when it was
        # made.
        other._make_sheet, other._own_source = self._make_sheet, self._own_source
        other._room = self._room
        return other


def _make_sheet(changes: Changes, selection: NodeSelection, subject: str) -> GraphSheet:
    freed_cuts = find_freed_cuts(changes)
    contents = describe_graph(changes, selection, freed_cuts=freed_cuts, subject=subject)
    return make_sheet(contents)


def _call_graphviz(call: Any, *args: Any, **options: Any) -> Any:
    """Call a method of Digraph that needs `dot`; raises LayoutError that says how to get it."""
    try:
        return call(*args, **options)
    except graphviz.ExecutableNotFound as error:
        needs = gettext("this format needs the program `dot` (Debian: `apt install graphviz`).")
        missing = gettext(TYPST_MISSING)
        raise layout.LayoutError(f"{needs} {missing[0].upper()}{missing[1:]}") from error


def _apply_own_style(svg: str) -> str:
    """Return the <svg> element of `svg` with our stylesheet; what Graphviz escaped stays escaped."""
    # Comments repeat the names of nodes; what is before the element is for a file alone.
    body = re.sub(r"<!--.*?-->\s*", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    label = escape(gettext("Autograd graph"))
    described = f'{lang_attribute()}role="img" aria-label="{label}"'
    head = f'<svg class="tt-pic" {described} style="max-width:100%;height:auto"'
    tag, drawn = body.replace("<svg", head, 1).split(">", 1)
    return f"{tag}><style>{stylesheet()}{_STYLE_OF_GRAPHVIZ}</style>{drawn}"
