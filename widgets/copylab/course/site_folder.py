"""The folder that a site is built into: what somebody else keeps there is never removed."""

from __future__ import annotations

import errno
from pathlib import Path

from tinytorch.viz import gettext

from ..safe_files import SafeFolder

MARK = ".copylab-site"
"""The file by which a folder is known that a site was built into before."""


def prepare_site(folder: Path) -> SafeFolder:
    """Return the folder to move a site into, with the mark in it.

    What else is there stays, a `CNAME` or `.git` for example. Raises FileExistsError if the folder has
    something in it and no mark, OSError if it cannot be written.
    """
    site = SafeFolder(folder)
    site.make()
    if not site.has(MARK):
        if not site.is_empty():
            why = gettext("it is not empty, and not a site of copylab's")
            raise FileExistsError(errno.EEXIST, why, str(folder))
        site.write(MARK, b"")
    return site
