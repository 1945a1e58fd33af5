"""What graph nodes saved for backward: live, stale, freed, or nothing that may be looked at.

Looking must not change anything: hooks are not called, and what a custom Function gives out a
single time is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

from .blocks import address_of
from .checksums import Checksums
from .found_tensors import FoundTensors
from .probe import getattr_or_none, is_python_number, is_tensor, version_of
from .records import SavedRecord

_VERSIONS_IN_ERROR = re.compile(r"is at version (\d+); expected version (\d+)")
"""Reading raised this text, so nothing around it need be told from another error; `blame` has to."""
_GEOMETRY = re.compile(
    r"size|stride|offset|dim|layout|dtype|device|numel"
    r"|^(start|end|step|index|keepdim|options|alpha|beta)$"
)
"""Numbers that say where a gradient goes and not what it is; alpha and beta are 1 by default."""


class FoundSaved(NamedTuple):
    """A record without the id of its tensor, and that tensor's position in `FoundTensors`."""

    record: SavedRecord
    position: int | None = None


class SavedAttribute(NamedTuple):
    """An attribute of a node (`_saved_self`), and the name that pictures call it by (`self`)."""

    attribute: str
    name: str


class SavedReader:
    """Reads what nodes saved; tensors that are not known yet are added to `tensors`."""

    def __init__(self, tensors: FoundTensors, reads_values: bool) -> None:
        self.tensors = tensors
        self.reads_values = reads_values
        self.checksums = Checksums()

    def read_node(self, node: Any) -> Iterator[FoundSaved]:
        """Yield all that a node saved."""
        function_class = getattr(node, "_forward_cls", None)
        gives_out_once = getattr(function_class, "clear_saved_tensors_on_access", False)
        for attribute, name in find_saved_attributes(type(node)):
            if name == "tensors" and gives_out_once:
                # Reading ctx.saved_tensors would free them before backward gets them.
                yield FoundSaved(SavedRecord(name, "once"))
                continue
            # In training, batch_norm saves its running statistics and computes from the batch's.
            is_ignored = name.startswith("running_") and getattr_or_none(node, "_saved_training")
            for found in self._read_attribute(node, attribute, name):
                if is_ignored:
                    record = replace(found.record, used=False, bytes_now=None)
                    yield FoundSaved(record, found.position)
                else:
                    yield found

    def _read_attribute(self, node: Any, attribute: str, name: str) -> Iterator[FoundSaved]:
        raw = getattr_or_none(node, "_raw_saved_" + name)
        if raw is None and _GEOMETRY.search(name):
            return
        if any(map(_has_foreign_hook, raw if isinstance(raw, tuple) else (raw,))):
            yield FoundSaved(SavedRecord(name, "packed"))
            return
        try:
            value = getattr(node, attribute)
        except RuntimeError as error:
            yield self._read_refusal(node, name, str(error), raw)
            return
        except Exception:  # noqa: BLE001 - a property of a custom Function may raise anything
            yield FoundSaved(SavedRecord(name, "unreadable"))
            return
        if is_tensor(value):
            yield self._read_tensor(name, value, raw)
        elif isinstance(value, tuple | list):
            # The engines have a raw part for each element, also for None.
            raw_parts = raw if isinstance(raw, tuple) else ()
            for index, (element, raw_part) in enumerate(zip_longest(value, raw_parts)):
                if is_tensor(element):
                    yield self._read_tensor(f"{name}[{index}]", element, raw_part)
        elif isinstance(value, int | float | complex) and not isinstance(value, bool):
            # torch shows sizes and indexes unsigned: ignore_index=-100 as 18446744073709551516.
            is_negative = isinstance(value, int) and value >= 2**63
            yield FoundSaved(
                SavedRecord(name, "number", value=value - 2**64 if is_negative else value)
            )

    def _read_tensor(self, name: str, tensor: Any, raw: Any) -> FoundSaved:
        position = self._find_known(tensor)
        shape = getattr_or_none(tensor, "shape")  # a nested tensor has none
        is_unknown_scalar = position is None and shape is not None and not tuple(shape)
        if is_unknown_scalar and self.reads_values and not tensor.requires_grad:
            # The 2 of `x * 2`: torch wraps it in a 0-d tensor, and backward frees it like one.
            try:
                value = tensor.tolist()
            except Exception:  # noqa: BLE001 - a meta or fake tensor is shown like any other
                value = None
            if value is not None:
                record = SavedRecord(name, "live", value=value)
                if is_python_number(tensor, raw):
                    # Nothing else refers to it, so nobody can have written to it.
                    return FoundSaved(replace(record, bytes_now=("", 0), bytes_then=("", 0)))
                return FoundSaved(self._add_bytes(record, tensor, raw))
        if position is None:
            position = self.tensors.add(tensor, "saved")
        version = version_of(tensor)
        record = SavedRecord(name, "live", saved_version=version, version=version)
        return FoundSaved(self._add_bytes(record, tensor, raw), position)

    def _find_known(self, tensor: Any) -> int | None:
        """Return the position of a saved tensor, also if it is known as another object."""
        position = self.tensors.position_of(tensor)
        if position is not None:
            return position
        # torch unpacks a saved result into a new object, with the address and grad_fn of the first.
        node = getattr_or_none(tensor, "grad_fn")
        if node is not None:
            return self.tensors.position_of_result(address_of(tensor), node)
        for candidate in self.tensors.positions_at_address_of(tensor):
            if self.tensors[candidate].grad_fn is None:
                return candidate
        return None

    def _add_bytes(self, record: SavedRecord, tensor: Any, raw: Any) -> SavedRecord:
        """Add the bytes now; under a watch, which has compared them, those at the save as well."""
        bytes_now = self.checksums.of(tensor)
        if isinstance(bytes_now, str):
            return replace(record, not_read=bytes_now)
        watched = _find_watched_save(raw)
        has_changed = getattr_or_none(watched, "has_changed")
        if has_changed is None:
            return replace(record, bytes_now=bytes_now)
        if not has_changed:
            return replace(record, bytes_now=bytes_now, bytes_then=bytes_now)
        # Only equal or not matters of two checksums: another number stands for other bytes.
        geometry, checksum = bytes_now
        bytes_then = geometry, checksum + 1
        written_at = watched.written_at
        return replace(record, bytes_now=bytes_now, bytes_then=bytes_then, written_at=written_at)

    def _read_refusal(self, node: Any, name: str, message: str, raw: Any) -> FoundSaved:
        """Find out from the error that reading raised what happened to a saved tensor.

        PyTorch checks the version of a saved tensor when it is read, and raises the error that
        backward would raise: "... is at version 1; expected version 0 instead". No attribute has
        the version at which it was saved, so both are taken from that text; tinytorch raises the
        same one, word for word.
        """
        versions = _VERSIONS_IN_ERROR.search(message)
        if versions is None:
            was_freed = "already been freed" in message
            return FoundSaved(SavedRecord(name, "freed" if was_freed else "unreadable"))
        position = None
        watched = _find_watched_save(raw)
        # Under a watch the node holds its record, and the record has the tensor.
        tensor = getattr_or_none(raw, "data") if watched is None else watched.tensor
        if is_tensor(tensor):
            position = self._find_original(tensor, node)
            if position is None:
                position = self.tensors.add(tensor, "saved")
        record = SavedRecord(
            name,
            "stale",
            version=int(versions[1]),
            saved_version=int(versions[2]),
            written_at=_find_writing_line(raw),
        )
        return FoundSaved(record, position)

    def _find_original(self, alias: Any, node: Any) -> int | None:
        """Return the position of the tensor that was saved, of which `alias` may be a detached one.

        Several tensors may be the same view of the same bytes: the node's own result comes first,
        then one of its inputs.
        """
        address = address_of(alias)
        position = self.tensors.position_of_result(address, node)
        if position is not None:
            return position
        followers = [follower for follower, _ in node.next_functions if follower is not None]
        inputs = [self.tensors.position_of_result(address, follower) for follower in followers]
        found = [position for position in inputs if position is not None]
        return min(found or self.tensors.positions_at_address_of(alias)[:1], default=None)


