"""What optimizers hold: tensors that stand where a module has others by now.

An optimizer is given a module's parameters in the module's order. So a tensor that nothing else
names, behind a parameter of the module and in the place of one that the optimizer does not hold, is
the former one: its layer was replaced afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..read import PARAM_GROUPS, Snapshot, TensorRecord
from ..wording import gettext, join_few_names, join_sentences, ngettext


class ReplacedParameters(NamedTuple):
    """Tensors that an optimizer holds in the place of others."""

    optimizer: str
    """Its name."""
    strays: tuple[str, ...]
    """The ids of the tensors that it holds, and that have no other name."""
    absent: tuple[str, ...]
    """The ids of those in whose place they stand, which it does not hold."""


def find_replaced(snap: Snapshot) -> Iterator[ReplacedParameters]:
    """Yield, for each named optimizer, the tensors that it holds in the place of others."""
    named_tensors = [tensor for tensor in snap.named_tensors if not _is_held_alone(tensor)]
    leaves = [tensor.id for tensor in named_tensors if tensor.is_leaf and tensor.requires_grad]
    for optimizer, parameters in list_stepped(snap).items():
        parameter_ids = {tensor.id for tensor in parameters}
        strays: list[str] = []
        replaced: list[str] = []
        for before, run, after in _split_into_runs(parameters):
            between = _list_leaves_between(snap, leaves, before, after)
            # Only if one stands for each: they may as well be those of a module that was not given.
            if len(between) == len(run) and parameter_ids.isdisjoint(between):
                strays += run
                replaced += between
        if strays:
            yield ReplacedParameters(optimizer, tuple(strays), tuple(replaced))


def _split_into_runs(
    parameters: list[TensorRecord],
) -> Iterator[tuple[str | None, list[str], str | None]]:
    """Yield what has no name of its own, with the ids of those before and behind that have one."""
    before: str | None = None
    run: list[str] = []
    for parameter in parameters:
        if _is_held_alone(parameter):
            run.append(parameter.id)
            continue
        if run:
            yield before, run, parameter.id
        before, run = parameter.id, []
    if run:
        yield before, run, None


def _list_leaves_between(
    snap: Snapshot, leaves: list[str], before: str | None, after: str | None
) -> list[str]:
    """Return the leaves between two of one argument; to its end where one of the two is None."""
    # An optimizer whose tensors all have no other name tells nothing of a module.
    neighbour = before or after
    if neighbour is None:
        return []
    argument = _name_argument(snap, neighbour)
    same_argument = [leaf for leaf in leaves if _name_argument(snap, leaf) == argument]
    # The two may be of different arguments (an optimizer over two modules), or need no grad.
    if not set(same_argument).issuperset(filter(None, (before, after))):
        return []
    start = 0 if before is None else same_argument.index(before) + 1
    stop = len(same_argument) if after is None else same_argument.index(after)
    return same_argument[start:stop]


def _name_argument(snap: Snapshot, tensor_id: str) -> str:
    return snap.tensor(tensor_id).names[0].partition(".")[0]


def list_stepped(snap: Snapshot) -> dict[str, list[TensorRecord]]:
    """Return the tensors that each named optimizer steps, by its name, in its order."""
    pairs_by_optimizer: dict[str, list[tuple[tuple[int, ...], TensorRecord]]] = {}
    for tensor in snap.named_tensors:
        for path in tensor.optimizer_paths:
            optimizer, _, position = path.rpartition(PARAM_GROUPS)
            # As numbers: among words, "10" would come before "2".
            numbers = [int(word) for word in re.findall("[0-9]+", position)]
            pairs_by_optimizer.setdefault(optimizer, []).append((tuple(numbers), tensor))
    tensors_by_optimizer: dict[str, list[TensorRecord]] = {}
    for optimizer, pairs in pairs_by_optimizer.items():
        pairs.sort(key=lambda pair: pair[0])
        tensors_by_optimizer[optimizer] = [tensor for _, tensor in pairs]
    return tensors_by_optimizer


def _is_held_alone(tensor: TensorRecord) -> bool:
    """Return True for what has no name but a path in an optimizer."""
    return all(PARAM_GROUPS in name for name in tensor.names)


def describe_replaced(snap: Snapshot, replaced: ReplacedParameters) -> str:
    """Say which tensors an optimizer does not hold, and which lines made these."""
    absence = ngettext(
        "{optimizer} does not hold {names}: in its place it holds another tensor, "
        "perhaps that of a layer that was replaced.",
        "{optimizer} does not hold {names}: in their place it holds other tensors, "
        "perhaps those of a layer that was replaced.",
        len(replaced.absent),
        optimizer=replaced.optimizer,
        names=join_few_names([snap.label(tensor) for tensor in replaced.absent]),
    )
    return join_sentences([absence, _describe_making(snap, replaced.absent)])


def _describe_making(snap: Snapshot, parameters: Sequence[str]) -> str:
    """Say which lines made parameters, or how to see that."""
    lines = dict.fromkeys(snap.tensor(parameter).made_by for parameter in parameters)
    if "" in lines:
        return gettext(
            "A watch that begins before the layer is replaced names the line: `copylab watch train.py`, or "
            "`with copylab.watch():` around both."
        )
    return ngettext(
        "The tensor that it should hold was made by {lines}.",
        "The tensors that it should hold were made by {lines}.",
        len(parameters),
        lines=join_few_names(lines),
    )


def describe_stepped_without_gradient(optimizer: str, names: list[str]) -> str:
    """Say of which tensors that no path leads to an optimizer takes care."""
    return ngettext(
        "{optimizer} holds {names}: without a gradient its step leaves it as it is.",
        "{optimizer} holds {names}: without a gradient its step leaves them as they are.",
        len(names),
        optimizer=optimizer,
        names=join_few_names(names),
    )
