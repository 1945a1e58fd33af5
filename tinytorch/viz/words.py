"""The words that pictures and texts share: labels, lists, and statements about one record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, product

from .records import Snapshot, Storage, Tensor
from .style import clean


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else ""


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 cell`, `3 cells`, `10,000 cells`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def label(snap: Snapshot, which: str) -> str:
    """What to call a tensor: its names, `x.grad`, or `T7 (no name)`."""
    tensor = snap.tensor(which)
    if tensor.names:
        return " = ".join(called(name) for name in tensor.names)
    if tensor.grad_of is not None:
        return grad_of(snap, tensor.grad_of) if snap.tensor(tensor.grad_of).names else f"{tensor.id}, a gradient"
    return f"{tensor.id} (no name)"


def grad_of(snap: Snapshot, which: str) -> str:
    """What to call the gradient of a tensor: by the first of its names."""
    names = snap.tensor(which).names
    return f"{called(names[0]) if names else label(snap, which)}.grad"


def pills(snap: Snapshot, tensor: Tensor) -> tuple[str, ...]:
    """The names to draw beside a tensor, the derived one if it has none."""
    return tuple(called(name) for name in tensor.names) or (label(snap, tensor.id),)


def called(name: str) -> str:
    """A name as it can be shown: unseen characters as escapes, an empty name as quotes."""
    return clean(name) or "''"


def short(name: str) -> str:
    """The name of a node as it is printed: `CopySlices` for `torch::autograd::CopySlices`."""
    return called(clean(name).rpartition("::")[2])


def dtype(name: str) -> str:
    """`float32` for `torch.float32`."""
    return name.removeprefix("torch.")


def shape(sizes: Iterable[int] | None) -> str:
    """As Python writes the tuple: `(3,)`, `(2, 3)`, `()`."""
    return "unknown" if sizes is None else str(tuple(sizes))


def elements(tensor: Tensor, limit: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """(index, byte in the storage) of the tensor's elements in order, at most `limit` of them."""
    if tensor.stride is None or tensor.shape is None:
        return
    # product() writes each range out: no more of it than is asked for, or ten million elements take seconds.
    for index in islice(product(*(range(min(size, limit)) for size in tensor.shape)), limit):
        steps = sum(i * step for i, step in zip(index, tensor.stride, strict=True))
        yield index, tensor.start_byte + steps * tensor.itemsize


