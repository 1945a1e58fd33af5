"""What graph nodes saved for backward: live, stale, freed, or nothing that may be looked at.

Looking must not change anything: hooks are not called, and what a custom Function gives out a
single time is left alone. The hooks of `copylab.watch` alone are called: its `unpack` compares
versions in the engine's place. Inside of a backward, too, a look is no read: see `mark_look`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

from ...graph import name_of_node
from ..wording import Phrase, gettext_noop
from .blocks import view_key_of
from .checksums import Checksums
from .counter_sharing import find_counter_sharers
from .formulas import FormulaUse, find_formula_use
from .found_tensors import FoundTensors
from .packed import open_packed
from .probe import (
    StaleVersions,
    can_wait_for,
    find_foreign_hook,
    find_tensor_in,
    find_watched_save,
    getattr_or_none,
    grad_fn_or_none,
    is_python_number,
    is_tensor,
    parse_stale_versions,
    read_history,
    version_of,
)
from .records import SavedRecord
from .save_comparison import SaveComparison
from .user_code import COMPARISON_FINDERS, read_function

_IGNORED_NUMBERS = re.compile(
    r"size|stride|offset|dim|layout|dtype|device|numel"
    r"|^(start|end|step|index|keepdim|options|alpha|beta)$"
)
"""Attributes that are not shown unless they are tensors: they say where a gradient goes and not what
it is; alpha and beta are 1 by default."""

_MAYBE_DETACHED = Phrase.of(
    gettext_noop(
        "what was saved may have been detached in place since, which this release of PyTorch does not "
        "say"
    )
)


class FoundSavedTensor(NamedTuple):
    """What a node saved, as it is found: its record, in which the id of the tensor is still missing."""

    record: SavedRecord
    tensor_position: int | None = None
    """The tensor's position in `FoundTensors`, by which it gets its id when all are found. None where
    there is no tensor to show."""
    scalar: Any = None
    """The 0-d tensor of which the record has the value. If it turns out to be over the memory of
    another one, `restore_shared_scalars` makes the record one of a tensor."""


class SavedAttribute(NamedTuple):
    """Something that the nodes of a class save, by its two names."""

    attribute_name: str
    """The attribute of a node that has it: `_saved_self`."""
    shown_name: str
    """What pictures call it: `self`."""


class SavedReader:
    """Reads what nodes saved; tensors that are not known yet are added to `tensors`.

    In all methods `raw_saved` is the engine's SavedTensor, as `grad_fn._raw_saved_self` gives it; None
    of what has none, as what a hook has unpacked.
    """

    def __init__(self, tensors: FoundTensors, reads_values: bool) -> None:
        self.tensors = tensors
        self.reads_values = reads_values
        self.checksums = Checksums()

    def read_node(self, node: Any) -> Iterator[FoundSavedTensor]:
        """Yield all that a node saved."""
        function = read_function(node)
        function_class = getattr(node, "_forward_cls", None)
        gives_out_once = getattr(function_class, "clear_saved_tensors_on_access", False)
        for attribute_name, name in find_saved_attributes(type(node)):
            if name == "tensors" and gives_out_once:
                # Reading ctx.saved_tensors would free them before backward gets them.
                yield FoundSavedTensor(SavedRecord(name, "once"))
                continue
            use = _find_use(node, name)
            for found in self._read_attribute(node, attribute_name, name):
                record = self._add_doubt_or_index_state(node, name, found)
                if use is not FormulaUse.VALUES:
                    record = _add_formula_use(record, use)
                elif name == "tensors" and function is not None:
                    if function.reads_saved is False and record.state == "freed":
                        # It may have saved nothing at all, and nobody will ask for it.
                        continue
                    record = _add_opening(record, function.reads_saved)
                yield found if record is found.record else found._replace(record=record)
        if function is not None:
            for name in function.kept_attributes:
                yield self._read_kept_attribute(node, name)

    def _add_doubt_or_index_state(
        self, node: Any, name: str, found: FoundSavedTensor
    ) -> SavedRecord:
        """Return the record, with a doubt if it is live, or the state of a written index."""
        record = found.record
        if record.state == "live" and _may_be_detached(node, name):
            record = replace(record, doubt=_MAYBE_DETACHED)
        is_written_index = name in ("index", "indices") and record.was_written_unseen
        if is_written_index and found.tensor_position is not None:
            index = self.tensors[found.tensor_position].tensor
            record = replace(record, index_state=_judge_written_index(node, record.name, index))
        return record

    def _read_kept_attribute(self, node: Any, name: str) -> FoundSavedTensor:
        """Return what a Function in Python keeps as an attribute, of which no version is checked."""
        tensor = vars(node)[name]
        view_key = view_key_of(tensor)
        position = self._find_or_add(tensor, view_key)
        comparisons = (find_comparison(node, name) for find_comparison in COMPARISON_FINDERS)
        # The first watch that knows the attribute is as good as any other.
        comparison = next((known for known in comparisons if known is not None), None)
        checksums = self._compare_with_save(tensor, view_key, comparison)
        return FoundSavedTensor(SavedRecord(f"ctx.{name}", "live", **checksums), position)

    def _read_attribute(
        self, node: Any, attribute_name: str, name: str
    ) -> Iterator[FoundSavedTensor]:
        """Yield what one attribute of a node has: one record, or of a list one for each of its tensors."""
        # The engine's SavedTensor, or of a list a tuple of them; None of a number.
        raw_value = getattr_or_none(node, "_raw_saved_" + name)
        if _is_ignored(name, has_raw=raw_value is not None):
            return
        is_list = isinstance(raw_value, tuple)
        raw_saved_tensors = raw_value if is_list else (raw_value,)
        if any(map(find_foreign_hook, raw_saved_tensors)):
            for index, raw_saved in enumerate(raw_saved_tensors):
                yield self._read_packed(f"{name}[{index}]" if is_list else name, raw_saved)
            return
        try:
            # Here the engine compares the versions, or under a watch the watch's `unpack`.
            value = getattr(node, attribute_name)
        except RuntimeError as error:
            yield self._make_record_of_error(node, name, str(error), raw_saved_tensors)
            return
        except Exception:  # noqa: BLE001 - a property of a custom Function may raise anything
            yield FoundSavedTensor(SavedRecord(name, "unreadable"))
            return
        if is_tensor(value):
            # One tensor has one SavedTensor: a list has given its tensors in a tuple.
            if _was_detached(node, value, raw_value):
                position = self._find_position(value, view_key_of(value))
                yield FoundSavedTensor(SavedRecord(name, "detached"), position)
            else:
                yield self._read_tensor(name, value, raw_value)
        elif isinstance(value, tuple | list):
            # The engines have a SavedTensor for each element, also for None.
            pairs = zip_longest(value, raw_saved_tensors if is_list else ())
            for index, (element, raw_saved) in enumerate(pairs):
                if is_tensor(element):
                    yield self._read_tensor(f"{name}[{index}]", element, raw_saved)
        elif isinstance(value, int | float | complex) and not isinstance(value, bool):
            # torch shows sizes and indexes unsigned: ignore_index=-100 as 18446744073709551516.
            is_negative = isinstance(value, int) and value >= 2**63
            yield FoundSavedTensor(
                SavedRecord(name, "number", value=value - 2**64 if is_negative else value)
            )

    def _read_packed(self, name: str, raw_saved: Any) -> FoundSavedTensor:
        """Return what a hook of PyTorch's own would unpack, or why that is not known."""
        unpacked = open_packed(raw_saved)
        if unpacked.tensor is None:
            # What is computed again is in no memory that could have been written.
            record = SavedRecord(
                name,
                "packed",
                is_read=not unpacked.is_computed_again,
                refusal=unpacked.refusal,
                doubt=unpacked.doubt,
                change=unpacked.change,
                line_to_blame=unpacked.line_to_blame,
            )
            return FoundSavedTensor(record)
        # No version is checked of what a hook has packed.
        found = self._read_tensor(name, unpacked.tensor, None)
        return found._replace(record=replace(found.record, saved_version=None, version=None))

    def _read_tensor(self, name: str, tensor: Any, raw_saved: Any) -> FoundSavedTensor:
        view_key = view_key_of(tensor)
        position = self._find_position(tensor, view_key)
        shape = getattr_or_none(tensor, "shape")  # a nested tensor has none
        is_scalar = shape is not None and not tuple(shape)
        # One over the memory of a known tensor is no number of Python: `y.detach()` of a scalar.
        is_unknown = position is None and not self.tensors.positions_of_same_view(view_key)
        if is_scalar and is_unknown and self.reads_values and not tensor.requires_grad:
            # The 2 of `x * 2`: torch wraps it in a 0-d tensor, and backward frees it like one.
            try:
                value = tensor.tolist() if can_wait_for(tensor) else None
            except Exception:  # noqa: BLE001 - a meta or fake tensor is shown like any other
                value = None
            if value is not None:
                # Nothing else refers to a Python number, so nobody can have written to it.
                checksums: dict[str, Any] = {"checksum_now": ("", 0), "checksum_then": ("", 0)}
                if is_python_number(tensor, raw_saved):
                    return FoundSavedTensor(SavedRecord(name, "live", value=value, **checksums))
                version = version_of(tensor)
                checksums = self._read_comparison_fields(tensor, view_key, raw_saved)
                record = SavedRecord(name, "live", None, version, version, value, **checksums)
                return FoundSavedTensor(record, scalar=tensor)
        if position is None:
            position = self._add_saved_tensor(tensor, view_key)
        version = version_of(tensor)
        checksums = self._read_comparison_fields(tensor, view_key, raw_saved)
        record = SavedRecord(name, "live", saved_version=version, version=version, **checksums)
        return FoundSavedTensor(record, position)

    def restore_shared_scalars(self, found_by_node: Iterable[list[FoundSavedTensor]]) -> None:
        """Make a tensor again of each scalar that is in the memory of a tensor which was found.

        The `x.grad[0]` of `y * x.grad[0]` was taken for a number, and backward itself may write to
        it. Asked once all is found.
        """
        scalars: list[tuple[list[FoundSavedTensor], int]] = []
        for found_in_node in found_by_node:
            for index, found in enumerate(found_in_node):
                if found.scalar is not None:
                    scalars.append((found_in_node, index))
        if not scalars:
            return
        addresses = {found.view_key[0] for found in self.tensors.entries}
        for found_in_node, index in scalars:
            record, _, scalar = found_in_node[index]
            view_key = view_key_of(scalar)
            if view_key[0] not in addresses:
                continue
            position = self._find_or_add(scalar, view_key)
            found_in_node[index] = FoundSavedTensor(replace(record, value=None), position)

    def _find_or_add(self, tensor: Any, view_key: Any) -> int:
        position = self._find_position(tensor, view_key)
        if position is None:
            return self._add_saved_tensor(tensor, view_key)
        return position

    def _add_saved_tensor(self, tensor: Any, view_key: Any) -> int:
        position = self.tensors.add(tensor, "saved", view_key)
        try:
            is_leaf, grad_fn, is_of_twin = read_history(tensor)
        except Exception:  # noqa: BLE001 - the reader says so when it looks at the tensor
            return position
        # The same tensor may follow, as with `z * z`, and hooks unpack it into a new object: that is
        # known by its grad_fn. Not a view whose history torch would make anew: `read_history` asks a
        # twin of it, and the twin's node is gone after this call.
        if not is_of_twin:
            self.tensors.set_history(self.tensors[position], is_leaf, grad_fn)
        return position

    def _find_position(self, tensor: Any, view_key: Any) -> int | None:
        """Return the position of a saved tensor, also if it is known as another object."""
        position = self.tensors.position_of(tensor)
        if position is not None:
            return position
        # torch unpacks a saved result into a new object, which is the same view and has the same
        # grad_fn as the tensor that was saved.
        node = getattr_or_none(tensor, "grad_fn")
        if node is not None:
            return self.tensors.position_of_result(view_key, node)
        for candidate in self.tensors.positions_of_same_view(view_key):
            known = self.tensors[candidate]
            if known.grad_fn is None:
                if not _share_counter(tensor, known.tensor):
                    return None
                return candidate
        return None

    def _read_comparison_fields(self, tensor: Any, view_key: Any, raw_saved: Any) -> dict[str, Any]:
        """Return the fields that compare a tensor's bytes now with those at the save, and what a watch knows."""
        return self._compare_with_save(tensor, view_key, find_watched_save(raw_saved))

    def _compare_with_save(
        self, tensor: Any, view_key: Any, comparison: SaveComparison | None
    ) -> dict[str, Any]:
        """Return the fields of a record that compare a tensor's bytes with those at the save.

        They are the checksums, or why there are none, and the line that wrote.

        comparison: what a watch knows; None without one.
        """
        checksum_now = self.checksums.find_checksum(tensor, view_key)
        if isinstance(checksum_now, Phrase):
            return {"not_read": checksum_now}
        if comparison is None:
            return {"checksum_now": checksum_now}
        has_changed = comparison.has_changed
        if has_changed is None:
            reason = Phrase.of(
                gettext_noop(
                    "it was written to inside of the watch, which cannot compare all of its bytes with those "
                    "at the save"
                ),
            )
            return {"checksum_now": checksum_now, "not_read": reason}
        if not has_changed and not comparison.is_compared_whole:
            return {"checksum_now": checksum_now, "compared_in_part": True}
        if not has_changed:
            return {
                "checksum_now": checksum_now,
                "checksum_then": checksum_now,
                "compared_with_save": True,
            }
        # Only equal or not matters of two checksums: the watch has compared them, and another number
        # stands for other bytes.
        geometry, checksum = checksum_now
        return {
            "checksum_now": checksum_now,
            "checksum_then": (geometry, checksum + 1),
            "compared_with_save": True,
            "line_to_blame": comparison.line_to_blame,
        }

    def _make_record_of_error(
        self, node: Any, name: str, message: str, raw_saved_tensors: tuple[Any, ...]
    ) -> FoundSavedTensor:
        """Make the record of a saved tensor that could not be read: stale, freed or unreadable.

        The engine decides which, or under a watch the watch's `unpack`: it compares the versions when
        the tensor is read, and raises what backward would raise: "... is at version 1; expected
        version 0 instead". No attribute has the version at which it was saved, so both are taken
        from that text.
        """
        versions = parse_stale_versions(message)
        if versions is None:
            was_freed = "already been freed" in message
            return FoundSavedTensor(SavedRecord(name, "freed" if was_freed else "unreadable"))
        tensor_position = None
        stale_raw_saved = _find_stale_raw_saved(raw_saved_tensors, versions)
        # The tensor as it is now; of a result of the node itself a detached alias of it. None where
        # it is not known which was written: then the record has both versions and no tensor.
        tensor = find_tensor_in(stale_raw_saved)
        if tensor is not None:
            tensor_position = self._find_original(tensor, node)
            if tensor_position is None:
                tensor_position = self._add_saved_tensor(tensor, view_key_of(tensor))
        record = SavedRecord(
            name,
            "stale",
            version=versions.now,
            saved_version=versions.then,
        )
        # Under a watch the node holds its `WatchedSave`, which knows the line that wrote.
        if watched_save := find_watched_save(stale_raw_saved):
            record = replace(record, line_to_blame=watched_save.line_to_blame)
        return FoundSavedTensor(record, tensor_position)

    def _find_original(self, alias: Any, node: Any) -> int | None:
        """Return the position of the tensor that was saved, of which `alias` may be a detached one.

        Several tensors may be the same view of the same bytes: the node's own result comes first,
        then one of its inputs.
        """
        view_key = view_key_of(alias)
        position = self.tensors.position_of_result(view_key, node)
        if position is not None:
            return position
        found = []
        for follower, _ in node.next_functions:
            if follower is None:
                continue
            position = self.tensors.position_of_result(view_key, follower)
            if position is not None:
                found.append(position)
        # The first to be found: tensors with names come before all others. An operation in place has
        # given the tensor itself another node: then it is one of the same view.
        return min(found or self.tensors.positions_of_same_view(view_key)[:1], default=None)


