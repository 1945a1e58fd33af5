"""`CopyLab`: choose how to copy and what, act on both, and see what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import ipywidgets
import traitlets

from tinytorch.viz import gettext, gettext_noop, ngettext, summarize_text

from ..copying import METHODS, Method, Source
from ..copying import method as find
from ..doc import Box
from ..player import wrong_gradient_title
from ..run import compile_program, describe_error, engine_for, require_engine, truncate_text
from ..ui import Exhibit, Panel
from . import view
from .controls import WRITES, YOURS, Controls, fitting
from .play import Result, play
from .yours import Yours


class LabPanel(Panel):
    """The part of a CopyLab that shows what came of a program."""

    SHEETS = ("lab/lab.css",)


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

    HELP = gettext_noop("""\
A CopyLab runs a small program: it makes x, copies it to y, and does what you ask for.

1. Choose a method beside "Copy with" and read the line of verdicts: memory, version counter, gradient.
2. Press "Loss from x", "Write through y" and "Backward". With clone all is well; change the method to
   detach, and backward raises an error; change it to .data, and the gradient is wrong without one.
   Your actions stay when you change the method.
3. Make x a result, or transposed, and see which methods behave differently (view, reshape, deepcopy).

In Python the same: lab = CopyLab(method="detach"); lab.loss("x"); lab.write("y"); lab.backward(); print(lab.text).
lab.run("y[0] = 1") adds a line of your own, lab.program is the whole program, lab.verdicts are the answers.""")

    def __init__(
        self, x: object = None, method: str | Method = "clone", engine: ModuleType | None = None
    ) -> None:
        chosen, source = find(method), Source.of(x)
        tensor = hasattr(x, "untyped_storage")
        self._methods = {**METHODS, chosen.name: chosen}
        self._engine = require_engine(engine) or engine_for(sys._getframe(1).f_globals, x)
        self._yours = Yours(x) if tensor else None
        self._given = self._yours.source if self._yours else source
        self._past: list[tuple[str, ...]] = []
        self._message = self._notice = ""
        self._result: Result | None = None
        self._panel = LabPanel(label=gettext("What the program did"))
        self._proofs = LabPanel(
            label=gettext("Verdicts and their proofs")
        )  # later: the pictures need not wait
        own = (
            gettext("your tensor")
            if tensor
            else gettext("as given")
            if not source.is_to_order
            else ""
        )
        self._controls = Controls(self._pressed, self._chosen, self._methods, own)
        super().__init__([*self._controls.rows, self._panel, self._proofs])
        self.set_trait("method", chosen.name)
        self.set_trait("source", self._given)
        self._look()
        self.observe(self._look, names=["method", "source", "actions"])

    # What can be done

    def write(self, name: str = "y", how: str = "in place") -> None:
        """Write through "x" or "y", 10 more for each element: "in place", by ".data", "NumPy", or in "no_grad"."""
        if how not in WRITES:
            raise ValueError(
                f"there is no way to write called {how!r}; there are {', '.join(map(repr, WRITES))}"
            )
        code = WRITES[how].format(name=_checked(name))
        if self.source.dtype == "bool":
            code = code.replace(".add_(10)", ".logical_not_()").replace("+= 10", "^= True")
        self.run(code)

    def loss(self, name: str = "x") -> None:
        """Compute `loss = (x ** 2).sum()` from "x" or "y"; its backward needs the values as they are now."""
        self.run(f"loss = ({_checked(name)} ** 2).sum()")

    def backward(self) -> None:
        """Call `loss.backward()`; where there is no loss yet, it is computed from y first."""
        seen = self._state.snapshot
        there = seen is not None and any(name == "loss" for name, _ in seen.names)
        self.run("loss.backward()" if there else "loss = (y ** 2).sum()\nloss.backward()")

    def clear(self) -> None:
        """Set every gradient to None."""
        seen = self._state.snapshot
        named = dict.fromkeys(tensor for _, tensor in seen.names) if seen is not None else ()
        found = [seen.tensor(one) for one in named] if seen is not None else []
        code = "\n".join(f"{one.names[0]}.grad = None" for one in found if one.grad is not None)
        if code:
            self.run(code)
        else:
            self._tell(gettext("There is no gradient to clear."))

    def track(self) -> None:
        """Call `y.requires_grad_()`."""
        self.run("y.requires_grad_()")

    def run(self, code: str) -> None:
        """Add lines of your own to the program; they may use torch, x, y and what earlier lines made.

        Raises SyntaxError and adds nothing if they are no code.
        """
        compile_program(code)
        if not self._state.copied:
            self._tell(gettext("There is no y to act on: choose another method or another x."))
            return
        # What raised, and what came after it and was not run, gives way to the new lines.
        self._past = [*self._past[-99:], self.actions]
        self._set(
            gettext("Ran {code}.", code=view.one_line(code)),
            actions=(*self.actions[: self._state.ran], code),
        )

    def undo(self) -> None:
        """Take the last action back."""
        if self._past:
            self._set(gettext("Undone."), actions=self._past.pop())
        else:
            self._tell(gettext("There is nothing to undo."))

    def start_over(self) -> None:
        """Take all actions back. `undo` brings them back."""
        if self.actions:
            self._past = [*self._past[-99:], self.actions]
            self._set(gettext("All actions were taken back."), actions=())
        else:
            self._tell(gettext("There are no actions to take back."))

    def take_anew(self) -> None:
        """Look at the tensor that was given again, and copy it as it is now."""
        source = self._yours.anew() if self._yours is not None else None
        if source is not None:
            self._given = source
            self._set(gettext("Your tensor was looked at again."), source=source)
        else:
            self._tell(
                self._yours.news
                if self._yours
                else gettext("There is no tensor of yours to look at.")
            )

    # How it is shown

    def tree(self) -> Box:
        """Everything that is shown."""
        return view.whole(self._state)

    def __repr__(self) -> str:
        done = ngettext("{number} action", "{number} actions", len(self.actions))
        return summarize_text(
            f"CopyLab({self.method!r}, {self.source.kind} of shape {self.source.shape}, {done})"
        )

    @property
    def _state(self) -> Result:
        assert self._result is not None
        return self._result

    def _pressed(self, name: str) -> None:
        what, _, of = name.partition(" ")
        given = {"write": (of, self._controls.how.value), "loss": (of,)}.get(what, ())
        self._guarded(getattr(self, what), *given)

    def _chosen(self, name: str, value: Any) -> None:
        self._guarded(self._choose, name, value)

    def _guarded(self, action: Callable[..., None], *given: Any) -> None:
        """Do what a control asks for; an error is shown where one looks, not in a log."""
        try:
            action(*given)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # whatever it is, it is said
            self._controls.show(self.method, self.source, own=self._shows_given())
            self._tell(gettext("That did not work. {error}", error=describe_error(error)))

    def _choose(self, name: str, value: Any) -> None:
        if name == "method":
            self._set(gettext("Copied with {method}.", method=value), method=value)
        elif name == "kind" and value == YOURS:
            self._set(gettext("x is the given one again."), source=self._given)
        else:
            source, self._notice = fitting(self.source, name, value)
            self._set(gettext("Now {source}.", source=view.about(source)), source=source)

    def _set(self, message: str, **traits: Any) -> None:
        """Set traits, which runs the program, and say something first; it is run even if nothing differs."""
        self._message = message
        before = self._result
        for name, value in traits.items():
            setattr(self, name, value)
        if self._result is before:
            self._look()

    @traitlets.validate("method", "source", "actions")
    def _readable(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        try:
            if name == "method":
                return value if value in self._methods else find(value).name
            if name == "source":
                return Source.of(value)
            for action in value:
                compile_program(action)
            return tuple(value)
        except (SyntaxError, TypeError, ValueError) as error:
            raise traitlets.TraitError(
                f"{name} cannot be {value!r}: {describe_error(error)}"
            ) from None

    def _look(self, _: object = None) -> None:
        """Run the program and show what came of it."""
        old = self._result
        made = self._result = play(
            self.source, self._methods[self.method], self.actions, self._engine
        )
        self.set_trait("program", made.code)
        self.set_trait("verdicts", made.facts.answers if made.facts is not None else {})
        self._controls.show(self.method, self.source, own=self._shows_given())
        told = " ".join(made.changes)
        if made.error:
            told = gettext(
                "Error on line {number}. {error}", number=made.error_line, error=made.error
            )
        elif made.explanation:
            told = f"{wrong_gradient_title()}. {told}"
        self._show(f"{self._notice or self._message} {view.headline(made)} {told}", old)
        self._proofs.html = view.proofs(made).html()

    def _tell(self, message: str) -> None:
        """Say something, and leave the rest as it is."""
        self._notice = message
        self._show(message)

    def _show(self, says: str, old: Result | None = None) -> None:
        news = self._yours.news if self._yours is not None and self._shows_given() else ""
        notes = [note for note in (news, self._notice) if note]
        first = notes[0] if notes and notes[0] not in says else ""
        page = view.page(self._state, old, notes=notes, live=True)
        self._panel.show(page.html(), " ".join(truncate_text(f"{first} {says}", 600).split()))
        self._message = self._notice = ""

    def _shows_given(self) -> bool:
        return self.source is self._given and (
            self._yours is not None or not self._given.is_to_order
        )


def _checked(name: str) -> str:
    if name not in ("x", "y"):
        raise ValueError(f"there are x and y to act on, not {name!r}")
    return name
