"""Which operations share memory with the tensor that they are given, and on what that turns.

Each operation is run on a tensor of every layout in LAYOUTS and every dtype in DTYPES: its result is
the very tensor, shares its memory, is a copy, or there is none because the operation raises.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Literal, NamedTuple

from ..run import execute_program, repeatable_session
from ..wording import gettext_noop
from .fact import FIND_STORAGE
from .methods import METHODS, OPERATIONS, Method
from .sources import Source

Shared = Literal["same", "shares", "copy", "error"]
"""same: the result is the very tensor. shares: another tensor over its memory."""
Verdict = Literal["always", "never", "depends"]

LAYOUTS: Mapping[str, Source] = MappingProxyType(
    {
        gettext_noop("row by row"): Source("plain", (2, 4)),
        gettext_noop("transposed"): Source("plain", (2, 4), transposed=True),
        gettext_noop("gaps between rows"): Source("plain", (2, 4), stride=(6, 1)),
        gettext_noop("expanded"): Source("plain", (2, 4), stride=(0, 1)),
        gettext_noop("one row"): Source("plain", (1, 4)),
        gettext_noop("vector"): Source("plain", (4,)),
        gettext_noop("vector with gaps"): Source("plain", (4,), stride=(2,)),
        gettext_noop("no dimensions"): Source("plain", ()),
        gettext_noop("three dimensions"): Source("plain", (2, 2, 4)),
    }
)
"""By their words the tensors of float32 that each operation is run on."""
DTYPES: Mapping[str, Source] = MappingProxyType(
    {
        name: Source("plain", (2, 4), name)
        for name in ("float32", "float64", "float16", "int64", "int32", "bool")
    }
)
"""By their dtypes the tensors, row by row, that each operation is run on."""

_LOOK = f"""{FIND_STORAGE}\
print("same" if y is x else "shares" if start <= y.data_ptr() < end else "copy")
"""


class SharedMemory(NamedTuple):
    """What an operation gives: for each of LAYOUTS and of DTYPES, by their words."""

    method: Method
    by_layout: Mapping[str, Shared]
    by_dtype: Mapping[str, Shared]

    @property
    def verdict(self) -> Verdict:
        """Whether the result shares memory with what was given, wherever there is a result."""
        by_layout, by_dtype = map(_decide_verdict, (self.by_layout, self.by_dtype))
        return by_layout if by_layout == by_dtype else "depends"

    @property
    def depends_on_layout(self) -> bool:
        """True if it shares memory on some layouts and copies on others."""
        return _decide_verdict(self.by_layout) == "depends"

    def list_layouts(self, *wanted: Shared) -> list[str]:
        """List the words of the layouts for which the operation gives one of these."""
        return [words for words, result in self.by_layout.items() if result in wanted]


def _decide_verdict(results: Mapping[str, Shared]) -> Verdict:
    # Where it raises there is no result that could share anything.
    found = set(results.values()) - {"error"}
    if found <= {"same", "shares"}:
        return "always"
    return "never" if found == {"copy"} else "depends"


def find_sharing(how: Method, engine: ModuleType) -> SharedMemory:
    """Run a method or an operation on each of LAYOUTS and DTYPES, with `engine` as its torch.

    Raises RuntimeError if it gives no tensor for any layout.
    """
    with repeatable_session(engine), warnings.catch_warnings():
        # Some of the operations are deprecated for some layouts, as `.T` of three dimensions.
        warnings.simplefilter("ignore")
        by_layout = _look_at_results(how, LAYOUTS, engine)
        by_dtype = _look_at_results(how, DTYPES, engine)
    if set(by_layout.values()) == {"error"}:
        raise RuntimeError(f"no layout is right for {how.code}")
    # An operation that no matrix is right for was seen on no dtype but float32.
    if set(by_dtype.values()) == {"error"}:
        by_dtype = by_layout
    return SharedMemory(how, by_layout, by_dtype)


@functools.cache
def find_all_sharing(engine: ModuleType) -> tuple[SharedMemory, ...]:
    """Run all methods and operations there are, in their order, once for an engine."""
    return tuple([find_sharing(how, engine) for how in (*METHODS.values(), *OPERATIONS.values())])


def _look_at_results(
    how: Method, sources: Mapping[str, Source], engine: ModuleType
) -> dict[str, Shared]:
    return {words: _look_at_result(how, source, engine) for words, source in sources.items()}


def _look_at_result(how: Method, source: Source, engine: ModuleType) -> Shared:
    printed: list[str] = []
    program = ("import torch\n", f"{source.code}\n", f"{how.code}\n", _LOOK)
    try:
        execute_program(program, engine, {"print": printed.append})
    except Exception:  # noqa: BLE001  # each operation has shapes that it is not made for
        return "error"
    return printed[0]  # type: ignore[return-value]  # the program prints nothing else
