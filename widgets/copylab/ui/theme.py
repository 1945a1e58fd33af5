"""Scripts and style sheets of the rooms for a page, and the colours of the pictures.

They are our own and have no dependency. What a notebook stores contains them, so they are made
short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from tinytorch.viz import PALETTE

from ..wording import current_language, gettext, list_translations

# How the hosts say which theme a page has. `_PAGE_HOST` is that of Colab, Sphinx, marimo and MyST,
# and Quarto.
_HIGH_CONTRAST_HOST = "[data-vscode-theme-kind=vscode-high-contrast{}]"
_PAGE_HOST = ":is(html,body):is([theme={0}],[data-theme={0}],.{0},.quarto-{0})"
# In a shadow tree: live.js sets it.
_VIEW_HOST = ":host [data-theme={}]"
_HOSTS = {
    "light": (
        "[data-jp-theme-light=true]",
        ".vscode-light",
        _HIGH_CONTRAST_HOST.format("-light"),
        _PAGE_HOST.format("light"),
        _VIEW_HOST.format("light"),
    ),
    "dark": (
        "[data-jp-theme-light=false]",
        ".vscode-dark",
        _HIGH_CONTRAST_HOST.format(""),
        _PAGE_HOST.format("dark"),
        _VIEW_HOST.format("dark"),
    ),
}


def read_web_files(*names: str) -> str:
    """Return scripts or style sheets of the rooms, by names such as `player/player.js`.

    They follow each other. Several scripts become one module, in which each can use the functions
    of those before it. No line is blank, because they are also part of HTML that Markdown may read.
    `say.js` comes before scripts that call `say`, and before those that use it the declaration of
    `FROM_PYTHON`.
    """
    text = "".join(map(_read_web_file, names))
    if "say(" in text:
        text = _read_web_file("ui/say.js") + text
    return _declare_from_python(text) + text if "FROM_PYTHON" in text else text


def _declare_from_python(script: str) -> str:
    """Return the line that declares `FROM_PYTHON`, with all that a script gets from Python.

    language: of the words, empty for English. words: the translations of the texts that the script
        contains.
    """
    words = {
        text: translation
        for text, translation in list_translations().items()
        # As scripts write it, in double quotes.
        if json.dumps(text, ensure_ascii=False) in script
    }
    values = json.dumps({"language": current_language() or "", "words": words})
    # A page's script ends at the first `</script`.
    return f"const FROM_PYTHON = {values};\n".replace("<", "\\u003c")


@cache
def _read_web_file(name: str) -> str:
    """Return a file of the package without what only its readers need."""
    room, file = name.split("/")
    text = files("copylab").joinpath(room, "web", file).read_text("utf-8")
    # Comments that have lines of their own, of one line or several.
    text = re.sub(r"(?m)^[ \t]*(//.*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)$", "", text)
    # Blank lines and indentation.
    text = re.sub(r"\n\s*", "\n", text).lstrip()
    if file.endswith(".css"):
        # No space counts there, but in a text, and those have none beside such a sign.
        text = re.sub(r"(?<=[:;{,]) +| +(?=[{}])", "", text)
    # The scripts of a page are one module, so an export is for a test that imports a file alone.
    # `export default` stays: it is what anywidget asks for.
    text = re.sub(r"(?m)^export (?=function|const|class)", "", text)
    # A notebook takes 12 bytes more for each line. A statement or a rule may go on after these
    # characters, or end with them; a line with a comment or a template may not be joined to the
    # next one. What ends with a brace is whole in a style sheet, and maybe not in a script.
    ends = "{}(,;" if file.endswith(".css") else "{([,;"
    return re.sub(rf"(?m)^((?!.*(?://|`)).*[{re.escape(ends)}])\n", r"\1", text)


def panel_style_sheet(*names: str) -> str:
    """Return the style sheet of everything in a `.cl-panel`, and after it those of the rooms."""
    message = gettext(
        "This view has lost its kernel. What you see stays. To use it again, run the imports "
        "at the top, then this cell."
    )
    # A page's style ends at the first `</style`.
    content = json.dumps(message, ensure_ascii=False).replace("<", "\\3c ")
    disconnected = f".cl-live.jupyter-widgets-disconnected::before{{content:{content}}}"
    sheets = read_web_files("ui/panel.css", "ui/exhibit.css", *names)
    return sheets + colour_rules(".cl-panel") + disconnected


def colour_rules(root: str, sheet: str = "") -> str:
    """Return the style that defines `--tt-NAME` for every colour below `root`.

    With `sheet`, only the colours that it names are defined. If a page says which theme it has,
    that is used; any other page follows the system.
    """
    names = [name for name in PALETTE if not sheet or f"--tt-{name}" in sheet]
    light, dark = _colour_properties(names, "light"), _colour_properties(names, "dark")
    on_light, on_dark = _select_below_hosts(root, "light"), _select_below_hosts(root, "dark")
    return (
        f"{root}{{{light}}}@media (prefers-color-scheme:dark){{{root}{{{dark}}}}}"
        f"{on_light}{{{light}}}{on_dark}{{{dark}}}"
    )


def _select_below_hosts(root: str, theme: str) -> str:
    """Return the selector of `root` on a page that says it has this theme."""
    return ",".join(f"{host} {root}" for host in _HOSTS[theme])


def _colour_properties(names: Iterable[str], theme: str) -> str:
    # PALETTE has a pair for each name.
    shade = ("light", "dark").index(theme)
    colours = (f"--tt-{name}:{PALETTE[name][shade]};" for name in names)
    return f"color-scheme:{theme};" + "".join(colours)
