"""Selection of the storages that a memory picture shows: all of them, or folds where there are many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ..diagnose import Changes
from ..read import Snapshot, StorageRecord, TensorRecord
from ..wording import matches_any
from .fold import FoldableLine, ModulePath, Stretch, common_path, module_path
from .hazard_sentences import describe_hazards
from .levels import ALL_PARTS, MemoryPart, check_options

MOST_ENTRIES, MOST_ROWS = 16, 30
"""How many entries a large picture shows, and how many tensors if they have to be visible."""
MOST_HAZARDS, MOST_NEW = 8, 12
"""How many storages with a hazard, and how many new or in no module, have to be visible."""


@dataclass(frozen=True, slots=True)
class Band:
    """A storage and those of its tensors that are shown."""

    storage: StorageRecord
    members: list[TensorRecord]
    """The tensors that are shown, those that share a version counter together."""
    hidden_count: int = 0
    """How many others it has."""

    @property
    def is_alone(self) -> bool:
        """True if a single tensor with a single name is all that sees the memory."""
        return (
            len(self.members) == 1
            and len(self.members[0].names) < 2
            and not self.storage.arrays
            and self.storage.objects == 1
        )


@dataclass(frozen=True, slots=True)
class StoragePack:
    """Several storages in one entry, which may contain such entries again."""

    label: str
    """The module, or modules, that it stands for; empty where there is none."""
    times: int
    """How many equal rounds it is made of."""
    bands: tuple[Band, ...]
    """All of its storages."""
    inside: tuple[Band | StoragePack, ...]
    """What is shown when it is opened."""

    @property
    def tensors(self) -> list[TensorRecord]:
        """The tensors of its storages."""
        tensors: list[TensorRecord] = []
        for band in self.bands:
            tensors += band.members
        return tensors


@dataclass(frozen=True, slots=True)
class MemorySelection:
    """The entries of a memory picture in order."""

    entries: tuple[Band | StoragePack, ...]
    is_unfolded: bool
    """True with fold=False: nothing is folded, and the drawing is not made smaller, however large it is."""
    find: str
    """What the user looks for: a module or a tensor; empty for nothing."""
    found: frozenset[str]
    """The tensors whose names have `find` in them."""
    with_hazard: frozenset[str]
    """The tensors that have a hazard, whether the picture says so (`parts`) or not."""
    parts: frozenset[MemoryPart]
    """What the picture shows of these entries."""

    @property
    def all_bands(self) -> list[Band]:
        """The storages, those in packs, too."""
        bands: list[Band] = []
        for entry in self.entries:
            bands += [entry] if isinstance(entry, Band) else entry.bands
        return bands


def select_storages(
    changes: Changes,
    find: str = "",
    fold: bool = True,
    parts: frozenset[MemoryPart] = ALL_PARTS,
) -> MemorySelection:
    """Select the storages to show; storages of one module are folded where there are many.

    As far as they are not too many, tensors that have a hazard, that changed, that share memory or
    that have `find` in their names stay visible. `parts`: what a picture of them shows.
    """
    check_options(find, fold)
    snap = changes.now
    # Of the remarks only whose they are: words are for `describe_memory`, which may be asked again in
    # another language. At each level: no tensor goes into a pack because less is said of it.
    with_hazard = frozenset(describe_hazards(snap))
    found = frozenset(_find_named(snap, find))
    bands = [Band(storage, members) for storage, members in snap.shown_storages]
    entries: Sequence[Band | StoragePack] = bands
    # Rows are counted, not storages: they are what makes a picture high.
    if fold and sum(len(band.members) for band in bands) > MOST_ROWS:
        entries = _fold_bands(changes, bands, found, with_hazard)
    if "gradients" not in parts:
        entries = list(_leave_out_gradients(entries))
    return MemorySelection(tuple(entries), not fold, find, found, with_hazard, parts)


def _fold_bands(
    changes: Changes,
    all_bands: Sequence[Band],
    found: AbstractSet[str],
    with_hazard: AbstractSet[str],
) -> list[Band | StoragePack]:
    """Fold storages by module, but for those that have to be visible."""
    snap = changes.now
    modules = {band.storage.id: _find_module_of_band(snap, band) for band in all_bands}
    urgent = {*found, *with_hazard}
    bands: list[Band] = []
    paths: list[ModulePath] = []
    sizes: list[int] = []
    kinds: list[object] = []
    # Folds are stretches of neighbours, so the storages of a module must be neighbours.
    for whole_band in _sort_by_module(all_bands, modules):
        band = _limit_rows(whole_band, urgent)
        bands.append(band)
        paths.append(modules[band.storage.id])
        sizes.append(len(band.members))
        kinds.append(_kind_of_band(snap, band, with_hazard))
    line = FoldableLine(
        paths,
        sizes,
        _find_visible(bands, paths, found, with_hazard, _find_new_or_changed(changes)),
        kinds,
        # Storages have no edges: those of one kind are equal.
        lambda *_: (),
        room=MOST_ENTRIES,
        most_room=MOST_ROWS,
    )
    return list(_make_entries(line, bands, line.open_stretch(0, len(bands))))


def _find_named(snap: Snapshot, find: str) -> Iterator[str]:
    """Yield the ids of the tensors in the picture whose names have `find` in them."""
    for tensor in snap.tensors:
        if tensor.id in snap.shown_tensor_ids and matches_any(find, tensor.names):
            yield tensor.id


def _leave_out_gradients(entries: Iterable[Band | StoragePack]) -> Iterator[Band | StoragePack]:
    """Yield the entries without the storages of gradients that no variable holds.

    A gradient over a storage that something else reads, too, stays: that is shared memory, and to
    call it anybody's alone would be untrue. Packs stay as they are.
    """
    for entry in entries:
        is_pack = isinstance(entry, StoragePack)
        if is_pack or any(tensor.names or tensor.grad_of is None for tensor in entry.members):
            yield entry


def find_module_of_tensor(snap: Snapshot, tensor_id: str) -> ModulePath:
    """Return the module that a tensor's dotted names begin with, as far as they agree."""
    dotted = [name for name in snap.tensor(tensor_id).names if "." in name]
    return common_path([module_path(name.rpartition(".")[0]) for name in dotted])


