"""The course as a site: static pages, for any host or for a folder that is opened from the disk.

    copylab site FOLDER

The lessons in each language as they are stored, glossary and cheat sheet; in English a gallery, guides and the
reference of all public names, whose examples are run for it. Sphinx with MyST-NB makes the pages: it knows notebooks,
search without a server and languages, and nothing of it has to be written here. The theme is Furo: it has a switch
between light and dark, works on narrow screens and by keyboard, and asks nothing of the network.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import copylab
import tinytorch
from tinytorch.viz import gettext, use
from tinytorch.viz import language as spoken

from ..doc import element
from ..quiz import Prediction, page
from ..safe_files import SafeFolder, read_text
from . import cheatsheet
from .lesson import asked, lessons, published
from .site_folder import prepare_site
from .translation import FOLDER, PAGES, check, languages, text_in

NAMES = {"en": "English", "zh": "中文", "ko": "한국어"}
_SPHINX = {"zh": "zh_CN"}
_MISSING = "the site is made with Sphinx, which is not installed here. Install it with: pip install 'copylab[site]'"
FRONT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>copylab</title><meta name="viewport" content="width=device-width">
<style>
  :root {{ color-scheme: light dark }}
  body {{ font: 1.1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }}
</style></head>
<body><main><h1>copylab</h1>
<p>See what copying a PyTorch tensor does to memory and to gradients.</p><ul>{links}</ul>
</main></body></html>
"""
_PARTS = ("gallery", "reference", "teaching", "checking")
_DOCS = ("watch", "compatibility", "hosts")
_WIDGETS = ("README", "steps", "compare", "predict", "exercise", "race", "copylab")
GUIDES = (
    *(f"docs/widgets/{name}" for name in _WIDGETS),
    *(f"docs/{name}" for name in _DOCS),
    "CHANGELOG",
)
_LIVE = "application/vnd.jupyter.widget-view+json"
_MEMBER = re.compile(r"^(\w+(?:, \w+)*): ", re.MULTILINE)
_ASKED = re.compile(r"^\{names\} (.*)$", re.MULTILINE)
_EXECUTED = """---
file_format: mystnb
kernelspec:
  name: python3
---
```{code-cell}
:tags: [remove-cell]
import tinytorch as torch
```
"""


def build(
    folder: Path, chosen: list[str] | None = None, tell: Callable[[str], None] = print
) -> list[str]:
    """Build the site into `folder`, in the `chosen` languages or all there are, and return Sphinx's warnings.

    An existing folder must be empty or a site that this has built. Raises RuntimeError where Sphinx is not installed,
    ValueError for a language that the course is not there in, OSError if the folder cannot be written or holds
    something else.
    """
    if any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_nb", "furo")):
        raise RuntimeError(gettext(_MISSING))
    wanted = chosen or ["en", *languages(lessons())]
    for language in wanted:
        check(language, lessons())
    site = prepare_site(folder)
    warnings, own = [], spoken()
    with tempfile.TemporaryDirectory() as work:
        built = SafeFolder(Path(work) / "site")
        built.make()
        for language in wanted:
            tell(gettext("{language}: building", language=NAMES.get(language, language)))
            source = Path(work) / language / "source"
            write_source(source, language)
            use(own)
            warnings += _sphinx(source, built.path / language, language)
        links = (
            element("a", escape(NAMES.get(one, one)), lang=one, href=f"{one}/index.html")
            for one in wanted
        )
        front = FRONT.format(links="".join(element("li", link) for link in links))
        built.write("index.html", front.encode())
        site.move_in(built.path)
    return warnings


# -- what Sphinx is given -----------------------------------------------------------


def write_source(source: Path, language: str) -> None:
    """Write what Sphinx is given: the lessons in a language, what stands beside them, and the first page's contents."""
    use(None if language == "en" else language)
    files = SafeFolder(source)
    files.make()
    names = []
    for path in sorted(lessons().glob("*.ipynb")):
        names.append(path.stem)
        files.write(path.name, json.dumps(_lesson(json.loads(text_in(path, language)))).encode())
    files.write("glossary.md", _linked(text_in(lessons() / "glossary.md", language)).encode())
    files.write("extra/cheat_sheet.html", cheatsheet.page(tinytorch).encode())
    parts = [
        name
        for name in _PARTS
        if language == "en" or (PAGES / FOLDER / language / f"{name}.md").is_file()
    ]
    for name in parts:
        files.write(f"{name}.md", _described(text_in(PAGES / f"{name}.md", language)).encode())
    guides = GUIDES if language == "en" else ()
    for name in guides:
        files.write(f"{name}.md", _guide(read_text(published() / f"{name}.md")).encode())
    contents = {
        gettext("Lessons"): names,
        gettext("Look up"): ["glossary", *parts],
        gettext("Guides"): guides,
    }
    index = _linked(text_in(lessons() / "README.md", language)) + _contents(contents)
    files.write("index.md", index.encode())


