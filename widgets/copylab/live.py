"""The player as a live widget: the same script over the same static form, with the step as a trait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from . import static

if TYPE_CHECKING:
    from .stepping import Steps


class StepsWidget(anywidget.AnyWidget):
    """The player of `Steps.live()`. `step` is the step that is shown, from 1; set it or observe it."""

    _esm = static.script()
    _css = static.style()
    form = traitlets.Unicode(read_only=True, help="The static form that the player reads.").tag(sync=True)
    step = traitlets.Int(1, help="The step that is shown, from 1.").tag(sync=True)

    def __init__(self, steps: Steps, **traits: Any) -> None:
        super().__init__(**traits)
        self._steps = steps
        self.set_trait("form", static.form(steps.code, steps.frames, steps.summary, steps.end))

    @traitlets.validate("step")
    def _within(self, proposal: Any) -> int:
        steps = getattr(self, "_steps", None)
        step = int(proposal["value"])
        count = len(steps) if steps is not None else step
        if not 1 <= step <= max(count, 1):
            raise traitlets.TraitError(f"step must be between 1 and {count}, not {step}")
        return step

    def __repr__(self) -> str:
        return f"StepsWidget({self._steps!r}, step={self.step})"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        made = super()._repr_mimebundle_(**kwargs)
        bundle = made[0] if isinstance(made, tuple) else made
        if bundle is not None:
            bundle["text/plain"] = self._steps.text
        return made
