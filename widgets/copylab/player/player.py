"""`steps(code)`: run code line by line and look at memory and graph after each line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, overload
from urllib.parse import urlencode

from tinytorch.viz import (
    LEVELS,
    Level,
    check_level,
    describe_kept_graphs,
    join_few_names,
    list_written_names,
)

from ..copying import ChangedProgram, ProgramCopy, exchange_copies
from ..doc import wrap_in_language
from ..run import (
    LIMITS,
    FunctionChoice,
    Limits,
    Program,
    RecordedRun,
    Steppable,
    dedent_code,
    engine_for,
    program_from_function,
    require_engine,
)
from ..wording import (
    cached_property_in_language,
    current_language,
    gettext,
    gettext_noop,
    join_sentences,
    ngettext,
)
from .drawing import StageDrawing, StageSizes, animate
from .frames import Frame, NameObserver, leave_out_empty_ending, make_frames
from .groups import FrameOrGroup, find_stretches, fold_frames
from .live import StepsWidget
from .other_copies import (
    STORED_LIMITS,
    STORED_RUNS,
    Pills,
    RunEnd,
    describe_exchange,
    find_copies_of_run,
    list_single_exchanges,
    may_store_runs,
)
from .static import NOTEBOOK_LIMIT, StaticForm, content_policy, stored_size
from .static_parts import lines_of_listing

_HELP = gettext_noop("""\
{summary}.

In a notebook this is a player: use Next and Back, the slider, or the arrow keys, Home and End when it has the focus.
You can go through a loop round by round or in one go, and step over a call: choose that above the code.
You can try another way to copy in place of one in the program: press it above the code.

s[0].changes            what the first step changed; s[0].output, s[0].error and s[0].pictures are its other parts
s.end                   how the run ended, and what the code did besides
print(s.text)           all of it in words
s.save("page.html")     a page of its own; "all.gif" shows all steps, "step.svg" or ".png" one: step=3
s.link(site)            an address of a site of the course that carries the program; step=3
s.live()                the same as a widget, whose step can be set and observed
steps(code, rounds=2, into=False)    fewer steps: two rounds of each loop, and none inside of functions
steps(f, x, into=[models])           more steps: also inside of the functions and classes of a module

Try first: go to the line that surprises you, and read what it changed before you look at the picture.""")

LONGEST_LINK = 8000
"""Characters of a link: browsers take more, and programs that send messages cut it off earlier.

