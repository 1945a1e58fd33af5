"""The course as a site: what is written for Sphinx, and what it refuses. tests/browser/test_site.py opens one."""

from __future__ import annotations

import gettext
import importlib.util
import json
import re
from base64 import b64encode
from collections import Counter
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import build_site
import copylab
import pytest
import search_words
import sphinx.locale
import theme_words
from build_site import PAGES
from copylab.course.lesson import lessons_folder
from copylab.course.translation import list_languages
from project_files import ROOT

import tinytorch
from tinytorch.viz import current_language, set_language

LISTED = re.findall(r"^\{names\} (.*)$", (PAGES / "reference.md").read_text("utf-8"), re.MULTILINE)


def test_the_reference_has_each_public_name_once() -> None:
    assert Counter(" ".join(LISTED).split()) == Counter(copylab.__all__)


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_the_examples_of_the_pages_run(page: Path) -> None:
    names: dict[str, object] = {"torch": tinytorch}
    for fence, code in re.findall(
        r"^```(\{code-cell\}|python)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        if fence == "{code-cell}" or "import" in code:
            exec(compile(code, page.name, "exec"), names)


def test_a_lesson_as_a_page_has_live_predictions_and_folded_answers(tmp_path: Path) -> None:
    before = current_language()
    build_site.write_sources(tmp_path / "source", "en")
    set_language(before)
    cells = {
        cell["id"]: cell
        for cell in json.loads((tmp_path / "source/02_clone.ipynb").read_text("utf-8"))["cells"]
    }
    (output,) = cells["predict-joined"]["outputs"]
    assert "data-prediction=" in output["data"]["text/html"]
    assert "README.md" not in "".join("".join(cell["source"]) for cell in cells.values())
    for cell in cells.values():
        tags = cell["metadata"].get("tags", [])
        assert ("questioned" in tags) == ("hide-output" in tags)


def test_a_guide_runs_what_it_can_and_shows_no_screenshots() -> None:
    text = "```python\nsteps(1)\n```\n<picture><img></picture>\n\nb\n```python\nimport torch\n```\n```python\nc\n```\n"
    made = build_site.prepare_guide(text)
    assert "```{code-cell}\nsteps(1)\n```\nb\n```python\nimport torch\n```\n```python\nc" in made
    assert all((build_site.ROOT / f"{name}.md").is_file() for name in build_site.GUIDES)


def test_what_a_guide_runs_raises_nothing_and_a_refused_program_has_a_player() -> None:
    made = build_site.prepare_guide((ROOT / "docs/messages.md").read_text("utf-8"))
    names: dict[str, object] = {}
    ends = Counter[str]()
    for cell in re.findall(r"```{code-cell}\n(.*?)```", made, re.DOTALL):
        if ".steps(" in cell:
            ends[eval(cell.split("copylab.")[1], {"steps": copylab.steps}).ended] += 1
        else:
            exec(re.sub(r"^:tags.*", "", cell), names)
    assert ends["error"] == len(re.findall(r"```text\n\w+Error: ", made)) >= 20


def test_a_link_of_a_guide_leads_to_a_page_of_the_site_or_is_its_words() -> None:
    text = (
        "[a](decisions.md) [b](hosts.md#x) [c](https://x.org/d.md) `n[0](x)` [e](../CHANGELOG.md)"
    )
    assert build_site.unlink_absent_pages(text, "docs/speed") == text.replace(
        "[a](decisions.md)", "a"
    )


@pytest.mark.parametrize("guide", build_site.GUIDES)
def test_a_guide_runs_nothing_that_needs_pytorch(guide: str) -> None:
    made = build_site.prepare_guide((ROOT / f"{guide}.md").read_text("utf-8"))
    cells = re.findall(r"```{code-cell}\n(.*?)```", made, re.DOTALL)
    assert not [cell for cell in cells if re.search(r"\bimport torch\b|from torch", cell)]
    assert "\nimport torch\n" in made or "```python" not in made


def test_chinese_and_korean_are_searched_by_pairs_of_letters() -> None:
    split = search_words.SearchKorean({}).split
    assert split("版本计数器 of x.grad, 텐서를") == [
        *("版本", "本计", "计数", "数器"),
        *("of", "x", "grad", "텐서", "서를"),
    ]
    assert set(split("텐서")) < set(split("모든 텐서를"))


def test_what_pages_carry_is_stored_once() -> None:
    sheet, script = ".a { color: red }\n" * 90, "const a = '<style></style>';\n" * 90
    carried = f'<style>{sheet}</style><script type="module">{script}</script>'
    page = f"<head></head><style>p {{}}</style>{carried}<div>{carried}</div>"
    made, files = build_site.take_out_scripts(page, "../")
    references = re.findall(r'(?:href|src)="../_static/([^"]*)"', made)
    assert made.endswith("</head><style>p {}</style><div></div>")
    assert list(files) == references
    assert [name.rpartition(".")[2] for name in references] == ["css", "js"]
    assert files[references[0]] == sheet
    assert script in files[references[1]]


def test_icons_that_a_page_does_not_show_are_left_out() -> None:
    sun, eye = (
        f'<symbol id="svg-{name}" viewBox="0">\n<path/></symbol>' for name in ("sun", "eye")
    )
    page = f'<svg>{sun}\n{eye}\n</svg><use href="#svg-sun"></use>'
    assert build_site.drop_unused_icons(page) == page.replace(f"{eye}\n", "")


def test_a_picture_in_an_address_is_text() -> None:
    svg = '<svg fill="#fff">50 % &amp;\n<b>版本</b></svg>'
    page = f'<img src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">'
    made = build_site.write_pictures_as_text(page)
    assert unquote(unescape(made)) == f'<img src="data:image/svg+xml,{svg}">'
    assert "#" not in made
    assert made.count('"') == 2
    # The script of a player takes its pictures out of the addresses.
    of_player = f'<p data-packed="3">{page}</p><p data-packed="4"></p><p data-packed="5">{page}</p>'
    text = f"{page}{of_player}{page}"
    assert build_site.write_pictures_as_text(text) == f"{made}{of_player}{made}"


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is not empty"):
        build_site.build_site(tmp_path, ["en"])
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_language_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"does not exist in 'xx'; it is in: en, ko, zh"):
        build_site.build_site(tmp_path / "new", ["xx"])
    assert not (tmp_path / "new").exists()


