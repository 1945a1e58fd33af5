"""Build the course as a site: static pages, for a web server or to open from the disk.

    python docs/build_site.py FOLDER                      # all languages
    python docs/build_site.py FOLDER --language zh        # one of them
    python docs/build_site.py FOLDER --lite WHEELS        # a JupyterLite instead

Sphinx with MyST-NB makes the pages (`docs/conf.py`): it knows notebooks, search without a server,
and languages. This script writes what Sphinx is given: the lessons in a language, with predictions
that judge themselves; the guides, whose examples are run; and the reference of all public names.
`pip install -e '.[docs]'` installs what it needs.

With `--lite` the lessons run in the reader's browser: Pyodide, the Python of the browser, and NumPy
come from their host on the network when a lesson is opened, copylab from the wheels in WHEELS:

    pip install 'jupyterlite-core[contents,translation]>=0.6' 'jupyterlite-pyodide-kernel>=0.6'
    pip wheel --wheel-dir WHEELS .
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from base64 import b64decode
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from html import escape, unescape
from pathlib import Path
from typing import Any, NamedTuple

import copylab
from copylab.course.cheatsheet import render_cheat_sheet
from copylab.course.lesson import find_tasks, lessons_folder
from copylab.course.translation import (
    TRANSLATIONS,
    list_languages,
    read_translated,
    require_language,
)
from copylab.lessons.start import bet
from copylab.quiz import Prediction, render_standalone
from copylab.wording import current_language as language_in_use
from copylab.wording import set_language

import tinytorch

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PAGES = DOCS / "pages"


class SiteLanguage(NamedTuple):
    """A language: its name, its code in Sphinx, and what the site says in it around the pages."""

    name: str
    sphinx_code: str
    lessons: str
    look_up: str
    show_output: str
    hide_output: str


SITE_LANGUAGES = {
    "en": SiteLanguage("English", "en", "Lessons", "Look up", "Show output", "Hide output"),
    "zh": SiteLanguage("中文", "zh_CN", "课程", "查阅", "显示输出", "隐藏输出"),
    "ko": SiteLanguage("한국어", "ko", "수업", "찾아보기", "출력 보기", "출력 숨기기"),
}

BESIDE_LESSONS = ("glossary", "articles")
"""Pages of the folder of the lessons, which learners have beside them."""
PAGE_NAMES = ("gallery", "reference", "teaching", "checking", "run")
GUIDES = (
    "docs/widgets/README",
    "docs/widgets/steps",
    "docs/widgets/compare",
    "docs/widgets/predict",
    "docs/widgets/exercise",
    "docs/widgets/race",
    "docs/widgets/copylab",
    "docs/watch",
    "docs/messages",
    "docs/check_gradients",
    "docs/what_shares",
    "docs/beside",
    "docs/shared",
    "docs/growth",
    "docs/installing",
    "docs/releases",
    "docs/compatibility",
    "docs/speed",
    "docs/hosts",
    "CHANGELOG",
)
"""Guides in English, which are there in no other language."""

FRONT_PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>copylab</title>
<meta name="viewport" content="width=device-width">
<style>
  :root {{ color-scheme: light dark; background: Canvas; color: CanvasText }}
  body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }}
  nav ul {{ display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; padding: 0; list-style: none }}
  h1 {{ margin-bottom: 0 }} h1 + p {{ margin-top: 0 }}
  :lang(ko) {{ word-break: keep-all; overflow-wrap: break-word }}
</style></head>
<body><nav aria-label="{languages}"><ul>{links}</ul></nav>
<main><h1>copylab</h1>
<p>{lead}</p>
<h2>{bet}</h2>
<p>{invitation}</p>
{prediction}
<h2>{doors}</h2>
<ul>
{door_list}
</ul>
</main></body></html>
"""

RUNS_SCRIPT = '\n<script src="_static/runs.js"></script>\n'
"""The end of the page `run`: `write_stored_runs` writes it, once all pages are there."""

