"""The order in which a backward visits nodes: of those that wait for no gradient, the newest first.

Source: `torch/csrc/autograd/engine.h`, where it compares the tasks that are ready.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from ..read import NodeRecord, Snapshot, TensorRecord


def find_visiting_order(
    snap: Snapshot, root: TensorRecord, nodes: Sequence[NodeRecord]
) -> dict[str, int] | None:
    """Return node id -> its position in the order, behind a root; None if it is not known.

    nodes: those behind the root. On other devices than the CPU, threads of the engine share the work.
    """
    if any(storage.device != "cpu" for storage in snap.storages):
        return None
    if not _are_numbers_known(nodes):
        return None
    node_by_id = {node.id: node for node in nodes}
    dependencies = dict.fromkeys(node_by_id, 0)
    for node in nodes:
        for edge in node.edges:
            if edge is not None:
                dependencies[edge] += 1
    ready: list[tuple[int, str]] = [(0, root.grad_fn or "")]
    order: dict[str, int] = {}
    while ready:
        _, node_id = heappop(ready)
        order[node_id] = len(order)
        for edge in node_by_id[node_id].edges:
            if edge is None:
                continue
            dependencies[edge] -= 1
            if not dependencies[edge]:
                heappush(ready, (-node_by_id[edge].sequence_nr, edge))
    return order


def _are_numbers_known(nodes: Sequence[NodeRecord]) -> bool:
    """Return True if all nodes were read, and each that is no leaf's has a number of its own."""
    numbers: set[int] = set()
    for node in nodes:
        if node.is_reader_stopped:
            return False
        if node.variable is not None:
            continue
        # Each thread numbers its nodes for itself: of two with one number, it is not known which is
        # first.
        if node.sequence_nr in numbers:
            return False
        numbers.add(node.sequence_nr)
    return True
