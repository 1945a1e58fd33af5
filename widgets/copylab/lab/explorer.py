"""`CopyLab`: choose how to copy and what, act on both, and see what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import ipywidgets
import traitlets

from ..copying.methods import METHODS, Method
from ..copying.methods import method as find
from ..copying.sources import Source
from ..run.capture import cut, describe_error
from ..run.engines import checked, engine_for
from ..run.program import compiled
from ..ui.exhibit import Exhibit, Panel, style
from . import actions as labactions
from . import view as labview
from .controls import YOURS, Controls, fitting
from .play import Result, play
from .yours import Yours


class LabPanel(Panel):
    """The part of a CopyLab that shows what came of a program."""

    _css = style("lab/lab.css")


class CopyLab(Exhibit, ipywidgets.VBox):
    """A place to try out how a tensor is copied: `CopyLab()`, `CopyLab(my_tensor, method="detach")`.

    x: what is copied: a tensor of tinytorch or torch, of which a stand-in is made (it is itself never changed, nor kept
        alive); a Source; "leaf", "result" or "plain"; by default a leaf of three numbers.
    method: the name of a copy method, or a Method of your own.
    engine: the module that is `torch` to the program; by default that of `x`, then the caller's global `torch`, then
        tinytorch.

    Each action is a line of the program that is shown, and the whole program is run anew for each look. An action that
    raises is shown at its line, and the next one takes its place. From Python: `write`, `loss`, `backward`, `clear`,
    `run`, `undo`, `start_over`, `take_anew`.

    Traits to observe, the first three to set as well: `method`, `source`, `actions` (the lines that were added),
    `program` (all of it), `verdicts` (the answers of `facts`, by key).

    Raises what `method` and `Source.of` raise; a trait set to something else raises traitlets.TraitError.
    """

    method = traitlets.Unicode("clone", help="The name of the copy method.")
    source: Any = traitlets.Any(help="What is copied, a Source; a tensor or a kind is taken too.")
    actions: traitlets.TraitType[tuple[str, ...], Any] = traitlets.Tuple(
        help="The lines that were added to the program, one text for each action."
    )
    program = traitlets.Unicode(read_only=True, help="The whole program.")
    verdicts = traitlets.Dict(read_only=True, help="What y is to x: the answers of `facts` by key.")

    def __init__(self, x: object = None, method: str | Method = "clone", engine: ModuleType | None = None) -> None:
        chosen, source = find(method), Source.of(x)
        self._methods = {**METHODS, chosen.name: chosen}
        self._engine = checked(engine) or engine_for(sys._getframe(1).f_globals, x)
        self._yours = Yours(x) if hasattr(x, "untyped_storage") else None
        self._given = source = self._yours.source if self._yours else source
        self._past: list[tuple[str, ...]] = []
        self._message = self._notice = ""
        self._result: Result | None = None
        self._panel = LabPanel(label="What the program did")
        self._proofs = LabPanel(label="Verdicts and their proofs")  # comes later, so that the pictures need not wait
        own = "your tensor" if self._yours else None if source.to_order else "as given"
        self._controls = Controls(self._pressed, self._chosen, self._methods, own)
        super().__init__([*self._controls.rows, self._panel, self._proofs])
        self.set_trait("method", chosen.name)
        self.set_trait("source", source)
        self._look()
        self.observe(self._trait_changed, names=["method", "source", "actions"])

    # What can be done

    def write(self, name: str = "y", how: str = "in place") -> None:
        """Write through "x" or "y", 10 more for each element: "in place", by ".data", "NumPy", or in "no_grad"."""
        self.run(labactions.write(_checked(name), how, self.source.dtype))

    def loss(self, name: str = "x") -> None:
        """Compute `loss = (x ** 2).sum()` from "x" or "y"."""
        self.run(labactions.loss(_checked(name)))

    def backward(self) -> None:
        """Call `loss.backward()`; where there is no loss yet, it is computed from y first."""
        self.run(labactions.backward(self._state.snapshot))

    def clear(self) -> None:
        """Set every gradient to None."""
        code = labactions.clear(self._state.snapshot)
        if code:
            self.run(code)
        else:
            self._tell("There is no gradient to clear.")

    def track(self) -> None:
        """Call `y.requires_grad_()`."""
        self.run("y.requires_grad_()")

    def run(self, code: str) -> None:
        """Add lines of your own to the program; they may use torch, x, y and what earlier lines made.

        Raises SyntaxError, and adds nothing, for what is no code.
        """
        compiled(code)
        if not self._state.copied:
            self._tell("There is no y to act on: choose another method or another x.")
            return
        # What raised, and what came after it and was not run, gives way to the new lines.
        self._keep_for_undo()
        self._set(f"Ran {labview.one_line(code)}.", actions=(*self.actions[: self._state.ran], code))

    def undo(self) -> None:
        """Take the last action back."""
        if not self._past:
            self._tell("There is nothing to undo.")
            return
        self._set("Undone.", actions=self._past.pop())

    def start_over(self) -> None:
        """Take all actions back. `undo` brings them back."""
        if not self.actions:
            self._tell("There are no actions to take back.")
            return
        self._keep_for_undo()
        self._set("All actions were taken back.", actions=())

    def take_anew(self) -> None:
        """Look at the tensor that was given again, and copy it as it is now."""
        if self._yours is None:
            self._tell("There is no tensor of yours to look at.")
            return
        source = self._yours.anew()
        if source is None:
            self._tell(self._yours.news)
            return
        self._given = source
        self._set("Your tensor was looked at again.", source=source)

    # How it is shown

    @property
    def text(self) -> str:
        """Everything that is shown, in words."""
        return labview.text(self._state)

    @property
    def html(self) -> str:
        """Everything that is shown, as HTML without script."""
        body = labview.html(self._state) + labview.proofs(self._state)
        head = f"<style>{style('lab/lab.css')}</style>"
        return f'{head}<div class="cl-panel"><p>{labview.setting(self._state)}</p>{body}</div>'

    def __repr__(self) -> str:
        count = len(self.actions)
        actions = f"{count} action{'' if count == 1 else 's'}"
        return f"CopyLab({self.method!r}, {self.source.kind} of shape {self.source.shape}, {actions})"

    def help(self) -> None:
        """Print what to try first."""
        print(_HELP)

    # What happens inside

    @property
    def _state(self) -> Result:
        assert self._result is not None
        return self._result

    def _pressed(self, name: str) -> None:
        how = self._controls.how.value
        actions: dict[str, Callable[[], None]] = {
            "write_x": lambda: self.write("x", how),
            "write_y": lambda: self.write("y", how),
            "loss_x": lambda: self.loss("x"),
            "loss_y": lambda: self.loss("y"),
        }
        self._guarded(actions.get(name) or getattr(self, name))

    def _chosen(self, name: str, value: Any) -> None:
        self._guarded(lambda: self._choose(name, value))

    def _guarded(self, action: Callable[[], None]) -> None:
        """Do what a control asks for; an error is shown where one looks, not in a log."""
        try:
            action()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # whatever it is, it is said
            self._controls.show(self.method, self.source, own=self._shows_given())
            self._tell(f"That did not work. {describe_error(error)}")

    def _choose(self, name: str, value: Any) -> None:
        if name == "method":
            self._set(f"Copied with {value}.", method=value)
        elif name == "kind" and value == YOURS:
            self._set("x is the given one again.", source=self._given)
        else:
            source, self._notice = fitting(self.source, name, value)
            self._set(f"x has another {name}.", source=source)

    def _keep_for_undo(self) -> None:
        self._past = [*self._past[-99:], self.actions]

    def _set(self, message: str, **traits: Any) -> None:
        """Set traits, which runs the program, and say something first."""
        self._message = message
        before = self._result
        for name, value in traits.items():
            setattr(self, name, value)
        if self._result is before:  # nothing differs: run it all the same, and say so
            self._look()

    @traitlets.validate("method")
    def _known_method(self, proposal: Any) -> str:
        name = proposal["value"]
        if name in self._methods:
            return str(name)
        try:
            return find(name).name
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None

    @traitlets.validate("source")
    def _known_source(self, proposal: Any) -> Source:
        try:
            return Source.of(proposal["value"])
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(str(error)) from None

    @traitlets.validate("actions")
    def _readable_actions(self, proposal: Any) -> tuple[str, ...]:
        for action in proposal["value"]:
            try:
                compiled(action)
            except (SyntaxError, ValueError, TypeError) as error:
                raise traitlets.TraitError(f"an action is Python code: {describe_error(error)}") from None
        return tuple(proposal["value"])

    def _trait_changed(self, _: object) -> None:
        self._look()

    def _look(self) -> None:
        """Run the program and show what came of it."""
        old = self._result
        made = play(self.source, self._methods[self.method], self.actions, self._engine)
        self._result = made
        self.set_trait("program", made.code)
        self.set_trait("verdicts", made.facts.answers if made.facts is not None else {})
        self._controls.show(self.method, self.source, own=self._shows_given())
        told = f"Error on line {made.error_line}. {made.error}" if made.error else " ".join(made.changes)
        if made.explanation and not made.error:
            told = f"{labview.WRONG}. {told}"
        says = f"{self._notice or self._message} {labview.headline(made)} {told}"
        self._show(labview.html(made, self._key, old), says, self._notice)
        self._message = self._notice = ""
        self._proofs.html = labview.proofs(made, self._key)

    def _tell(self, message: str) -> None:
        """Say something, and leave the rest as it is."""
        self._show(labview.html(self._state, self._key), message, message)

    def _show(self, html: str, says: str, message: str = "") -> None:
        news = self._yours.news if self._yours is not None and self._shows_given() else ""
        notes = [note for note in (news, message) if note]
        before = "".join(f'<p class="cl-lab-message">{labview.safe(note)}</p>' for note in notes)
        says = " ".join(cut(f"{notes[0] if notes and notes[0] not in says else ''} {says}", 600).split())
        with self._panel.hold_sync():
            self._panel.html = before + html
            self._panel.says = says + "\N{NO-BREAK SPACE}" if says == self._panel.says else says

    @property
    def _key(self) -> str:
        return f"cl-{self.model_id}"

    def _shows_given(self) -> bool:
        return self.source is self._given and (self._yours is not None or not self._given.to_order)


_HELP = """\
A CopyLab runs a small program: it makes x, copies it to y, and does what you ask for.

1. Choose a method beside "Copy with" and read the line of verdicts: memory, version counter, gradient.
2. Press "Loss from x", "Write through y" and "Backward". With clone all is well; change the method to
   detach, and backward raises an error; change it to .data, and the gradient is wrong without one.
   Your actions stay when you change the method.
3. Make x a result, or transposed, and see which methods behave differently (view, reshape, deepcopy).

In Python the same: lab = CopyLab(method="detach"); lab.loss("x"); lab.write("y"); lab.backward(); print(lab.text).
lab.run("y[0] = 1") adds a line of your own, lab.program is the whole program, lab.verdicts are the answers."""


def _checked(name: str) -> str:
    if name not in ("x", "y"):
        raise ValueError(f"there are x and y to act on, not {name!r}")
    return name
