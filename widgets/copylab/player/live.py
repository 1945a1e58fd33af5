"""The player as a live widget: the same script over the same static form; a trait is the step."""

from __future__ import annotations

from typing import Any

import traitlets

from ..ui import Exhibit, Live
from ..wording import gettext, gettext_noop
from . import static

_HELP = gettext_noop("""\
A player of {steps}: the code, and after each line its memory, its graph and what changed.

Next and Back, the slider, or with the focus in the player the arrow keys, Home and End, go through the steps.
A loop can be gone through round by round or in one go, a call can be stepped over: choose it above the code.

w.step              the step that is shown, from 1; set it and the player follows
w.observe(f, 'step')    f is called whenever another step is shown
w.steps             the run itself: w.steps[0].changes, w.steps.end, print(w.steps.text)
w.close()           takes the widget away; its memory is given back

Try first: go to the line that surprises you, and read what it changed before you look at the picture.""")


class StepsWidget(Exhibit, Live):
    """The player of `Steps.live()`.

    `step` is the number of the step that is shown, from 1: set or observe it.
    """

    SCRIPTS = static.SCRIPTS
    SHEETS = static.SHEETS
    form = traitlets.Unicode(read_only=True, help="The static form that the player reads.").tag(
        sync=True
    )
    step = traitlets.Int(1, help="The step that is shown, from 1.").tag(sync=True)

    def __init__(self, steps: Any, **traits: Any) -> None:
        # Before the model is opened: a view of it may be made at once.
        self._steps = steps
        super().__init__(**traits)

    @traitlets.default("form")
    def _render_form(self) -> str:
        # Images are for readers without scripts; the script draws from the pack, which then has
        # all.
        return str(self._steps.static_form.render_form(images=False))

    @property
    def steps(self) -> Any:
        """The run that the player shows."""
        return self._steps

    @property
    def text(self) -> str:
        """All in words: the code, each step, its changes, its output, its pictures."""
        return str(self._steps.text)

    @property
    def stored_text(self) -> str:
        """Each step in words with what it changed: the text that a notebook stores."""
        return str(self._steps.stored_text)

    @property
    def html(self) -> str:
        """The static form, which turns itself into the player where scripts run."""
        return str(self._steps.html)

    def help(self) -> None:
        """Print what the player can do and what to try first."""
        print(gettext(_HELP, steps=self._steps.summary.partition(": ")[2] or gettext("a program")))

    @traitlets.validate("step")
    def _check_step(self, proposal: Any) -> int:
        steps = getattr(self, "_steps", None)
        step = int(proposal["value"])
        count = steps.last_shown if steps is not None else step
        if not 1 <= step <= max(count, 1):
            raise traitlets.TraitError(f"step must be between 1 and {count}, not {step}")
        return step

    def __repr__(self) -> str:
        return f"StepsWidget({self._steps!r}, step={self.step})"
