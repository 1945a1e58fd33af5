"""The text twins: everything that a picture says, in plain words and in a fixed order."""

from __future__ import annotations

from . import words
from .changes import Changes
from .fold import Fold, View, view
from .look import Look, Memo, said_of, was
from .records import Node, Saved, Snapshot, Storage, Tensor
from .style import clean, show
from .trouble import nameless, perhaps


def memory_text(snap: Snapshot, since: Snapshot | None = None) -> str:
    """The memory picture in words."""
    return told_by(Look.at(snap, since))


_storages: Memo[str] = Memo(1024)


def told_by(look: Look) -> str:
    """A memory picture in words."""
    snap, changed, bad = look.snap, look.changes, look.bad
    bands = words.shown_storages(snap)
    loose = [snap.tensor(tid) for _, tid in snap.names if snap.tensor(tid).storage is None]
    if not bands and not loose:
        lines = ["Memory: no tensors to show."]
    else:
        tensors = len({one.id for _, members in bands for one in members} | {one.id for one in loose})
        lines = [f"Memory: {words.plural(tensors, 'tensor')} in {words.plural(len(bands), 'storage')}."]
    parts = [told(lines)]
    for storage, members in bands:
        said = said_of(look, storage, members)
        parts.append(_storages.get(said, lambda: told(["", *_storage_lines(look, storage, members)])))  # noqa: B023
    lines = []
    for tensor in dict.fromkeys(loose):
        lines += ["", *_tensor_lines(snap, tensor, changed, bad)]
    shown = {one.id for _, members in bands for one in members} | {one.id for one in loose}
    tail = [sentence[:1].upper() + sentence[1:] + "." for sentence in footer(snap, changed, shown)]
    rest = [*lines, *([""] if tail else []), *tail]
    return "\n".join([*parts, *([told(rest)] if rest else [])])


def told(lines: list[str]) -> str:
    """The lines as one text, in which nothing from outside breaks a line or cannot be seen."""
    return "\n".join(map(clean, lines))


def footer(snap: Snapshot, changed: Changes, shown: set[str]) -> list[str]:
    """What remains to be said below the storages, for picture and text."""
    lines = []
    if changed.gone:
        lines.append(f"no longer there: {words.listed([words.called(name) for name in changed.gone])}")
    lines += nameless(snap, shown)
    count, nbytes = words.hidden(snap)
    if count:
        lines.append(f"also kept alive by the graph: {words.plural(count, 'storage')} without a name, {nbytes:,} bytes")
    return [*lines, *snap.notes]


def _storage_lines(look: Look, storage: Storage, members: list[Tensor]) -> list[str]:
    snap, changed = look.snap, look.changes
    lines = [f"{storage.id}, {words.title(snap, storage, members)}: {words.size(storage)}."]
    if storage.objects > 1:
        lines.append(f"  The same memory is seen through {storage.objects} storage objects.")
    if storage.runs:
        lines.append("  cells: " + _cells(storage))
    lines += [f"  Note: {note}." for note in storage.notes]
    was = changed.cells.get(storage.id, {})
    if was:
        cells = ", ".join(f"cell {cell} was {show(value)}" for cell, value in sorted(was.items()))
        lines.append(f"  changed: {cells}.")
    for tensor in members:
        lines += ["  " + line for line in _tensor_lines(snap, tensor, changed, look.bad)]
    counted = [tensor for tensor in members if words.counted(snap, tensor)]
    for which in dict.fromkeys(tensor.counter for tensor in counted):
        lines += ["  " + line for line in _counter_lines(look, which, counted)]
    return lines


def _cells(storage: Storage) -> str:
    parts, expected = [], 0
    for run in storage.runs:
        if run.start != expected:
            parts.append("...")
        parts += [f"{cell}: {show(value)}" for cell, value in enumerate(run.values, run.start)]
        expected = run.stop
    if expected != storage.cells:
        parts.append("...")
    return ", ".join(parts)


def _tensor_lines(snap: Snapshot, tensor: Tensor, changed: Changes, bad: dict[str, tuple[str, ...]]) -> list[str]:
    head = words.label(snap, tensor.id)
    if tensor.id in changed.new:
        head += " (new)"
    facts = [f"shape {words.shape(tensor.shape)}"]
    if tensor.stride is not None:
        facts.append(f"stride {words.shape(tensor.stride)}")
        facts.append(f"offset {tensor.offset}")
    facts += [words.dtype(tensor.dtype), words.history(tensor)]
    if tensor.storage is not None:
        facts.append("covers " + words.covered(tensor))
    if tensor.base is not None:
        facts.append(f"view of {words.label(snap, tensor.base)}")
    if tensor.grad is not None:
        facts.append(f".grad is {words.label(snap, tensor.grad)}")
    lines = [f"{head}: {'; '.join(facts)}."]
    lines += [f"  Changed: {fact}." for fact in changed.facts.get(tensor.id, ())]
    lines += [f"  Changed: {said}." for said in changed.names(tensor)]
    lines += [f"  In trouble: {sentence}." for sentence in bad.get(tensor.id, ())]
    lines += [f"  Note: {note}." for note in tensor.notes]
    return lines


def _counter_lines(look: Look, which: str | None, members: list[Tensor]) -> list[str]:
    snap = look.snap
    if which is None:
        return [
            f"{words.label(snap, one.id)}: no version counter (an inference tensor)."
            if one.version is None
            else f"{words.label(snap, one.id)}: at version {one.version}; who shares the counter is not known."
            for one in members
            if one.counter is None
        ]
    counter = snap.counter(which)
    names, then = look.sharers[which], was(look.changes, counter)
    now = f"at version {counter.version}" + ("" if then is None else f" (was {then})")
    owner = f"shared by {words.listed(names)}" if len(names) > 1 else f"of {names[0]} alone"
    return [f"version counter {which}, {owner}: {now}."]


