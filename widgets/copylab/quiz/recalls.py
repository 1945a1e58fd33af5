"""The question of an earlier lesson that opens a lesson; once answered, it comes back as it was."""

from __future__ import annotations

import contextlib
from types import ModuleType

from ..run import choose_engine
from ..wording import gettext_noop
from .misconceptions import Misconception
from .prediction import Retest
from .progress import add_note, find_note
from .reveal import Reveal

# Not translated here: a module of a lesson is imported once, whatever the language is later.
_TITLE = gettext_noop("From an earlier lesson: what does this program do?")
_TYPES_OF_FIELDS: dict[str, type] = {
    "misconception": str,
    "seed": int,
    "number": int,
    "code": str,
    "answers": dict,
}
"""What a note has to have for the question to be asked again as it was."""


class Recall(Retest):
    """A retest that opens a lesson, and whose answer is noted with what drew its program.

    A right answer settles a misconception by itself: after a lesson or more, without what led to it
    in sight, it says more than a second one in the same minute.

    lesson: the lesson that it opens, `"clone"`. The others as in `Retest`.
    """

    RIGHT_TO_SETTLE = 1

    def __init__(
        self,
        lesson: str,
        tested_misconception: Misconception | str,
        *,
        seed: int | None = None,
        number: int | None = None,
    ) -> None:
        self._lesson = lesson
        super().__init__(
            tested_misconception,
            seed=seed,
            number=number,
            origin=f"{lesson}/recall",
            title=_TITLE,
        )

    def _note_progress(self, reveal: Reveal) -> None:
        """Note as any retest does and, of the first answer, all that brings it back."""
        is_first = self._is_first_answer
        super()._note_progress(reveal)
        if is_first:
            note = {
                "misconception": self.tested_misconception.name,
                "seed": self._seed,
                "number": self._number,
                "code": self.code,
                "answers": dict(self.answers),
                "settled": self._missing_if_right == 0 and reveal.right == len(self.questions),
            }
            add_note("recalls", self._lesson, note)

    def restore(self, engine: ModuleType | None = None) -> bool:
        """Take the answer from the progress file, if it is one to this very program.

        Return True if it is.
        """
        note = find_note("recalls", self._lesson)
        if self.reveal is not None or note.get("code") != self.code:
            return False
        # What is answered from now on is answered with the right answer on the screen.
        self._is_first_answer = False
        # A file that somebody has changed may have anything there.
        with contextlib.suppress(KeyError, ValueError, TypeError):
            texts = self._parse_answers(note["answers"])
            self._judge_and_reveal(texts, choose_engine(engine, self._engine))
            self._missing_if_right = 0 if note.get("settled") else None
            return True
        return False


def find_answered_recall(lesson: str) -> Recall | None:
    """Return the recall that was answered in a lesson; None if there is none.

    None, too, where its misconception or its program is of another edition of the course.
    """
    note = find_note("recalls", lesson)
    if not all(type(note.get(field)) is kind for field, kind in _TYPES_OF_FIELDS.items()):
        return None
    with contextlib.suppress(KeyError, ValueError):
        answered = Recall(lesson, note["misconception"], seed=note["seed"], number=note["number"])
        if answered.code == note["code"]:
            return answered
    return None
