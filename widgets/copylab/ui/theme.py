"""What a page is given: the scripts and style sheets of the rooms, and the colours of the pictures, light and dark."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from tinytorch.viz.draw.style import PALETTE

_KIND = "[data-vscode-theme-kind=vscode-high-contrast{}]"
_HOSTS = {
    "light": ("[data-jp-theme-light=true]", ".vscode-light", _KIND.format("-light"), "html[theme=light]"),
    "dark": ("[data-jp-theme-light=false]", ".vscode-dark", _KIND.format(""), "html[theme=dark]"),
}


@cache
def web(name: str) -> str:
    """Return a script or style sheet of a room by its name, `player/player.js`: our own, without a dependency."""
    room, file = name.split("/")
    return files("copylab").joinpath(room, "web", file).read_text("utf-8")


def colours(root: str) -> str:
    """Return the style that defines `--tt-NAME` for every colour below the selector `root`.

    A page that says which theme it has (JupyterLab, VS Code, Colab) is believed, any other follows the system.
    """
    light, dark = _shades(0), _shades(1)
    said = {theme: ",".join(f"{host} {root}" for host in hosts) for theme, hosts in _HOSTS.items()}
    return (
        f"{root}{{{light}}}@media (prefers-color-scheme:dark){{{root}{{{dark}}}}}"
        f"{said['light']}{{{light}}}{said['dark']}{{{dark}}}"
    )


def _shades(theme: int) -> str:
    scheme = ("light", "dark")[theme]
    return f"color-scheme:{scheme};" + "".join(f"--tt-{name}:{shades[theme]};" for name, shades in PALETTE.items())
