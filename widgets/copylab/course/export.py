"""Pictures for pages that show no HTML: a preprocessor of nbconvert.

    jupyter nbconvert --to latex --LatexExporter.preprocessors=copylab.course.export.Pictures lesson.ipynb

A stored notebook holds each picture once, inside of HTML. An `image/svg+xml` beside it would stop nbconvert on its way
to LaTeX wherever Inkscape is missing; so the picture is made for the page when the page is made.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from nbconvert.preprocessors import ExtractOutputPreprocessor

from tinytorch.viz import convert, fixed

_OTHERS = re.compile(r'class="(?:copylab|cl)-')  # widgets, whose words are their text
_PICTURE = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')


class Pictures(ExtractOutputPreprocessor):
    """Give each output that shows a picture that picture in the colours of print: a PDF for LaTeX, else an SVG.

    Raises ImportError, which says what to install, where a PDF is wanted and typst is missing.
    """

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> Any:
        """Add the pictures to a cell, and write them to files as nbconvert does with pictures of other libraries."""
        latex = resources.get("output_extension") in (".tex", ".pdf")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            html = data.get("text/html", "")
            if not _OTHERS.search(html) and (found := _PICTURE.search(html)):
                svg = fixed(base64.b64decode(found[1]).decode(), "print")
                if latex:
                    data["application/pdf"] = base64.b64encode(convert(svg, "pdf")).decode()
                else:
                    data["image/svg+xml"] = svg
                    del data[
                        "text/html"
                    ]  # which would be preferred, and ask for a page that shows images in addresses
        return super().preprocess_cell(cell, resources, cell_index)
