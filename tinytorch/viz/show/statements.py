"""What is to be said of a record, and of what changed: for pictures, their texts and the steps of a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from ..diagnose import (
    Changes,
    describe_hazards,
    describe_hazards_out_of_sight,
    find_possible_writers,
)
from ..read import Node, Saved, Snapshot, Storage, Tensor
from ..wording import (
    escape_name,
    escape_unseen,
    format_shape,
    gettext,
    gettext_noop,
    join_few_names,
    join_names,
    ngettext,
    short_dtype,
    short_node_name,
)
from .entries import Fold, Pack, Shelf, View, noted, shelf, view

# -- one record --------------------------------------------------------------------


CELLS = 6
"""More cells than this are counted in a picture, which may not show all of them."""


def title(snap: Snapshot, members: Sequence[Tensor], *, usual: bool = False) -> str:
    """`one storage, shared by a and b` or `storage of c alone`; `usual`: without what a reader takes for granted."""
    names = [snap.label(one.id) for one in members]
    arrays = snap.storage(members[0].storage).arrays if members[0].storage else ()
    names += [gettext("{name} (a NumPy array)", name=escape_name(name)) for name in arrays]
    if len(names) > 1:
        return gettext("one storage, shared by {names}", names=join_names(names))
    if len(members[0].names) > 1:
        count = len(members[0].names)
        return gettext(
            "storage of one tensor with {number} names, {names}", number=count, names=names[0]
        )
    if usual:
        return gettext("storage of {name}", name=names[0])
    return gettext("storage of {name} alone", name=names[0])


def unusual(storage: Storage) -> list[str]:
    """Of size, dtype and device of a storage what cannot be taken for granted: `10,000 cells`, `int64`, `on cuda`."""
    found = (
        [ngettext("{number} cell", "{number} cells", storage.cells)]
        if storage.cells > CELLS
        else []
    )
    found += (
        [short_dtype(storage.dtype)]
        if short_dtype(storage.dtype) != "float32" and storage.cells
        else []
    )
    return found + (
        [gettext("on {device}", device=storage.device)] if storage.device != "cpu" else []
    )


def size(storage: Storage) -> str:
    """`3 cells of float32, 12 bytes, on cpu`."""
    nbytes = ngettext("{number} byte", "{number} bytes", storage.nbytes)
    if not storage.cells:
        return gettext(
            "no cells, {bytes}, on {device}", bytes=f"{storage.nbytes} bytes", device=storage.device
        )
    cells = ngettext(
        "{number} cell of {dtype}",
        "{number} cells of {dtype}",
        storage.cells,
        dtype=short_dtype(storage.dtype),
    )
    return gettext(
        "{cells}, {bytes}, on {device}", cells=cells, bytes=nbytes, device=storage.device
    )


def covered(tensor: Tensor) -> str:
    """Which cells (of its own item size) the tensor covers, in its order of walk."""
    if tensor.storage is None or tensor.stride is None:
        return gettext("cells not known")
    if not tensor.numel:
        return gettext("no cell")
    cells = [byte // tensor.itemsize for _, byte in tensor.elements(24)]
    if tensor.numel == 1:
        return gettext("cell {cell}", cell=cells[0])
    last = cells[-1] if tensor.numel <= 24 else tensor.stop_byte() // tensor.itemsize - 1
    step = cells[1] - cells[0]
    even = step > 0 and tensor.is_in_order() and last - cells[0] == step * (tensor.numel - 1)
    if even and all(b - a == step for a, b in pairwise(cells)):
        if step == 1:
            return gettext("cells {first} to {last}", first=cells[0], last=last)
        return gettext(
            "cells {first} to {last} in steps of {step}", first=cells[0], last=last, step=step
        )
    shown = ", ".join(map(str, cells))
    if tensor.numel > 24:
        return gettext(
            "cells {cells}, ... ({number} elements), in this order",
            cells=shown,
            number=f"{tensor.numel:,}",
        )
    return gettext("cells {cells}, in this order", cells=shown)


def history(tensor: Tensor) -> str:
    """`leaf, requires grad`, `not a leaf, grad_fn MulBackward0`, `leaf, needs no grad`."""
    if tensor.is_leaf is None:
        return gettext("grad_fn invalid")
    if tensor.is_leaf:
        return (
            gettext("leaf, requires grad")
            if tensor.requires_grad
            else gettext("leaf, needs no grad")
        )
    return gettext(
        "not a leaf, grad_fn {node}", node=short_node_name(tensor.grad_fn_name or "None")
    )


def standing_of(tensor: Tensor) -> str:
    """The same in a picture, where a leaf that needs no grad is the usual case: `grad_fn MulBackward0`."""
    if tensor.is_leaf is False:
        return gettext("grad_fn {node}", node=short_node_name(tensor.grad_fn_name or "None"))
    return "" if tensor.is_leaf and not tensor.requires_grad else history(tensor)


def stored(changed: Changes, find: str = "", fold: bool = True) -> Shelf:
    """The storages of a memory picture, folded where there are many; what is in trouble, changed or looked for is in view."""
    _checked(find, fold)
    snap = changed.now
    cells = {tid for storage in changed.earlier_cells for tid in snap.storage(storage).tensors}
    fresh = (
        changed.new_tensors
        | changed.attribute_changes.keys()
        | changed.earlier_versions.keys()
        | cells
    )
    return shelf(snap, describe_hazards(snap), fresh, find, fold)


def _checked(find: object, fold: object) -> None:
    for name, given, kind in (("find", find, str), ("fold", fold, bool)):
        if not isinstance(given, kind):
            raise TypeError(
                f"{name}= is of type {kind.__name__}, not {type(given).__name__}; "
                f'a tensor of that name is shown with {{"{name}": {name}}} as the first argument'
            )


def pack_line(changed: Changes, pack: Pack, bad: Collection[str]) -> str:
    """`net.layers.0: 6 tensors, 12,640 bytes, each alone in its storage`, with how many are in trouble or changed."""
    snap = changed.now
    members = pack.tensors
    first, last = (snap.label(band.members[0].id) for band in (pack.bands[0], pack.bands[-1]))
    facts = [
        ngettext("{number} tensor", "{number} tensors", len(members)),
        ngettext(
            "{number} byte", "{number} bytes", sum(band.storage.nbytes for band in pack.bands)
        ),
        gettext("each alone in its storage")
        if all(band.alone for band in pack.bands)
        else ngettext("in {number} storage", "in {number} storages", len(pack.bands)),
    ]
    in_trouble = sum(one.id in bad for one in members)
    altered = sum(
        one.id in changed.attribute_changes
        or one.id in changed.earlier_versions
        or one.storage in changed.earlier_cells
        for one in members
    )
    new = sum(one.id in changed.new_tensors for one in members)
    facts += [gettext("{number} in trouble", number=f"{in_trouble:,}")] if in_trouble else []
    facts += [gettext("{number} changed", number=f"{altered:,}")] if altered else []
    facts += [gettext("{number} new", number=f"{new:,}")] if new else []
    title = fold_title(pack) if pack.label else gettext("{first} to {last}", first=first, last=last)
    return gettext("{what}: {facts}", what=title, facts=", ".join(facts))


# -- what changed, beside what it changed in ---------------------------------------

IN_MEMORY = ("requires_grad", "shape", "grad_fn_name", "grad", "stride", "dtype")
IN_GRAPH = ("requires_grad", "shape", "grad_fn_name", "grad", "node", "values")
"""What the two pictures say of a tensor that was already there."""
_WAS = {
    "requires_grad": gettext_noop("requires_grad was {was}"),
    "shape": gettext_noop("shape was {was}"),
    "grad_fn_name": gettext_noop("grad_fn was {was}"),
    "stride": gettext_noop("stride was {was}"),
    "dtype": gettext_noop("dtype was {was}"),
    "node": gettext_noop("grad_fn was another {was}"),
    "values": gettext_noop(".grad changed"),
}


def facts(changed: Changes, which: str, kinds: Sequence[str]) -> list[str]:
    """What changed in a tensor, of these kinds."""
    there = changed.attribute_changes.get(which)
    return (
        [
            _fact(what, there[what][0], changed.earlier_tensors[which])
            for what in kinds
            if what in there
        ]
        if there
        else []
    )


def _fact(what: str, was: object, then: Tensor) -> str:
    if what == "grad":
        return gettext(".grad was None") if was is None else gettext(".grad is None now")
    if what in ("grad_fn_name", "node"):
        was = then.grad_fn_name and short_node_name(then.grad_fn_name)
    return gettext(_WAS[what], was=short_dtype(str(was)))


def rebound(changed: Changes, tensor: Tensor) -> list[str]:
    """The names of a tensor that stood for another one, each with what to say of it."""
    names = [escape_name(name) for name in tensor.names if name in changed.rebound_names]
    return [gettext("{name} is now another tensor", name=name) for name in names]


def renamed(changed: Changes, tensor: Tensor) -> list[str]:
    """The same, and the names that are new."""
    names = [escape_name(name) for name in tensor.names if name in changed.added_names]
    return rebound(changed, tensor) + [gettext("{name} is a new name", name=name) for name in names]


_STATES = [
    gettext_noop("live"),
    gettext_noop("stale"),
    gettext_noop("freed"),
    gettext_noop("number"),
]
_STATES += [
    gettext_noop("packed"),
    gettext_noop("once"),
    gettext_noop("unreadable"),
    gettext_noop("written unseen"),
]
"""What a record calls the states of what nodes save, for the translator."""
SAVED = 24
"""Of a node that saved more, or has more edges, the rest is counted."""
_FLAGS = [gettext_noop("new"), gettext_noop("found"), gettext_noop("wrong")]
"""What stands above a name or a node in a picture, for the translator."""


def was(then: Saved) -> str:
    """How it stood with something that a node saved."""
    state = gettext(then.state)
    if then.version is None:
        return gettext("was {state}", state=state)
    return gettext("was {state} at version {version}", state=state, version=then.version)


def shown(changed: Changes, find: str = "", fold: bool = True) -> View:
    """The entries of a graph, folded where it is large; what is in trouble, named, changed or looked for is in view."""
    _checked(find, fold)
    snap = changed.now
    states = {saved.state for node in snap.nodes for saved in node.saved}
    # After a backward all is freed, which tells nothing of one node; beside what is still live it does.
    wrong = {"stale", "freed"} if "live" in states else {"stale"}
    spoilt = {
        node.id
        for node in snap.nodes
        for one in node.saved
        if one.state in wrong or one.bytes_unchanged is False
    }
    bad = spoilt | {node.id for node in snap.nodes if node.cut}
    fresh = changed.new_nodes | {node for node, _ in changed.earlier_saved}
    return view(snap, bad | {node for node, _ in find_possible_writers(snap)}, fresh, find, fold)


def in_states(fold: Fold) -> list[tuple[str, str]]:
    """(state, `saved: 3 live`): how it stands with what nodes that are folded have saved, counted."""
    return [
        (state, gettext("saved: {number} {state}", number=f"{count:,}", state=gettext(state)))
        for state, count in fold.states
    ]


def fold_title(fold: Fold | Pack) -> str:
    """`net.layers.0 to 11, 12 times`: what is folded and how many equal stretches it is made of, if that is known."""
    if fold.times == 1:
        return escape_unseen(fold.label)
    times = gettext("{number} times", number=f"{fold.times:,}")
    return (
        escape_unseen(gettext("{what}, {times}", what=fold.label, times=times))
        if fold.label
        else times
    )


def saved_shown(node: Node) -> list[tuple[int, Saved]]:
    """What a node saved, with its place; of very much what is in trouble and the first."""
    kept = list(enumerate(node.saved))
    return (
        sorted(sorted(kept, key=lambda one: one[1].state == "live")[:SAVED])
        if len(kept) > SAVED
        else kept
    )


def in_fold(changed: Changes, fold: Fold) -> list[str]:
    """What changed in nodes that are folded, counted."""
    new = sum(node in changed.new_nodes for node in fold.nodes)
    lines = [ngettext("{number} node new", "{number} nodes new", new)] if new else []
    inside = set(fold.nodes)
    saved = Counter(
        was(then) for (node, _), then in changed.earlier_saved.items() if node in inside
    )
    lines += [
        gettext("{number} saved {was}", number=f"{count:,}", was=then)
        for then, count in saved.items()
    ]
    leaves = Counter(fact for leaf in fold.leaves for fact in facts(changed, leaf, IN_GRAPH))
    return lines + [
        ngettext("{number} leaf: {fact}", "{number} leaves: {fact}", count, fact=fact)
        for fact, count in leaves.items()
    ]


# -- what stands below a picture ---------------------------------------------------


def below_memory(changed: Changes, shown: frozenset[str], seen: Shelf) -> list[str]:
    """What remains to be said below the storages, for picture and text."""
    snap = changed.now
    lines = [*_no_longer(changed), *describe_hazards_out_of_sight(snap, shown)]
    lines += [
        gettext(
            "the NumPy array {name} shares no memory with a tensor shown here",
            name=escape_name(name),
        )
        for name in snap.arrays
    ]
    reached = {storage.id for storage, _ in snap.shown_storages}
    hidden = [storage.nbytes for storage in snap.storages if storage.id not in reached]
    if hidden:
        lines.append(
            ngettext(
                "also kept alive by the graph: {number} storage without a name, {bytes} bytes",
                "also kept alive by the graph: {number} storages without a name, {bytes} bytes",
                len(hidden),
                bytes=f"{sum(hidden):,}",
            )
        )
    return [*lines, *_not_found(seen), *snap.notes]


def _not_found(seen: View | Shelf) -> list[str]:
    return (
        [gettext("nothing here is called {name}", name=escape_name(seen.find))]
        if seen.find and not seen.found
        else []
    )


def _no_longer(changed: Changes) -> list[str]:
    gone = [escape_name(name) for name in changed.gone_names]
    return [gettext("no longer there: {names}", names=join_names(gone))] if gone else []


def below_graph(changed: Changes, seen: View) -> list[str]:
    """What remains to be said below the nodes, for picture and text: what was not read, is gone, or is not shown."""
    lines = []
    if not seen.beyond:
        lines = [
            gettext("{note}, and what lies beyond is not shown", note=note)
            for note in changed.now.notes
        ]
        lines += _no_longer(changed)
    if changed.lost_node_count and not seen.beyond:
        lines.append(
            ngettext(
                "{number} node of before no longer reached",
                "{number} nodes of before no longer reached",
                changed.lost_node_count,
            )
        )
    folds = [item for item in seen.items if isinstance(item, Fold)]
    if any(fold.label for fold in folds):
        by_forward = gettext("a fold is named after modules whose forward made nodes in it")
        by_reading = gettext("a fold is named after modules whose tensors are read by nodes in it")
        lines.append(by_forward if noted(changed.now) else by_reading)
    if any(fold.times > 1 for fold in folds):
        lines.append(
            gettext(
                "what is folded as so many times is equal in nodes, edges, and the shapes that are known"
            )
        )
    return [*lines, *_not_found(seen)]


# -- what a step changed -----------------------------------------------------------

_MOST = 12
RETURNS = "() returns"
"""A name that ends so stands for what a call gave back."""


def describe(
    changed: Changes, plain_before: Mapping[str, str], plain_after: Mapping[str, str]
) -> tuple[str, ...]:
    """Sentences that say what changed in a step: names, memory, version counters, gradients, graph.

    `plain_*` are the variables that are no tensors, with their short texts. At most twelve sentences, the last of which
    says how many were left out.
    """
    found = [
        *_names(changed),
        *_standing(changed),
        *_writes(changed),
        *_gradients(changed),
        *_saved(changed),
        *(
            f"{name} {text}." if name.endswith(RETURNS) else f"{name} = {text}"
            for name, text in plain_after.items()
            if plain_before.get(name) != text
        ),
    ]
    if len(found) > _MOST:
        found = [
            *found[: _MOST - 1],
            gettext("And {number} more changes.", number=len(found) - _MOST + 1),
        ]
    return tuple(map(escape_unseen, found))


def _names(changed: Changes) -> Iterator[str]:
    """Names that are new, that now mean another tensor, or that are gone."""
    now, old = changed.now, dict(changed.since.names if changed.since else ())
    told: set[str] = set()
    for name, tid in now.names:
        if name in old and name not in changed.rebound_names:
            continue
        begin = (
            gettext("{name} is now", name=name) if name in old else gettext("{name} is", name=name)
        )
        begin = name if name.endswith(RETURNS) else begin
        if tid in changed.earlier_tensors or tid in told:
            yield _known(changed, begin, name, now.tensor(tid))
        else:
            yield _new(changed, begin, now.tensor(tid))
            told.add(tid)
    gone = [name for name in changed.gone_names if not name.endswith(RETURNS)]
    if len(gone) == 1:
        yield gettext("{name} is gone.", name=gone[0])
    elif gone:
        yield gettext("{names} are gone.", names=join_few_names(gone))


def _known(changed: Changes, begin: str, name: str, tensor: Tensor) -> str:
    others = [other for other in tensor.names if other != name and not other.endswith(RETURNS)]
    if others:
        return gettext(
            "{name_is} the same tensor object as {others}: one more name, nothing was copied.",
            name_is=begin,
            others=join_few_names(others),
        )
    returned = (
        changed.earlier_tensors[tensor.id].names if tensor.id in changed.earlier_tensors else ()
    )
    if returned and returned[0].endswith(RETURNS):
        call = returned[0].removesuffix(" returns")
        return gettext("{name_is} the tensor that {call} returned.", name_is=begin, call=call)
    owners = () if tensor.grad_of is None else changed.now.tensor(tensor.grad_of).names
    if owners:
        return gettext("{name_is} the tensor {grad}.", name_is=begin, grad=f"{owners[0]}.grad")
    return gettext(
        "{name_is} a tensor that was there before ({tensor}).", name_is=begin, tensor=tensor.id
    )


def _new(changed: Changes, begin: str, tensor: Tensor) -> str:
    now = changed.now
    sharers = [
        now.tensor(tid)
        for tid in (now.storage(tensor.storage).tensors if tensor.storage else ())
        if tid in changed.earlier_tensors and tid != tensor.id and now.first_name(now.tensor(tid))
    ]
    if tensor.grad_fn_name:
        graph = gettext(
            "; it is on the graph (grad_fn={node})", node=short_node_name(tensor.grad_fn_name)
        )
    elif tensor.requires_grad:
        graph = gettext("; it is a leaf that requires grad")
    else:
        graph = (
            gettext("; it is not on the graph") if any(one.requires_grad for one in sharers) else ""
        )
    where = _where(changed, tensor, sharers)
    return gettext(
        "{name_is} a new tensor {where}{graph}.", name_is=begin, where=where, graph=graph
    )


def _where(changed: Changes, tensor: Tensor, sharers: list[Tensor]) -> str:
    now, since = changed.now, changed.since
    if tensor.storage is None:
        return gettext("without a storage")
    if not sharers:
        key = now.storage(tensor.storage).key
        if since is not None and any(storage.key == key for storage in since.storages):
            return gettext(
                "over a storage that was there before ({storage})", storage=tensor.storage
            )
        return gettext("with a storage of its own")
    names = join_few_names(map(now.first_name, sharers))
    same = [one for one in sharers if one.counter == tensor.counter and one.counter is not None]
    if len(same) == len(sharers):
        return gettext("over the storage of {names}, with the same version counter", names=names)
    if not same:
        return gettext(
            "over the storage of {names}, but with a version counter of its own", names=names
        )
    return gettext(
        "over the storage of {names}, with the version counter of {same}",
        names=names,
        same=join_few_names(map(now.first_name, same)),
    )


def _standing(changed: Changes) -> Iterator[str]:
    """requires_grad, grad_fn, shape or storage of a tensor that was there before."""
    for tid, there in changed.attribute_changes.items():
        name = changed.now.first_name(changed.now.tensor(tid))
        if not name:
            continue
        if "grad_fn_name" in there:
            node = there["grad_fn_name"][1]
            if node:
                yield gettext(
                    "{name} is now on the graph with grad_fn={node}.",
                    name=name,
                    node=short_node_name(node),
                )
            else:
                yield gettext("{name} has left the graph.", name=name)
        elif "requires_grad" in there:
            yield gettext(
                "{name}.requires_grad is now {now}.", name=name, now=there["requires_grad"][1]
            )
        if "shape" in there:
            then, now = map(format_shape, there["shape"])
            yield gettext("{name} has a new shape: {then} -> {now}.", name=name, then=then, now=now)
        elif "stride" in there:
            then, now = there["stride"]
            yield gettext("{name} has new strides: {then} -> {now}.", name=name, then=then, now=now)
        if "storage" in there:
            yield gettext(
                "{name} now has another storage ({storage}).",
                name=name,
                storage=there["storage"][1],
            )


def _writes(changed: Changes) -> Iterator[str]:
    """Version counters that went up, values that changed, and who was not told."""
    now = changed.now
    counted: dict[str | None, list[str]] = {}
    for tid in changed.earlier_versions:
        counted.setdefault(now.tensor(tid).counter, []).append(tid)
    for counter, members in counted.items():
        names = [now.tensor(tid).names[0] for tid in members if now.tensor(tid).names]
        if names and counter is not None:  # a gradient without a name of its own is spoken of below
            yield gettext(
                "Written in place: the version counter of {names} went up, {then} -> {now}.",
                names=join_few_names(names),
                then=changed.earlier_versions[members[0]],
                now=now.tensor(members[0]).version,
            )
    for sid in changed.earlier_cells:
        there = [
            now.tensor(tid)
            for tid in now.storage(sid).tensors
            if tid in changed.earlier_tensors and now.tensor(tid).names
        ]
        names = [one.names[0] for one in there]
        if len(there) == 1:
            yield gettext("The values in memory changed: {name} shows it.", name=names[0])
        elif there:
            yield gettext(
                "The values in memory changed: {names} show it.", names=join_few_names(names)
            )
        silent = [
            one.names[0]
            for one in there
            if one.id not in changed.earlier_versions and one.version is not None
        ]
        if len(silent) == 1:
            yield gettext(
                "The version counter of {name} did not notice: autograd cannot see this write.",
                name=silent[0],
            )
        elif silent:
            yield gettext(
                "The version counter of {names} all did not notice: autograd cannot see this write.",
                names=join_few_names(silent),
            )


def _gradients(changed: Changes) -> Iterator[str]:
    """.grad that came, went, or was added to."""
    now, since = changed.now, changed.since
    for tensor in now.tensors:
        if not tensor.names:
            continue
        name, old, there = (
            tensor.names[0],
            changed.earlier_tensors.get(tensor.id),
            changed.attribute_changes.get(tensor.id, {}),
        )
        if tensor.grad is None:
            if "grad" in there:
                yield gettext("{name}.grad is None again.", name=name)
        elif old is None or old.grad is None or since is None:
            yield gettext(
                "{name}.grad is now there: {values}.", name=name, values=_values(now, tensor.grad)
            )
        elif "values" in there:
            then, values = _values(since, old.grad), _values(now, tensor.grad)
            if then == values:
                yield gettext("{name}.grad changed.", name=name)
            else:
                yield gettext(
                    "{name}.grad changed: {then} -> {now}.", name=name, then=then, now=values
                )


def _values(snap: Snapshot, which: str) -> str:
    """The values of a small tensor, otherwise its shape."""
    tensor = snap.tensor(which)
    values = snap.values(tensor, 6)
    if values is None:
        return gettext("shape {shape}", shape=format_shape(tensor.shape))
    texts = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
    for length in reversed(tensor.shape or ()):
        texts = [f"[{', '.join(texts[k : k + length])}]" for k in range(0, len(texts), length or 1)]
    return texts[0] if texts else "[]"


def _saved(changed: Changes) -> Iterator[str]:
    """Saved tensors that backward used up, or that were written after they were saved."""
    freed = sorted({short_node_name(node.name) for node, _ in changed.saved_that_became("freed")})
    if freed:
        yield gettext("Backward freed what it had saved: {nodes}.", nodes=join_few_names(freed))
    stale: dict[str, list[str]] = {}
    for node, saved in changed.saved_that_became("stale"):
        stale.setdefault(short_node_name(node.name), []).append(f"_saved_{saved.name}")
    for name, entries in sorted(stale.items()):
        yield gettext(
            "What {node} saved ({names}) was written afterwards: backward will raise an error.",
            node=name,
            names=join_few_names(sorted(entries)),
        )
