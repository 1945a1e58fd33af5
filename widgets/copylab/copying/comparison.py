"""`compare()`: ways to copy side by side, every answer found by running a program that can be read."""

from __future__ import annotations

import sys
from collections.abc import ItemsView, Iterator
from types import ModuleType
from typing import Any

import traitlets

from ..run.engines import checked, engine_for
from ..ui.exhibit import Exhibit, Live
from . import views as compareviews
from .facts import QUESTIONS, Answer, Facts, facts
from .methods import METHODS, Method, method
from .sources import Source

KINDS = {"leaf": "a leaf that requires grad", "result": "a result of an operation", "plain": "plain: requires no grad"}
GIVEN = "given"


def compare(*methods: str | Method, source: object = None, engine: ModuleType | None = None) -> Comparison:
    """Compare ways to copy `x`: what they share, what autograd sees, what a write does.

    methods: names such as "clone", or a Method of your own; all there are if none is given.
    source: "leaf", "result" or "plain", a Source, or a tensor of yours: a stand-in is copied, yours is not touched.
    engine: the module to ask; by default your global `torch`, otherwise tinytorch.

    Returns a Comparison. In a notebook it is a table to sort and to filter, and each cell opens the program that proves
    its answer. `c["clone"]["same_storage"].proof` is the same program as text.

    Raises ValueError for an unknown method, or a source that cannot be built, TypeError for what is neither.
    """
    return Comparison(*methods, source=source, engine=checked(engine) or engine_for(sys._getframe(1).f_globals))


class Comparison(Exhibit, Live):
    """A table of ways to copy: `c["clone"]` are the Facts of one, `list(c)` are their names, `c.items()` both.

    Traits to observe: `kind`, of the source ("leaf", "result", "plain", or "given" for what was passed in), which may
    be set, and `results`, the Facts by name.
    """

    SCRIPTS = ("copying/compare.js",)
    SHEETS = ("copying/compare.css",)
    form = traitlets.Unicode(read_only=True, help="The static form that the table is made of.").tag(sync=True)
    kinds: traitlets.List = traitlets.List(
        read_only=True, help="The kinds of source to choose from, each with its words."
    ).tag(sync=True)
    kind = traitlets.Unicode(help="The kind of the source.").tag(sync=True)
    results: traitlets.Dict = traitlets.Dict(read_only=True, help="The Facts of each method, by its name.")

    def __init__(self, *methods: str | Method, source: object = None, engine: ModuleType | None = None) -> None:
        self.methods = tuple({one.name: one for one in map(method, methods or METHODS.values())}.values())
        self._engine = checked(engine) or engine_for({})
        self._given = Source.of(source)
        self._known_kind = next((kind for kind in KINDS if Source.of(kind) == self._given), None)
        # All that is shown is a default: a view may be made of what the model has when it is opened.
        super().__init__()

    @traitlets.default("kinds")
    def _kinds(self) -> list[list[str]]:
        own = [] if self._known_kind else [[GIVEN, "as it was passed in"]]
        return [*own, *([kind, words] for kind, words in KINDS.items())]

    @traitlets.default("kind")
    def _kind(self) -> str:
        return self._known_kind or GIVEN

    @traitlets.default("results")
    def _results(self) -> dict[str, Facts]:
        return {one.name: facts(one, self.source, self._engine) for one in self.methods}

    @traitlets.default("form")
    def _form(self) -> str:
        return compareviews.form(self)

    @property
    def source(self) -> Source:
        """What is copied."""
        return self._given if self.kind == GIVEN else Source.of(self.kind)

    @property
    def engine(self) -> str:
        """The name of the engine that was asked."""
        return self._engine.__name__

    @property
    def text(self) -> str:
        """All answers in words."""
        return compareviews.plain(self)

    @property
    def html(self) -> str:
        """The table as HTML, with a script that lets it be sorted and filtered, and all programs."""
        return compareviews.page(self)

    def where(self, **answers: Answer) -> list[str]:
        """The methods that have all of these answers: `c.where(same_storage=True, requires_grad=False)`.

        Raises ValueError, with the names there are, for what is no question.
        """
        for key in answers:
            if key not in {question.key for question in QUESTIONS}:
                names = ", ".join(question.key for question in QUESTIONS)
                raise ValueError(f"there is no question {key!r}; there are {names}")
        return [name for name, found in self.items() if all(found[key].answer == a for key, a in answers.items())]

    def help(self) -> None:
        """Print what to try first."""
        print(compareviews.HELP)

    def __getitem__(self, name: str) -> Facts:
        found: dict[str, Facts] = self.results
        if name in found:
            return found[name]
        try:
            return found[method(name).name]
        except (ValueError, TypeError):
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def items(self) -> ItemsView[str, Facts]:
        """The names of the methods with their Facts."""
        found: dict[str, Facts] = self.results
        return found.items()

    def __repr__(self) -> str:
        return f"Comparison({len(self.methods)} methods, {self.source.kind} of shape {self.source.shape})"

    @traitlets.validate("kind")
    def _known(self, proposal: Any) -> str:
        kinds = [kind for kind, _ in self.kinds]
        if proposal["value"] not in kinds:
            raise traitlets.TraitError(f"kind must be one of {', '.join(kinds)}, not {proposal['value']!r}")
        return str(proposal["value"])

    @traitlets.observe("kind")
    def _compute(self, _change: object) -> None:
        self.set_trait("results", self._results())
        self.set_trait("form", self._form())