The site's script, `LONGEST_ADDRESS` in docs/static/site.js, reads no more.
"""

Stepped = bool | str | Steppable
"""What can be stepped into: all, nothing, a function of the code by its name, or a module, class,
or function."""


def steps(
    code: str | Callable[..., Any],
    *args: Any,
    engine: ModuleType | None = None,
    namespace: Mapping[str, Any] | None = None,
    into: Stepped | Iterable[Stepped] = True,
    rounds: int | None = None,
    level: Level = "graph",
    max_steps: int = LIMITS.max_steps,
    seconds: float = LIMITS.seconds,
    **kwargs: Any,
) -> Steps:
    """Run `code` statement by statement and show, after each, its output, the memory and the graph.

    `code` is a string, run in a namespace of its own, or a function, called with `args` and
    `kwargs`. Its lines are stepped, loops and calls of its own functions included. From a function,
    the functions and methods of the same file (in a notebook: of all cells) are stepped into as
    well, and lines are those of that file. Everything else that is called runs in one go, unless
    `into` names it. The player folds and unfolds loops and calls; `into` and `rounds` choose what
    becomes a step.

    engine: the module that the code knows as `torch`; by default the caller's global `torch`,
        otherwise tinytorch.
    namespace: variables that the code may use, for example `globals()`. It works on a copy of the
        mapping, so none of your names is rebound; the tensors are your own, and code that writes
        into them does write into them.
    into: the functions of the code to step into when they are called: True for all, False for none,
        or their names (`"f"`, `["f", "Net.forward"]`). A call of another one is part of the line
        that calls. Modules, classes and functions among them are stepped into besides:
        `into=[models]`, `into=["f", Net]`. They are left as they are.
    rounds: so many rounds of each loop are stepped, the later ones run in one go; None for all.
    level: how much is said at first, as `memory` has it. The player has a box for everything.
    max_steps, seconds: run and drawing end there, and say so. Interrupting keeps the steps so far.

    Returns a Steps, which a notebook shows as a player: buttons, a slider, the arrow keys, Home and
    End. `.live()` gives the same as a widget, `print(s.text)` the same in words. Errors of the
    code, syntax errors included, are shown at their line and not raised. Files written, random
    numbers drawn, threads started and the like are real, not undone, and said at the end (`s.end`).

    Raises:
        TypeError: `code` is neither a string nor a function with a source, `engine` is no module
            with a Tensor, or `into` has an object without a source.
        ValueError: a limit is not positive, there is no such level, or the code does not define a
            function that `into` names.

    """
    caller = sys._getframe(1).f_globals
    names = None if namespace is None else dict(namespace)
    options = StepOptions(engine, names, into, Limits(max_steps, seconds, rounds), level)
    return step_program(code, args, kwargs, caller, options)


@dataclass(frozen=True)
class StepOptions:
    """The options of `steps`. `names` is what a text runs in, and so what it leaves."""

    engine: ModuleType | None = None
    names: dict[str, Any] | None = None
    into: Stepped | Iterable[Stepped] = True
    limits: Limits = LIMITS
    level: Level = "graph"


def step_program(
    code: str | Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    caller: Mapping[str, Any],
    choice: StepOptions,
) -> Steps:
    """Do what `steps` does, with the caller's global names as an argument."""
    # Their `torch` is the default engine; after a NameError we say if they have the name.
    check_level(choice.level)
    into, things = _split_into(choice.into)
    engine = require_engine(choice.engine) or engine_for(caller)
    program: str | Program
    if isinstance(code, str):
        if args or kwargs:
            raise TypeError(
                "code given as a string takes no arguments: pass variables with namespace={'x': x}"
            )
        program = dedent_code(code)
    elif choice.names is not None:
        raise TypeError("a function has its own globals: namespace is for code given as a string")
    else:
        program = program_from_function(code, args, kwargs, into, things)
    run = RecordedRun(
        program,
        engine,
        NameObserver(engine),
        names=choice.names,
        into=into,
        things=things,
        limits=choice.limits,
    )
    return Steps(run, caller, level=choice.level)


def _split_into(into: Stepped | Iterable[Stepped]) -> tuple[FunctionChoice, list[Steppable]]:
    """Split `into` into a choice of the code's functions, and things to step into besides.

    TypeError for others.
    """
    # A class can be an iterable as well, as an Enum is: it is one thing to step into.
    is_list = isinstance(into, Iterable) and not isinstance(into, str | type)
    choices: list[Any] = list(into) if is_list else [into]  # type: ignore[arg-type]
    things = [choice for choice in choices if isinstance(choice, Steppable)]
    names = [choice for choice in choices if not isinstance(choice, Steppable)]
    # `into=[False, models]`: nothing of the code itself, and what the module has.
    if len(names) == 1 and isinstance(names[0], bool):
        return names[0], things
    if not all(isinstance(name, str) for name in names):
        raise TypeError(
            "into must be True, False, names of functions of the code, or modules, classes and "
            f"functions that are written in Python, not {into!r}"
        )
    # `into=[models]` adds to the default, which is to step into all functions of the code.
    return frozenset(names) if names or not things else True, things


