"""What a step of a program changed, in sentences: names, memory, version counters, gradients, graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..diagnose import Changes
from ..read import Snapshot, Tensor
from ..wording import escape_unseen, format_shape, gettext, join_few_names, short_node_name

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
