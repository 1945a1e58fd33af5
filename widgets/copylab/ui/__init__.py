"""What all widgets have in common: the live view with its two twins, the colours, the panel.

May import `doc` and the colours of `tinytorch.viz`.
"""

from .exhibit import Exhibit, Live, Panel
from .theme import colours, style, web

__all__ = ["Exhibit", "Live", "Panel", "colours", "style", "web"]
