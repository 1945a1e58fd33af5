"""Watching programs that run as they are: which write met what a graph had saved, and would PyTorch say so.

`cells` (names of a notebook's cells) -> `places` (lines of a program) -> `findings` -> `kept` (one saved tensor) ->
`scope` (engines that are imported and threads that are started under a watch) -> `on_torch`, `on_tinytorch` (what they
tell) -> `observer` (the watch itself) -> `plugin` (a user's tests under it). May import `doc`, `ui` and `tinytorch`.
"""

from .findings import Finding, GradientWarning
from .observer import Watch, watch

__all__ = ["Finding", "GradientWarning", "Watch", "watch"]
