"""`CopyLab`: choose a copy method and a tensor, act on both, and see what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import ipywidgets
import traitlets

from tinytorch.viz import summarize_text

from ..copying import METHODS, Method, Source
from ..copying import method as find_method
from ..doc import Box
from ..player import wrong_gradient_title
from ..run import compile_program, describe_error, engine_for, require_engine, truncate_text
from ..ui import Exhibit, Panel
from ..wording import gettext, gettext_noop, join_sentences, ngettext
from . import view
from .controls import GIVEN, WRITES, Controls, change_source
from .lab_program import LabResult, run_lab_program
from .users_tensor import UsersTensor

MAX_UNDO = 100
MAX_ANNOUNCEMENT = 600
"""Maximum number of characters that a screen reader is given to say after an action."""


class LabPanel(Panel):
    """The part of a CopyLab that shows what came of a program."""

    SHEETS = ("lab/lab.css",)


class CopyLab(Exhibit, ipywidgets.VBox):
    """A place to try out how a tensor is copied: `CopyLab(my_tensor, method="detach")`.

    x: what is copied: a tensor of tinytorch or torch, of which a stand-in is made (the tensor
        itself is never changed, and not kept alive); a Source; "leaf", "result" or "plain"; by
        default a leaf of three numbers.
    method: the name of a copy method, or a Method of your own.
    engine: the module that is `torch` to the program; by default that of `x`, then the caller's
        global `torch`, then tinytorch.

    Each action is a line of the program that is shown, and the whole program is run anew for each
    look. An action that raises is shown at its line, and the next one takes its place. From Python:
    `write`, `loss`, `backward`, `clear`, `run`, `undo`, `start_over`, `take_anew`.

    Traits to observe, the first three to set as well: `method`, `source`, `actions` (the lines that
    were added), `program` (all of it), `verdicts` (the answers of `facts`, by key).

    Raises what `method` and `Source.of` raise; a trait set to something else raises
    traitlets.TraitError.
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

1. Choose a method beside "Copy x with" and read the line of verdicts: memory, version counter, gradient.
2. Press "Loss from x", "Write through y" and "Backward". With clone all is well; change the method to
   detach, and backward raises an error; change it to .data, and the gradient is wrong without one.
   Your actions stay when you change the method.
3. Make x a result, or transposed, and see which methods behave differently (view, reshape, deepcopy).

