"""Places of things in the pictures of a run, where some come and go from step to step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def assign_places(steps: Sequence[Iterable[str]]) -> list[list[str]]:
    """Assign places over time (interval scheduling); returns the names at each place in turn.

    A thing is visible from the first step that has its name to the last, and keeps its place
    meanwhile: so nothing jumps while people step through a program. The first place that is free
    again is reused, as in first-fit interval partitioning, so a run takes little more room than
    its fullest step.
    """
    last_step: dict[str, int] = {}
    for step, names in enumerate(steps):
        last_step |= dict.fromkeys(names, step)
    places: list[list[str]] = []
    placed: set[str] = set()
    for step, names in enumerate(steps):
        for name in names:
            if name in placed:
                continue
            placed.add(name)
            # By the last thing at a place: those before it are gone earlier.
            free = next((place for place in places if last_step[place[-1]] < step), None)
            if free is None:
                places.append([name])
            else:
                free.append(name)
    return places