def _lesson(notebook: dict[str, Any]) -> dict[str, Any]:
    """A lesson as a page: predictions judge themselves, other widgets show their static form.

    What a question asks for is folded.
    """
    things = asked(notebook)
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cell["source"] = _linked(source)
            continue
        thing = things.get(source.strip())
        if isinstance(thing, Prediction):
            data = {"text/html": page(thing, tinytorch)}
            cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
        else:
            cell["outputs"] = [
                one for one in cell["outputs"] if "copylab-twin" in json.dumps(one)
            ] or cell["outputs"]
        if "questioned" in cell["metadata"].get("tags", ()):
            cell["metadata"]["tags"].append("hide-output")
    return notebook


def _linked(text: str) -> str:
    """Links as the site has them: the README is its first page, what is no page is a file."""
    text = re.sub(r"\]\((?:\.\./)?README\.md", "](index.md", text)
    text = re.sub(r"\[([^]]+)\]\(solutions/[^)]*\)", r"\1", text)
    return re.sub(
        r"\[([^]]+)\]\(((?:cheat_sheet\.html|LICENSE)[^)]*)\)", r'<a href="\2">\1</a>', text
    )


def _contents(groups: Mapping[str, Sequence[str]]) -> str:
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"
        for caption, pages in groups.items()
        if pages
    )


def _guide(text: str) -> str:
    """A guide whose examples are run, up to the first that needs PyTorch; what they show stands for its screenshots."""
    runs, needs, reads = re.sub(r"<picture>.*?</picture>\n*", "", text).partition(
        "```python\nimport torch\n"
    )
    return _EXECUTED + runs.replace("```python\n", "```{code-cell}\n") + needs + reads


def _described(text: str) -> str:
    """Put what the names say of themselves where a page asks for it: `{names} steps Steps`."""
    return _ASKED.sub(lambda asked: "\n".join(map(_entry, asked[1].split())), text)


def _entry(name: str) -> str:
    thing = getattr(copylab, name)
    if not callable(thing):
        return f"### {name}\n\n{', '.join(f'`{one}`' for one in thing)}\n"
    if thing.__name__ != name:
        return f"### {name}\n\nThe same as `{thing.__name__}`.\n"
    said = inspect.getdoc(thing) or ""
    kind = "class " if inspect.isclass(thing) else ""
    return f"### {name}\n\n```python\n{kind}{name}{_signature(thing)}\n```\n\n{_markdown(said)}\n"


def _signature(thing: Any) -> str:
    try:
        return str(inspect.signature(thing)).replace("'", "")
    except ValueError:  # of an exception
        return "(...)"


def _markdown(said: str) -> str:
    """A docstring as Markdown: its arguments as a list, its examples as code."""
    said = re.sub(
        r"(?m)^>>> (?:.*\n?)+?(?=\n|\Z)", lambda code: f"```python\n{code[0]}\n```\n", said
    )
    return re.sub(r"\n    +(?=\S)(?<!\n\n    )", "\n  ", _MEMBER.sub(r"- **\1**: ", said))


# -- Sphinx ---------------------------------------------------------------------------


def settings(language: str) -> dict[str, Any]:
    """Return what Sphinx is told for a language: the content of its conf.py."""
    return {
        "project": "copylab",
        "extensions": ["myst_nb"],
        "language": _SPHINX.get(language, language),
        "html_theme": "furo",
        "html_title": "copylab",
        "html_extra_path": ["extra"],
        "html_static_path": [str(PAGES.parent / "web")],
        "html_css_files": ["site.css"],
        "html_js_files": ["site.js"],
        "html_show_search_summary": False,  # a page from the disk may not fetch others
        "html_copy_source": False,
        "html_show_sphinx": False,
        "pygments_dark_style": "monokai",
        "nb_execution_excludepatterns": ["[0-9]*"],  # lessons show what is stored
        "nb_execution_raise_on_error": True,
        "nb_execution_timeout": 120,
        "nb_mime_priority_overrides": [("*", _LIVE, None), ("html", "text/html", 0)],
        "nb_ipywidgets_js": {},  # which would come from the network
        "myst_heading_anchors": 3,
        "myst_heading_slug_func": "copylab.course.site.slug",
        "suppress_warnings": ["myst.header", "misc.highlighting_failure"],
    }


def slug(heading: str) -> str:
    """Return the anchor of a heading as Jupyter names it: lessons link to their own in that way."""
    return heading.replace(" ", "-")


def _sphinx(source: Path, out: Path, language: str) -> list[str]:
    """Build one language, in a process of its own, for Sphinx speaks one in each; return what it warns of.

    Raises RuntimeError, with the end of what it said, where it fails.
    """
    conf = f"from copylab.course.site import settings\nglobals().update(settings({language!r}))\n"
    SafeFolder(source).write("conf.py", conf.encode())
    made = source.parent / "made"  # MyST-NB leaves the notebooks that it ran beside it
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-j",
        "auto",
        "--no-color",
        str(source),
        str(made),
    ]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "COPYLAB_LANGUAGE": language,
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-2000:])
    site = SafeFolder(out)
    site.make()
    site.move_in(made)
    return [
        line
        for line in done.stderr.splitlines()
        if "WARNING:" in line and "IPKernelApp" not in line
    ]
