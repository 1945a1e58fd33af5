"""What other releases of PyTorch do otherwise than 2.13, which tinytorch follows.

Each difference was seen by running it.

What a program of `tests/programs/` prints otherwise is stored beside it, as NAME.2.14.diff; see
`programs/transcript.py`. The rest, here, is for the tests that run one line on both engines and
compare: these ask what the installed release makes of what 2.13 says.
"""

import functools
import importlib.metadata
import re
from typing import NamedTuple

Release = tuple[int, int]

FOLLOWED: Release = (2, 13)
"""The release that tinytorch follows, and of which the stored transcripts are."""


def read_release(version: str) -> Release:
    """Return the first two numbers of a version such as "2.14.1+cpu"."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


@functools.cache
def installed_release() -> Release:
    """Return the release of the PyTorch installed here, or the followed one where there is none."""
    try:
        return read_release(importlib.metadata.version("torch"))
    except importlib.metadata.PackageNotFoundError:
        return FOLLOWED


class Rewording(NamedTuple):
    """Other words since a release: in a text, `new` takes the place of what matches `pattern`."""

    since: Release
    pattern: str
    new: str


_REWORDINGS = (
    # The kinds of arithmetic that bools lack.
    Rewording(
        (2, 14),
        r"RuntimeError(?=: (?:Subtraction|Negation), the `-` operator"
        r"|: The `\+` operator, on a bool|: Boolean inputs)",
        "NotImplementedError",
    ),
    # The dtypes that reductions lack.
    Rewording(
        (2, 15),
        r"RuntimeError(?=: (?:std and var only support|linalg\.vector_norm: Expected a floating"
        r"|mean\(\): could not infer output dtype|arg(?:min|max)\(\): does not support bool"
        r"|topk does not support bool))",
        "NotImplementedError",
    ),
    Rewording((2, 15), r"(?<=RuntimeError: )(?=mat1 and mat2 shapes)", "mm: "),
)


def reword(text: str, release: Release | None = None) -> str:
    """Return an error in the words of a release, by default the installed one.

    text: the error in the words of 2.13 and tinytorch.
    """
    release = installed_release() if release is None else release
    for rewording in _REWORDINGS:
        if release >= rewording.since:
            text = re.sub(rewording.pattern, rewording.new, text)
    return text


CLAMP_GRADIENT_CHANGED = (2, 14)
"""From here on the gradient of `clamp` at a bound is 0. In 2.13, and in tinytorch, it is 1."""


def differs_at_bounds(code: str) -> bool:
    """Return True if the installed release may have another gradient for `code`.

    That is where a number equals a bound of `clamp`.
    """
    return (
        installed_release() >= CLAMP_GRADIENT_CHANGED
        and re.search(r"\bcl(amp|ip)_?\(", code) is not None
    )
