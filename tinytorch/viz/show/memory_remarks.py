"""What a memory picture says: the one list that its text is written and its drawing is drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ..diagnose import Changes
from ..read import StorageRecord, TensorRecord
from ..wording import (
    escape_name,
    format_shape,
    format_value,
    gettext,
    join_names,
    join_phrases,
    ngettext,
    short_dtype,
    short_node_name,
)
from .arrangement import arrange_cells, describe_reading
from .contents import (
    Arrangement,
    CounterEntry,
    MemoryContents,
    NameEntry,
    PackEntry,
    Remark,
    StorageEntry,
    TensorEntry,
)
from .hazard_sentences import describe_hazards, describe_hazards_out_of_sight
from .levels import keep_parts
from .select_storages import Band, MemorySelection, StoragePack
from .sentences import (
    MEMORY_FACTS,
    caption_of_storage,
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

MOST_CELLS_SAID = 3
"""How many of the cells that changed, and are not drawn, are said with what they were."""


class _MemorySubject(NamedTuple):
    """What a picture describes: a snapshot with its changes."""

    changes: Changes
    """What was there, and what has changed."""
    selection: MemorySelection
    """Which storages are shown."""
    arrangements: Mapping[str, Arrangement]
    """Storage id -> how its cells are drawn; those of a pack are missing, see `arrangement_of`."""
    origins: Mapping[str, str]
    """Tensor id -> the expression that computed it, where it is known."""
    hazards: Mapping[str, tuple[Remark, ...]]
    """Tensor id -> the remarks on its hazards, of the tensors of which they are said."""

    def arrangement_of(self, band: Band) -> Arrangement:
        """Return how the cells of a storage are drawn."""
        return self.arrangements.get(band.storage.id) or arrange_cells([band])


def describe_memory(
    changes: Changes,
    selection: MemorySelection,
    arrangements: Mapping[str, Arrangement] | None = None,
    origins: Mapping[str, str] | None = None,
) -> MemoryContents:
    """Make everything that a memory picture says of a snapshot, with what changed in it.

    `arrangements` are those of all steps of a run (`arrange_run`), `origins` the expressions that
    computed tensors, by their ids (`find_origins`).
    """
    snap = changes.now
    # Tensors with a row, packs and the summary of a pack all ask for these. A level without hazards is
    # asked here, as `keep_parts` finds only words of a pack, in which hazards are counted already. And
    # the selection has looked for them: where there are none, looking again would take as long as the
    # rest of the text.
    hazards: Mapping[str, tuple[Remark, ...]] = {}
    if "hazard" in selection.parts and selection.with_hazard:
        hazards = describe_hazards(snap)
    subject = _MemorySubject(changes, selection, arrangements or {}, origins or {}, hazards)
    without_storage = [tensor for tensor in snap.named_tensors if tensor.storage is None]
    ids_with_row = snap.shown_tensor_ids | {tensor.id for tensor in without_storage}
    if ids_with_row:
        heading = _describe_total(subject, without_storage)
    else:
        heading = Remark(
            "heading", gettext("Memory: no tensors to show."), gettext("no tensors to show")
        )
    contents = MemoryContents(
        title=title_of_memory(snap),
        heading=heading,
        entries=_describe_entries(subject, selection.entries),
        without_storage=tuple(
            _describe_tensor(subject, tensor, None) for tensor in without_storage
        ),
        notes=tuple(_describe_notes(subject, ids_with_row)),
        is_unfolded=selection.is_unfolded,
        is_complete=True,  # `keep_parts` decides
    )
    # Made in full first, but for hazards: so what describes a tensor has no branch for a level.
    return keep_parts(contents, selection.parts)


def _describe_total(subject: _MemorySubject, without_storage: Sequence[TensorRecord]) -> Remark:
    """Return how many tensors there are; of what is in a module or container, the bytes, too."""
    snap = subject.changes.now
    # Of the selection, and not of the snapshot: gradients that are left out are not counted.
    bands = subject.selection.all_bands
    number = len(without_storage) + sum(len(band.members) + band.hidden_count for band in bands)
    tensors = ngettext("{number} tensor", "{number} tensors", number)
    storages = ngettext("{number} storage", "{number} storages", len(bands))
    if not any("." in name for name, _ in snap.names):
        text = gettext("Memory: {tensors} in {storages}.", tensors=tensors, storages=storages)
        # Two pills whose arrows meet were taken for two names of one tensor.
        is_shared = number - len(without_storage) > len(bands)
        caption = gettext("{tensors} in {storages}", tensors=tensors, storages=storages)
        return Remark("heading", text, caption if is_shared else "")
    total = sum(band.storage.nbytes for band in bands)
    nbytes = ngettext("{number} byte", "{number} bytes", total)
    counts = {"tensors": tensors, "storages": storages, "bytes": nbytes}
    return Remark(
        "heading",
        gettext("Memory: {tensors} in {storages}, {bytes}.", **counts),
        gettext("{tensors} in {storages}, {bytes}", **counts),
    )


def _describe_entries(
    subject: _MemorySubject, entries: Iterable[Band | StoragePack]
) -> tuple[StorageEntry | PackEntry, ...]:
    described: list[StorageEntry | PackEntry] = []
    for entry in entries:
        if isinstance(entry, Band):
            described.append(_describe_storage(subject, entry))
            continue
        # Kept as a pack: its tensors are described if somebody opens it.
        with_hazard = [tensor.id for tensor in entry.tensors if tensor.id in subject.hazards]
        summary = summarize_pack(subject.changes, entry, with_hazard)
        open_pack = partial(_describe_entries, subject, entry.inside)
        described.append(PackEntry(summary, bool(with_hazard), open_pack))
    return tuple(described)


def _describe_storage(subject: _MemorySubject, band: Band) -> StorageEntry:
    snap, storage, members = subject.changes.now, band.storage, band.members
    old_values = subject.changes.earlier_cells.get(storage.id, {})
    arrangement = subject.arrangement_of(band)
    more = None
    if band.hidden_count:
        number = ngettext(
            "and {number} tensor more", "and {number} tensors more", band.hidden_count
        )
        more = Remark.in_both("more", number)
    has_ground = len(members) + len(storage.arrays) > 1 or arrangement.has_lanes
    return StorageEntry(
        storage=storage,
        title=Remark(
            "title",
            title_of_storage(snap, members),
            caption_of_storage(snap, members),
        ),
        size=Remark("size", size_of_storage(storage)),
        remarks=tuple(_remarks_of_storage(subject, storage, arrangement)),
        old_values=old_values,
        tensors=tuple(_describe_tensor(subject, tensor, band) for tensor in members),
        more=more,
        counters=tuple(_describe_counters(subject, members)),
        arrangement=arrangement,
        has_ground=has_ground,
        has_box=not has_ground,
    )


def _remarks_of_storage(
    subject: _MemorySubject, storage: StorageRecord, arrangement: Arrangement
) -> Iterator[Remark]:
    unusual = join_phrases(list_unusual(storage, are_cells_drawn=arrangement.has_cells))
    if unusual:
        yield Remark("unusual", "", unusual)
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
    old_values = subject.changes.earlier_cells.get(storage.id, {})
    phrases = []
    for cell, value in sorted(old_values.items()):
        phrases.append(gettext("cell {cell} was {value}", cell=cell, value=format_value(value)))
    if phrases:
        caption = ""
        # What is drawn has below it what it was.
        if not arrangement.has_cells:
            others = ["…"] if len(phrases) > MOST_CELLS_SAID else []
            caption = join_phrases([*phrases[:MOST_CELLS_SAID], *others])
        yield Remark(
            "changed cells", gettext("changed: {cells}.", cells=join_phrases(phrases)), caption
        )
    if storage.id in subject.changes.written_elsewhere:
        yield Remark.in_both("changed", gettext("cells that are not shown have changed"))


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
    subject: _MemorySubject, tensor: TensorRecord, band: Band | None
) -> TensorEntry:
    changes = subject.changes
    label, is_new = changes.now.label(tensor.id), tensor.id in changes.new_tensors
    changed_names = changes.rebound_names | changes.added_names
    # What is new is said also of what was looked for: a step shows it once, `find` marks it in each.
    flag_of_old_name = "found" if tensor.id in subject.selection.found else ""
    names = []
    for name in tensor.names:
        flag = "new" if is_new or name in changed_names else flag_of_old_name
        names.append(NameEntry(escape_name(name), flag))
    remarks = (
        *_facts_of_tensor(subject, tensor, band),
        *_changes_of_tensor(changes, tensor),
        *subject.hazards.get(tensor.id, ()),
        *(Remark.in_both("note", note) for note in _list_tensor_notes(tensor)),
    )
    return TensorEntry(
        tensor=tensor,
        label=label,
        names=tuple(names) or (NameEntry(label, "new" if is_new else flag_of_old_name),),
        is_new=is_new,
        remarks=remarks,
    )


def _list_tensor_notes(tensor: TensorRecord) -> Iterator[str]:
    yield from tensor.notes
    if tensor.holds_graph_in_module:
        yield gettext("a module holds it, and with it the graph that computed it")


def _facts_of_tensor(
    subject: _MemorySubject, tensor: TensorRecord, band: Band | None
) -> Iterator[Remark]:
    """Yield what is so of a tensor, in the order of the text."""
    snap = subject.changes.now
    if len(tensor.names) > 1:
        count = gettext("one tensor, {number} names", number=len(tensor.names))
        yield Remark("name count", "", count)
    sizes, strides = format_shape(tensor.shape), format_shape(tensor.stride)
    shape = gettext("shape {shape}", shape=sizes)
    # Without memory no cells can show the shape.
    reading = shape
    if band is not None:
        reading = describe_reading(band.storage, tensor, subject.arrangement_of(band))
    yield Remark("geometry", shape)
    yield Remark("reading", "", reading)
    stride = ""
    # Not known of a sparse tensor, which has no memory in the picture.
    if tensor.stride is not None:
        stride = gettext("stride {stride}; offset {offset}", stride=strides, offset=tensor.offset)
    yield Remark("stride", stride)
    dtype = short_dtype(tensor.dtype)
    # The cells have the dtype of the first tensor, which is said once.
    is_of_cells = band is None or tensor.dtype == band.storage.dtype
    yield Remark("dtype", dtype, "" if is_of_cells else dtype)
    yield Remark("history", history_of_tensor(tensor), _caption_of_history(subject, tensor, band))
    covers = ""
    if band is not None:
        cells = cells_of_tensor(tensor)
        if tensor.itemsize != band.storage.itemsize:
            # `view(dtype)`: its cells are not those that the storage is said to have.
            cells = gettext("{cells} of {number} bytes each", cells=cells, number=tensor.itemsize)
        covers = gettext("covers {cells}", cells=cells)
    yield Remark("cells", covers)
    if tensor.base is not None:
        base = gettext("view of {base}", base=snap.label(tensor.base))
        is_beside = band is not None and tensor.base in {member.id for member in band.members}
        # What is in the same band is seen to share.
        yield Remark("base", base, "" if is_beside else base)
    if tensor.grad is not None:
        label = snap.label(tensor.grad)
        caption = ""
        # One that is drawn as `x.grad` is known from that; one of another name is not.
        if tensor.grad not in snap.shown_tensor_ids or label != snap.grad_label(tensor.id):
            names = snap.tensor(tensor.grad).names
            caption = gettext(".grad is {grad}", grad=escape_name(names[0]) if names else label)
        yield Remark("grad", gettext(".grad is {grad}", grad=label), caption)


def _caption_of_history(subject: _MemorySubject, tensor: TensorRecord, band: Band | None) -> str:
    if _has_new_node(subject.changes, tensor):
        return ""
    if tensor.grad_fn_name is not None and tensor.id in subject.origins:
        return gettext("from {expression}", expression=subject.origins[tensor.id])
    members = band.members if band is not None else ()
    # Said only where it is a surprise: beside a tensor over the same memory that is on the graph.
    if tensor.is_leaf and not tensor.requires_grad:
        is_beside_graph = any(member.requires_grad for member in members)
        if not is_beside_graph:
            return ""
        return gettext("off the graph")
    return history_of_tensor(tensor, short_form=True)


def _has_new_node(changes: Changes, tensor: TensorRecord) -> bool:
    """Return True if a tensor got a grad_fn of another name: that it is new says what it is."""
    facts = changes.attribute_changes.get(tensor.id, {})
    return tensor.grad_fn_name is not None and "grad_fn_name" in facts


def _changes_of_tensor(changes: Changes, tensor: TensorRecord) -> Iterator[Remark]:
    for kind in MEMORY_FACTS:
        for fact in list_changes(changes, tensor.id, (kind,)):
            caption = fact
            if kind == "grad" and tensor.grad in changes.now.shown_tensor_ids:
                # A gradient that came has a row, which says that it is new.
                caption = ""
            elif kind == "grad_fn_name" and _has_new_node(changes, tensor):
                caption = gettext("now {node}", node=short_node_name(tensor.grad_fn_name or ""))
            yield Remark("changed", fact, caption)
    for fact in list_rebound_names(changes, tensor):
        # In the drawing, its only name is beside it.
        caption = gettext("now another tensor") if len(tensor.names) == 1 else fact
        yield Remark("changed", fact, caption)
    for fact in list_new_names(changes, tensor):
        # In the drawing, the flag at the name says it.
        yield Remark("changed", fact)


def _describe_counters(
    subject: _MemorySubject, members: Sequence[TensorRecord]
) -> Iterator[CounterEntry]:
    """Yield the version counters of a storage, each with the rows of its tensors."""
    snap = subject.changes.now
    rows: dict[str, list[int]] = {}
    for row, tensor in enumerate(members):
        if snap.shows_counter(tensor):
            # Inference tensors have no counter, so none is shared.
            rows.setdefault(tensor.counter or tensor.id, []).append(row)
    for rows_of_counter in rows.values():
        tensor = members[rows_of_counter[0]]
        if tensor.counter is None:
            sentence = gettext(
                "{name}: no version counter (an inference tensor).", name=snap.label(tensor.id)
            )
        else:
            sentence = _describe_counter(subject, tensor.counter)
        yield CounterEntry(
            tensor.counter,
            tensor.version,
            subject.changes.earlier_version_of(tensor.counter),
            tuple(rows_of_counter),
            sentence,
        )


def _describe_counter(subject: _MemorySubject, counter_id: str) -> str:
    snap = subject.changes.now
    counter, before = snap.counter(counter_id), subject.changes.earlier_version_of(counter_id)
    # Saved tensors that are not drawn would be names that nobody finds.
    sharing = [snap.tensor(tid) for tid in counter.tensors if tid in snap.shown_tensor_ids]
    version = gettext("at version {version}", version=counter.version)
    if before is not None:
        version = gettext(
            "at version {version} (was {before})", version=counter.version, before=before
        )
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


def _describe_notes(subject: _MemorySubject, ids_with_row: frozenset[str]) -> Iterator[Remark]:
    """Yield what is said below the storages, of names, arrays, tensors and storages without a row."""
    snap, selection = subject.changes.now, subject.selection
    # Tensors with a hazard and no name have no row that could say it.
    for sentence in describe_hazards_out_of_sight(snap, ids_with_row):
        yield Remark.in_both("hazard", sentence)
    gone = [escape_name(name) for name in subject.changes.gone_names]
    if gone:
        yield Remark.in_both("foot", gettext("no longer there: {names}", names=join_names(gone)))
    for name in snap.arrays:
        apart = gettext(
            "the NumPy array {name} shares no memory with a tensor shown here",
            name=escape_name(name),
        )
        yield Remark.in_both("foot", apart)
    # Saved tensors keep storages alive that no name reaches.
    shown_ids = {storage.id for storage, _ in snap.shown_storages}
    kept_bytes = [storage.nbytes for storage in snap.storages if storage.id not in shown_ids]
    if kept_bytes:
        kept = ngettext(
            "also kept alive by the graph: {number} storage without a name, {bytes} bytes",
            "also kept alive by the graph: {number} storages without a name, {bytes} bytes",
            len(kept_bytes),
            bytes=f"{sum(kept_bytes):,}",
        )
        yield Remark.in_both("kept storages", kept)
    if selection.find and not selection.found:
        absent = gettext("nothing here is called {name}", name=escape_name(selection.find))
        yield Remark.in_both("foot", absent)
    for note in snap.notes:
        yield Remark.in_both("foot", note)
