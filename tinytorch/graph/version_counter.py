"""Version counters: how backward notices that memory was written to after it was saved.

A tensor, its views and what `detach()` gives of it share one counter; `.data` has a counter of its
own, which is why autograd does not see writes through it. Source: torch's `VariableVersion`
(`c10/core/TensorImpl.h`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .modes import MODES

WRITE_LISTENERS: list[Callable[[Any], None]] = []
"""Called with each tensor that was written to, before its version is raised."""


class VersionCounter:
    """Number of in-place writes to the memory that some tensors share."""

    __slots__ = ("version",)

    is_inference = False

    def __init__(self, version: int = 0) -> None:
        self.version = version

    def add_write(self) -> None:
        """Raise the version by one."""
        self.version += 1

    def version_shown(self) -> int:
        """Return the version as `tensor._version` shows it."""
        return self.version

    def counter_of_view(self) -> VersionCounter:
        """Return the counter of a view of a tensor that has this counter."""
        return self

    def counter_of_detached(self) -> VersionCounter:
        """Return the counter of `detach()` of a tensor that has this counter."""
        return self


class InferenceCounter(VersionCounter):
    """Counter of an inference tensor, which has no version.

    Saving a tensor for backward reads its version, so reading `version` raises the error of saving.
    """

    __slots__ = ()

    is_inference = True

    def __init__(self) -> None:
        pass

    @property  # type: ignore[override] # a slot of the base class, which is never set here
    def version(self) -> int:
        """Raise torch's RuntimeError: an inference tensor cannot be saved for backward."""
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors "
            "created in inference mode in computation tracked by autograd. To work around "
            "this, you can make a clone to get a normal tensor and use it in autograd, or "
            "use `torch.no_grad()` instead of `torch.inference_mode()`."
        )

    @version.setter
    def version(self, value: int) -> None:
        raise RuntimeError(
            "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not "
            "have a version counter. Was it created in inference mode?"
        )

    def add_write(self) -> None:
        """Raise torch's RuntimeError outside of inference mode; inside, nothing is counted."""
        # torch counts after it has written. So the memory is already changed when this is raised,
        # here as there.
        if not MODES.thread.inference:
            raise RuntimeError(
                "Inplace update to inference tensor outside InferenceMode is not "
                "allowed.You can make a clone to get a normal tensor before doing inplace "
                "update.See https://github.com/pytorch/rfcs/pull/17 for more details."
            )

    def version_shown(self) -> int:
        """Raise torch's RuntimeError: there is no version to show."""
        raise RuntimeError("Inference tensors do not track version counter.")

    def counter_of_view(self) -> VersionCounter:
        """Return a counter for a view: another one that counts nothing."""
        return InferenceCounter()

    def counter_of_detached(self) -> VersionCounter:
        """Return a counter for `detach()`.

        Outside of inference mode torch makes one that counts writes.
        """
        return self if MODES.thread.inference else DetachedInferenceCounter()


class DetachedInferenceCounter(InferenceCounter):
    """Counter of what `detach()` and `.data` give of an inference tensor outside of inference mode.

    It counts writes and shows them, but a tensor with it cannot be saved for backward either.
    """

    __slots__ = ("writes",)

    def __init__(self) -> None:
        self.writes = 0

    def add_write(self) -> None:
        """Raise the number of writes by one."""
        self.writes += 1

    def version_shown(self) -> int:
        """Return the number of writes."""
        return self.writes

    def counter_of_detached(self) -> VersionCounter:
        """Return this counter, which a further `detach()` shares."""
        return self


def count_write(tensor: Any) -> None:
    """Count an in-place write to a tensor.

    RuntimeError for an inference tensor outside of inference mode, unless it was made there by
    `detach()` or `.data`.
    """
    for listener in WRITE_LISTENERS:
        listener(tensor)
    tensor._counter.add_write()
