"""What all widgets have in common: the live view with its two twins, the colours, the panel.

May import `doc` and the colours of `tinytorch.viz`.
"""

from .exhibit import Exhibit, Live, Panel, has_kernel, is_cell_running, publish_bundle, renew_output
from .theme import colour_rules, panel_style_sheet, read_web_files

__all__ = [
    "Exhibit",
    "Live",
    "Panel",
    "colour_rules",
    "has_kernel",
    "is_cell_running",
    "panel_style_sheet",
    "publish_bundle",
    "read_web_files",
    "renew_output",
]