def _find_use(node: Any, name: str) -> FormulaUse:
    """Return what backward reads of a saved value."""
    # In training, batch_norm saves its running statistics and computes from the batch's.
    if name.startswith("running_") and getattr_or_none(node, "_saved_training"):
        return FormulaUse.NOTHING
    return find_formula_use(node, name)


def _add_formula_use(record: SavedRecord, use: FormulaUse) -> SavedRecord:
    """Return a record with what backward reads of it: less than its values."""
    if use is FormulaUse.COMPARISONS:
        return replace(record, is_partly_read=True)
    # Its version is checked all the same. Its bytes are not compared: each forward writes running
    # statistics uncounted, which is no hazard.
    return replace(record, is_read=False, checksum_now=None)


def _add_opening(record: SavedRecord, is_opened: bool | None) -> SavedRecord:
    """Return a record of what a Function saved, with whether its backward opens that.

    None for `is_opened`: it could not be read off the code of the Function.
    """
    record = replace(record, is_read=is_opened is not False, is_opened=is_opened)
    # What raises only if it is opened may not raise.
    if is_opened is None and record.refusal:
        record = replace(record, refusal=None, doubt=record.refusal)
    return record


def _share_counter(tensor: Any, known_tensor: Any) -> bool:
    """Return True if a write through one tensor is counted for the other: `x.grad.data` is no `x.grad`."""
    version, known_version = version_of(tensor), version_of(known_tensor)
    # An inference tensor has no counter.
    if version is None or known_version is None:
        return True
    if version != known_version:
        return False
    # For each of the two, the position of the first one with its counter.
    _, first_sharer = find_counter_sharers([tensor, known_tensor])
    return first_sharer == 0