class Steps(Sequence[Frame]):
    """A run, step by step: a sequence of frames that a notebook shows as a player.

    `s[0]` is the first step: `.line`, `.place`, `.source`, `.output`, `.error`, `.changes`,
    `.pictures["memory"]` and `["graph"]`, each with `.svg` and `.text`. `s.ended` says how the run
    ended, `s.text` tells all of it in words, `s.save(path)` writes a page, `s.live()` makes the
    widget.
    """

    def __init__(
        self,
        run: RecordedRun,
        caller: Mapping[str, Any],
        original: Steps | None = None,
        choices: Mapping[int, str] | None = None,
        *,
        level: Level = "graph",
        is_edited: bool = False,
        folds_rounds: bool = False,
    ) -> None:
        self._run = leave_out_empty_ending(run)
        self._level, self._folds_rounds = level, folds_rounds
        # Written in the player, see `run_other_code`.
        self._is_edited = is_edited
        # Where copies were exchanged, pills and differences are those of the program as it was
        # written.
        self._original = original or self
        self._choices = choices or {}
        # By the number of the exchange: a form is asked for several times, and each is a run.
        self._stored_runs: dict[int, Steps] = {}
        missing = re.match(r"NameError: name '(\w+)' is not defined", str(run.error))
        # Of the caller's names one is kept at most: his variables are not to live on here.
        self._name_of_caller = missing[1] if missing and missing[1] in caller else ""

    # -- with other copies -------------------------------------------------------------

    @cached_property
    def _program_copies(self) -> tuple[ProgramCopy, ...]:
        return find_copies_of_run(self._run)

    def run_other_code(self, code: str) -> Steps:
        """Step through another program as through this one, which worked with nothing of the user's.

        Raises ValueError if `into` named a function that the other one does not define.
        """
        program = dedent_code(code)
        # A new observer, as an observer goes on with the ids of the run that it has seen.
        run = self._run.run_other(program, NameObserver(self._run.engine))
        return Steps(run, {}, level=self._level, is_edited=True, folds_rounds=self._folds_rounds)

    def run_other_copies(self, choices: Mapping[int, str], limits: Limits | None = None) -> Steps:
        """Step through the program with other methods in the place of some of its copies.

        choices: the index of a copy -> the name of a method. What is no choice is left out, and
        without any it is the original that is returned.
        """
        original = self._original
        copies = original._program_copies
        fitting: dict[int, str] = {}
        for index, copy in enumerate(copies):
            chosen = choices.get(index, copy.method.name)
            # From a page any number may come, and a name of an earlier edition.
            if chosen in copy.methods and chosen != copy.method.name:
                fitting[index] = chosen
        if not fitting:
            return original
        program = exchange_copies(original._program_text, copies, fitting)
        look = NameObserver(original._run.engine)
        run = original._run.run_other(program.code, look, limits)
        return Steps(run, {}, original, fitting, level=self._level, folds_rounds=self._folds_rounds)

    def _make_pills(self) -> Pills | None:
        original = self._original
        if not self._run.is_closed:
            return None
        copies = original._program_copies
        pills = Pills(
            copies,
            self._choices,
            self._changed_program.lines,
            self.added_steps,
            self._program_text,
            original._is_edited,
            make_stored=self._make_stored_forms,
        )
        if not self._choices:
            return pills
        return describe_exchange(pills, original._run_end, self._run_end, self._level)

    @property
    def added_steps(self) -> int:
        """The number of steps that come first, because another copy needs an import."""
        return self._changed_program.added_steps

    @cached_property
    def _changed_program(self) -> ChangedProgram:
        original = self._original
        return exchange_copies(original._program_text, original._program_copies, self._choices)

    def _make_stored_forms(self) -> Iterator[tuple[int, StaticForm]]:
        """Yield the forms of the runs with one other copy that a page may store."""
        # Only the original stores the runs of its pills: each of those would store all others in its turn.
        if self._choices or not may_store_runs(self._run):
            return
        for number, choices in islice(list_single_exchanges(self._program_copies), STORED_RUNS):
            if number not in self._stored_runs:
                self._stored_runs[number] = self.run_other_copies(choices, STORED_LIMITS)
            other = self._stored_runs[number]
            # One that was stopped by the smaller limits of stored runs would say another end than a live one.
            if other.ended in ("finished", "error"):
                yield number, other.static_form

    @property
    def _run_end(self) -> RunEnd:
        line = self._run.steps[-1].site.line if self._run.steps else 0
        return RunEnd(
            self._run,
            any(frame.has_wrong_gradient for frame in self.frames),
            self._changed_program.find_original_line(line),
        )

    @property
    def _program_text(self) -> str:
        return self._run.texts[0].code

    # -- what was run ------------------------------------------------------------------

    @property
    def code(self) -> str:
        """The code that was run: the string, or the function and those that were stepped into."""
        return "\n\n".join(text.code for text in self._run.texts)

    @property
    def end(self) -> str:
        """How the run ended, in sentences; empty if it simply finished."""
        return join_sentences(_describe_end(self._run, self._name_of_caller))

    @property
    def ended(self) -> str:
        """How the run ended: finished, error, syntax, steps or time (the limits) or interrupted."""
        return self._run.ended

    @cached_property_in_language
    def frames(self) -> tuple[Frame, ...]:
        """The frames; their pictures are drawn at the first use."""
        return make_frames(self._run, self._level, find_stretches(self._run))

    @cached_property_in_language
    def parts(self) -> tuple[FrameOrGroup, ...]:
        """The frames as a tree: those of each loop, round and call together."""
        return fold_frames(self._run, self.frames, self._level)

    def __len__(self) -> int:
        return len(self._run.steps)

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | Sequence[Frame]:
        """One frame, counted from 0, or several."""
        return self.frames[index]

    def __iter__(self) -> Iterator[Frame]:
        return iter(self.frames)

    def __repr__(self) -> str:
        lines, steps = len(self._code_lines), len(self)
        counts = f"{lines} line{'s' * (lines != 1)}, {steps} step{'s' * (steps != 1)}"
        return f"Steps({counts}, ended={self.ended!r})"

    def __str__(self) -> str:
        """What each line changed, and nothing else: `print(s)`. `s.text` tells all of it."""
        lines = []
        for frame in self.frames:
            sentences = [*frame.changes, *frame.explanation]
            if sentences or frame.error:
                lines += [frame.title, *(f"  {sentence}" for sentence in sentences)]
        if self.end:
            lines.append(self.end)
        return "\n".join(lines) or self.summary

    # All texts that were stepped into, the code itself first.
    @property
    def _code_lines(self) -> list[str]:
        return list(chain.from_iterable(text.code.splitlines() for text in self._run.texts))

    @property
    def summary(self) -> str:
        """What was stepped, in half a sentence."""
        if self.ended == "syntax":
            return gettext("Step-through: the code cannot be read, so nothing was run")
        return ngettext(
            "Step-through: {steps} through {number} line of code",
            "Step-through: {steps} through {number} lines of code",
            len(self._code_lines),
            steps=ngettext("{number} step", "{number} steps", len(self)),
        )

    @cached_property_in_language
    def text(self) -> str:
        """All in words: the code, each step, its changes, its output, its pictures."""
        return self._whole_form.full_text()

    @cached_property_in_language
    def html(self) -> str:
        """The static form, which turns itself into the player where scripts run."""
        return wrap_in_language(self.static_form.render_page())

    @property
    def _whole_form(self) -> StaticForm:
        return StaticForm(
            self._run.texts,
            self.parts,
            self.summary,
            self.end,
            self.ended in ("steps", "time", "interrupted"),
            self._make_pills(),
            self._folds_rounds,
            self._make_whole(),
        )

    def _make_whole(self) -> StaticForm | None:
        """Return the form that says everything, if this one says less."""
        if self._level == LEVELS[-1]:
            return None
        # Its program is changed in the player around it.
        return replace(Steps(self._run, {}).static_form, pills=None)

    @cached_property_in_language
    def last_shown(self) -> int:
        """The number of the last step that a notebook shows: of thousands not all are shown."""
        return self._whole_form.count_fitting_steps()

    @cached_property_in_language
    def static_form(self) -> StaticForm:
        """What of the run a notebook shows."""
        first = self.last_shown
        if first == len(self):
            return self._whole_form
        remark = gettext(
            "Only the first {first} of {all} steps are shown, to keep the page below 2 MB. "
            "With s = steps(...), s[{next}] is the next one. With rounds=3, later rounds of "
            "loops run in one go.",
            first=f"{first:,}",
            all=f"{len(self):,}",
            next=first,
        )
        # Without the form that says everything: there is not even room for all steps of this one.
        # Folded anew: a loop may begin among the steps that are shown and end behind them.
        parts = fold_frames(self._run, self.frames[:first], self._level)
        summary = gettext(
            "{summary}, the first {first} shown", summary=self.summary, first=f"{first:,}"
        )
        end = join_sentences(filter(None, [self.end, remark]))
        return StaticForm(
            self._run.texts,
            parts,
            summary,
            end,
            cut=True,
            pills=self._make_pills(),
            folds_rounds=self._folds_rounds,
        )

    @cached_property_in_language
    def stored_text(self) -> str:
        """Each step in words with what it changed: the text that a notebook stores.

        It says what it leaves out.
        """
        return self.static_form.brief_text(room=NOTEBOOK_LIMIT - stored_size(self.html))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self.stored_text, "text/html": self.html}

    def _display_(self) -> Any:
        """Return a widget for marimo, which runs no script of a page that it is given."""
        return self.live()

    def help(self) -> None:
        """Print what can be done with it and what to try first."""
        print(gettext(_HELP, summary=self.summary))

    def save(
        self, path: str | PathLike[str], step: int | None = None, theme: str | None = None
    ) -> Path:
        """Write the steps to `path` and return it; what a name ends in says how.

        .html: a page with the player that needs no network, in UTF-8. .gif: all steps, one after
        the other (needs typst and pillow). .svg, .png and .pdf: one step as a drawing, with its
        code, words and pictures (the latter two need typst). An existing file is replaced.

        step: the step that is drawn, from 1; the last by default. theme: the colours of a drawing,
            "light", "dark" or "print"; by default an SVG follows the page that it is in.

        Raises, before anything is written: ValueError for another ending, theme or step,
        ImportError for what is needed and missing, LayoutError for a graph that cannot be drawn.
        """
        path = Path(path)
        self._check_drawing(path, step, theme)
        match path.suffix.lower():
            case ".html" | ".htm":
                content = self._make_page().encode()
            case ".gif":
                drawings = [StageDrawing(frame, self._stage_sizes) for frame in self.frames]
                # What went wrong is shown for longer, see `animate`.
                is_loud = [bool(frame.alarms or frame.error) for frame in self.frames]
                content = animate(drawings, is_loud, theme or "light")
            case ".svg" | ".png" | ".pdf":
                number = len(self) if step is None else step
                drawing = StageDrawing(self.frames[number - 1], self._stage_sizes)
                content = drawing.content(path, theme) or b""
            case _:
                raise ValueError(
                    f"cannot save steps as {path.name!r}: the name must end in .html, .gif, or, "
                    "for one step, .svg, .png or .pdf. The pictures of a step can be saved alone: "
                    's[0].pictures["memory"].save("step.svg"), or "graph"'
                )
        # Made whole before: an error in that must leave the old file as it is.
        path.write_bytes(content)
        return path

    def _check_drawing(self, path: Path, step: int | None, theme: str | None) -> None:
        """Raise ValueError for a step or a theme that a file of that name cannot have."""
        kind = path.suffix.lower()
        is_page = kind in (".html", ".htm")
        if theme is not None and is_page:
            raise ValueError("a page follows the theme of its reader: theme= is for drawings")
        if theme not in (None, "light", "dark", "print"):
            raise ValueError(f'theme must be "light", "dark" or "print", not {theme!r}')
        if step is not None and (is_page or kind == ".gif"):
            raise ValueError(f"{kind} has all steps: step= is for .svg, .png and .pdf")
        if kind in (".gif", ".svg", ".png", ".pdf") and not len(self):
            raise ValueError("there are no steps to draw")
        # By its type: True is an int as well, and no step.
        if step is not None and (type(step) is not int or not 1 <= step <= len(self)):
            raise ValueError(f"there is no step {step!r}: they are 1 to {len(self)}")

    @cached_property_in_language
    def _stage_sizes(self) -> StageSizes:
        return StageSizes([lines_of_listing(text) for text in self._run.texts], self.frames)

    def _make_page(self) -> str:
        head = f'<!doctype html><html lang="{current_language() or "en"}"><meta charset="utf-8">'
        head += '<meta name="viewport" content="width=device-width">'
        # A saved page is passed on: no script but the player's runs in it.
        head += f'<meta http-equiv="Content-Security-Policy" content="{content_policy()}">'
        title = gettext("Step-through")
        return f"{head}<title>{title}</title>\n<body>{self.html}</body></html>\n"

    def link(self, site: str, step: int = 1) -> str:
        """Return an address that carries the program, and opens its player at a step.

        It is that of a page of a site which `docs/build_site.py` made, in the language in use.
        Where the site has stored a run of the same program, it shows that; otherwise it shows the
        program, and how to run it. Program and step are behind the #, which no server gets to see.

        site: the address of the folder of the site, `https://example.org/course/`. step: from 1.

        Raises ValueError if the program works with what is not in its text, if it is too long for a
        link, or if there is no such step.
        """
        if not self._run.is_closed:
            raise ValueError(
                "a link carries a program alone: for one that is a function, or that works with "
                "names of yours, save a page: s.save('steps.html')"
            )
        # By its type, as in `_check_drawing`.
        if type(step) is not int or not 1 <= step <= len(self):
            raise ValueError(f"there is no step {step!r}: they are 1 to {len(self)}")
        carried = urlencode({"program": self._program_text, "step": step})
        address = f"{site.rstrip('/')}/{current_language() or 'en'}/run.html#{carried}"
        if len(address) > LONGEST_LINK:
            raise ValueError(
                f"the link would have {len(address):,} characters, and {LONGEST_LINK:,} is the "
                "most that is read: save a page instead, s.save('steps.html')"
            )
        return address

    def live(self) -> Any:
        """The player as a widget: its trait `step` (from 1) can be set and observed."""
        return StepsWidget(self)


