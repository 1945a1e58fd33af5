"""The player as a live widget: the same script over the same static form; a trait is the step."""

from __future__ import annotations

from functools import partial
from typing import Any

import traitlets

from ..run import describe_error
from ..ui import Exhibit, Live
from ..wording import gettext, gettext_noop
from . import static

_HELP = gettext_noop("""\
A player of {steps}: the code, and after each line its memory, its graph and what changed.

Next and Back, the slider, or, with the focus in the player, the arrow keys, Home and End go through the steps.
You can go through a loop round by round or in one go, and step over a call: choose that above the code.
You can also try another way to copy in place of one in the program, or edit the code: above the code.

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
        self._steps = self._first_steps = steps
        super().__init__(**traits)
        self.on_msg(self._handle_message)

    @traitlets.default("form")
    def _render_form(self) -> str:
        # Images are for readers without scripts; the script draws from the pack, which then has
        # all.
        return str(self._steps.static_form.render_form(images=False))

    def _handle_message(self, _widget: object, content: Any, _buffers: object) -> None:
        """Change the program as a view asks for it, and show the run of the other one."""
        # It comes from a browser, and may be anything.
        match content:
            case {"do": "copy", "chosen": list(chosen), "step": int(step)}:
                change = partial(self._steps.run_other_copies, dict(enumerate(chosen)))
            case {"do": "edit", "code": str(code), "step": int(step)}:
                change = partial(self._first_steps.run_other_code, code)
            case {"do": "reset", "step": int(step)}:
                change = partial(self._first_steps.run_other_copies, {})
            case _:
                return
        problem = ""
        try:
            self._show_run(change(), step)
        # It would be in the log of the server alone, and the view would wait.
        except Exception as error:  # noqa: BLE001
            problem = describe_error(error)
        self.send({"problem": problem})

    def _show_run(self, steps: Any, step: int) -> None:
        """Show another run at a step, counted without the lines that were added above it."""
        # Before anything is set: what it raises leaves the view with the run that it has.
        form = steps.static_form.render_form(images=False)
        self._steps = steps
        with self.hold_sync():
            self.set_trait("form", form)
            self.step = max(1, min(step + steps.added_steps, steps.last_shown))

    @property
    def steps(self) -> Any:
        """The run that the player shows: of the program as it was, or as it was changed."""
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
