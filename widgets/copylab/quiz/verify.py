"""What a teacher's test of an exercise or a prediction found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verification:
    """The result of `verify()`: true if nothing is wrong; prints what was tried and each fault.

    tried: what was tested, in a few words.
    faults: one sentence for each thing that is wrong.
    notes: what is worth knowing and not wrong.
    """

    tried: str
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.faults

    def __repr__(self) -> str:
        state = "Verified" if self else f"{len(self.faults)} fault{'' if len(self.faults) == 1 else 's'} in"
        return "\n".join(
            [f"{state}: {self.tried}.", *(f"  FAULT: {f}" for f in self.faults), *(f"  {n}" for n in self.notes)]
        )
