"""What a memory picture says: the one list that its text and its drawing are rendered from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from ..diagnose import Changes
from ..read import Snapshot, StorageRecord, TensorRecord
from ..wording import (
    cut_middle,
    escape_name,
    format_shape,
    format_value,
    gettext,
    join_names,
    ngettext,
    short_dtype,
)
from .contents import (
    MOST_ARCS,
    CounterEntry,
    MemoryContents,
    NameEntry,
    PackEntry,
    Remark,
    StorageEntry,
    TensorEntry,
)
from .hazard_sentences import describe_hazards_out_of_sight
from .select_storages import Band, MemorySelection, StoragePack
from .sentences import (
    MEMORY_FACTS,
    cells_of_tensor,
    history_of_tensor,
    list_changes,
    list_new_names,
    list_rebound_names,
    list_unusual,
    size_of_storage,
    summarize_pack,
    summary_of_cells,
    title_of_memory,
    title_of_storage,
)

BASE_COLUMNS = 30
"""The label of a base is cut to so many columns in the drawing, as names are."""


def describe_memory(changed: Changes, selection: MemorySelection) -> MemoryContents:
    """Make everything that a memory picture says of a snapshot, with what changed in it."""
    snap = changed.now
    without_storage = [tensor for tensor in snap.named_tensors if tensor.storage is None]
    ids_with_row = snap.shown_tensor_ids | {tensor.id for tensor in without_storage}
    if ids_with_row:
        heading = _describe_total(snap)
    else:
        heading = Remark(
            "heading", gettext("Memory: no tensors to show."), gettext("no tensors to show")
        )
    return MemoryContents(
        title=title_of_memory(snap),
        heading=heading,
        entries=_describe_entries(changed, selection, selection.entries),
        without_storage=tuple(
            _describe_tensor(changed, tensor, selection) for tensor in without_storage
        ),
        notes=tuple(_list_notes(changed, ids_with_row, selection)),
        is_whole=selection.is_whole,
    )


def _describe_total(snap: Snapshot) -> Remark:
    """Return how many tensors there are; of what is in a module or container, the bytes, too."""
    tensors, storages = snap.counts
    if not any("." in name for name, _ in snap.names):
        text = gettext("Memory: {tensors} in {storages}.", tensors=tensors, storages=storages)
        return Remark("heading", text)
    # Each storage once, however many names lead to it.
    total = sum(storage.nbytes for storage, _ in snap.shown_storages)
    nbytes = ngettext("{number} byte", "{number} bytes", total)
    counts = {"tensors": tensors, "storages": storages, "bytes": nbytes}
    return Remark(
        "heading",
        gettext("Memory: {tensors} in {storages}, {bytes}.", **counts),
        gettext("{tensors} in {storages}, {bytes}", **counts),
    )


def _describe_entries(
    changed: Changes, selection: MemorySelection, entries: Iterable[Band | StoragePack]
) -> tuple[StorageEntry | PackEntry, ...]:
    described: list[StorageEntry | PackEntry] = []
    for entry in entries:
        if isinstance(entry, Band):
            described.append(_describe_storage(changed, entry, selection))
            continue
        # Kept as a pack: its tensors are described if somebody opens it.
        with_hazard = [
            tensor.id for tensor in entry.tensors if tensor.id in selection.hazard_sentences
        ]
        summary = summarize_pack(changed, entry, with_hazard)
        open_pack = partial(_describe_entries, changed, selection, entry.inside)
        described.append(PackEntry(summary, bool(with_hazard), open_pack))
    return tuple(described)


def _describe_storage(changed: Changes, band: Band, selection: MemorySelection) -> StorageEntry:
    snap, storage, members = changed.now, band.storage, band.members
    old_values = changed.earlier_cells.get(storage.id, {})
    more = None
    if band.hidden:
        number = ngettext("and {number} tensor more", "and {number} tensors more", band.hidden)
        more = Remark.in_both("more", number)
    return StorageEntry(
        storage=storage,
        title=Remark(
            "title",
            title_of_storage(snap, members),
            title_of_storage(snap, members, short_form=True),
        ),
        size=Remark("size", size_of_storage(storage), ", ".join(list_unusual(storage))),
        remarks=tuple(_remarks_of_storage(storage, old_values)),
        old_values=old_values,
        tensors=tuple(_describe_tensor(changed, tensor, selection) for tensor in members),
        more=more,
        counters=tuple(_describe_counters(changed, members)),
    )


def _remarks_of_storage(storage: StorageRecord, old_values: dict[int, object]) -> Iterator[Remark]:
    if storage.objects > 1:
        # Two storage objects over one memory share no version counter: as torch.from_numpy makes.
        yield Remark(
            "objects",
            gettext(
                "The same memory is seen through {number} storage objects.", number=storage.objects
            ),
            gettext("{number} storage objects", number=storage.objects),
        )
    # None were read where a note says why.
    if storage.runs:
        yield Remark("cells", gettext("cells: {cells}", cells=_list_values(storage)))
    # A nan in the middle of a large storage is not among the cells that are drawn.
    if storage.summary is not None:
        facts = summary_of_cells(storage.summary)
        yield Remark("summary", gettext("all cells: {facts}", facts=facts), facts)
    for note in storage.notes:
        yield Remark.in_both("note", note)
    changes = [
        gettext("cell {cell} was {value}", cell=cell, value=format_value(value))
        for cell, value in sorted(old_values.items())
    ]
    if changes:
        yield Remark("changed cells", gettext("changed: {cells}.", cells=", ".join(changes)))


def _list_values(storage: StorageRecord) -> str:
    """Return `0: 1.0, 1: 2.0, ...`: the cells that were read, with dots for the others."""
    parts: list[str] = []
    expected = 0
    for run in storage.runs:
        if run.start != expected:
            parts.append("...")
        for cell, value in enumerate(run.values, run.start):
            parts.append(f"{cell}: {format_value(value)}")
        expected = run.stop
    if expected != storage.cells:
        parts.append("...")
    return ", ".join(parts)


def _describe_tensor(
    changed: Changes, tensor: TensorRecord, selection: MemorySelection
) -> TensorEntry:
    label, is_new = changed.now.label(tensor.id), tensor.id in changed.new_tensors
    # Made by `select_storages`, which keeps tensors with a hazard out of folds.
    hazards = selection.hazard_sentences.get(tensor.id, ())
    cells = cells_of_tensor(tensor)
    storage = None if tensor.storage is None else changed.now.storage(tensor.storage)
    if storage is not None and storage.itemsize != tensor.itemsize:
        # `view(dtype)`: its cells are not those that the storage is said to have.
        cells = gettext("{cells} of {number} bytes each", cells=cells, number=tensor.itemsize)
    changed_names = changed.rebound_names | changed.added_names
    flag = "found" if tensor.id in selection.found else ""
    names = [
        NameEntry(escape_name(name), "new" if is_new or name in changed_names else flag)
        for name in tensor.names
    ]
    return TensorEntry(
        tensor=tensor,
        label=label,
        names=tuple(names) or (NameEntry(label, "new" if is_new else flag),),
        is_new=is_new,
        cells=cells,
        remarks=(
            *_facts_of_tensor(changed.now, tensor, cells),
            *_changes_of_tensor(changed, tensor),
            *(Remark.in_both("hazard", sentence) for sentence in hazards),
            *(Remark.in_both("note", note) for note in _list_tensor_notes(tensor)),
        ),
    )


def _list_tensor_notes(tensor: TensorRecord) -> Iterator[str]:
    yield from tensor.notes
    if tensor.holds_graph_in_module:
        yield gettext("a module holds it, and with it the graph that computed it")


def _facts_of_tensor(snap: Snapshot, tensor: TensorRecord, cells: str) -> Iterator[Remark]:
    """Yield what is so of a tensor, in the order of the text."""
    sizes, strides = format_shape(tensor.shape), format_shape(tensor.stride)
    geometry = gettext("{shape} stride {stride}", shape=sizes, stride=strides)
    yield Remark("geometry", gettext("shape {shape}", shape=sizes), geometry)
    offset = gettext("offset {offset}", offset=tensor.offset) if tensor.offset else ""
    stride = ""
    # Not known of a sparse tensor, which has no memory in the picture.
    if tensor.stride is not None:
        stride = gettext("stride {stride}; offset {offset}", stride=strides, offset=tensor.offset)
    yield Remark("stride", stride, offset)
    yield Remark("dtype", short_dtype(tensor.dtype))
    yield Remark("history", history_of_tensor(tensor), history_of_tensor(tensor, short_form=True))
    covers = "" if tensor.storage is None else gettext("covers {cells}", cells=cells)
    walk = ""
    if tensor.numel > MOST_ARCS and tensor.jumps_in_storage():
        first = [str(byte // tensor.itemsize) for _, byte in tensor.elements(MOST_ARCS)]
        walk = gettext("walks cells {cells}, ...", cells=", ".join(first))
    yield Remark("cells", covers, walk)
    if tensor.base is not None:
        base = snap.label(tensor.base)
        yield Remark(
            "base",
            gettext("view of {base}", base=base),
            gettext("view of {base}", base=cut_middle(base, BASE_COLUMNS)),
        )
    if tensor.grad is not None:
        grad = gettext(".grad is {grad}", grad=snap.label(tensor.grad))
        # A gradient that is drawn has a name, from which it is known.
        yield Remark("grad", grad, "" if tensor.grad in snap.shown_tensor_ids else grad)


def _changes_of_tensor(changed: Changes, tensor: TensorRecord) -> Iterator[Remark]:
    for fact in list_changes(changed, tensor.id, MEMORY_FACTS):
        yield Remark.in_both("changed", fact)
    for fact in list_rebound_names(changed, tensor):
        yield Remark.in_both("changed", fact)
    for fact in list_new_names(changed, tensor):
        # In the drawing, the flag at the name says it.
        yield Remark("changed", fact)


def _describe_counters(changed: Changes, members: Sequence[TensorRecord]) -> Iterator[CounterEntry]:
    """Yield the version counters of a storage, each with the rows of its tensors."""
    snap = changed.now
    rows: dict[str, list[int]] = {}
    for row, tensor in enumerate(members):
        if snap.shows_counter(tensor):
            # Inference tensors have no counter, so none is shared.
            rows.setdefault(tensor.counter or tensor.id, []).append(row)
    for places in rows.values():
        tensor = members[places[0]]
        if tensor.counter is None:
            sentence = gettext(
                "{name}: no version counter (an inference tensor).", name=snap.label(tensor.id)
            )
        else:
            sentence = _describe_counter(changed, tensor.counter)
        yield CounterEntry(
            tensor.counter,
            tensor.version,
            changed.earlier_version_of(tensor.counter),
            tuple(places),
            sentence,
        )


def _describe_counter(changed: Changes, counter_id: str) -> str:
    snap = changed.now
    counter, before = snap.counter(counter_id), changed.earlier_version_of(counter_id)
    # Gradients and saved tensors that are not drawn would be names that nobody finds.
    sharing = [snap.tensor(tid) for tid in counter.tensors if tid in snap.shown_tensor_ids]
    version = gettext("at version {version}", version=counter.version)
    if before is not None:
        version += " " + gettext("(was {version})", version=before)
    names = [snap.label(tensor.id) for tensor in sharing]
    if len(names) > 1:
        owners = gettext("shared by {names}", names=join_names(names))
    # Its label joins the names, and behind two names "alone" would contradict.
    elif len(sharing[0].names) > 1:
        owners = gettext("of {name}", name=names[0])
    else:
        owners = gettext("of {name} alone", name=names[0])
    return gettext(
        "version counter {counter}, {whose}: {version}.",
        counter=counter_id,
        whose=owners,
        version=version,
    )


def _list_notes(
    changed: Changes, ids_with_row: frozenset[str], selection: MemorySelection
) -> Iterator[str]:
    """Yield what remains to be said below the storages."""
    snap = changed.now
    gone = [escape_name(name) for name in changed.gone_names]
    if gone:
        yield gettext("no longer there: {names}", names=join_names(gone))
    # Tensors with a hazard and no name have no row that could say it.
    yield from describe_hazards_out_of_sight(snap, ids_with_row)
    for name in snap.arrays:
        yield gettext(
            "the NumPy array {name} shares no memory with a tensor shown here",
            name=escape_name(name),
        )
    # Saved tensors keep storages alive that no name reaches.
    storage_ids = {storage.id for storage, _ in snap.shown_storages}
    sizes = [storage.nbytes for storage in snap.storages if storage.id not in storage_ids]
    if sizes:
        yield ngettext(
            "also kept alive by the graph: {number} storage without a name, {bytes} bytes",
            "also kept alive by the graph: {number} storages without a name, {bytes} bytes",
            len(sizes),
            bytes=f"{sum(sizes):,}",
        )
    if selection.find and not selection.found:
        yield gettext("nothing here is called {name}", name=escape_name(selection.find))
    yield from snap.notes
