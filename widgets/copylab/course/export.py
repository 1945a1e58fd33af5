r"""Pictures for pages that show no HTML: a preprocessor of nbconvert.

    jupyter nbconvert lesson.ipynb --to latex \
        --LatexExporter.preprocessors=copylab.course.export.Pictures

A stored notebook holds each picture once, inside of HTML. An `image/svg+xml` beside it would stop
nbconvert on its way to LaTeX wherever Inkscape is missing; so the picture is made for the page when
the page is made.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from nbconvert.preprocessors import ExtractOutputPreprocessor

from tinytorch.viz import convert, fix_theme

# The text of a widget says what it shows; a picture of one part of it would not.
_WIDGET = re.compile(r'class="(?:copylab|cl)-')
_PICTURE = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')


class Pictures(ExtractOutputPreprocessor):
    """Add pictures in the colours of print to outputs: a PDF for LaTeX, else an SVG.

    Raises ImportError, which says what to install, where a PDF is wanted and typst is missing.
    """

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> Any:
        """Add the pictures to a cell, and write them to files as nbconvert does with others."""
        is_latex = resources.get("output_extension") in (".tex", ".pdf")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            html = data.get("text/html", "")
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