def _has_foreign_hook(raw: Any) -> bool:
    """Return True if a saved-tensor hook packed this, other than those of `copylab.watch`."""
    has_hook = getattr(raw, "unpack_hook", None) is not None
    return has_hook and _find_watched_save(raw) is None


def _find_watched_save(raw: Any) -> Any:
    """Return the `WatchedSave` that a node holds under `copylab.watch`; None without a watch.

    The watch's pack hook put it in the tensor's place. Read of it: `tensor`, the tensor that was
    saved, or a detached alias of it; `has_changed`, True if its bytes are others than at the save,
    None if that is not known; `is_stale`; `written_at`, the line to blame for either.
    """
    is_watched = getattr(getattr_or_none(raw, "unpack_hook"), "is_of_watch", False)
    return getattr_or_none(raw, "data") if is_watched else None


def _find_writing_line(raw: Any) -> str:
    """Return the line that made stale what was saved, if a watch saw it; else nothing."""
    # The tensors of a Function in Python are read as one, and the first stale one is refused.
    for raw_part in raw if isinstance(raw, tuple) else (raw,):
        watched = _find_watched_save(raw_part)
        if watched is not None and watched.is_stale:
            return str(watched.written_at)
    return ""


@cache
def find_saved_attributes(node_class: type) -> tuple[SavedAttribute, ...]:
    """Return the attributes in which nodes of a class have what they saved: its properties."""
    found = []
    for attribute in dir(node_class):
        if not attribute.startswith("_saved_"):
            continue
        name = attribute.removeprefix("_saved_")
        # `index` may be a number, which is left out, or tensors, which have a second property.
        if not _GEOMETRY.search(name) or hasattr(node_class, f"_raw_saved_{name}"):
            found.append(SavedAttribute(attribute, name))
    # The tensors of a custom Function are in ctx.saved_tensors.
    if hasattr(node_class, "saved_tensors"):
        found.append(SavedAttribute("saved_tensors", "tensors"))
    return tuple(found)