def _is_ignored(name: str, *, has_raw: bool) -> bool:
    """Return True for a number that is not shown."""
    # `index` may be a number or tensors, which have a second property for their SavedTensors.
    return not has_raw and _IGNORED_NUMBERS.search(name) is not None


def _find_stale_raw_saved(raw_saved_tensors: tuple[Any, ...], versions: StaleVersions) -> Any:
    """Return the SavedTensor that was written since; None if it is not known which.

    The tensors of a Function in Python are read as one, and the first stale one raises.
    """
    # `versions` are those of an error that reading them has raised: of one, it is that one's.
    if len(raw_saved_tensors) == 1:
        return raw_saved_tensors[0]
    for raw_saved in raw_saved_tensors:
        watched_save = find_watched_save(raw_saved)
        if watched_save is not None:
            if watched_save.is_stale:
                return raw_saved
            continue
        unpack = getattr_or_none(raw_saved, "unpack")
        if unpack is None or version_of(find_tensor_in(raw_saved)) != versions.now:
            continue
        # It may have had this version when it was saved, and is not stale then: its own unpack says.
        try:
            unpack()
        except RuntimeError as error:
            if parse_stale_versions(str(error)) == versions:
                return raw_saved
    return None


def _was_detached(node: Any, tensor: Any, raw_saved: Any) -> bool:
    """Return True if `detach_` cut a saved input off its history, so that backward raises.

    `_saved_other` does not say so, and `_raw_saved_other.unpack()` does, as backward. A Function in
    Python reads its saved tensors without that question.
    """
    if hasattr(type(node), "_forward_cls"):
        return False
    watched_save = find_watched_save(raw_saved)
    if watched_save is not None:
        return bool(watched_save.was_detached)
    unpack = getattr_or_none(raw_saved, "unpack")
    if unpack is None or getattr_or_none(raw_saved, "unpack_hook") is not None:
        return False
    # A view cannot be detached in place, and unpacking it would make its history anew.
    if getattr_or_none(tensor, "_base") is not None or grad_fn_or_none(tensor) is not None:
        return False
    try:
        unpack()
    except RuntimeError as error:
        return "detached in-place" in str(error)
    return False