EXECUTED_PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---
```{code-cell}
:tags: [remove-cell]
import tinytorch as torch
```
"""
"""The head of a page whose examples are run, with the import that they leave out."""

_REFUSED = re.compile(
    r"```python\n((?:(?!```).)*)```\n\n```text\n\w+(?:Error|Warning): .*?```\n", re.DOTALL
)
"""A program of a guide that ends with the message below it: run, it would end the build."""

INSTALL_CELL = "%pip install -q copylab"
LANGUAGE_CELL = "%env COPYLAB_LANGUAGE={language}"


def build_site(folder: Path, chosen: Sequence[str]) -> None:
    """Build the site into an empty folder, in the `chosen` languages.

    Raises FileExistsError if there is something in the folder, ValueError for a language that the
    course is not there in, RuntimeError with Sphinx's words if it fails or warns.
    """
    for language in chosen:
        require_language(language, lessons_folder())
    require_empty(folder)
    own_language = language_in_use()
    with tempfile.TemporaryDirectory() as work:
        for language in chosen:
            print(f"{SITE_LANGUAGES[language].name}: building", flush=True)
            source = Path(work) / language / "source"
            try:
                write_sources(source, language)
                sheet = render_cheat_sheet(tinytorch)
            finally:
                set_language(own_language)
            # MyST-NB leaves the notebooks that it ran beside its output, so that is moved afterwards.
            built = Path(work) / language / "built"
            run_sphinx(source, built, language)
            shutil.copytree(built, folder / language)
            write_stored_runs(folder / language)
            share_files(folder / language)
            (folder / language / "cheat_sheet.html").write_text(sheet, encoding="utf-8")
    write_front_pages(folder, chosen)


def require_empty(folder: Path) -> None:
    """Make the folder if it is missing.

    FileExistsError if it holds anything: that is somebody else's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty")


def write_front_pages(folder: Path, chosen: Sequence[str]) -> None:
    """Write a page for each language that leads to its pages, and to the front pages of the others."""
    for language in chosen:
        page = render_front_page(language, chosen)
        (folder / name_front_page(language, chosen)).write_text(page, encoding="utf-8")


def name_front_page(language: str, chosen: Sequence[str]) -> str:
    """Return the name of a language's front page; that of the first is what a server shows."""
    return "index.html" if language == chosen[0] else f"index.{language}.html"


def render_front_page(language: str, chosen: Sequence[str]) -> str:
    """Return the page that leads to the site in a language, with a bet that it judges itself."""
    links = []
    for other in chosen:
        name, address = escape(SITE_LANGUAGES[other].name), name_front_page(other, chosen)
        current = ' aria-current="page"' if other == language else ""
        links.append(f'<li><a lang="{other}" href="{address}"{current}>{name}</a></li>')
    words = tomllib.loads((DOCS / "front_words.toml").read_text("utf-8"))[language]
    doors = [words[door].format(here=language) for door in ("learn", "bug", "teach")]
    if "en" in chosen:
        doors.append(words["guides"])
    own_language = language_in_use()
    set_language(None if language == "en" else language)
    try:
        prediction = render_standalone(bet, tinytorch)
    finally:
        set_language(own_language)
    return FRONT_PAGE.format(
        language=language,
        links="".join(links),
        prediction=prediction,
        door_list="\n".join(f"<li>{door}</li>" for door in doors),
        **words,
    )


def run_sphinx(source: Path, out: Path, language: str) -> None:
    """Build one language, in a process of its own: Sphinx speaks one language in each.

    Raises RuntimeError, with the end of what Sphinx said, where it fails or warns.
    """
    said = SITE_LANGUAGES[language]
    options = ["-q", "-W", "--keep-going", "--no-color", "-j", "auto", "-c", str(DOCS)]
    options += ["-D", f"language={said.sphinx_code}"]
    # MyST-NB says these in English alone.
    options += ["-D", f"nb_code_prompt_show={said.show_output}"]
    options += ["-D", f"nb_code_prompt_hide={said.hide_output}"]
    # What Sphinx remembers for its next run took two thirds of the site.
    options += ["-d", str(out.with_name("remembered"))]
    command = [sys.executable, "-m", "sphinx", *options, str(source), str(out)]
    search_path = os.pathsep.join([str(DOCS), *sys.path])  # for `anchor_of_heading`
    environment = os.environ | {"PYTHONPATH": search_path, "COPYLAB_LANGUAGE": language}
    run_or_raise(command, environment=environment)


