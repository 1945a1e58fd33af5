"""Sentences about one record, and about what changed in it: for pictures and their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ..diagnose import Changes
from ..read import CellSummary, NodeRecord, SavedRecord, Snapshot, StorageRecord, TensorRecord
from ..wording import (
    escape_name,
    escape_unseen,
    format_value,
    gettext,
    gettext_noop,
    join_facts,
    join_names,
    join_phrases,
    ngettext,
    short_dtype,
    short_node_name,
)
from .select_nodes import NodeFold
from .select_storages import StoragePack

MOST_LISTED = 24
"""How many cells of a tensor, and how many saved values and edges of a node, are listed."""

# -- storages and tensors ----------------------------------------------------------


def _other_grad_label(snap: Snapshot, tensor: TensorRecord) -> str:
    """Return the name that a named tensor has as the `.grad` of a named leaf; else nothing."""
    if not tensor.names or tensor.grad_of is None or not snap.tensor(tensor.grad_of).names:
        return ""
    label = snap.grad_label(tensor.grad_of)
    # A name that it has anyway would be said twice.
    if label in tensor.names:
        return ""
    return label


def title_of_storage(snap: Snapshot, members: Sequence[TensorRecord]) -> str:
    """Return `one storage, shared by a and b` or `storage of c alone`."""
    grad_labels = [_other_grad_label(snap, tensor) for tensor in members]
    names = []
    for tensor, grad_label in zip(members, grad_labels, strict=True):
        label = snap.label(tensor.id)
        names.append(f"{label} = {grad_label}" if grad_label else label)
    names += _label_arrays(snap, members)
    if len(names) > 1:
        return gettext("one storage, shared by {names}", names=join_names(names))
    count = len(members[0].names) + bool(grad_labels[0])
    if count > 1:
        return gettext(
            "storage of one tensor with {number} names, {names}", number=count, names=names[0]
        )
    return gettext("storage of {name} alone", name=names[0])


def caption_of_storage(snap: Snapshot, members: Sequence[TensorRecord]) -> str:
    """Return `one storage, shared by a (also called b) and c`, which can be read aloud."""
    names = []
    for tensor in members:
        first, *others = [*map(escape_name, tensor.names)] or [snap.label(tensor.id)]
        others += filter(None, [_other_grad_label(snap, tensor)])
        if others:
            first = gettext("{name} (also called {others})", name=first, others=join_names(others))
        names.append(first)
    names += _label_arrays(snap, members)
    if len(names) > 1:
        return gettext("one storage, shared by {names}", names=join_names(names))
    return gettext("storage of {name}", name=names[0])


def _label_arrays(snap: Snapshot, members: Sequence[TensorRecord]) -> list[str]:
    """Name the NumPy arrays over the memory: they share it, too; writes go both ways, uncounted."""
    arrays = snap.storage(members[0].storage).arrays if members[0].storage else ()
    return [gettext("{name} (a NumPy array)", name=escape_name(name)) for name in arrays]


def list_unusual(storage: StorageRecord, *, are_cells_drawn: bool) -> list[str]:
    """List of dtype and device what no reader expects: `float64`, `on cuda`."""
    unusual = []
    usual = ["float32"]
    if are_cells_drawn:
        # As values without a point, or True and False, are as a matter of course.
        usual += ["int64", "bool"]
    if short_dtype(storage.dtype) not in usual and storage.cells:
        unusual.append(short_dtype(storage.dtype))
    if storage.device != "cpu":
        unusual.append(gettext("on {device}", device=storage.device))
    return unusual


def size_of_storage(storage: StorageRecord) -> str:
    """Return `3 cells of float32, 12 bytes, on cpu`."""
    nbytes = ngettext("{number} byte", "{number} bytes", storage.nbytes)
    if not storage.cells:
        return gettext("no cells, {bytes}, on {device}", bytes=nbytes, device=storage.device)
    cells = ngettext(
        "{number} cell of {dtype}",
        "{number} cells of {dtype}",
        storage.cells,
        dtype=short_dtype(storage.dtype),
    )
    return gettext(
        "{cells}, {bytes}, on {device}", cells=cells, bytes=nbytes, device=storage.device
    )


def cells_of_tensor(tensor: TensorRecord) -> str:
    """Return which cells (of its own item size) a tensor covers, in the order of its elements."""
    if tensor.storage is None or tensor.stride is None:
        return gettext("cells not known")
    if not tensor.numel:
        return gettext("no cell")
    # No more than are listed: a tensor may have millions of elements.
    cells = [byte // tensor.itemsize for _, byte in tensor.elements(MOST_LISTED)]
    if tensor.numel == 1:
        return gettext("cell {cell}", cell=cells[0])
    is_complete = tensor.numel <= MOST_LISTED
    # Of a large tensor from its geometry: the walk stopped after the cells that are listed.
    last = cells[-1] if is_complete else tensor.stop_byte() // tensor.itemsize - 1
    step = cells[1] - cells[0]
    is_even = step > 0 and tensor.is_in_order() and last - cells[0] == step * (tensor.numel - 1)
    if is_even and all(b - a == step for a, b in pairwise(cells)):
        if step == 1:
            return gettext("cells {first} to {last}", first=cells[0], last=last)
        return gettext(
            "cells {first} to {last} in steps of {step}", first=cells[0], last=last, step=step
        )
    listing = ", ".join(map(str, cells))
    if not is_complete:
        return gettext(
            "cells {cells}, ... ({number} elements), in this order",
            cells=listing,
            number=f"{tensor.numel:,}",
        )
    return gettext("cells {cells}, in this order", cells=listing)


def history_of_tensor(tensor: TensorRecord, *, short_form: bool = False) -> str:
    """Return `leaf, requires_grad=True`, `leaf, requires_grad=False` or `not a leaf, grad_fn MulBackward0`.

    The short form is what PyTorch prints of a tensor and no more, since beside cells each px counts:
    `requires_grad` of a leaf for which it is True, `grad_fn MulBackward0` of a result, and nothing for
    the usual leaf.
    """
    # torch raises if the grad_fn of a view made in no_grad is read after an in-place write.
    if tensor.is_leaf is None:
        return gettext("grad_fn invalid")
    if tensor.is_leaf and tensor.requires_grad:
        if short_form:
            return "requires_grad"
        return gettext("leaf, requires_grad=True")
    if tensor.is_leaf:
        if short_form:
            return ""
        return gettext("leaf, requires_grad=False")
    node = short_node_name(tensor.grad_fn_name or "None")
    if short_form:
        return gettext("grad_fn {node}", node=node)
    return gettext("not a leaf, grad_fn {node}", node=node)


def summary_of_cells(summary: CellSummary) -> str:
    """Return `min -3.1, max 2.9, mean 0.012; 2 NaN; 1 infinite`."""
    facts = []
    if summary.finite:
        facts.append(
            gettext(
                "min {lowest}, max {highest}, mean {mean}",
                lowest=format_value(summary.lowest),
                highest=format_value(summary.highest),
                mean=format_value(summary.mean),
            )
        )
    facts += count_not_finite(summary.nan, summary.infinite)
    return join_facts(facts)


def count_not_finite(nan: int, infinite: int) -> list[str]:
    """Return `2 NaN` and `1 infinite`, each if there is any."""
    counts = []
    if nan:
        counts.append(gettext("{number} NaN", number=f"{nan:,}"))
    if infinite:
        counts.append(gettext("{number} infinite", number=f"{infinite:,}"))
    return counts


def summarize_pack(changes: Changes, pack: StoragePack, with_hazard: Sequence[str]) -> str:
    """Return `net.layers.0: 6 tensors, 12,640 bytes, each alone in its storage, 1 changed`."""
    snap, members = changes.now, pack.tensors
    nbytes = sum(band.storage.nbytes for band in pack.bands)
    facts = [
        ngettext("{number} tensor", "{number} tensors", len(members)),
        ngettext("{number} byte", "{number} bytes", nbytes),
    ]
    if all(band.is_alone for band in pack.bands):
        facts.append(gettext("each alone in its storage"))
    else:
        facts.append(ngettext("in {number} storage", "in {number} storages", len(pack.bands)))
    nan_count = infinite_count = 0
    for band in pack.bands:
        nan, infinite = band.storage.count_not_finite()
        nan_count += nan
        infinite_count += infinite
    facts += count_not_finite(nan_count, infinite_count)
    # A fold hides its rows, so it has to say how many of them need attention.
    altered = changes.attribute_changes.keys() | changes.earlier_versions.keys()
    hazard_count = changed_count = new_count = 0
    for tensor in members:
        hazard_count += tensor.id in with_hazard
        changed_count += tensor.id in altered or tensor.storage in changes.earlier_cells
        new_count += tensor.id in changes.new_tensors
    if hazard_count:
        facts.append(gettext("{number} in trouble", number=f"{hazard_count:,}"))
    if changed_count:
        facts.append(gettext("{number} changed", number=f"{changed_count:,}"))
    if new_count:
        facts.append(gettext("{number} new", number=f"{new_count:,}"))
    title = title_of_fold(pack)
    if not pack.label:
        first, last = pack.bands[0].members[0], pack.bands[-1].members[0]
        title = gettext("{first} to {last}", first=snap.label(first.id), last=snap.label(last.id))
    return gettext("{what}: {facts}", what=title, facts=join_phrases(facts))


def title_of_fold(fold: NodeFold | StoragePack) -> str:
    """Return `net.layers.0 to 11, 12 times`: module, and how many equal stretches, if known."""
    if fold.times == 1:
        return escape_unseen(fold.label)
    times = gettext("{number} times", number=f"{fold.times:,}")
    if not fold.label:
        return times
    return escape_unseen(gettext("{what}, {times}", what=fold.label, times=times))


def title_of_memory(snap: Snapshot) -> str:
    """Return what a memory picture shows, in half a sentence."""
    if not snap.names:
        return gettext("Memory: no tensors to show.")
    tensors, storages = snap.counts
    return gettext(
        "memory of {names}: {tensors} in {storages}",
        names=snap.title,
        tensors=tensors,
        storages=storages,
    )


# -- what changed ------------------------------------------------------------------

MEMORY_FACTS = ("requires_grad", "shape", "grad_fn_name", "grad", "stride", "dtype")
GRAPH_FACTS = ("requires_grad", "shape", "grad_fn_name", "grad", "node", "values")
"""What the two pictures say of a tensor that was already there."""
_SENTENCES = {
    "requires_grad": gettext_noop("requires_grad was {was}"),
    "shape": gettext_noop("shape was {was}"),
    "grad_fn_name": gettext_noop("grad_fn was {was}"),
    "stride": gettext_noop("stride was {was}"),
    "dtype": gettext_noop("dtype was {was}"),
    "node": gettext_noop("grad_fn was another {was}"),
    "values": gettext_noop(".grad changed"),
}
_TRANSLATED = [
    *(gettext_noop("live"), gettext_noop("stale"), gettext_noop("freed"), gettext_noop("number")),
    *(gettext_noop("packed"), gettext_noop("once"), gettext_noop("unreadable")),
    gettext_noop("detached"),
    gettext_noop("changed unseen"),
    *(gettext_noop("new"), gettext_noop("found")),
]
"""States of saved values and flags of pictures, as records have them: here for translators."""


def list_changes(changes: Changes, tensor_id: str, kinds: Sequence[str]) -> list[str]:
    """Return what changed in a tensor, as far as it is of these kinds."""
    facts = changes.attribute_changes.get(tensor_id, {})
    before = changes.earlier_tensors.get(tensor_id)
    if before is None:
        return []
    # That it requires grad follows from the grad_fn that came, and that it does not from its loss.
    said_kinds = [kind for kind in kinds if kind in facts]
    if "grad_fn_name" in facts and "requires_grad" in said_kinds:
        said_kinds.remove("requires_grad")
    return [_describe_change(kind, facts[kind][0], before) for kind in said_kinds]


def _describe_change(kind: str, value_before: object, before: TensorRecord) -> str:
    if kind == "grad":
        if value_before is None:
            return gettext(".grad was None")
        return gettext(".grad is None now")
    if kind in ("grad_fn_name", "node"):
        # For "node" the value is the key of a record; people know nodes by their kind.
        value_before = before.grad_fn_name and short_node_name(before.grad_fn_name)
    # A dtype is written without its `torch.`; no other value begins so.
    return gettext(_SENTENCES[kind], was=short_dtype(str(value_before)))


def list_rebound_names(changes: Changes, tensor: TensorRecord) -> list[str]:
    """Return a sentence for each name that was another tensor's before."""
    names = [escape_name(name) for name in tensor.names if name in changes.rebound_names]
    return [gettext("{name} is now another tensor", name=name) for name in names]


