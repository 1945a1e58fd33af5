r"""Preprocessors of nbconvert: pictures for pages that show no HTML, and lessons as slides.

    jupyter nbconvert lesson.ipynb --to latex \
        --LatexExporter.preprocessors=copylab.course.export.Pictures
    jupyter nbconvert 02_clone.ipynb --execute --to slides \
        --SlidesExporter.preprocessors=copylab.course.export.Slides

A stored notebook holds each picture once, inside of HTML. An `image/svg+xml` beside it would stop
nbconvert on its way to LaTeX wherever Inkscape is missing; so the picture is made for the page when
the page is made.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from nbconvert.preprocessors import ExtractOutputPreprocessor, Preprocessor

from tinytorch.viz import convert, fix_theme

# The text of a widget says what it shows; a picture of one part of it would not.
_WIDGET = re.compile(r'class="(?:copylab|cl)-')
_HEADING = re.compile(r"#{1,3} ")
_LINKS = re.compile(r"---\n")
_FOLD = "<details>"
_IMPORTS = ("import ", "from ", "    ", ")")
_OF_ONE_LEARNER = re.compile(r"\b(?:recall|progress)\(|\.(?:check|hint|solution)\(\)")
_PROSE_BESIDE_PICTURE = 150
"""Letters of prose, above which a picture gets a slide of its own: three lines and it would be cut."""
_PROSE_BESIDE_TEXT = 600
_SLIDE_SIZE = {"width": "1280", "height": "720"}
_SLIDE_STYLE = """
.reveal .slides section > section {
  top: 0 !important; box-sizing: border-box; max-height: 715px; overflow-y: auto;
  padding: 20px 40px; text-align: left;
}
.reveal h1 { font-size: 48px; }
.reveal h2 { font-size: 36px; }
.reveal h3 { font-size: 30px; }
.reveal .jp-RenderedHTML img { zoom: 1.5; max-width: 66%; }
.reveal .jp-InputArea pre { white-space: pre-wrap; }
.reveal .jp-InputPrompt, .reveal .jp-OutputPrompt { display: none; }
"""
_PICTURE = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')


class Pictures(ExtractOutputPreprocessor):
    """Add pictures in the colours of print to outputs: a PDF for LaTeX, else an SVG.

    Raises ImportError, which says what to install, where a PDF is wanted and typst is missing.
    """

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> Any:
        """Add the pictures to a cell, and write them to files as nbconvert does with others."""
        # LaTeX has no SVG of its own.
        is_latex = resources.get("output_extension") in (".tex", ".pdf")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            html = data.get("text/html", "")
            # A widget has many pictures, and a document would show the first of them alone.
            picture = None if _WIDGET.search(html) else _PICTURE.search(html)
            if picture:
                svg = fix_theme(base64.b64decode(picture[1]).decode(), "print")
                if is_latex:
                    data["application/pdf"] = base64.b64encode(convert(svg, "pdf")).decode()
                else:
                    data["image/svg+xml"] = svg
                    # It would be preferred, and asks for a page that shows images in addresses.
                    del data["text/html"]
        return super().preprocess_cell(cell, resources, cell_index)


class Slides(Preprocessor):
    """Cut a lesson into slides: a heading begins one, and after an output a new one begins below it.

    Left out are imports, what belongs to one learner (`recall`, `progress`, checks) and the links at
    the end. A fold stays below what it is about. A slide that is too long scrolls: nothing is cut
    off.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Say of each cell what it is on slides, and bring the style that keeps all in sight."""
        is_full, letters = False, 0
        for cell in nb.cells:
            is_code = cell.cell_type == "code"
            if is_code:
                cell.outputs = _keep_pages_of_widgets(cell.outputs)
            # What is shown as HTML is a picture or a widget: both are high.
            has_picture = any(
                "text/html" in output.get("data", {}) for output in cell.get("outputs", ())
            )
            has_room = letters <= (_PROSE_BESIDE_PICTURE if has_picture else _PROSE_BESIDE_TEXT)
            kind = _choose_slide_type(cell, is_full=is_full or (is_code and not has_room))
            cell.metadata["slideshow"] = {"slide_type": kind}
            if kind in ("slide", "subslide"):
                is_full, letters = False, 0
            if kind != "skip":
                is_full |= bool(cell.get("outputs"))
                letters += 0 if is_code else len(cell.source)
        # In a cell: nbconvert has no option for a style of one's own.
        first = next(cell for cell in nb.cells if cell.cell_type == "markdown")
        first.source += f"\n\n<style>{_SLIDE_STYLE}</style>"
        resources.setdefault("reveal", {}).update(_SLIDE_SIZE)
        return nb, resources


def _choose_slide_type(cell: Any, *, is_full: bool) -> str:
    """Return what a cell is on slides, as nbconvert calls it.

    is_full: an output was shown since the last slide began.
    """
    if cell.cell_type == "markdown":
        if _HEADING.match(cell.source):
            return "slide"
        if _LINKS.match(cell.source):
            return "skip"
        # With a heading behind the fold, the cell begins something of its own.
        is_fold = cell.source.startswith(_FOLD) and "\n#" not in cell.source
        return "subslide" if is_full and not is_fold else "-"
    # With lines that go on: the names of an import in brackets, and the closing one.
    is_import = all(line.startswith(_IMPORTS) for line in cell.source.splitlines() if line)
    if is_import or _OF_ONE_LEARNER.search(cell.source):
        return "skip"
    return "subslide" if is_full else "-"


def _keep_pages_of_widgets(outputs: list[Any]) -> list[Any]:
    """Return outputs with the page of each widget alone: slides have no kernel."""
    has_page = any("text/html" in output.get("data", {}) for output in outputs)
    shown = []
    for output in outputs:
        data = output.get("data", {})
        if "text/html" in data:
            data.pop("application/vnd.jupyter.widget-view+json", None)
        # The text that a page without a kernel has in the place of the widget.
        if not (has_page and set(data) == {"text/plain"}):
            shown.append(output)
    return shown
