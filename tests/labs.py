"""What the tests of CopyLab have in common: pressing its buttons, reading what it shows."""

import re
from typing import Any

from copylab import CopyLab, Source


def press(lab: CopyLab, name: str) -> None:
    """Press a button of the lab."""
    lab._controls.buttons[name].click()


def actions(lab: CopyLab) -> tuple[str, ...]:
    """Its actions as they are now."""
    return lab.actions


def source(lab: CopyLab) -> Source:
    """Its source as it is now."""
    found: Source = lab.source
    return found


def seen(lab: CopyLab) -> str:
    """What its panel shows, without the markup."""
    html = re.sub("</?code>", "", lab._panel.html)
    return re.sub(r"<style>.*?</style>|<[^>]+>", " ", html)


def models() -> int:
    """Count the widget models in this process."""
    from ipywidgets.widgets import widget

    registry: Any = getattr(widget, "_instances", None)
    return len(registry if registry is not None else widget.Widget.widgets)
