"""What a node keeps for backward: live, stale, freed, or nothing that may be looked at."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

from . import probe
from .blocks import address_of
from .probe import is_tensor, quietly
from .records import Saved

_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
# Sizes, dimensions and the like only say where a gradient goes; alpha and beta are 1 but for who asks otherwise.
_GEOMETRY = re.compile(
    r"size|stride|offset|dim|layout|dtype|device|numel|^(start|end|step|index|keepdim|options|alpha|beta)$"
)


class Known(Protocol):
    """The tensors that a reader has met so far."""

    tensors: list[Any]
    addresses: dict[Any, list[int]]
    grad_fns: dict[int, Any]

    def add(self, tensor: Any, role: str) -> int:
        """The number of a tensor, which is known from now on."""

    def known(self, tensor: Any, node: Any = None) -> int | None:
        """The number of the tensor that this one is, if it has been met."""


def saved_by(node: Any, reader: Known) -> Iterator[Saved]:
    """What one node keeps for backward, each piece with its state."""
    if is_tensor(getattr(node, "variable", None)):
        return
    kind: Any = type(node)
    for attribute, name in _attributes(kind):
        if name == "tensors" and getattr(getattr(node, "_forward_cls", None), "clear_saved_tensors_on_access", False):
            yield Saved(name, "once")
        else:
            yield from _one_saved(node, attribute, name, reader)


@cache
def _attributes(kind: type) -> tuple[tuple[str, str], ...]:
    """(attribute, name) of what nodes of a class keep; their classes have a property for each."""
    names = [(attribute, attribute.removeprefix("_saved_")) for attribute in dir(kind) if attribute[:7] == "_saved_"]
    found = [(attribute, name) for attribute, name in names if not _GEOMETRY.search(name)]
    # A custom Function keeps its tensors under another name.
    return (*found, ("saved_tensors", "tensors")) if hasattr(kind, "saved_tensors") else tuple(found)


def _one_saved(node: Any, attribute: str, name: str, reader: Known) -> Iterator[Saved]:
    raw = quietly(node, "_raw_saved_" + name)
    raws = raw if isinstance(raw, tuple) else (raw,)
    if any(getattr(one, "unpack_hook", None) is not None for one in raws):
        yield Saved(name, "packed")
        return
    try:
        value = getattr(node, attribute)
    except RuntimeError as error:
        yield _refused(attribute, name, str(error), raw, node, reader)
        return
    except Exception:  # noqa: BLE001 - whatever a custom Function's own attribute raises is not ours to pass on
        yield Saved(name, "unreadable")
        return
    if isinstance(value, tuple | list) and any(is_tensor(piece) for piece in value):
        for index, piece in enumerate(value):
            if is_tensor(piece):
                yield _live(f"{name}[{index}]", piece, reader)
    elif is_tensor(value):
        yield _live(name, value, reader)
    elif _is_number(value):
        yield Saved(name, "number", value=value)


def _live(name: str, tensor: Any, reader: Known) -> Saved:
    version = probe.version_of(tensor)
    where = reader.known(tensor, quietly(tensor, "grad_fn"))
    if where is None and not tuple(tensor.shape) and not tensor.requires_grad:
        # The 2 of `x * 2`: torch wraps it in a 0-d tensor, and backward frees it like one.
        try:
            return Saved(name, "live", value=tensor.tolist())
        except Exception:  # noqa: BLE001 - a tensor without values (meta, FakeTensor) is told like any other
            pass
    if where is None:
        where = reader.add(tensor, "saved")
    return Saved(name, "live", tensor=str(where), saved_version=version, version=version)


def _refused(attribute: str, name: str, message: str, raw: Any, node: Any, reader: Known) -> Saved:
    stale = _VERSIONS.search(message)
    if stale is None:
        return Saved(name, "freed" if "already been freed" in message else "unreadable")
    now, then = int(stale[1]), int(stale[2])
    data = quietly(raw, "data")
    if is_tensor(data):
        where = _original(data, node, reader)
    else:
        where = None if isinstance(raw, tuple) else _by_rewinding(attribute, node, then, now, reader)
    return Saved(name, "stale", tensor=None if where is None else str(where), saved_version=then, version=now)


def _original(data: Any, node: Any, reader: Known) -> int | None:
    """The known tensor that was saved: among those at the same place the node's own result, or its input."""
    same = reader.addresses.get(address_of(data), [])
    followers = [follower for follower, _ in node.next_functions if follower is not None]
    results = [i for i in same if reader.grad_fns.get(i) is node]
    inputs = [
        i
        for i in same
        for one in followers
        if reader.grad_fns.get(i) is one or quietly(one, "variable") is reader.tensors[i]
    ]
    return next(iter(results or inputs or same), None)


def _by_rewinding(attribute: str, node: Any, then: int, now: int, reader: Known) -> int | None:
    """The same for engines that show no `data`: with the right counter set back, the saved tensor can be read."""
    for tensor in list(reader.tensors):
        if probe.version_of(tensor) != now:
            continue
        with probe.rewound(tensor, sys.modules.get(probe.engine_name(tensor)), then) as done:
            saved = quietly(node, attribute) if done else None
        if is_tensor(saved):
            return _original(saved, node, reader)
    return None


def _is_number(value: Any) -> bool:
    """Whether a plain value is a number that takes part in the derivative."""
    return isinstance(value, int | float | complex) and not isinstance(value, bool)
