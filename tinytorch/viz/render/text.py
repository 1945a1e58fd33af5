"""The text twins: everything that a picture says, in plain words and in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..diagnose import Changes, find_possible_writers
from ..read import Node, Saved, Snapshot, Storage, Tensor
from ..show import FOLD_ABOVE, LEAVES, Band, Fold, Pack, Shelf, View
from ..show import statements as words
from ..wording import (
    escape_unseen,
    format_shape,
    format_value,
    gettext,
    join_few_names,
    join_lines,
    join_names,
    ngettext,
    short_dtype,
    short_node_name,
)


def memory_text(changed: Changes, seen: Shelf) -> str:
    """The memory picture in words, with what changed."""
    snap, bad = changed.now, seen.bad
    loose = [tensor for tensor in snap.named if tensor.storage is None]
    shown = snap.shown | {one.id for one in loose}
    lines = [gettext("Memory: no tensors to show.")]
    if shown:
        tensors, storages = snap.counts
        lines = [gettext("Memory: {tensors} in {storages}.", tensors=tensors, storages=storages)]
    for entry in seen.entries:
        lines += [
            "",
            *(
                [f"{words.pack_line(changed, entry, bad)}."]
                if isinstance(entry, Pack)
                else _band_lines(changed, entry, bad)
            ),
        ]
    for tensor in loose:
        lines += ["", *_tensor_lines(changed, tensor, bad)]
    below = [
        sentence[:1].upper() + sentence[1:] + "."
        for sentence in words.below_memory(changed, shown, seen)
    ]
    return join_lines([*lines, *([""] if below else []), *below])


def memory_title(changed: Changes) -> str:
    """What a memory picture shows, in half a sentence."""
    snap = changed.now
    if not snap.names:
        return gettext("Memory: no tensors to show.")
    tensors, storages = snap.counts
    return gettext(
        "memory of {names}: {tensors} in {storages}",
        names=snap.title,
        tensors=tensors,
        storages=storages,
    )


def pack_text(changed: Changes, pack: Pack, bad: Mapping[str, tuple[str, ...]]) -> str:
    """The tensors of storages that are folded, in words."""
    lines = []
    for band in pack.inside:
        for tensor in band.members if isinstance(band, Band) else ():
            first, *rest = _tensor_lines(changed, tensor, bad)
            lines += [f"{band.storage.id} {first}", *rest]
        lines += [_more(band)] if isinstance(band, Band) and band.more else []
    return join_lines(lines)


def _more(band: Band) -> str:
    return "  " + ngettext("and {number} tensor more", "and {number} tensors more", band.more)


def _band_lines(changed: Changes, band: Band, bad: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    snap, storage, members = changed.now, band.storage, band.members
    yield f"{storage.id}, {words.title(snap, members)}: {words.size(storage)}."
    if storage.objects > 1:
        yield "  " + gettext(
            "The same memory is seen through {number} storage objects.", number=storage.objects
        )
    if storage.runs:
        yield "  " + gettext("cells: {cells}", cells=_cells(storage))
    for note in storage.notes:
        yield "  " + gettext("Note: {note}.", note=note)
    cells = [
        gettext("cell {cell} was {value}", cell=cell, value=format_value(value))
        for cell, value in sorted(changed.earlier_cells.get(storage.id, {}).items())
    ]
    if cells:
        yield "  " + gettext("changed: {cells}.", cells=", ".join(cells))
    for tensor in members:
        yield from ("  " + line for line in _tensor_lines(changed, tensor, bad))
    if band.more:
        yield _more(band)
    counted = [tensor for tensor in members if snap.shows_counter(tensor)]
    for which in dict.fromkeys(tensor.counter for tensor in counted):
        yield from ("  " + line for line in _counter_lines(changed, which, counted))


def _cells(storage: Storage) -> str:
    parts, expected = [], 0
    for run in storage.runs:
        if run.start != expected:
            parts.append("...")
        parts += [
            f"{cell}: {format_value(value)}" for cell, value in enumerate(run.values, run.start)
        ]
        expected = run.stop
    if expected != storage.cells:
        parts.append("...")
    return ", ".join(parts)


def _tensor_lines(
    changed: Changes, tensor: Tensor, bad: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    snap = changed.now
    said = [gettext("shape {shape}", shape=format_shape(tensor.shape))]
    if tensor.stride is not None:
        said.append(
            gettext(
                "stride {stride}; offset {offset}",
                stride=format_shape(tensor.stride),
                offset=tensor.offset,
            )
        )
    said += [short_dtype(tensor.dtype), words.history(tensor)]
    if tensor.storage is not None:
        said.append(gettext("covers {cells}", cells=words.covered(tensor)))
    if tensor.base is not None:
        said.append(gettext("view of {base}", base=snap.label(tensor.base)))
    if tensor.grad is not None:
        said.append(gettext(".grad is {grad}", grad=snap.label(tensor.grad)))
    yield f"{_fresh(snap.label(tensor.id), tensor.id in changed.new_tensors)}: {'; '.join(said)}."
    for fact in (
        *words.facts(changed, tensor.id, words.IN_MEMORY),
        *words.renamed(changed, tensor),
    ):
        yield "  " + gettext("Changed: {fact}.", fact=fact)
    for sentence in bad.get(tensor.id, ()):
        yield "  " + gettext("In trouble: {sentence}.", sentence=sentence)
    for note in tensor.notes:
        yield "  " + gettext("Note: {note}.", note=note)


def _counter_lines(changed: Changes, which: str | None, members: list[Tensor]) -> Iterator[str]:
    snap = changed.now
    if which is None:
        for one in (one for one in members if one.counter is None):
            yield gettext(
                "{name}: no version counter (an inference tensor).", name=snap.label(one.id)
            )
        return
    counter, then = snap.counter(which), changed.earlier_version_of(which)
    sharing = [snap.tensor(tid) for tid in counter.tensors if tid in snap.shown]
    version = gettext("at version {version}", version=counter.version)
    version += "" if then is None else " " + gettext("(was {version})", version=then)
    whose = _whose([snap.label(one.id) for one in sharing], sharing[0])
    yield gettext(
        "version counter {counter}, {whose}: {version}.",
        counter=which,
        whose=whose,
        version=version,
    )


def _whose(names: list[str], first: Tensor) -> str:
    if len(names) > 1:
        return gettext("shared by {names}", names=join_names(names))
    if len(first.names) > 1:
        return gettext("of {name}", name=names[0])
    return gettext("of {name} alone", name=names[0])


def _fresh(what: str, new: bool) -> str:
    return gettext("{what} (new)", what=what) if new else what


def _found(what: str, which: Iterable[str], seen: View | Shelf) -> str:
    return what if seen.found.isdisjoint(which) else gettext("{what} (found)", what=what)


# -- the graph ---------------------------------------------------------------------


def graph_text(changed: Changes, seen: View) -> str:
    """The graph picture in words, with what changed."""
    snap = changed.now
    if not snap.named:
        lines = [gettext("Graph: no tensors to show.")]
    elif not snap.nodes:
        lines = [
            gettext("Graph: no node. Nothing here was computed from a tensor that requires grad.")
        ]
    else:
        more = " " + gettext("and more") if snap.notes else ""
        lines = [
            ngettext(
                "Graph: {number} node{more}.",
                "Graph: {number} nodes{more}.",
                len(snap.nodes),
                more=more,
            )
        ]
    folded = seen.folded
    told_of = [one for one in snap.named if one.id not in folded]
    if len(snap.named) > FOLD_ABOVE and not seen.whole:
        leaves = [
            one.id
            for one in told_of
            if one.is_leaf and one.id not in changed.new_tensors | changed.attribute_changes.keys()
        ]
        told_of = [one for one in told_of if one.id not in leaves[LEAVES:]]
    for one in told_of:
        lines.append(
            f"  {_fresh(snap.label(one.id), one.id in changed.new_tensors)}: {_standing(one)}."
        )
        for fact in (*words.renamed(changed, one), *words.facts(changed, one.id, words.IN_GRAPH)):
            lines.append("    " + gettext("Changed: {fact}.", fact=fact))
    if len(told_of) < len(snap.named):
        number = len(snap.named) - len(told_of)
        lines.append("  " + gettext("and {number} more, leaves or folded.", number=f"{number:,}"))
    lines += items_text(changed, seen)
    notes = [gettext("Note: {note}.", note=note) for note in words.below_graph(changed, seen)]
    return join_lines([*lines, *([""] if notes else []), *notes])


def graph_title(changed: Changes) -> str:
    """What a graph picture shows, in half a sentence."""
    snap = changed.now
    if not snap.names:
        return gettext("Graph: no tensors to show.")
    nodes = ngettext("{number} node", "{number} nodes", len(snap.nodes))
    return gettext("graph of {names}: {nodes}", names=snap.title, nodes=nodes)


def items_text(changed: Changes, seen: View) -> Iterator[str]:
    """The entries of a graph in words, an empty line before each."""
    unseen = find_possible_writers(changed.now)
    for item in seen.items:
        yield ""
        if isinstance(item, Fold):
            yield from _fold_lines(changed, item, seen, unseen)
        else:
            yield from _node_lines(changed, item, seen, unseen)


def _standing(tensor: Tensor) -> str:
    if tensor.is_leaf is None:
        return gettext("its grad_fn is invalid")
    if tensor.is_leaf:
        if tensor.requires_grad:
            return gettext("a leaf that requires grad")
        return gettext("not on the graph (requires no grad)")
    which = tensor.grad_fn or gettext("a node that was not read")
    return gettext(
        "made by {node} {name}", node=which, name=short_node_name(tensor.grad_fn_name or "")
    )


def _node_lines(
    changed: Changes, node: Node, seen: View, unseen: dict[tuple[str, str], str]
) -> Iterator[str]:
    snap = changed.now
    yield _found(
        _fresh(f"{node.id} {short_node_name(node.name)}", node.id in changed.new_nodes),
        [node.id],
        seen,
    )
    if node.variable is not None:
        unnamed = not snap.tensor(node.variable).names
        adds = gettext("adds to {grad}", grad=snap.grad_label(node.variable))
        yield "  " + _fresh(adds, unnamed and node.variable in changed.new_tensors)
        for fact in words.facts(changed, node.variable, words.IN_GRAPH) if unnamed else ():
            yield "    " + gettext("Changed: {fact}.", fact=fact)
    for index, end in enumerate(node.edges[: words.SAVED]):
        yield f"  next_functions[{index}]: {_target(snap, end, node.cut, seen)}"
    if len(node.edges) > words.SAVED:
        yield "  " + gettext(
            "next_functions: {number} more", number=f"{len(node.edges) - words.SAVED:,}"
        )
    for at, saved in words.saved_shown(node):
        then = changed.earlier_saved.get((node.id, at))
        state = _state(snap, saved) + ("" if then is None else f" ({words.was(then)})")
        yield "  " + gettext("saved {name}: {state}", name=escape_unseen(saved.name), state=state)
        through = unseen.get((node.id, saved.tensor or ""))
        if through is not None and saved.state == "live":
            said = gettext(
                "perhaps written unseen, through {names}: backward may be silently wrong",
                names=through,
            )
            yield "    " + said
    if len(node.saved) > words.SAVED:
        yield "  " + gettext("and {number} more saved", number=f"{len(node.saved) - words.SAVED:,}")


def _fold_lines(
    changed: Changes, fold: Fold, seen: View, unseen: dict[tuple[str, str], str]
) -> Iterator[str]:
    snap, title = changed.now, words.fold_title(fold)
    kinds = [
        gettext("{node} {number} times", node=short_node_name(name), number=f"{count:,}")
        for name, count in fold.kinds
    ]
    line = ngettext(
        "{fold} {number} node folded: {kinds}",
        "{fold} {number} nodes folded: {kinds}",
        len(fold.nodes),
        fold=f"{fold.id} {title}:" if title else fold.id,
        kinds=join_names(kinds),
    )
    yield _found(line, fold.nodes, seen)
    yield from (f"  {state}" for _, state in words.in_states(fold))
    perhaps_written = sum(node in fold.nodes for node, _ in unseen)
    if perhaps_written:
        yield "  " + gettext(
            "saved: {number} perhaps written unseen", number=f"{perhaps_written:,}"
        )
    if fold.leaves:
        yield "  " + gettext(
            "leaves: {names}", names=join_few_names([snap.label(leaf) for leaf in fold.leaves])
        )
    if fold.made:
        yield "  " + gettext("made here: {names}", names=join_few_names(map(snap.label, fold.made)))
    for fact in words.in_fold(changed, fold):
        yield "  " + gettext("Changed: {fact}.", fact=fact)
    for end in fold.ends:
        yield "  " + gettext("goes on to: {node}", node=_target(snap, end, False, seen))


def _target(snap: Snapshot, which: str | None, cut: bool, seen: View) -> str:
    if which is None:
        return (
            gettext("not read (the graph is too large)")
            if cut
            else gettext("None (needs no gradient)")
        )
    place, name = seen.places.get(which), short_node_name(snap.node(which).name)
    if place is None:
        outside = seen.beyond[which]
        return gettext(
            "{entry}, outside", entry=f"{outside} {name}" if outside == which else outside
        )
    return f"{which} {name}" if place == which else gettext("{fold} (folded)", fold=place)


def _state(snap: Snapshot, saved: Saved) -> str:
    """What one saved entry is, and how it stands with it."""
    what = snap.label(saved.tensor) if saved.tensor is not None else format_value(saved.value)
    match saved.state:
        case "live":
            if saved.version is not None:
                what = gettext(
                    "{what}, live at version {version}", what=what, version=saved.version
                )
            else:
                what = gettext("{what}, live", what=what)
            if saved.bytes_unchanged is False:
                return gettext(
                    "{what}, but WRITTEN UNSEEN: backward computes from the new values", what=what
                )
            return (
                gettext("{what}, unchanged", what=what)
                if saved.bytes_unchanged and saved.tensor
                else what
            )
        case "stale":
            said = gettext(
                "STALE: saved at version {then}, now at {now}; backward will raise",
                then=saved.saved_version,
                now=saved.version,
            )
            return said if saved.tensor is None else f"{what}, {said}"
        case "freed":
            return gettext("freed by a backward; another backward will raise")
        case "number":
            return what
        case "packed":
            return gettext("packed by a saved-tensor hook, not opened")
        case "once":
            return gettext("given out a single time, so it is left for backward")
    return gettext("cannot be read")