def test_every_language_of_the_course_is_known_to_the_site() -> None:
    assert {"en", *list_languages(lessons_folder())} <= build_site.SITE_LANGUAGES.keys()


@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.parametrize("language", ["zh", "ko"])
def test_a_fold_of_outputs_is_named_in_the_language(language: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text(
        """\
---
file_format: mystnb
kernelspec:
  name: python3
---
# t

```{code-cell}
:tags: [hide-output]
print(1)
```
""",
        "utf-8",
    )
    build_site.run_sphinx(source, tmp_path / "out", language)
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert build_site.SITE_LANGUAGES[language].show_output in page
    assert "code cell" not in page


def find_labels_of_folds() -> set[str]:
    """What MyST-NB calls the folds of outputs, which it says in English alone."""
    spec = importlib.util.find_spec("myst_nb.sphinx_")
    assert spec is not None
    assert spec.origin is not None
    labels = re.findall(r'aria-label="([A-Z][^"]*)"', Path(spec.origin).read_text("utf-8"))
    assert labels
    return set(labels)


@pytest.mark.parametrize("language", ["zh_CN", "ko"])
def test_labels_of_the_theme_are_in_the_language(language: str, tmp_path: Path) -> None:
    """Those that Furo has in English alone; `theme_words` knows each, and touches no prose."""
    spec = importlib.util.find_spec("furo")
    assert spec is not None
    assert spec.origin is not None
    templates = Path(spec.origin).parent / "theme" / "furo"
    text = "\n".join(path.read_text("utf-8") for path in sorted(templates.rglob("*.html")))
    labels = re.findall(r'aria-label="([A-Z][^"{]*)"|<title>([A-Z][^<{]*)</title>', text)
    asked = {a or b for a, b in labels} - {"On GitHub", "On Read the Docs"}  # not shown here
    asked |= find_labels_of_folds()
    page = tmp_path / "page.html"
    prose = "<p>Contents: Menu, Expand</p>"
    page.write_text("".join(f"<title>{label}</title>" for label in sorted(asked)) + prose, "utf-8")
    app: Any = SimpleNamespace(outdir=tmp_path, config=SimpleNamespace(language=language))
    theme_words.replace_labels(app, None)
    written = page.read_text("utf-8")
    assert written.endswith(prose)
    assert not re.findall(f"<title>({'|'.join(map(re.escape, asked))})</title>", written)
    # What the templates translate: in Sphinx's catalogue, or in the table.
    catalogue = gettext.translation("sphinx", Path(sphinx.locale.__file__).parent, [language])
    app.translator = catalogue
    theme_words.add_words(app)
    for word in ("On this page", "Search", "Next", "Previous", "Home", "Back to top"):
        assert f'_("{word}")' in text or word in text
        assert catalogue.gettext(word) != word


@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.parametrize("language", ["zh", "ko"])
def test_a_page_says_nothing_in_english_around_its_text(language: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text("# 一\n\n## 二\n\n```{toctree}\nnext\n```\n", "utf-8")
    (source / "next.md").write_text("# 三\n\n## 四\n", "utf-8")
    build_site.run_sphinx(source, tmp_path / "out", language)
    for name in ("index", "next", "search"):
        page = (tmp_path / "out" / f"{name}.html").read_text("utf-8")
        page = re.sub(r"(?s)<script.*?</script>|<style.*?</style>|<!--.*?-->", "", page)
        shown = re.findall(r'>([^<>]+)<|(?:aria-label|placeholder|title)="([^"]*)"', page)
        words = {word for pair in shown for word in re.findall("[A-Za-z]{3,}", " ".join(pair))}
        assert words <= {"copylab", "Furo", "JavaScript"}, name


@pytest.mark.slow
@pytest.mark.stress
def test_a_warning_of_sphinx_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Start\n\n[nowhere](nowhere.md)\n", "utf-8")
    with pytest.raises(RuntimeError, match="nowhere"):
        build_site.run_sphinx(tmp_path, tmp_path / "out", "en")


def test_a_lite_needs_a_wheel_of_copylab(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no wheel of copylab in .*pip wheel -w"):
        build_site.build_lite(tmp_path / "out", tmp_path, "en")


def test_a_lesson_in_a_lite_installs_copylab_first() -> None:
    notebook = json.loads((lessons_folder() / "02_clone.ipynb").read_text("utf-8"))
    before = notebook["cells"]
    after = build_site.install_in_first_cell(notebook)["cells"]
    added = [cell for cell in after if cell not in before]
    assert [cell["source"] for cell in added] == [["%pip install -q copylab"]]
    assert [cell["cell_type"] for cell in after].index("code") == after.index(added[0])
