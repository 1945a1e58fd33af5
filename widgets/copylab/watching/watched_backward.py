"""Numbers for a finding: a gradient as backward computes it, and from the values as they were when saved.

They are computed before `loss.backward()` runs, and only if the watch has seen a write to what was
saved: other backwards take no longer. A graph frees what it saved while it runs, and the mutex of a
node forbids to run it within itself, so there is no later moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, wraps
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple

from tinytorch.viz import (
    GradientPair,
    RetainedGradients,
    collect_tensors,
    compare_gradients,
    silence_warnings,
)

from ..ranks import find_rank
from ..wording import gettext
from .aliases import copy_locals
from .places import iterate_callers
from .scope import Replacement, find_program_thread, find_watches_of_thread, list_watches

_MAX_FRAMES = 30
_MOST_COMPARISONS = 10
"""So many backwards of one watch are computed in both ways: a training repeats its findings."""


class GradientNumbers(NamedTuple):
    """The gradient of one tensor in numbers."""

    name: str
    """What the program calls the tensor."""
    now: str
    """The gradient as it is computed, "[22, 24, 26]"."""
    from_saved: str
    """The gradient from the values as they were when saved."""

    def __str__(self) -> str:
        return gettext(
            "The gradient of {name} is {now}; from the values as they were when saved, it would be {from_saved}.",
            **self._asdict(),
        )

    def predict_difference(self) -> str:
        """Return the same before backward has run."""
        return gettext(
            "The gradient of {name} will be {now}; from the values as they were when saved, it would be {from_saved}.",
            **self._asdict(),
        )


class MeasuredBackward(NamedTuple):
    """What was computed of a backward before it runs."""

    numbers: tuple[GradientNumbers, ...] = ()
    """The gradients that a write has spoiled, as far as they are small and have a name."""
    is_same: bool = False
    """True if it gives all leaves the gradient from the values as they were when saved."""


class BackwardMeasurement:
    """When one watch computes numbers, and those of the backwards that run."""

    def __init__(self) -> None:
        self.has_new_changes = False
        """True if a write has changed what was saved, since a backward was last computed for it."""
        self.retains_grads = False
        """True once the program has called `retain_grad`: what is run then leaves a trace."""
        self._is_nothing_retained = False
        """True once it was seen that no tensor of the process keeps its gradient."""
        self._count = 0
        """Number of backwards that were computed."""
        self._measured: dict[int, MeasuredBackward] = {}
        """What is known of the backward that runs in a thread."""

    def is_due(self, args: tuple, kwargs: dict[str, Any], has_changed: Callable[[], bool]) -> bool:
        """Return True if the backward that is about to run, with these arguments, is computed.

        has_changed: looks whether something has changed a saved tensor that no operation wrote to.

        Only `loss.backward()` with at most `retain_graph` is: more is rare in a small program.
        """
        if self.retains_grads or self._count >= _MOST_COMPARISONS:
            return False
        is_plain = not args and kwargs.keys() <= {"retain_graph"}
        # A thread that has numbers is within a backward, in that of a reentrant checkpoint.
        if not is_plain or find_program_thread() in self._measured:
            return False
        if not self.has_new_changes and not has_changed():
            return False
        # One of several ranks would wait for the others, which run a backward once.
        return find_rank() is None

    def begin(self, root: Any, frame: FrameType | None) -> None:
        """Compute the numbers of a backward that is about to run; see `measure_gradients`."""
        self.has_new_changes = False
        # Counted whether numbers come of it or not: it is the time that is limited.
        self._count += 1
        measured = measure_gradients(root, frame, self._find_retained)
        self._measured[find_program_thread()] = measured

    def _find_retained(self, engine: Any) -> RetainedGradients:
        """Search all objects once in a watch: what is called later is noted in `retains_grads`."""
        found = RetainedGradients(None if self._is_nothing_retained else engine)
        self._is_nothing_retained = found.is_empty
        return found

    def end(self) -> None:
        """Forget the numbers of a backward that has run."""
        self._measured.pop(find_program_thread(), None)

    def find_measured(self) -> MeasuredBackward:
        """Return what is known of the backward that runs in this thread."""
        return self._measured.get(find_program_thread(), MeasuredBackward())


def measure_gradients(
    root: Any, frame: FrameType | None, find_retained: Callable[[Any], RetainedGradients]
) -> MeasuredBackward:
    """Compute whether a write has spoiled gradients, and which; nothing where that is not known.

    root: what backward begins at. frame: the line that calls it, in whose callers the names are.
    find_retained: as `compare_gradients` takes it.
    """
    if root.numel() != 1:
        # `backward` without a gradient raises.
        return MeasuredBackward()
    # What PyTorch warns of is of no line of the program's.
    with silence_warnings():
        try:
            pairs, is_same = compare_gradients(root, find_retained)
        except Exception:  # noqa: BLE001 - an extra: without numbers the finding is the same
            return MeasuredBackward()
    return MeasuredBackward(tuple(_name_pairs(pairs, frame)) if pairs else (), is_same)


def _name_pairs(
    pairs: Iterable[GradientPair], frame: FrameType | None
) -> Iterable[GradientNumbers]:
    """Yield the pairs of leaves that the callers of backward have a name for."""
    names: dict[int, str] = {}
    for caller in islice(iterate_callers(frame), _MAX_FRAMES):
        for name, tensor in collect_tensors((copy_locals(caller),), {}, None):
            # From the inside out: a tensor has the name that is nearest to the line of backward.
            names.setdefault(id(tensor), name)
    for pair in pairs:
        if id(pair.leaf) in names:
            yield GradientNumbers(names[id(pair.leaf)], pair.now, pair.from_saved)


@cache
def watch_backwards(
    tensor_class: Any, report: Callable[[Any], Any] | None = None
) -> tuple[Replacement, Replacement]:
    """Let watches look at the graph before `backward` of an engine's tensors runs.

    They note `retain_grad`, too: a backward whose gradients are kept cannot be run without a trace.
    report: makes of the engine's `backward` one that reports its runs; None where that is done elsewhere.
    """

    def replace_backward(original: Any) -> Any:
        backward = original if report is None else report(original)

        @wraps(original)
        def backward_measured(self: Any, *args: Any, **kwargs: Any) -> Any:
            watches = find_watches_of_thread()
            measuring = [watch for watch in watches if watch.begin_backward(self, args, kwargs)]
            try:
                return backward(self, *args, **kwargs)  # raises as the engine does
            finally:
                for watch in measuring:
                    watch.measurement.end()

        return backward_measured

    def replace_retain_grad(retain_grad: Any) -> Any:
        @wraps(retain_grad)
        def retain_grad_noted(self: Any) -> Any:
            for watch in list_watches():  # also where another thread than the watch's calls it
                watch.measurement.retains_grads = True
            return retain_grad(self)

        return retain_grad_noted

    return (
        Replacement(tensor_class, "backward", replace_backward),
        Replacement(tensor_class, "retain_grad", replace_retain_grad),
    )