def _describe_end(run: RecordedRun, name_of_caller: str) -> Iterator[str]:
    """Yield what there is to say at the end of a run; nothing if it simply finished.

    name_of_caller: the name that was missing, if the code that called `steps` has it.
    """
    yield from _describe_reason(run, name_of_caller)
    if run.before is not None and run.steps:
        # Said although it was wanted: the tensors are the user's own, and stay as the code has left
        # them.
        written = list_written_names(run.before.snapshot, run.steps[-1].observation.snapshot)
        if written:
            names = join_few_names(written)
            yield gettext("The code wrote into what was passed in: {names}.", names=names)
        yield from describe_kept_graphs([step.observation.snapshot for step in run.steps])
    for name in run.hidden_functions:
        yield gettext("{name}() ran in one go: a decorator hides its code.", name=name)
    yield from run.effects


def _describe_reason(run: RecordedRun, name_of_caller: str) -> Iterator[str]:
    limits, count = run.limits, len(run.steps)
    match run.ended:
        case "steps":
            yield ngettext(
                "Stopped after {number} step: that is the limit (max_steps={most}), "
                "and the code was still running.",
                "Stopped after {number} steps: that is the limit (max_steps={most}), "
                "and the code was still running.",
                count,
                most=limits.max_steps,
            )
            yield gettext(
                "An endless loop? Otherwise raise max_steps, "
                "or run the later rounds of loops in one go (rounds=3)."
            )
        case "time":
            yield ngettext(
                "Stopped after {number} step: the time is up (seconds={most:g}), "
                "and the code was still running.",
                "Stopped after {number} steps: the time is up (seconds={most:g}), "
                "and the code was still running.",
                count,
                most=limits.seconds,
            )
            yield gettext("An endless loop? Otherwise raise seconds.")
        case "interrupted":
            yield ngettext(
                "Interrupted after {number} step.", "Interrupted after {number} steps.", count
            )
            yield gettext("The steps so far are kept.")
        case "error" if run.steps:
            yield from _describe_error_at_end(run, name_of_caller)
        case "finished" if not run.steps:
            yield gettext(
                "There is no statement in this code, so there is nothing to step through."
            )


def _describe_error_at_end(run: RecordedRun, name_of_caller: str) -> Iterator[str]:
    place = run.steps[-1].site.phrase_place(several=len(run.texts) > 1)
    yield gettext("The error {where} ended the run.", where=place)
    if name_of_caller:
        yield gettext(
            "{name} is a variable of yours: "
            "the code can use it with steps(..., namespace=globals()).",
            name=name_of_caller,
        )