def list_new_names(changes: Changes, tensor: TensorRecord) -> list[str]:
    """Return a sentence for each name that an old tensor got."""
    names = [escape_name(name) for name in tensor.names if name in changes.added_names]
    return [gettext("{name} is a new name", name=name) for name in names]


def state_before(saved: SavedRecord) -> str:
    """Return `was live at version 0`: an earlier state of something that a node saved."""
    state = gettext(saved.state)
    if saved.version is None:
        return gettext("was {state}", state=state)
    return gettext("was {state} at version {version}", state=state, version=saved.version)


def list_changes_in_fold(changes: Changes, fold: NodeFold) -> list[str]:
    """Return what changed in nodes that are folded, counted."""
    inside = set(fold.nodes)
    new = len(inside & changes.new_nodes)
    lines: list[str] = []
    if new:
        lines.append(ngettext("{number} node new", "{number} nodes new", new))
    # Counted by what they say: a hundred nodes freed by one backward are one line.
    states: Counter[str] = Counter()
    for (node, _), saved in changes.earlier_saved.items():
        if node in inside:
            states[state_before(saved)] += 1
    for state, count in states.items():
        lines.append(gettext("{number} saved {was}", number=f"{count:,}", was=state))
    facts: Counter[str] = Counter()
    for leaf in fold.leaves:
        facts.update(list_changes(changes, leaf, GRAPH_FACTS))
    for fact, count in facts.items():
        lines.append(ngettext("{number} leaf: {fact}", "{number} leaves: {fact}", count, fact=fact))
    return lines


_FIRST_ARGUMENTS = ("self", "input")
"""An operation declares these before its others."""


def select_saved(node: NodeRecord) -> list[tuple[int, SavedRecord]]:
    """Return what a node saved, each with its index in `node.saved`.

    Of very many those with a hazard, then the first others. In the order of the arguments, as a reader of `x * x` expects it:
    `node.saved` is by the alphabet, as backward opens it.
    """
    saved = sorted(enumerate(node.saved), key=_find_position)
    if len(saved) <= MOST_LISTED:
        return saved
    hazards_first = sorted(saved, key=lambda entry: not entry[1].has_hazard)
    return sorted(hazards_first[:MOST_LISTED], key=_find_position)


def _find_position(entry: tuple[int, SavedRecord]) -> tuple[bool, int]:
    index, saved = entry
    return saved.name not in _FIRST_ARGUMENTS, index
