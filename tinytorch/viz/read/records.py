"""The records that a snapshot is made of: Tensor, Storage, Counter, Node, Saved.

Everything here is numbers, strings and tuples. What is to be said later, such as the line that wrote
to a saved tensor, is a `Phrase`, in no language yet. No record refers to a tensor, a storage or a graph
node of the program, so a snapshot keeps nothing of the user's alive, and a picture can be drawn
from it long after the tensors are gone.

Ids count up in the order of first sight: T1 for tensors, S1 for storages, C1 for version counters,
N1 for graph nodes. They are never addresses, so the same program gives the same snapshot in every
run and under every engine. In the snapshots of the steps of one run, a tensor that is alive has the
same id in all of them (`NameObserver` in `widgets/copylab/player/frames.py` sees to that).

The names of these classes and of their fields are public: users read them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, islice, product
from typing import Any, NamedTuple

from ..wording import Phrase
from .cell_summary import CellSummary
from .graph_exits import GraphExit

IdentityKey = Any
"""Equal in two snapshots for the same object (see `identity.identity_key`). Never shown."""


class GradientSpec(NamedTuple):
    """Shape and dtype that the gradient of one output of a node must have."""

    shape: tuple[int, ...]
    dtype: str
    """Without `torch.`, as NumPy calls it (`float32`); `TensorRecord.dtype` has it."""


class Axis(NamedTuple):
    """Size and stride of one dimension of a tensor."""

    size: int
    """Number of elements along it."""
    stride: int
    """Elements of memory from one to the next; 0 where it is expanded."""


@dataclass(frozen=True, slots=True)
class TensorRecord:
    """One tensor object: its geometry, its storage, its node of the graph."""

    id: str
    """T1, T2: by which the other records refer to it."""
    names: tuple[str, ...]
    """What the caller calls it, the first name first; none for what only the graph leads
    to."""
    shape: tuple[int, ...] | None
    """None for a nested tensor, whose rows differ in size."""
    stride: tuple[int, ...] | None
    """In elements, one for each dimension; None without a storage."""
    offset: int | None
    """Its `storage_offset()`, in elements, from where its own storage object begins; None without a
    storage. In a storage record with several `objects` that is not where the record begins: there
    `start_byte` says where the tensor is."""
    dtype: str
    """As str() has it: "torch.float32"."""
    itemsize: int
    """Bytes of one element."""
    device: str
    """As str() has it: "cpu", "cuda:0"."""
    requires_grad: bool
    """What the tensor says of itself."""
    is_leaf: bool | None
    """None where the engine refuses to answer: a view whose history became invalid."""
    storage: str | None
    """The id of its storage; None where it has none, or none to look at."""
    start_byte: int
    """Byte of element 0, counted from the beginning of the storage record."""
    counter: str | None
    """The id of its version counter; None for an inference tensor, which has none."""
    version: int | None
    """What its version counter has counted; None without one."""
    grad_fn: str | None
    """The id of its node; None for a leaf, and for a node that was not read."""
    grad_fn_name: str | None
    """The name of its node, also of one that was not read."""
    output_nr: int
    """Which output of its grad_fn it is."""
    grad: str | None
    """The id of its .grad."""
    grad_of: str | None
    """The id of the first tensor that has this one as its .grad."""
    base: str | None
    """The tensor that this one is a view of, if the snapshot contains it."""
    is_view: bool
    """True if it has a `_base`, whether the snapshot contains that or not. What `detach` and `.data`
    give has none, although it looks at the storage of another."""
    role: str = "named"
    """"named", "grad" (found as .grad), "leaf" (found through AccumulateGrad) or "saved"."""
    is_module_state: bool = False
    """True for what a module holds besides parameters: a buffer, a tensor in an attribute."""
    notes: tuple[str, ...] = ()
    """What else there is to say of it: its subclass, lazy bits, why it has no storage."""
    optimizer_paths: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Where optimizers that were given hold it: `opt.param_groups[0]["params"][2]`."""
    exits: tuple[GraphExit, ...] | None = field(default=None, compare=False, repr=False)
    """Of a leaf that requires grad, where its values left the graph; None if no watch was on."""
    made_by: str = field(default="", compare=False, repr=False)
    """Of such a leaf, the line that made it as a parameter, where a watch has seen that."""
    key: IdentityKey = field(default=None, compare=False, repr=False)
    """See `IdentityKey`."""

    @property
    def holds_graph_in_module(self) -> bool:
        """True for a buffer or attribute of a module that was computed: it keeps its graph alive."""
        return self.is_module_state and self.grad_fn_name is not None

    @property
    def numel(self) -> int:
        """Number of elements: 1 for a 0-d tensor, 0 where the shape is not known."""
        if self.shape is None:
            return 0
        return math.prod(self.shape)

    def axes(self) -> list[Axis]:
        """Return size and stride of each dimension; nothing where they are not known."""
        return list(map(Axis, self.shape or (), self.stride or ()))

    def elements(self, limit: int) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield (index, byte in the storage) of the first `limit` elements, in row-major order."""
        if self.stride is None or self.shape is None:
            return
        # product() writes each range out as a tuple: bounded by `limit`, or a tensor of ten
        # million elements takes seconds although 24 are asked for.
        ranges = (range(min(size, limit)) for size in self.shape)
        for index in islice(product(*ranges), limit):
            cells = sum(i * step for i, step in zip(index, self.stride, strict=True))
            yield index, self.start_byte + cells * self.itemsize

    def index_at(self, byte: int) -> tuple[int, ...] | None:
        """Return the index of an element that begins at `byte` of the storage; None if none does."""
        if self.stride is None or self.shape is None or not self.numel:
            return None
        cells_left, byte_in_cell = divmod(byte - self.start_byte, self.itemsize)
        if byte_in_cell or cells_left < 0:
            return None
        # The largest stride first; of equal strides the later dimension.
        moving_axes = [
            (axis.stride, -d, axis.size) for d, axis in enumerate(self.axes()) if axis.stride
        ]
        steps = _split_into_steps(cells_left, sorted(moving_axes, reverse=True))
        if steps is None:
            return None
        index = [0] * len(self.shape)
        for minus_dimension, step in steps:
            index[-minus_dimension] = step
        return tuple(index)

    def elements_per_cell(self) -> int:
        """Return how many elements share one cell through strides of 0: 1 unless expanded."""
        return math.prod(axis.size for axis in self.axes() if not axis.stride and axis.size > 1)

    def is_in_order(self) -> bool:
        """Return True if row-major order goes forwards in the storage, to no cell twice.

        Gaps may lie between, as in `m[:, ::2]`: not all of these tensors are contiguous, see
        `is_contiguous`.
        """
        span = 1
        # The stride of a dimension of size 1 is never used, and may be any number.
        for axis in reversed([axis for axis in self.axes() if axis.size != 1]):
            if axis.stride < span:
                return False
            span = axis.stride * axis.size
        return True

    def is_contiguous(self) -> bool:
        """Return what its `is_contiguous()` says: row-major order goes from one cell to the next."""
        if self.stride is None:
            return False
        expected = 1
        for axis in reversed(self.axes()):
            # As in PyTorch, the stride of a dimension of size 1 does not matter.
            if axis.size == 1:
                continue
            if axis.stride != expected:
                # Of a tensor without elements no stride does.
                return not self.numel
            expected *= axis.size
        return True

    def jumps_in_storage(self) -> bool:
        """Return True if row-major order goes back and forth in the storage, to each cell once."""
        return self.stride is not None and self.elements_per_cell() == 1 and not self.is_in_order()

    def fills(self, nbytes: int) -> bool:
        """Return True if its elements are all cells of a storage of this size, in any order."""
        cells = 1
        # A stride of 0 shows no further cell, and that of a dimension of size 1 is never used.
        for axis in sorted(self.axes(), key=lambda axis: axis.stride):
            if axis.size == 1 or axis.stride == 0:
                continue
            if axis.stride != cells:
                return False
            cells *= axis.size
        return bool(self.numel) and not self.start_byte and cells * self.itemsize == nbytes

    def stop_byte(self) -> int:
        """Return the byte after the furthest element, counted as `start_byte` is."""
        furthest = sum((axis.size - 1) * axis.stride for axis in self.axes())
        return self.start_byte + (1 + furthest) * self.itemsize

    def overlaps(self, other: TensorRecord) -> bool:
        """Return True if the stretches from first to last byte of two tensors of one storage meet.

        Two columns of a matrix do, and share no cell: see `Snapshot.shares_cells`.
        """
        if not self.numel or not other.numel or self.stride is None or other.stride is None:
            return False
        return self.start_byte < other.stop_byte() and other.start_byte < self.stop_byte()


def _split_into_steps(
    distance: int, axes: list[tuple[int, int, int]]
) -> list[tuple[int, int]] | None:
    """Return how many steps of each stride make a distance; None if none do.

    As digits of a number, unless strides overlap (`as_strided`): then fewer of a large stride may
    be right. An axis is its stride, minus its dimension, and its size.
    """
    if not axes:
        if distance:
            return None
        return []
    (stride, minus_dimension, size), *others = axes
    furthest = sum((size - 1) * stride for stride, _, size in others)
    most = min(distance // stride, size - 1)
    for step in range(most, -1, -1):
        left = distance - step * stride
        if left > furthest:
            break
        steps = _split_into_steps(left, others)
        if steps is not None:
            return [(minus_dimension, step), *steps]
    return None


@dataclass(frozen=True, slots=True)
class CellRun:
    """Neighbouring cells of a storage: the number of the first one and the values of all."""

    start: int
    """The number of the first cell."""
    values: tuple[Any, ...]
    """Python numbers, one for each cell."""

    @property
    def stop(self) -> int:
        """The cell after the last one."""
        return self.start + len(self.values)


@dataclass(frozen=True, slots=True)
class StorageRecord:
    """One block of memory. `runs` has only the cells that are worth showing."""

    id: str
    """S1, S2: by which tensors refer to it."""
    nbytes: int
    """Size in bytes, that of all storage objects over this memory together: where there are several
    (`objects`), no record has the size of one."""
    device: str
    """As str() has it."""
    dtype: str
    """That of its first tensor; its cells have it."""
    itemsize: int
    """Bytes of one cell."""
    cells: int
    """Number of cells of that size; a tensor of another dtype sees more or fewer."""
    runs: tuple[CellRun, ...]
    """The cells that were read, as far as they are worth showing."""
    tensors: tuple[str, ...]
    """The ids of the tensors over it."""
    objects: int = 1
    """Number of storage objects over this memory: 2 and more after from_numpy and the like."""
    notes: tuple[str, ...] = ()
    """Why values were not read, and what writes no counter counts."""
    arrays: tuple[str, ...] = ()
    """Names of the NumPy arrays over this memory."""
    key: IdentityKey = field(default=None, compare=False, repr=False)
    """See `IdentityKey`."""
    summary: CellSummary | None = None
    """Numbers about all cells, where only some are in `runs`; None where they were not read."""
    checksum: int | None = field(default=None, compare=False, repr=False)
    """Of all cells, where only some are in `runs`; None where they were not read."""

    def count_not_finite(self) -> tuple[int, int]:
        """Return how many cells are NaN, and how many infinite, of those that were read."""
        if self.summary is not None:
            return self.summary.nan, self.summary.infinite
        values = chain.from_iterable(run.values for run in self.runs)
        floats = [value for value in values if isinstance(value, float)]
        return sum(map(math.isnan, floats)), sum(map(math.isinf, floats))

    def value(self, cell: int) -> tuple[bool, Any]:
        """Return (True, the value of `cell`), or (False, None) if it was not read."""
        for run in self.runs:
            if run.start <= cell < run.stop:
                return True, run.values[cell - run.start]
        return False, None


class OverlapIndex:
    """Some tensors over one storage, by where each begins and ends.

    Thousands of rows of one matrix are sought for each of thousands of others: compared pair by
    pair, 1,000 took 10 seconds.
    """

    def __init__(self, tensors: Sequence[TensorRecord]) -> None:
        self._order = {tensor.id: index for index, tensor in enumerate(tensors)}
        self._tensors = sorted(tensors, key=lambda tensor: tensor.start_byte)
        self._starts = [tensor.start_byte for tensor in self._tensors]
        self._furthest = list(accumulate((tensor.stop_byte() for tensor in self._tensors), max))
        """For each tensor, where the furthest of those up to it ends."""

    def find_overlapping(self, tensor: TensorRecord) -> list[TensorRecord]:
        """Return those of the tensors that overlap one over the same storage, in their order."""
        start, stop = tensor.start_byte, tensor.stop_byte()
        found = []
        index = bisect_left(self._starts, stop)
        # Where this ends, none of the tensors before it reaches so far.
        while index and self._furthest[index - 1] > start:
            index -= 1
            if self._tensors[index].overlaps(tensor):
                found.append(self._tensors[index])
        return sorted(found, key=lambda other: self._order[other.id])


@dataclass(frozen=True, slots=True)
class Counter:
    """One version counter and the tensors that share it."""

    id: str
    """C1, C2: by which tensors refer to it."""
    version: int
    """How many writes it has counted."""
    tensors: tuple[str, ...]
    """The ids of the tensors that share it."""


@dataclass(frozen=True, slots=True)
class SavedRecord:
    """A tensor or number that a node saved for backward.

    Backward opens what a node saved (PyTorch: unpacks it) before it reads values of it. A tensor that
    is stale, freed or detached raises when it is opened, whether a value is read then or not.
    `is_opened` and `is_read` say which of the two backward does. Of one that is stale, freed or detached:

    is_opened  raises  may_raise  what is said (`phrase_consequence`)
    True       True    True       backward will raise (or `has_raised`)
    None       None    True       backward raises if it opens it
    False      False   False      its backward does not open it

    Of all other states `raises` and `may_raise` are False.

    `state` is one of:

    live        no write was counted since it was saved; see `was_written_unseen`
    stale       its memory was written to after it was saved, and its counter counted that
    detached    `detach_` cut it off its history after it was saved
    freed       an earlier backward released it
    number      plain data
    packed      a saved-tensor hook has it, and looking would call the hook
    once        a custom Function gives it out a single time, and looking would use that up
    unreadable  reading it raised
    """

    name: str
    """What the node calls it ("self", "result", "tensors[0]"): its attribute without `_saved_`."""
    state: str
    tensor: str | None = None
    """The id of the tensor; None for a number, and for what cannot be looked at."""
    saved_version: int | None = None
    """The tensor's version when it was saved; None if it is not known."""
    version: int | None = None
    """The tensor's version now; higher than `saved_version` where it is stale, or lower where the
    program has put its counter back."""
    value: Any = None
    """Of a number, also of one that the engine wrapped in a 0-d tensor."""
    is_read: bool = True
    """False if backward reads no value of it, though it may check its version: the running
    statistics of a BatchNorm in training. A write that no counter counted is then no hazard."""
    is_partly_read: bool = False
    """True if backward reads only signs of it, or which value is larger (`FormulaUse`)."""
    is_opened: bool | None = True
    """False if backward cannot open it, None if it may or may not: what a Function in Python saved,
    whose backward does as it likes. Where it is stale, freed or detached, this is `raises`."""
    # The fields with compare=False are of the look, and not of what was saved: with `since`, under a watch,
    # after an error. So they do not make two records differ. `compare_snapshots` asks for state and version alone.
    checksum_now: tuple[str, int] | None = field(default=None, compare=False, repr=False)
    """Geometry, and a checksum of its bytes; None where these were not read. The geometry is its
    shape, stride and dtype, and whether it is without history: "(3,) (1,) torch.float32 True"."""
    checksum_then: tuple[str, int] | None = field(default=None, compare=False, repr=False)
    """The same in the first of the snapshots that `since` leads back to; None if not in there. Under
    a watch, that at the save, or a stand-in that differs if the bytes were changed."""
    compared_with_save: bool = field(default=False, compare=False, repr=False)
    """True if `checksum_then` is that at the save, which only a watch knows, and not an earlier look's."""
    compared_in_part: bool = field(default=False, compare=False, repr=False)
    """True if a watch saw no write to it, and has not compared all of its bytes with those at the save."""
    not_read: Phrase | None = field(default=None, compare=False, repr=False)
    """Why its bytes were not read, or not compared by the watch that saw a write."""
    line_to_blame: Phrase | None = field(default=None, compare=False, repr=False)
    """The first line that made it stale or changed its bytes ("train.py, line 12"), if a watch saw it."""
    index_state: str = ""
    """Of an index that was changed unseen: "fits" or "out of range"; empty if that is not known."""
    refusal: Phrase | None = None
    """Of a packed one: why the hook that unpacks it raises."""
    doubt: Phrase | None = None
    """Why its state is not sure. Of a packed one: why it is not known what the hook does, or why that
    raises if backward opens it, which it may not. Of a live one: that it may have been detached."""
    change: Phrase | None = None
    """Of a packed one: why the hook gives back other values than it was given."""
    has_raised: bool = field(default=False, compare=False, repr=False)
    """True if a backward is known to have raised because of it: see `mark_raised`."""

    @property
    def raises(self) -> bool | None:
        """True if backward raises because of it; None if that depends on whether it opens it."""
        if self.state not in ("stale", "freed", "detached"):
            return False
        return self.is_opened

    @property
    def may_raise(self) -> bool:
        """True if backward raises because of it, or does so where it opens it."""
        return self.raises is not False

    @property
    def has_hazard(self) -> bool:
        """True if backward may raise because of it, or computes from what was changed unseen."""
        is_refused = bool(self.refusal) and self.is_opened is not False
        return self.may_raise or is_refused or self.was_written_unseen

    @property
    def bytes_unchanged(self) -> bool | None:
        """True if its bytes are those of the first snapshot with it; None if not compared."""
        now, earlier = self.checksum_now, self.checksum_then
        # Another geometry (detached in place, resized) is not another value of the same bytes.
        if now is None or earlier is None or now[0] != earlier[0]:
            return None
        return now == earlier

    @property
    def was_written_unseen(self) -> bool:
        """True if its bytes are known to be others, though its version is that of the save."""
        return self.bytes_unchanged is False


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """What the code of a Function's backward shows without being run."""

    label: str
    """Such as "Square.backward (train.py:7)"."""
    reads_saved: bool | None
    """True if it reads `ctx.saved_tensors` first of all, False if it cannot, else None."""
    is_trusted: bool
    """True if it raises nothing of its own: its arithmetic fits all shapes, or it is PyTorch's."""
    kept_attributes: tuple[str, ...] = ()
    """The attributes of `ctx` whose values are in the gradients that it returns."""
    refusal: Phrase | None = None
    """Why it is sure to raise; None if it is not."""
    unsent: tuple[int, ...] = ()
    """The positions of the edges along which no gradient goes: for these inputs it returns None."""


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One node of the autograd graph."""

    id: str
    """N1, N2: counted anew in each snapshot."""
    name: str
    """As `node.name()` has it."""
    edges: tuple[str | None, ...]
    """Its next_functions, in order; None where no gradient is needed."""
    saved: tuple[SavedRecord, ...]
    """All that it keeps for backward."""
    variable: str | None
    """The leaf whose .grad this node (an AccumulateGrad) adds to."""
    tensors: tuple[str, ...]
    """The tensors of the snapshot that have this node as their grad_fn."""
    is_reader_stopped: bool = False
    """True where the reader stopped here because the graph is too large."""
    module: str | None = None
    """Path of the module whose forward made it ("layers.3.attn"), if `modules` noted it."""
    doubts: tuple[str, ...] = ()
    """Why it cannot be known what the node will do in backward. In words, and no phrases: `explain` alone
    says them, and it reads its snapshot itself, so they are said in the language in which they were read."""
    hides_saved: bool = False
    """True for a kind of node that does not show what it saved."""
    refusals: tuple[Phrase, ...] = ()
    """Why the node raises as soon as a gradient arrives, whatever it saved."""
    function: FunctionRecord | None = None
    """Of a Function in Python: what its backward is known to do."""
    gradient_specs: tuple[GradientSpec | None, ...] = ()
    """For each of its outputs, what the gradient must be; None or nothing where it is not known."""
    edge_outputs: tuple[int, ...] = ()
    """For each edge, which output of the node there it belongs to."""
    input_shapes: tuple[tuple[int, ...] | None, ...] = ()
    """The shapes of the gradients that it sends along its edges, as far as they are known."""
    sequence_nr: int = field(default=0, compare=False, repr=False)
    """The higher, the earlier backward visits it, among nodes that wait for nothing."""
    key: IdentityKey = field(default=None, compare=False, repr=False)
    """Equal in two snapshots for the same node; two threads may make nodes with equal
    keys."""

    @property
    def ends(self) -> list[str]:
        """The nodes that its edges go to."""
        return [edge for edge in self.edges if edge is not None]