def run_or_raise(
    command: list[str], *, folder: Path | None = None, environment: dict[str, str] | None = None
) -> None:
    """Run a command. RuntimeError with the end of what it printed if it fails."""
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise RuntimeError((process.stderr or process.stdout).strip()[-2000:])


# -- links that carry a run -----------------------------------------------------------

_FORM = re.compile(r'<div class="copylab-steps".*?<pre class="cl-code"[^>]*>(.*?)</pre>', re.DOTALL)
_LINE = re.compile(r"<span class='cl-line'>(.*?)</span>")


def write_stored_runs(folder: Path) -> None:
    """Write the script that tells the page `run` which page has the player of a program.

    It is no JSON, which a page that is opened from the disk may not fetch.
    """
    runs = json.dumps(list(list_stored_runs(folder).items()), ensure_ascii=False)
    (folder / "_static" / "runs.js").write_text(f"globalThis.STORED_RUNS = {runs};\n", "utf-8")


def list_stored_runs(folder: Path) -> dict[str, str]:
    """Return the program of each player in built pages, with the first page that has it."""
    runs: dict[str, str] = {}
    for path in sorted(folder.rglob("*.html")):
        for listing in _FORM.findall(path.read_text("utf-8")):
            program = unescape("\n".join(_LINE.findall(listing)))
            runs.setdefault(program, path.relative_to(folder).as_posix())
    return runs


# -- what pages have in common ----------------------------------------------------------

LEAST_SHARED = 1000
"""Characters of a script or style sheet that is worth a file of its own."""

EMPTY_HEADER = '<th class="head"><p></p></th>'
"""The corner of a table: no header, or a screen reader would read one that says nothing."""

_IN_PAGE = re.compile(r'<(style|script)(?: type="module")?>(.*?)</\1>', re.DOTALL)
_WIDGET_STATE = re.compile(
    r'<script type="application/vnd\.jupyter\.widget-state\+json">.*?</script>', re.DOTALL
)


_ESCAPES_IN_ADDRESS = (("%", "%25"), ("#", "%23"), ('"', "%22"), ("\n", "%0A"), ("&", "&amp;"))


def share_files(folder: Path) -> None:
    """Put the scripts and style sheets that pages carry into files, each once.

    An output carries all that it needs, because a notebook may be shown anywhere. On a site of ten
    pages with ten players each that is the same 60 kB a hundred times. The state of widgets goes:
    it is for their scripts from the network, which the site does not have.
    """
    for path in folder.rglob("*.html"):
        root = "../" * (len(path.relative_to(folder).parts) - 1)
        page, files = take_out_scripts(_WIDGET_STATE.sub("", path.read_text("utf-8")), root)
        page = write_pictures_as_text(drop_unused_icons(page.replace(EMPTY_HEADER, "<td></td>")))
        for name, content in files.items():
            (folder / "_static" / name).write_text(content, encoding="utf-8")
        path.write_text(page, encoding="utf-8")


def drop_unused_icons(page: str) -> str:
    """Return a page without those icons of the theme that it does not show: a kilobyte of each."""

    def keep_used(icon: re.Match[str]) -> str:
        return icon[0] if f'"#{icon[1]}"' in page else ""

    return re.sub(r'<symbol id="(svg-[\w-]+)".*?</symbol>\s*', keep_used, page, flags=re.DOTALL)


