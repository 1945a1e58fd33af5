"""Folding of things in a fixed order: neighbours that are too many to be shown become one entry.

A fold is what belongs to one module, or what is repeated, or, where there is neither, simply a part
of what is long. Folds contain folds; those that take little room are opened, and so are those that
contain what has to be visible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from ..wording import gettext, join_few_names
from .repeats import SHORTEST, choose_repeats, find_repeats

MOST_STRETCHES, MOST_CHUNKS = 40, 16
"""A fold with more parts has them in chunks, and in no more than so many."""
ModulePath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbours in a line: one position, or several that are folded."""

    start: int
    """The first position in the line."""
    stop: int
    """The position after the last."""
    label: str = ""
    """The module, or modules, that it stands for; empty where there is none."""
    times: int = 1
    """How many equal rounds it is made of."""

    @property
    def is_single(self) -> bool:
        """True for a single position."""
        return self.stop - self.start == 1


class FoldableLine:
    """Things in a fixed order that may be folded.

    `paths` has the module of each thing, `sizes` how many entries it takes, `visible` the positions
    that have to be seen, most important first. `room` is the number of entries that are shown, and
    `most_room` the number if more are needed to show what is in `visible`. With `is_backward`, the
    last thing is first. Two things of one kind are equal if `compare(p, q, n)` says how: the n
    things from p on, of the kinds of those from q on.
    """

    def __init__(
        self,
        paths: Sequence[ModulePath],
        sizes: Sequence[int],
        visible: Sequence[int],
        kinds: Iterable[object],
        compare: Callable[[int, int, int], object],
        *,
        room: int,
        most_room: int,
        is_backward: bool = False,
    ) -> None:
        self.paths = paths
        self.sizes = sizes
        self.visible = visible
        self.compare = compare
        self.room = room
        self.most_room = most_room
        self.is_backward = is_backward
        numbers: dict[object, int] = {}
        self._kinds = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
        # A kind of its own for each: what has to be visible must not vanish in "12 times".
        for position in visible:
            # Below 0, where no other kind has its number.
            self._kinds[position] = -position - 1
        self._sums = [0, *accumulate(sizes)]
        self._stretches: dict[tuple[int, int], list[Stretch]] = {}

    def open_stretch(self, start: int, stop: int) -> list[Stretch]:
        """Return the parts of a stretch, opened as far as there is room."""
        stretches = list(self.split(start, stop))
        for position in self.visible:
            if start <= position < stop:
                self._open_down_to(stretches, position)
        while True:
            # The smallest first: so most folds are opened.
            costs = []
            for index, stretch in enumerate(stretches):
                if not stretch.is_single:
                    inner = self.split(stretch.start, stretch.stop)
                    costs.append((self._count_entries(inner), index))
            if not any(
                self._replace_stretch(stretches, index, self.room) for _, index in sorted(costs)
            ):
                return stretches

    def _open_down_to(self, stretches: list[Stretch], position: int) -> None:
        is_opened = True
        while is_opened:
            # Opened down to the position itself, as far as there is room.
            index = 0
            while stretches[index].stop <= position:
                index += 1
            is_opened = self._replace_stretch(stretches, index, self.most_room)

    def _replace_stretch(self, stretches: list[Stretch], index: int, room: int) -> bool:
        """Replace a part by what is in it, if that fits; return True if it was replaced."""
        stretch = stretches[index]
        if stretch.is_single or stretch.times > 1:
            return False
        inner = self.split(stretch.start, stretch.stop)
        fits = self._count_entries(stretches) - 1 + self._count_entries(inner) <= room
        if fits:
            stretches[index : index + 1] = inner
        return fits

    def _count_entries(self, stretches: Iterable[Stretch]) -> int:
        return sum(self.sizes[stretch.start] if stretch.is_single else 1 for stretch in stretches)

    def split(self, start: int, stop: int) -> list[Stretch]:
        """Split a stretch into modules, repeats and single things."""
        # Remembered, because opening folds asks for the same stretches again and again.
        if (start, stop) not in self._stretches:
            stretches: list[Stretch] = []
            for stretch in self._join_repeats(self._split_by_module(start, stop)):
                if stretch.times > 1 or self.size(stretch) >= SHORTEST:
                    stretches.append(stretch)
                else:
                    stretches += [
                        Stretch(position, position + 1)
                        for position in range(stretch.start, stretch.stop)
                    ]
            self._stretches[start, stop] = (
                self._join_chunks(stretches) if len(stretches) > MOST_STRETCHES else stretches
            )
        return self._stretches[start, stop]

    def size(self, stretch: Stretch) -> int:
        """Return the number of entries that a stretch takes if all of it is shown."""
        return self._sums[stretch.stop] - self._sums[stretch.start]

    def _split_by_module(self, start: int, stop: int) -> list[Stretch]:
        """Split a stretch by the first part of the paths in which its modules differ."""
        # Only one level deeper: net.layers opens into layers.0, layers.1 and so on.
        depth = len(common_path([path for path in self.paths[start:stop] if path]))

        def module_at(position: int) -> ModulePath | int:
            path = self.paths[position]
            # By its own position what has no module deeper is grouped with no neighbour.
            if len(path) > depth:
                return path[: depth + 1]
            return position

        stretches = []
        for module, group in groupby(range(start, stop), module_at):
            positions = list(group)
            label = "" if isinstance(module, int) else ".".join(module)
            stretches.append(Stretch(positions[0], positions[-1] + 1, label))
        return stretches

    def _join_chunks(self, stretches: list[Stretch]) -> list[Stretch]:
        # Rounded up, or there would be one chunk more.
        size = max(SHORTEST, -(-len(stretches) // MOST_CHUNKS))
        joined = []
        for start in range(0, len(stretches), size):
            chunk = stretches[start : start + size]
            if len(chunk) == 1:
                joined += chunk
                continue
            has_labels = all(stretch.label for stretch in chunk)
            label = self._join_labels(chunk, chunk) if has_labels else ""
            joined.append(Stretch(chunk[0].start, chunk[-1].stop, label))
        return joined

    def _join_repeats(self, stretches: list[Stretch]) -> list[Stretch]:
        """Join equal neighbours, where that saves entries."""

        def compare_stretches(index: int, other_index: int) -> object:
            first = stretches[index]
            return self.compare(first.start, stretches[other_index].start, first.stop - first.start)

        def size_of_stretches(start: int, stop: int) -> int:
            return self.size(Stretch(stretches[start].start, stretches[stop - 1].stop))

        kinds = [self._kinds[stretch.start : stretch.stop] for stretch in stretches]
        joined = list(stretches)
        repeats = choose_repeats(find_repeats(kinds, compare_stretches, size_of_stretches))
        # From the back, so that the positions before stay as they are.
        for repeat in sorted(repeats, key=lambda chosen: chosen.start, reverse=True):
            rounds = stretches[repeat.start : repeat.stop]
            label = self._join_labels(rounds[: repeat.length], rounds[-repeat.length :])
            stretch = Stretch(rounds[0].start, rounds[-1].stop, label, repeat.times)
            joined[repeat.start : repeat.stop] = [stretch]
        return joined

    def _join_labels(self, first: Sequence[Stretch], last: Sequence[Stretch]) -> str:
        """Name the modules of the first and the last round of what is repeated: `net.layers.0 to 11`.

        In the order of forward, in which people read modules.
        """
        if self.is_backward:
            first, last = last[::-1], first[::-1]
        first_labels = [stretch.label for stretch in first if stretch.label]
        last_labels = [stretch.label for stretch in last if stretch.label]
        if not first_labels or first_labels[-1] == last_labels[-1]:
            if len(first_labels) < 4:
                return join_few_names(first_labels)
            return ".".join(common_path([tuple(label.split(".")) for label in first_labels]))
        start, stop = first_labels[0], last_labels[-1]
        parent, _, end = stop.rpartition(".")
        # The whole path only if it differs: `net.layers.0 to 11`, but `enc.3 to dec.3`.
        if start.rpartition(".")[0] != parent:
            end = stop
        return gettext("{first} to {last}", first=start, last=end)


def common_path(paths: Sequence[ModulePath]) -> ModulePath:
    """Return the path that all of them begin with."""
    if not paths:
        return ()
    # What the first and the last in order have in common, all between them have too.
    low, high = min(paths), max(paths)
    for depth, (part, other) in enumerate(zip(low, high, strict=False)):
        if part != other:
            return low[:depth]
    return low[: min(len(low), len(high))]


def module_path(name: str) -> ModulePath:
    """Split `net.layers.3.mlp` into `net`, `layers.3`, `mlp`.

    A number stays with the list that it is in: so the modules of a list are neighbours.
    """
    name_parts: list[str] = []
    for name_part in filter(None, name.split(".")):
        # Of `a.0.1`, a list in a list, the second number is a part of its own.
        if name_part.isdigit() and name_parts and not name_parts[-1].rpartition(".")[2].isdigit():
            name_parts[-1] += f".{name_part}"
        else:
            name_parts.append(name_part)
    return tuple(name_parts)
