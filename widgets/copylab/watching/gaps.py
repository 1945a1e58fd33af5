"""What a watch could not look at, or knows by halves: counted, and said at its end."""

from __future__ import annotations

import threading
from collections import Counter

from tinytorch.viz import join_few_names

from ..wording import ngettext
from .places import Place


class WatchGaps:
    """Counts of what a watch did not see."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        """Held where a thread changes a count."""
        # Whatever is counted here is no finding, and must not be silent: who reads "no finding"
        # believes that all was looked at.
        self.threads_not_attached = 0
        """Threads that ended with an engine imported and not attached."""
        self.unseen_saves: Counter[str] = Counter()
        """Tensors that were saved inside of hooks of the program's own, by the kind of hooks."""
        # By line, and not by step: one line of a hook does it again in each of a thousand steps.
        self.gradient_writes: Counter[Place] = Counter()
        """Lines of hooks and Functions that wrote into a gradient that something else held, too."""
        self.rerun_count = 0
        """Reentrant checkpoints that ran their function again."""
        self.steps_aside: Counter[str] = Counter()
        """What ran without hooks, and how often: torch.func, or blocks of the program's own."""

    def count_thread(self) -> None:
        """Count a thread that was not watched."""
        with self._lock:
            self.threads_not_attached += 1

    def count_unseen_save(self, kind: str) -> None:
        """Count a tensor that is saved inside of hooks of the program's own, and cannot be compared."""
        with self._lock:
            self.unseen_saves[kind] += 1

    def count_shared_gradient(self, place: Place | None) -> None:
        """Count a write into a gradient that something else holds, too."""
        if place is not None:
            with self._lock:
                self.gradient_writes[place] += 1

    def count_rerun(self) -> None:
        """Count a reentrant checkpoint that runs its function again: nothing was saved to compare with."""
        with self._lock:
            self.rerun_count += 1

    def count_step_aside(self, name: str) -> None:
        """Count what runs while the hooks are off."""
        with self._lock:
            self.steps_aside[name] += 1

    def describe(self, save_count: int) -> list[str]:
        """Return a sentence for each kind. save_count: how many saved tensors were seen."""
        sentences = []
        if self.threads_not_attached:
            sentences.append(
                ngettext(
                    "{number} thread was not watched: PyTorch was imported in another one after it had started.",
                    "{number} threads were not watched: PyTorch was imported in another one after they had started.",
                    self.threads_not_attached,
                )
            )
        if self.unseen_saves:
            sentences.append(self._describe_unseen_saves(save_count))
        sentences += [
            _describe_gradient_write(place, times) for place, times in self.gradient_writes.items()
        ]
        if self.rerun_count:
            sentences.append(
                ngettext(
                    "{number} reentrant checkpoint ran again: it was not seen whether it read the same as before.",
                    "{number} reentrant checkpoints ran again: it was not seen whether they read the same as before.",
                    self.rerun_count,
                )
            )
        sentences += [
            ngettext(
                "{name} ran once: what was saved meanwhile was not seen.",
                "{name} ran {number} times: what was saved meanwhile was not seen.",
                times,
                name=name,
            )
            for name, times in self.steps_aside.items()
        ]
        return sentences

    def _describe_unseen_saves(self, save_count: int) -> str:
        unseen = self.unseen_saves.total()
        return ngettext(
            "{number} of {total} saved tensors was not seen, inside of hooks of the program's own: {kinds}.",
            "{number} of {total} saved tensors were not seen, inside of hooks of the program's own: {kinds}.",
            unseen,
            total=f"{save_count + unseen:,}",
            kinds=join_few_names(
                f"{kind} ({number:,})" for kind, number in self.unseen_saves.most_common()
            ),
        )


def _describe_gradient_write(place: Place, times: int) -> str:
    return ngettext(
        "A hook or a backward wrote into the gradient that it was given, once ({place}), while something "
        "else held the same tensor: the gradient of another branch may have changed with it. Return a new tensor.",
        "A hook or a backward wrote into the gradient that it was given, {number} times ({place}), while something "
        "else held the same tensor: the gradient of another branch may have changed with it. Return a new tensor.",
        times,
        place=place.label,
    )
