"""What a page is given: the scripts and style sheets of the rooms, and the colours of the pictures, light and dark."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from tinytorch.viz import PALETTE, gettext, list_translations

_KIND = "[data-vscode-theme-kind=vscode-high-contrast{}]"
_PAGE = ":is(html,body):is([theme={0}],[data-theme={0}],.{0},.quarto-{0})"  # Colab, Sphinx, marimo and MyST, Quarto
_VIEW = ":host [data-theme={}]"  # in a shadow tree; see live.js
_HOSTS = {
    "light": (
        "[data-jp-theme-light=true]",
        ".vscode-light",
        _KIND.format("-light"),
        _PAGE.format("light"),
        _VIEW.format("light"),
    ),
    "dark": (
        "[data-jp-theme-light=false]",
        ".vscode-dark",
        _KIND.format(""),
        _PAGE.format("dark"),
        _VIEW.format("dark"),
    ),
}


def read_web_files(*names: str) -> str:
    """Return scripts or style sheets of the rooms, one after another, by their names: `player/player.js`.

    They are our own, without a dependency. No line is blank, for they stand in HTML that Markdown may read. Before a
    script that calls `say` stands that function, and what the chosen language has for the texts.
    """
    made = "".join(map(_read_web_file, names))
    if "say(" not in made:
        return made
    # As it stands in a script: a text in double quotes; and no `<`, for the script may stand in a page.
    words = {
        text: said
        for text, said in list_translations().items()
        if json.dumps(text, ensure_ascii=False) in made
    }
    return (
        _read_web_file("ui/say.js").replace("{}", json.dumps(words).replace("<", "\\u003c"), 1)
        + made
    )


@cache
def _read_web_file(name: str) -> str:
    room, file = name.split("/")
    text = files("copylab").joinpath(room, "web", file).read_text("utf-8")
    # Comments are for who reads the file: each output would store them.
    text = re.sub(r"(?m)^\s*(//.*|/\*.*\*/)$", "", text)
    text = re.sub(r"\n\s*", "\n", text).lstrip()  # nor does it need what sets lines in
    # A notebook takes 12 bytes more for each line. A statement or a rule may go on after these characters, or end with
    # them; a line with a comment or a template may not be joined to the next one.
    return re.sub(r"(?m)^((?!.*(?://|`)).*[{(\[,;])\n", r"\1", text)


def panel_style_sheet(*names: str) -> str:
    """Return the style sheet of all that is shown in a `.cl-panel`, and after it those of the rooms."""
    lost = gettext(
        "This view has lost its kernel. What you see stays until you run the cell again."
    )
    said = json.dumps(lost, ensure_ascii=False).replace(
        "<", "\\3c "
    )  # a page's style ends at the first `</style`
    told = f".cl-live.jupyter-widgets-disconnected::before{{content:{said}}}"
    return (
        read_web_files("ui/panel.css", "ui/exhibit.css", *names) + colour_rules(".cl-panel") + told
    )


def colour_rules(root: str, sheet: str = "") -> str:
    """Return the style that defines `--tt-NAME` for every colour, or for those that a sheet names, below `root`.

    A page that says which theme it has is believed, any other follows the system.
    """
    used = [name for name in PALETTE if not sheet or f"--tt-{name}" in sheet]
    light, dark = _colour_properties(used, 0), _colour_properties(used, 1)
    said = {theme: ",".join(f"{host} {root}" for host in hosts) for theme, hosts in _HOSTS.items()}
    return (
        f"{root}{{{light}}}@media (prefers-color-scheme:dark){{{root}{{{dark}}}}}"
        f"{said['light']}{{{light}}}{said['dark']}{{{dark}}}"
    )


def _colour_properties(names: Iterable[str], theme: int) -> str:
    scheme = ("light", "dark")[theme]
    return f"color-scheme:{scheme};" + "".join(
        f"--tt-{name}:{PALETTE[name][theme]};" for name in names
    )