def _may_be_detached(node: Any, name: str) -> bool:
    """Return True if a node may have saved an input that was detached since, and torch cannot be asked.

    Up to 2.12 a SavedTensor has no `unpack`. What was saved without a history may be a constant: as
    many as there are inputs that get no gradient. Results have the node itself.
    """
    raw_saved = getattr_or_none(node, f"_raw_saved_{name.partition('[')[0]}")
    if raw_saved is None or isinstance(raw_saved, tuple) or hasattr(raw_saved, "unpack"):
        return False
    if find_watched_save(raw_saved) is not None or hasattr(type(node), "_forward_cls"):
        return False
    value = getattr_or_none(node, f"_saved_{name}")
    is_off_graph, off_graph_count = False, 0
    for attribute_name, other_name in find_saved_attributes(type(node)):
        if other_name.startswith(("result", "running_", "save_")):
            continue
        other_value = getattr_or_none(node, attribute_name)
        if is_tensor(other_value) and _is_off_graph(other_value):
            off_graph_count += 1
            is_off_graph = is_off_graph or other_value is value
    constants = sum(follower is None for follower, _ in node.next_functions)
    return is_off_graph and off_graph_count > constants


def _is_off_graph(tensor: Any) -> bool:
    """Return True if a tensor could require grad, and neither does nor has a history."""
    is_differentiable = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    return is_differentiable and not tensor.requires_grad and grad_fn_or_none(tensor) is None