def _find_module_of_band(snap: Snapshot, band: Band) -> ModulePath:
    """Return the module of a storage: what the modules of its tensors begin with."""
    # A gradient belongs to the module of its tensor.
    owner_ids = [tensor.grad_of or tensor.id for tensor in band.members]
    paths = [find_module_of_tensor(snap, tensor_id) for tensor_id in owner_ids]
    return common_path(list(filter(None, paths)))


def _sort_by_module(bands: Sequence[Band], modules: Mapping[str, ModulePath]) -> list[Band]:
    """Sort storages: those of one module are neighbours, modules in the order of first sight."""
    numbers: dict[ModulePath, int] = {}

    def number_modules(band: Band) -> list[int]:
        module = modules[band.storage.id]
        # Module by module from the outermost: what is in one stays together, wherever it came.
        # What is in no module stays alone.
        prefixes = [module[: depth + 1] for depth in range(len(module))] or [(band.storage.id,)]
        return [numbers.setdefault(prefix, len(numbers)) for prefix in prefixes]

    return sorted(bands, key=number_modules)


def _find_new_or_changed(changes: Changes) -> set[str]:
    """Return the ids of the tensors that are new, or of which something has changed."""
    found = {*changes.new_tensors, *changes.attribute_changes, *changes.earlier_versions}
    # A write through one tensor is seen by all others over the same cells.
    for storage_id in changes.earlier_cells:
        found.update(changes.now.storage(storage_id).tensors)
    return found


