"""Slots of a picture: of the things in a run that come and go, some take turns in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def assign_slots(steps: Sequence[Iterable[str]]) -> list[list[str]]:
    """Assign slots over time (interval scheduling); returns the names in each slot in turn.

    A thing is visible from the first step that has its name to the last, and keeps its slot
    meanwhile: so nothing jumps while people step through a program. The first slot that is free
    again is reused, as in first-fit interval partitioning, so a run takes little more room than
    its fullest step.
    """
    last_step: dict[str, int] = {}
    for step, names in enumerate(steps):
        last_step |= dict.fromkeys(names, step)
    slots: list[list[str]] = []
    assigned: set[str] = set()
    for step, names in enumerate(steps):
        for name in names:
            if name in assigned:
                continue
            assigned.add(name)
            # By the last thing in a slot: those before it are gone earlier.
            for slot in slots:
                if last_step[slot[-1]] < step:
                    slot.append(name)
                    break
            else:
                slots.append([name])
    return slots