def _judge_written_index(node: Any, name: str, index: Any) -> str:
    """Return "fits" if an index that was written selects what is there, else "out of range".

    Empty where that is not known. Found by running: backward of `gather` and `index_select` refuses an
    index below 0, that of `x[i]` takes it, and that of an embedding refuses none, and writes anywhere.
    """
    kind = name_of_node(node).rpartition("::")[2]
    sizes = getattr_or_none(node, "_saved_self_sym_sizes")
    dim, lowest = getattr_or_none(node, "_saved_dim"), 0
    if kind == "EmbeddingBackward0":
        sizes, dim = (getattr_or_none(node, "_saved_weight_sym_argsize_0"),), 0
    elif kind == "IndexBackward0":
        for other_index in node._saved_indices:
            # Masks select several dimensions at once.
            if other_index is not None and "int" not in str(other_index.dtype):
                return ""
        dim, lowest = int(name.partition("[")[2].rstrip("]")), -1
    elif kind not in ("GatherBackward0", "IndexSelectBackward0"):
        return ""
    if sizes is None:
        sizes = getattr_or_none(getattr_or_none(node, "_saved_self"), "shape")
    if not sizes or sizes[0] is None or dim is None or not index.numel() or not can_wait_for(index):
        return ""
    # torch shows a negative one unsigned.
    size = int(sizes[dim - 2**64 if dim >= 2**63 else dim])
    if int(index.min()) >= lowest * size and int(index.max()) < size:
        return "fits"
    if kind == "EmbeddingBackward0":
        return ""
    return "out of range"


@cache
def find_saved_attributes(node_class: type) -> tuple[SavedAttribute, ...]:
    """Return the attributes in which nodes of a class have what they saved: its properties."""
    found = []
    for attribute_name in dir(node_class):
        if not attribute_name.startswith("_saved_"):
            continue
        name = attribute_name.removeprefix("_saved_")
        if not _is_ignored(name, has_raw=hasattr(node_class, f"_raw_saved_{name}")):
            found.append(SavedAttribute(attribute_name, name))
    # The tensors of a custom Function are in ctx.saved_tensors.
    if hasattr(node_class, "saved_tensors"):
        found.append(SavedAttribute("saved_tensors", "tensors"))
    return tuple(found)