def write_pictures_as_text(page: str) -> str:
    """Return a page whose SVGs in addresses are text: in base64 they are a third larger.

    Not those of a player, which reads the first image behind `data-packed`.
    """
    is_of_player = False

    def write_as_text(found: re.Match[str]) -> str:
        nonlocal is_of_player
        is_kept, is_of_player = is_of_player, found[1] is None
        if is_kept or is_of_player:
            return found[0]
        svg = b64decode(found[1]).decode()
        for sign, written in _ESCAPES_IN_ADDRESS:
            svg = svg.replace(sign, written)
        return f'src="data:image/svg+xml,{svg}"'

    return re.sub(r'data-packed="|src="data:image/svg\+xml;base64,([^"]+)"', write_as_text, page)


def take_out_scripts(page: str, root: str) -> tuple[str, dict[str, str]]:
    """Return a page that refers to files in the place of what it carried, and those files.

    root: the way from the page to the folder of the site.
    """
    files: dict[str, str] = {}
    references: list[str] = []

    def take_out(element: re.Match[str]) -> str:
        tag, content = element.groups()
        if len(content) < LEAST_SHARED:
            return element[0]
        digest = sha256(content.encode()).hexdigest()[:12]
        if tag == "style":
            name, reference = f"{digest}.css", '<link rel="stylesheet" href="{}">'
        else:
            # A page that is opened from the disk may not load modules. As a module, this is strict,
            # has names of its own, and runs when the page is there.
            name, reference = f"{digest}.js", '<script defer src="{}"></script>'
            content = f'"use strict";(() => {{\n{content}\n}})();\n'
        if name not in files:
            files[name] = content
            references.append(reference.format(f"{root}_static/{name}"))
        return ""

    page = _IN_PAGE.sub(take_out, page)
    # Not where they were: a player removes from the page what it was made of.
    return page.replace("</head>", "".join(references) + "</head>", 1), files


# -- the pages that Sphinx is given ---------------------------------------------------


def write_sources(source: Path, language: str) -> None:
    """Write the lessons in a language, the other pages, and the first page with the list of all."""
    set_language(None if language == "en" else language)
    source.mkdir(parents=True)
    lesson_names = []
    for path in sorted(lessons_folder().glob("*.ipynb")):
        lesson_names.append(path.stem)
        notebook = prepare_lesson(json.loads(read_translated(path, language)))
        write_page(source / path.name, json.dumps(notebook))
    for name in BESIDE_LESSONS:
        text = read_translated(lessons_folder() / f"{name}.md", language)
        write_page(source / f"{name}.md", relink(text))

    page_names = [name for name in PAGE_NAMES if is_translated(name, language)]
    for name in page_names:
        text = read_translated(PAGES / f"{name}.md", language)
        script = RUNS_SCRIPT if name == "run" else ""
        write_page(source / f"{name}.md", insert_reference(text) + script)
    guides = GUIDES if language == "en" else ()
    for name in guides:
        text = (ROOT / f"{name}.md").read_text("utf-8")
        write_page(source / f"{name}.md", prepare_guide(unlink_absent_pages(text, name)))

    captions = SITE_LANGUAGES[language]
    groups = {
        captions.lessons: lesson_names,
        captions.look_up: [*BESIDE_LESSONS, *page_names],
        "Guides": guides,
    }
    start = relink(read_translated(lessons_folder() / "README.md", language))
    write_page(source / "index.md", start + list_contents(groups))


def write_page(path: Path, text: str) -> None:
    """Write a page, and make its folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def is_translated(page_name: str, language: str) -> bool:
    """Return True if a page of docs/pages/ is there in a language."""
    return language == "en" or (PAGES / TRANSLATIONS / language / f"{page_name}.md").is_file()


def prepare_lesson(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a lesson as a page without a kernel.

    Predictions judge themselves, other widgets show their static form; what answers a question is
    folded.
    """
    tasks = find_tasks(notebook)
    anchors = set(re.findall(r'<a id=\\?"([^"\\]+)\\?">', json.dumps(notebook["cells"])))
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cell["source"] = relink(source, anchors)
            continue
        task = tasks.get(source.strip())
        if isinstance(task, Prediction):
            data = {"text/html": render_standalone(task, tinytorch)}
            cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
        else:
            static = [output for output in cell["outputs"] if "copylab-twin" in json.dumps(output)]
            cell["outputs"] = static or cell["outputs"]
        if "questioned" in cell["metadata"].get("tags", ()):
            cell["metadata"]["tags"].append("hide-output")
    return notebook