def _find_visible(
    bands: Sequence[Band],
    paths: Sequence[ModulePath],
    found: AbstractSet[str],
    with_hazard: AbstractSet[str],
    new_or_changed: AbstractSet[str],
) -> list[int]:
    """Return the positions of what has to be visible, the most important first."""
    looked_for, hazardous, with_graph, altered = [], [], [], []
    shared, in_no_module = [], []
    for position, band in enumerate(bands):
        ids = {tensor.id for tensor in band.members}
        if not found.isdisjoint(ids):
            looked_for.append(position)
        if not with_hazard.isdisjoint(ids):
            hazardous.append(position)
        if any(tensor.holds_graph_in_module for tensor in band.members):
            with_graph.append(position)
        if not new_or_changed.isdisjoint(ids):
            altered.append(position)
        if not band.is_alone:
            shared.append(position)
        if not paths[position]:
            in_no_module.append(position)
    # What was looked for is shown in any case, the rest up to a limit.
    visible = [
        *looked_for,
        *hazardous[:MOST_HAZARDS],
        *with_graph[:MOST_HAZARDS],
        *altered[:MOST_NEW],
        # What shares memory is what a memory picture is for: in a fold nobody would see it.
        *shared,
        *in_no_module[:MOST_NEW],
    ]
    return list(dict.fromkeys(visible))


def _kind_of_band(snap: Snapshot, band: Band, with_hazard: Collection[str]) -> object:
    """Return what is the same in equal storages: names within the module, shapes, dtypes, hazards."""
    names, layouts = [], []
    for tensor in band.members:
        name_parts = snap.first_name(tensor).split(".")
        # Numbers are left out, so that layers.0.weight and layers.1.weight are alike.
        last_name_parts = name_parts[-2 if tensor.role == "grad" else -1 :]
        names.append([part for part in last_name_parts if not part.isdigit()])
        layouts.append((tensor.shape, tensor.stride, tensor.dtype, tensor.id in with_hazard))
    # As text: kinds are keys of a dict, and lists have no hash.
    return repr((names, layouts))


def _limit_rows(band: Band, urgent: Collection[str]) -> Band:
    """Leave out the rows that are too many to be drawn: never those that have to be visible first."""
    by_urgency = sorted(band.members, key=lambda tensor: tensor.id not in urgent)
    rows = {tensor.id for tensor in by_urgency[:MOST_ROWS]}
    members = [tensor for tensor in band.members if tensor.id in rows]
    return Band(band.storage, members, len(band.members) - len(rows))


def _make_entries(
    line: FoldableLine, bands: Sequence[Band], stretches: Iterable[Stretch]
) -> Iterator[Band | StoragePack]:
    for stretch in stretches:
        members = tuple(bands[stretch.start : stretch.stop])
        size = len(members) // stretch.times
        # A single storage has no fold around it.
        if stretch.is_single:
            yield from members
        # A fold for each round would have one line in it.
        elif stretch.times > 1 and size == 1:
            yield StoragePack(stretch.label, stretch.times, members, members)
        elif stretch.times > 1:
            # Each round opens by itself: people look for the weights of one layer.
            rounds = _split_rounds(line.paths, stretch, size)
            yield StoragePack(
                stretch.label, stretch.times, members, tuple(_make_entries(line, bands, rounds))
            )
        elif line.size(stretch) <= MOST_ROWS:
            yield StoragePack(stretch.label, 1, members, members)
        else:
            inner = line.split(stretch.start, stretch.stop)
            yield StoragePack(stretch.label, 1, members, tuple(_make_entries(line, bands, inner)))


def _split_rounds(paths: Sequence[ModulePath], stretch: Stretch, size: int) -> list[Stretch]:
    rounds = []
    for start in range(stretch.start, stretch.stop, size):
        label = ".".join(common_path([path for path in paths[start : start + size] if path]))
        rounds.append(Stretch(start, start + size, label))
    return rounds