In Python the same: lab = CopyLab(method="detach"); lab.loss("x"); lab.write("y"); lab.backward(); print(lab.text).
lab.run("y[0] = 1") adds a line of your own, lab.program is the whole program, lab.verdicts are the answers.""")

    def __init__(
        self, x: object = None, method: str | Method = "clone", engine: ModuleType | None = None
    ) -> None:
        first_method, source = find_method(method), Source.of(x)
        # A Method of the user's own is offered beside the others.
        self._methods = {**METHODS, first_method.name: first_method}
        self._engine = require_engine(engine) or engine_for(sys._getframe(1).f_globals, x)
        self._users_tensor = UsersTensor(x) if hasattr(x, "untyped_storage") else None
        self._given_source = self._users_tensor.source if self._users_tensor else source
        self._undo_stack: list[tuple[str, ...]] = []
        self._message = self._notice = ""
        self._result: LabResult | None = None
        self._panel = LabPanel(label=gettext("What the program did"))
        # A panel of its own, sent after the other: the pictures need not wait for the proofs.
        self._proofs = LabPanel(label=gettext("Verdicts and their proofs"))
        given_label = ""
        if self._users_tensor is not None:
            given_label = gettext("your tensor")
        elif not source.is_fully_described:
            given_label = gettext("as given")
        self._controls = Controls(
            self._run_button,
            self._take_choice,
            self._methods,
            given_label,
            can_read_again=self._users_tensor is not None,
        )
        super().__init__([self._controls.box, self._panel, self._proofs])
        self.set_trait("method", first_method.name)
        self.set_trait("source", self._given_source)
        self._run_program()
        # Only now: one run shows both traits that are set above.
        self.observe(self._run_program, names=["method", "source", "actions"])

    # -- actions -----------------------------------------------------------------------

    def write(self, name: str = "y", how: str = "in place") -> None:
        """Add 10 to each element of "x" or "y"; for bool, negate it.

        how: "in place", ".data", "NumPy" or "no_grad". Raises ValueError for anything else.
        """
        if how not in WRITES:
            raise ValueError(
                f"there is no way to write called {how!r}; there are {', '.join(map(repr, WRITES))}"
            )
        code = WRITES[how].format(name=_require_x_or_y(name))
        # A bool plus 10 would stay True.
        if self.source.dtype == "bool":
            code = code.replace(".add_(10)", ".logical_not_()").replace("+= 10", "^= True")
        self.run(code)

    def loss(self, name: str = "x") -> None:
        """Compute `loss = (x ** 2).sum()` from "x" or "y"; its backward needs the values of now."""
        self.run(f"loss = ({_require_x_or_y(name)} ** 2).sum()")

    def backward(self) -> None:
        """Call `loss.backward()`; where there is no loss yet, it is computed from y first."""
        snapshot = self._last_result.snapshot
        has_loss = snapshot is not None and any(name == "loss" for name, _ in snapshot.names)
        self.run("loss.backward()" if has_loss else "loss = (y ** 2).sum()\nloss.backward()")

    def clear(self) -> None:
        """Set every gradient to None."""
        lines = []
        snapshot = self._last_result.snapshot
        if snapshot is not None:
            # Each once: a tensor may have several names.
            for tensor_id in dict.fromkeys(tensor_id for _, tensor_id in snapshot.names):
                tensor = snapshot.tensor(tensor_id)
                if tensor.grad is not None:
                    lines.append(f"{tensor.names[0]}.grad = None")
        if lines:
            self.run("\n".join(lines))
        else:
            self._show_notice(gettext("There is no gradient to clear."))

    def track(self) -> None:
        """Call `y.requires_grad_()`."""
        self.run("y.requires_grad_()")

    def run(self, code: str) -> None:
        """Add lines of your own to the program.

        They may use torch, x, y and the names of earlier lines. Raises SyntaxError and adds nothing
        if they are no code.
        """
        compile_program(code)
        result = self._last_result
        if not result.has_copy:
            notice = gettext("There is no y to act on: choose another method or another x.")
            self._show_notice(notice)
            return
        self._remember_actions()
        # An action that raised, and those after it, which were not run, give way to the new one:
        # otherwise nothing could be done after an error but to undo.
        actions_done = self.actions[: result.actions_run]
        message = gettext("Ran {code}.", code=view.shorten_to_line(code))
        self._set_traits(message, actions=(*actions_done, code))

    def undo(self) -> None:
        """Take the last action back."""
        if self._undo_stack:
            self._set_traits(gettext("Undone."), actions=self._undo_stack.pop())
        else:
            self._show_notice(gettext("There is nothing to undo."))

    def start_over(self) -> None:
        """Take all actions back. `undo` brings them back."""
        if self.actions:
            self._remember_actions()
            self._set_traits(gettext("All actions were taken back."), actions=())
        else:
            self._show_notice(gettext("There are no actions to take back."))

    def take_anew(self) -> None:
        """Look at the tensor that was given again, and copy it as it is now."""
        tensor = self._users_tensor
        source = tensor.read_again() if tensor is not None else None
        if source is not None:
            self._given_source = source
            self._set_traits(gettext("Your tensor was looked at again."), source=source)
        elif tensor is not None:
            self._show_notice(tensor.describe_change())
        else:
            self._show_notice(gettext("There is no tensor of yours to look at."))

    def _remember_actions(self) -> None:
        self._undo_stack = [*self._undo_stack[-(MAX_UNDO - 1) :], self.actions]

    # -- how it is shown ---------------------------------------------------------------

    def tree(self) -> Box:
        """Everything that is shown."""
        return view.make_twin(self._last_result)

    def close(self) -> None:
        """Close the lab and every model that it is made of, and let go of the tensor."""
        # ipywidgets closes what is collected, also what the constructor did not finish.
        tensor = getattr(self, "_users_tensor", None)
        if tensor is not None:
            tensor.forget()
        super().close()

    def __repr__(self) -> str:
        done = ngettext("{number} action", "{number} actions", len(self.actions))
        return summarize_text(
            f"CopyLab({self.method!r}, {self.source.kind} of shape {self.source.shape}, {done})"
        )

    @property
    def _last_result(self) -> LabResult:
        # The program runs before the constructor returns.
        assert self._result is not None
        return self._result

    def _run_program(self, _: object = None) -> None:
        """Run the program and show what came of it."""
        old = self._result
        method = self._methods[self.method]
        result = run_lab_program(self.source, method, self.actions, self._engine)
        self._result = result
        self.set_trait("program", result.code)
        self.set_trait("verdicts", result.facts.answers if result.facts is not None else {})
        self._show_choices()
        outcome = join_sentences(result.changes)
        if result.error:
            outcome = gettext(
                "Error on line {number}. {error}", number=result.error_line, error=result.error
            )
        elif result.explanation:
            title = gettext("{sentence}.", sentence=wrong_gradient_title())
            outcome = join_sentences([title, outcome])
        message = self._notice or self._message
        said = filter(None, [message, view.describe_copy(result), outcome])
        self._show_result(join_sentences(said), old)
        self._proofs.html = view.make_proofs(result).html()

    def _show_result(self, announcement: str, old: LabResult | None = None) -> None:
        """Show the last result; a screen reader says `announcement`, with the first note."""
        change = ""
        if self._users_tensor is not None and self._shows_given_source():
            change = self._users_tensor.describe_change()
        notes = [note for note in (change, self._notice) if note]
        # A notice may be all that is announced, and is not said twice then.
        if notes and notes[0] not in announcement:
            announcement = join_sentences([notes[0], announcement])
        page = view.make_page(self._last_result, old, notes=notes, live=True)
        spoken = truncate_text(announcement, MAX_ANNOUNCEMENT)
        self._panel.show(page.html(), " ".join(spoken.split()))
        self._message = self._notice = ""

    def _show_notice(self, notice: str) -> None:
        """Say something above the last result, which stays."""
        self._notice = notice
        self._show_result(notice)

    def _show_choices(self) -> None:
        is_given = self._shows_given_source()
        self._controls.show_choices(self.method, self.source, is_given=is_given)

    def _shows_given_source(self) -> bool:
        # A source that the menus can make, such as "leaf", has no entry of its own there.
        has_entry = self._users_tensor is not None or not self._given_source.is_fully_described
        return has_entry and self.source is self._given_source

    # -- what controls and traits do ---------------------------------------------------

    def _run_button(self, key: str) -> None:
        action, _, tensor = key.partition(" ")
        arguments: tuple[str, ...] = ()
        if action == "write":
            arguments = (tensor, self._controls.way_to_write.value)
        elif action == "loss":
            arguments = (tensor,)
        self._call_showing_errors(getattr(self, action), *arguments)

    def _take_choice(self, name: str, value: Any) -> None:
        self._call_showing_errors(self._apply_choice, name, value)

    def _call_showing_errors(self, act: Callable[..., None], *arguments: Any) -> None:
        """Do what a control asks for; show an error, which ipywidgets would only log."""
        try:
            act(*arguments)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - all are shown
            self._show_choices()
            message = gettext("That did not work. {error}", error=describe_error(error))
            self._show_notice(message)

    def _apply_choice(self, name: str, value: Any) -> None:
        if name == "method":
            self._set_traits(gettext("Copied with {method}.", method=value), method=value)
        elif name == "kind" and value == GIVEN:
            message = gettext("x is the given one again.")
            self._set_traits(message, source=self._given_source)
        else:
            source, self._notice = change_source(self.source, name, value)
            message = gettext("Now {source}.", source=view.describe_source(source))
            self._set_traits(message, source=source)

    def _set_traits(self, message: str, **traits: Any) -> None:
        """Set traits, which runs the program; `message` is said with its result.

        A trait that is set to an equal value tells nobody. The program is run nevertheless, because
        the controls may show something else.
        """
        self._message = message
        before = self._result
        for name, value in traits.items():
            setattr(self, name, value)
        if self._result is before:
            self._run_program()

    @traitlets.validate("method", "source", "actions")
    def _check_trait(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        try:
            if name == "method":
                return value if value in self._methods else find_method(value).name
            if name == "source":
                return Source.of(value)
            for action in value:
                compile_program(action)
            return tuple(value)
        except (SyntaxError, TypeError, ValueError) as error:
            raise traitlets.TraitError(
                f"{name} cannot be {value!r}: {describe_error(error)}"
            ) from None


def _require_x_or_y(name: str) -> str:
    if name not in ("x", "y"):
        raise ValueError(f"there are x and y to act on, not {name!r}")
    return name