def relink(text: str, anchors: Collection[str] = ()) -> str:
    """Return Markdown with links as the site has them: the README is its first page.

    anchors: the ids of elements of HTML on the page, which Sphinx does not know.
    """
    for anchor in anchors:
        link = re.compile(rf"\[([^]]+)\]\(#{re.escape(anchor)}\)")
        text = link.sub(rf'<a href="#{anchor}">\1</a>', text)
    text = re.sub(r"\]\((?:\.\./)?README\.md", "](index.md", text)
    text = re.sub(r"\[([^]]+)\]\(solutions/[^)]*\)", r"\1", text)
    # Sphinx warns of a Markdown link to what is not one of its pages.
    return re.sub(
        r"\[([^]]+)\]\(((?:cheat_sheet\.html|LICENSE)[^)]*)\)", r'<a href="\2">\1</a>', text
    )


def list_contents(groups: Mapping[str, Sequence[str]]) -> str:
    """Return a hidden table of contents for each group of pages that is not empty."""
    contents = ""
    for caption, page_names in groups.items():
        if page_names:
            listed = "\n".join(page_names)
            contents += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"
    return contents


def unlink_absent_pages(text: str, guide: str) -> str:
    """Return a guide in which a link to a page that is not on the site is its words."""

    def keep_or_unlink(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(guide), link[2]))
        return link[0] if target in GUIDES else link[1]

    return re.sub(r"\[([^]]+)\]\(([\w./-]+)\.md(?:#[^)]*)?\)", keep_or_unlink, text)


def prepare_guide(text: str) -> str:
    """Return a guide whose examples are run, up to the first that needs PyTorch.

    The outputs take the place of the screenshots.
    """
    without_pictures = re.sub(r"<picture>.*?</picture>\n*", "", text)
    end = len(without_pictures)
    for block in re.finditer(r"```python\n.*?```", without_pictures, re.DOTALL):
        if re.search(r"^\s*(?:import|from) torch\b", block[0], re.MULTILINE):
            end = block.start()
            break
    executed, rest = without_pictures[:end], without_pictures[end:]
    executed = _REFUSED.sub(add_player, executed)
    return EXECUTED_PAGE + executed.replace("```python\n", "```{code-cell}\n") + rest


def add_player(refused: re.Match[str]) -> str:
    """Return a program and the message that it ends with as they are, and below them its player."""
    shown = refused[0].replace("```python", "``` python")
    return f"{shown}\n```{{code-cell}}\n:tags: [remove-input]\nimport copylab\ncopylab.steps({refused[1]!r})\n```\n"


# -- the reference --------------------------------------------------------------------


def insert_reference(text: str) -> str:
    """Put the entries of names where a page asks for them: `{names} steps Steps`."""
    return re.sub(r"(?m)^\{names\} (.*)$", lambda line: describe_names(line[1].split()), text)


def describe_names(names: Sequence[str]) -> str:
    """Return the entries of several public names."""
    return "\n".join(map(describe_name, names))


def describe_name(name: str) -> str:
    """Return the entry of a public name: its signature and its docstring."""
    member = getattr(copylab, name)
    if not callable(member):
        return f"### {name}\n\n{', '.join(f'`{item}`' for item in member)}\n"
    if member.__name__ != name:
        return f"### {name}\n\nThe same as `{member.__name__}`.\n"
    keyword = "class " if inspect.isclass(member) else ""
    described = markdown_of_docstring(inspect.getdoc(member) or "")
    return f"### {name}\n\n```python\n{keyword}{name}{signature_of(member)}\n```\n\n{described}\n"


