"""Pictures in what nbconvert makes of a notebook where no HTML can be shown."""

import base64
from typing import Any

import nbconvert
import nbformat
import pytest
from copylab import memory, steps
from copylab.course.export import Pictures, Slides
from traitlets.config import Config

import tinytorch as torch
from tinytorch.viz import graph
from tinytorch.viz.render.style import fix_theme

# They come without types.
cells: Any = nbformat.v4
exporters: Any = nbconvert

x = torch.ones(3, requires_grad=True)
y = (x.clone() * 2).sum()
SHOWN = {
    "memory": memory(x, y),
    "graph": graph(y),
    "large": memory(*(torch.ones(9) for _ in range(40))),
}


@pytest.fixture
def notebook() -> Any:
    outputs = [
        cells.new_output("execute_result", picture._repr_mimebundle_(), execution_count=at)
        for at, picture in enumerate(SHOWN.values(), 1)
    ]
    other = cells.new_output(
        "display_data", {"text/html": '<p>no <img src="data:x">', "text/plain": "no"}
    )
    made = [cells.new_code_cell("x", outputs=[output]) for output in [*outputs, other]]
    return cells.new_notebook(cells=made)


def test_latex_has_the_pictures_without_inkscape(
    notebook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    config = Config(LatexExporter={"preprocessors": [Pictures]})
    tex, resources = exporters.LatexExporter(config=config).from_notebook_node(notebook)
    files = {name: data for name, data in resources["outputs"].items() if name.endswith(".pdf")}
    assert len(files) == len(SHOWN)
    assert all(data.startswith(b"%PDF") for data in files.values())
    assert all(name in tex for name in files)


@pytest.mark.parametrize(
    ("name", "mark"), [("RSTExporter", ".. image::"), ("MarkdownExporter", "![svg](")]
)
def test_other_pages_have_them_as_files_in_the_colours_of_print(
    name: str, mark: str, notebook: Any
) -> None:
    config = Config({name: {"preprocessors": [Pictures]}})
    page, resources = getattr(exporters, name)(config=config).from_notebook_node(notebook)
    assert page.count(mark) == len(resources["outputs"]) == len(SHOWN)
    assert all(b"var(--" not in data for data in resources["outputs"].values())


def test_a_player_stays_what_it_is() -> None:
    shown = steps("x = torch.ones(2, requires_grad=True)", engine=torch)._repr_mimebundle_()
    assert "data:image/svg+xml" in shown["text/html"] or "<svg" in shown["text/html"]
    cell = cells.new_code_cell("x", outputs=[cells.new_output("display_data", dict(shown))])
    config = Config(MarkdownExporter={"preprocessors": [Pictures]})
    _, resources = exporters.MarkdownExporter(config=config).from_notebook_node(
        cells.new_notebook(cells=[cell])
    )
    assert resources["outputs"] == {}


def test_markdown_keeps_them_as_they_are(notebook: Any) -> None:
    markdown, _ = exporters.MarkdownExporter().from_notebook_node(notebook)
    lines = [line for line in markdown.splitlines() if "<img alt=" in line]
    assert len(lines) == len(SHOWN), (
        "a picture that is broken over lines would end where one of them is blank"
    )
    assert all(line.count("<") == line.count(">") for line in lines)


@pytest.mark.parametrize("name", SHOWN)
def test_a_fixed_picture_is_the_one_drawn_in_that_theme(name: str) -> None:
    for theme in ("print", "dark"):
        drawn = SHOWN[name].svg_in_theme(theme)
        assert fix_theme(SHOWN[name].svg, theme) == drawn


def test_a_picture_of_another_library_stays_as_it_is() -> None:
    other = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'
    assert fix_theme(other, "print") == other


def test_a_page_that_asks_for_svg_is_given_it() -> None:
    asked = SHOWN["graph"]._repr_mimebundle_(include=["image/svg+xml"])
    assert asked["image/svg+xml"] == SHOWN["graph"].svg_in_theme("light")
    assert "image/svg+xml" not in SHOWN["graph"]._repr_mimebundle_()
    html = SHOWN["graph"]._repr_mimebundle_()["text/html"]
    assert base64.b64encode(SHOWN["graph"].svg.encode()).decode() in html


def test_a_lesson_is_cut_into_slides() -> None:
    def show(*data: dict[str, str]) -> Any:
        outputs = [cells.new_output("display_data", entry) for entry in data]
        return cells.new_code_cell("x", outputs=outputs)

    widget = {"text/html": "<p>", "application/vnd.jupyter.widget-view+json": "{}"}
    text, code = cells.new_markdown_cell, cells.new_code_cell
    expected = [
        (text("# A lesson"), "slide"),
        (code("import torch\nfrom a import (\n    b,\n)"), "skip"),
        (show({"text/plain": "Run this cell"}, widget), "-"),
        (text("<details><summary>Why</summary></details>"), "-"),
        (text("<details></details>\n\n## Next"), "subslide"),
        (code("y = 1"), "-"),
        (text("word " * 40), "-"),
        (show({"text/plain": "1"}), "-"),
        (text("word " * 40), "subslide"),
        (show({"text/html": "<img>"}), "subslide"),
        (code('progress("clone")'), "skip"),
        (code("part.check()"), "skip"),
        (text("## End"), "slide"),
        (text("---\nPrevious"), "skip"),
    ]
    made = cells.new_notebook(cells=[cell for cell, _ in expected])
    cut: Any = Slides  # comes without types, as nbconvert does
    slides, resources = cut().preprocess(made, {})
    kinds = [cell.metadata["slideshow"]["slide_type"] for cell in slides.cells]
    assert kinds == [kind for _, kind in expected]
    (page,) = slides.cells[2].outputs
    assert set(page.data) == {"text/html"}, "slides have no kernel"
    assert slides.cells[7].outputs
    assert "max-height" in slides.cells[0].source
    assert resources["reveal"]["width"] == "1280"