def graph_text(snap: Snapshot, changed: Changes) -> str:
    """The graph picture in words, with what changed."""
    named = [snap.tensor(tid) for tid in dict.fromkeys(tid for _, tid in snap.names)]
    if named:
        lines = [
            f"Graph: {words.plural(len(snap.nodes), 'node')}{' and more' if snap.notes else ''}."
            if snap.nodes
            else "Graph: no node. Nothing here was computed from a tensor that requires grad."
        ]
    else:
        lines = ["Graph: no tensors to show."]
    for one in named:
        lines.append(f"  {words.label(snap, one.id)}{_new(one.id in changed.new)}: {_standing(one)}.")
        lines += [f"    Changed: {fact}." for fact in (*changed.names(one), *changed.standing.get(one.id, ()))]
    seen, unseen = view(snap), perhaps(snap)
    for item in seen.items:
        lines.append("")
        if isinstance(item, Fold):
            lines += _fold_lines(snap, item, seen, changed)
        else:
            lines += _node_lines(snap, item, seen, changed, unseen)
    notes = [*unread(snap), *no_longer(changed), *left_out(seen, changed)]
    return told([*lines, *([""] if notes else []), *(f"Note: {note}." for note in notes)])


def unread(snap: Snapshot) -> list[str]:
    """What to say of nodes that were not read."""
    return [f"{note}, and what lies beyond is not shown" for note in snap.notes]


def no_longer(changed: Changes) -> list[str]:
    """What to say of names and nodes that were there before, for picture and text."""
    lines = [f"no longer there: {words.listed([words.called(name) for name in changed.gone])}"] if changed.gone else []
    if changed.lost:
        lines.append(f"{words.plural(changed.lost, 'node')} of before no longer reached")
    return lines


def left_out(seen: View, changed: Changes) -> list[str]:
    """What to say of nodes that are not shown."""
    if not seen.left_out:
        return []
    new = sum(node not in seen.places for node in changed.nodes)
    more = f"{words.plural(seen.left_out, 'node')} more not shown"
    return [f"{more}{f' ({new:,} of them new)' if new else ''}: the graph is too large"]


def _new(fresh: bool) -> str:
    return " (new)" if fresh else ""


def _node_lines(
    snap: Snapshot, node: Node, seen: View, changed: Changes, unseen: dict[tuple[str, str], str]
) -> list[str]:
    lines = [f"{node.id} {words.short(node.name)}{_new(node.id in changed.nodes)}"]
    if node.variable is not None:
        lines.append(f"  adds to {words.grad_of(snap, node.variable)}")
        if not snap.tensor(node.variable).names:
            lines[-1] += _new(node.variable in changed.new)
            lines += [f"    Changed: {fact}." for fact in changed.standing.get(node.variable, ())]
    lines += [f"  next_functions[{edge.index}]: {_target(snap, edge.node, node.cut, seen)}" for edge in node.edges]
    for at, saved in enumerate(node.saved):
        was = changed.saved.get((node.id, at))
        said = saved_words(snap, saved) + (f" ({was})" if was else "")
        lines.append(f"  saved {clean(saved.name)}: {said}")
        through = unseen.get((node.id, saved.tensor or ""))
        if through is not None and saved.state == "live":
            lines.append(f"    perhaps written unseen, through {through}: backward may be silently wrong")
    return lines


def _fold_lines(snap: Snapshot, fold: Fold, seen: View, changed: Changes) -> list[str]:
    kinds = [f"{words.short(name)} {count:,} times" for name, count in fold.kinds]
    lines = [f"{fold.id} {words.plural(len(fold.nodes), 'node')} folded: {words.listed(kinds)}"]
    lines += [f"  saved: {count:,} {state}" for state, count in fold.states]
    if fold.leaves:
        lines.append(f"  leaves: {words.listed([words.label(snap, leaf) for leaf in fold.leaves])}")
    lines += [f"  Changed: {fact}." for fact in fold.changed(changed)]
    return [*lines, *(f"  goes on to: {_target(snap, end, False, seen)}" for end in fold.ends)]


def _target(snap: Snapshot, which: str | None, cut: bool, seen: View) -> str:
    if which is None:
        return "not read (the graph is too large)" if cut else "None (needs no gradient)"
    place = seen.places.get(which)
    if place is None:
        return f"{words.short(snap.node(which).name)}, not shown"
    if place != which:
        return f"{place} (folded)"
    return f"{which} {words.short(snap.node(which).name)}"


def _standing(tensor: Tensor) -> str:
    if tensor.is_leaf is None:
        return "its grad_fn is invalid"
    if tensor.is_leaf:
        return "a leaf that requires grad" if tensor.requires_grad else "not on the graph (requires no grad)"
    return f"made by {tensor.grad_fn or 'a node that was not read'} {words.short(tensor.grad_fn_name or '')}"


def saved_words(snap: Snapshot, saved: Saved) -> str:
    """What one saved entry is, and its state."""
    what = words.label(snap, saved.tensor) if saved.tensor is not None else show(saved.value)
    match saved.state:
        case "live":
            return f"{what}, live" + ("" if saved.version is None else f" at version {saved.version}")
        case "stale":
            named = "" if saved.tensor is None else f"{what}, "
            return f"{named}STALE: saved at version {saved.saved_version}, now at {saved.version}; backward will raise"
        case "freed":
            return "freed by a backward; another backward will raise"
        case "number":
            return show(saved.value)
        case "packed":
            return "packed by a saved-tensor hook, not opened"
        case "once":
            return "given out a single time, so it is left for backward"
    return "cannot be read"