def signature_of(member: Any) -> str:
    """Return the signature of a function or class without quotes around its annotations."""
    try:
        return str(inspect.signature(member)).replace("'", "")
    except ValueError:  # exceptions have no signature
        return "(...)"


def markdown_of_docstring(text: str) -> str:
    """Return a docstring as Markdown: its arguments as a list, its examples as code."""
    example = re.compile(r"^>>> (?:.*\n?)+?(?=\n|\Z)", re.MULTILINE)
    argument = re.compile(r"^(\w+(?:, \w+)*): ", re.MULTILINE)
    continued = re.compile(r"\n    +(?=\S)(?<!\n\n    )")
    text = example.sub(lambda code: f"```python\n{code[0]}\n```\n", text)
    return continued.sub("\n  ", argument.sub(r"- **\1**: ", text))


def anchor_of_heading(heading: str) -> str:
    """Return the anchor of a heading as Jupyter names it, and as lessons link to it."""
    return heading.replace(" ", "-")


# -- in the browser's own Python --------------------------------------------------------


def build_lite(folder: Path, wheels: Path, language: str) -> None:
    """Build a JupyterLite of the course into an empty folder.

    Of `wheels`, those that run everywhere are taken. Raises FileExistsError if there is something
    in the folder, ValueError if there is no wheel of copylab or no such language, RuntimeError if
    JupyterLite fails.
    """
    require_language(language, lessons_folder())
    portable = sorted(wheels.glob("*-none-any.whl"))
    if not any(wheel.name.startswith("copylab-") for wheel in portable):
        raise ValueError(f"there is no wheel of copylab in {wheels}: pip wheel -w {wheels} .")
    require_empty(folder)
    with tempfile.TemporaryDirectory() as work:
        contents = Path(work) / "contents"
        for path in sorted(lessons_folder().glob("*")):
            if path.suffix == ".ipynb":
                lesson = install_in_first_cell(
                    json.loads(read_translated(path, language)), language
                )
                text = json.dumps(lesson, ensure_ascii=False, indent=1)
                write_page(contents / path.name, text)
            elif path.is_file():
                text = (
                    read_translated(path, language)
                    if path.suffix == ".md"
                    else path.read_text("utf-8")
                )
                write_page(contents / path.name, text)
        command = [sys.executable, "-m", "jupyterlite_core.app", "build"]
        command += ["--contents", str(contents), "--lite-dir", work]
        command += ["--output-dir", str(folder.resolve())]
        for wheel in portable:
            command += ["--piplite-wheels", str(wheel.resolve())]
        run_or_raise(command, folder=Path(work))


def install_in_first_cell(notebook: dict[str, Any], language: str = "en") -> dict[str, Any]:
    """Return a lesson whose first code cell installs copylab, and sets its language."""
    cells = notebook["cells"]
    first = next(index for index, cell in enumerate(cells) if cell["cell_type"] == "code")
    lines = [INSTALL_CELL]
    if language != "en":
        lines = [f"{INSTALL_CELL}\n", LANGUAGE_CELL.format(language=language)]
    install = cells[first] | {"id": "install", "source": lines, "metadata": {}, "outputs": []}
    kernel = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    return notebook | {
        "cells": [*cells[:first], install, *cells[first:]],
        "metadata": notebook["metadata"] | {"kernelspec": kernel},
    }


def main() -> None:
    """Build the site that the command line asks for."""
    parser = argparse.ArgumentParser(description="Build the course as a site.")
    parser.add_argument("folder", type=Path, help="missing or empty")
    parser.add_argument("--language", help="for example zh; by default the site has all languages")
    parser.add_argument("--lite", type=Path, metavar="WHEELS", help="a JupyterLite instead")
    arguments = parser.parse_args()
    try:
        if arguments.lite:
            build_lite(arguments.folder, arguments.lite, arguments.language or "en")
        else:
            chosen = (
                [arguments.language]
                if arguments.language
                else ["en", *list_languages(lessons_folder())]
            )
            build_site(arguments.folder, chosen)
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