def index_at(tensor: Tensor, byte: int) -> tuple[int, ...] | None:
    """An index whose element begins at `byte` of the storage; None if no element does."""
    if tensor.stride is None or tensor.shape is None or not tensor.numel:
        return None
    rest, odd = divmod(byte - tensor.start_byte, tensor.itemsize)
    if odd or rest < 0:
        return None
    stride = tensor.stride
    order = sorted(range(len(stride)), key=lambda d: (-stride[d], d))
    index = [0] * len(tensor.shape)
    for d in order:
        step = stride[d]
        if step > 0:
            index[d] = min(rest // step, tensor.shape[d] - 1)
            rest -= index[d] * step
    return None if rest else tuple(index)


def repeats(tensor: Tensor) -> int:
    """How many elements share one cell because of strides of 0 (1 for most tensors)."""
    count = 1
    for size, step in zip(tensor.shape or (), tensor.stride or (), strict=False):
        if step == 0 and size > 1:
            count *= size
    return count


def in_order(tensor: Tensor) -> bool:
    """Whether walking the tensor row by row walks its storage forwards, each cell once."""
    expected = None
    for size, step in zip(reversed(tensor.shape or ()), reversed(tensor.stride or ()), strict=False):
        if size == 1:
            continue
        if step <= 0 or (expected is not None and step < expected):
            return False
        expected = step * size if expected is None or step >= expected else expected
    return True


def jumps(tensor: Tensor) -> bool:
    """Whether walking the tensor goes back and forth in its storage, to each cell once."""
    return tensor.stride is not None and repeats(tensor) == 1 and not in_order(tensor)


def covered(tensor: Tensor) -> str:
    """Which cells (of its own item size) the tensor covers, in its order of walk."""
    if tensor.storage is None or tensor.stride is None:
        return "cells not known"
    if not tensor.numel:
        return "no cell"
    cells = [byte // tensor.itemsize for _, byte in elements(tensor, 24)]
    if tensor.numel == 1:
        return f"cell {cells[0]}"
    last = cells[-1] if tensor.numel <= 24 else last_cell(tensor)
    step = cells[1] - cells[0]
    if step > 0 and in_order(tensor) and last - cells[0] == step * (tensor.numel - 1):
        even = all(b - a == step for a, b in pairwise(cells))
        if even:
            return f"cells {cells[0]} to {last}" + ("" if step == 1 else f" in steps of {step}")
    shown = ", ".join(str(cell) for cell in cells)
    return f"cells {shown}" + (f", ... ({tensor.numel:,} elements)" if tensor.numel > 24 else "") + ", in this order"


def last_cell(tensor: Tensor) -> int:
    """The furthest cell (of its own item size) that the tensor covers."""
    reach = sum((size - 1) * step for size, step in zip(tensor.shape or (), tensor.stride or (), strict=False))
    return tensor.start_byte // tensor.itemsize + reach


def history(tensor: Tensor) -> str:
    """`leaf, requires grad`, `not a leaf, grad_fn MulBackward0`, `leaf, needs no grad`."""
    if tensor.is_leaf is None:
        return "grad_fn invalid"
    if tensor.is_leaf:
        return "leaf, requires grad" if tensor.requires_grad else "leaf, needs no grad"
    return f"not a leaf, grad_fn {short(tensor.grad_fn_name or 'None')}"


def counted(snap: Snapshot, tensor: Tensor) -> bool:
    """Whether the tensor's version counter is worth showing.

    A gradient that has no name of its own is hardly ever saved by a node, and how often the engine added to it in place
    depends on who else held it at that moment: its counter would only distract.
    """
    if tensor.role != "grad":
        return True
    return tensor.counter is not None and any(
        snap.tensor(tid).role != "grad" for tid in snap.counter(tensor.counter).tensors
    )


def shown_storages(snap: Snapshot) -> list[tuple[Storage, list[Tensor]]]:
    """The storages that a reader can reach by a name or a .grad, with those tensors, sharers side by side."""
    known = vars(snap)  # kept with the snapshot, as its cached properties are: each counter asks again
    if "shown_storages" not in known:
        known["shown_storages"] = list(_shown_storages(snap))
    found: list[tuple[Storage, list[Tensor]]] = known["shown_storages"]
    return found


def _shown_storages(snap: Snapshot) -> Iterator[tuple[Storage, list[Tensor]]]:
    named = {tid for _, tid in snap.names}
    for storage in snap.storages:
        members = [snap.tensor(tid) for tid in storage.tensors]
        members = [one for one in members if one.id in named or (one.role == "grad" and _owner_named(snap, one, named))]
        if members:
            order = {one.counter: k for k, one in reversed(list(enumerate(members)))}
            members.sort(key=lambda one: order[one.counter])
            yield storage, members


def _owner_named(snap: Snapshot, tensor: Tensor, named: set[str]) -> bool:
    while tensor.grad_of is not None and tensor.id not in named:
        tensor = snap.tensor(tensor.grad_of)
    return tensor.id in named


def hidden(snap: Snapshot) -> tuple[int, int]:
    """How many storages, and how many bytes, only the graph keeps alive."""
    seen = {storage.id for storage, _ in shown_storages(snap)}
    rest = [storage for storage in snap.storages if storage.id not in seen]
    return len(rest), sum(storage.nbytes for storage in rest)


def title(snap: Snapshot, storage: Storage, members: Sequence[Tensor]) -> str:
    """`one storage, shared by a and b` or `storage of c alone`."""
    names = [label(snap, one.id) for one in members]
    return f"one storage, shared by {listed(names)}" if len(names) > 1 else f"storage of {names[0]} alone"


def size(storage: Storage) -> str:
    """`3 cells of float32 = 12 bytes on cpu`."""
    if not storage.cells:
        return f"no cells, {storage.nbytes} bytes, on {storage.device}"
    cells = f"{plural(storage.cells, 'cell')} of {dtype(storage.dtype)}"
    return f"{cells}, {plural(storage.nbytes, 'byte')}, on {storage.device}"
