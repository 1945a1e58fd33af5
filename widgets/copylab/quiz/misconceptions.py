"""Misconceptions about copying tensors, by name: what people say, and what speaks against it.

    misconception("clone cuts the graph")

The names are short statements, all of them wrong; most can be found in print. Many are found behind
a wrong answer by `wrong_answers.py`; the others only where a lesson names them in `wrong=`. A lesson
may make its own, too, with `Misconception(name, belief, argument)`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tinytorch.viz import summarize_text

from ..wording import gettext
from .runs import QuizRun

if TYPE_CHECKING:
    from .retest_programs import RetestProgram


_own_misconceptions: dict[str, Misconception] = {}
"""Those of lessons that have retests, by name: by that the progress file refers to them."""


@dataclass(frozen=True)
class Misconception:
    """Something wrong that people believe.

    name: a short statement to know it by, such as "a name is a copy".
    belief: in a whole sentence, as its owner would say it.
    argument: what speaks against it: a text, or a function that makes one from the run. Facts of
        a run (which storage, which value) belong into a function, which reads them off that run.
        Those of the catalogue are texts: there the `because` of the question says the facts.
    retests: small programs that test it, see `RetestProgram`; those of the catalogue are in
        `retest_programs.py`.
    """

    name: str
    belief: str
    argument: str | Callable[[QuizRun], str]
    retests: Sequence[RetestProgram] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.retests:
            _own_misconceptions.setdefault(self.name, self)

    def __repr__(self) -> str:
        return summarize_text(f"Misconception({self.name!r})")

    def write_argument(self, run: QuizRun) -> str:
        """Return the argument, with the facts of this run."""
        return gettext(self.argument) if isinstance(self.argument, str) else self.argument(run)


# What each misconception says, and what speaks against it. A belief may have code of its own, as
# `y = x`. An argument has no names of variables, since a drawn program has others. Texts alone, and no
# functions or calls: tools/make_catalogue.py takes every text of this table for translators.
_BELIEFS_AND_ARGUMENTS = {
    # Names, and what tells two tensors apart.
    "a name is a copy": (
        "`y = x` gives me a second tensor.",
        "An assignment ties a second name to the same tensor. Nothing is made and nothing is copied, and `is` finds one tensor behind both names.",
    ),
    "equal numbers are one tensor": (
        "Two tensors that show the same numbers are the same tensor.",
        "Two tensors can show the same numbers. Only `is` tells whether two names mean one tensor.",
    ),
    # Views and copies: whose cells they are.
    "a view is a copy": (
        "A part of a tensor, or another shape of it, has memory of its own.",
        "A view is another way to read the same storage: no number was copied, and a write through it changes what it was made from, too.",
    ),
    "an offset is an index": (
        "`m[1]` begins at cell 1 of the storage, because its index is 1.",
        "An offset counts cells of the storage. Each index is multiplied by the stride of its dimension: where a row has three numbers, row 1 begins at cell 3.",
    ),
    "a slice frees the rest": (
        "If only a slice is left, only its numbers stay in memory.",
        "A view keeps its whole storage alive, however few of the cells it reads, and even if no other tensor is left. A clone of the slice has only the cells that it needs.",
    ),
    "another tensor, another memory": (
        "Another tensor has memory of its own.",
        "A tensor is a description of how to read a storage. Two tensors can read the same storage.",
    ),
    "a copy shares memory": (
        "A write into a copy shows in its source.",
        "The copy got cells of its own when its line ran: later writes do not cross over.",
    ),
    "a tensor is a formula": (
        "If the source changes later, what was computed from it changes too.",
        "A tensor holds the numbers from the moment when its line ran, and is not computed again.",
    ),
    "id shows memory": (
        "A different `id()` means different memory.",
        "`id()` tells tensors apart, and a view is another tensor over the same memory. Ask the storages, or write and look.",
    ),
    # Copies on the graph, and leaves.
    "clone cuts the graph": (
        "A clone is a finished copy: it has no gradient any more.",
        "A clone is computed, like a product with 1. A clone has a node that leads back, and the gradient goes through that node unchanged. What cuts is `detach`.",
    ),
    "a clone is a leaf": (
        "A copy is a fresh tensor, so it is a leaf.",
        "A leaf that requires grad was made by you. A clone of a tensor that requires grad was made by an operation that was recorded.",
    ),
    "a leaf is not computed": (
        "A tensor that was made from another one is not a leaf.",
        "A leaf is a tensor without a node. What was made without being recorded has none, whatever it was made from.",
    ),
    "the last result is a leaf": (
        "A leaf is an end of the graph, and the last result is one, too.",
        "`backward` begins at the last result, which has a node, and ends at leaves, which have none.",
    ),
    "a clone copies the graph": (
        "To keep the gradient, `clone` has to copy the whole graph behind it.",
        "One node is added, and it points to the node that was there already.",
    ),
    # Where gradients arrive, and when.
    "the copy has the gradient": (
        "The gradient of the copy is in its own `.grad`.",
        "`backward` fills `.grad` at leaves. Through a tensor that was computed the gradient only passes, unless `retain_grad()` was called on that tensor before.",
    ),
    "a result never has a grad": (
        "Only a leaf can ever have a `.grad`.",
        "`retain_grad()`, called before `backward`, keeps the gradient of any tensor that requires grad.",
    ),
    "backward overwrites": (
        "The second `backward` replaces the gradient of the first.",
        "Gradients add up in `.grad` until they are reset.",
    ),
    "the graph has the gradient": (
        "The gradient is there as soon as the result is computed.",
        "Until `backward` walks it, the graph is only a record of what was computed from what.",
    ),
    "no gradient is a zero": (
        "Until a gradient arrives, `.grad` is 0.",
        "`.grad` is None until a gradient arrives. A zero is a gradient that arrived and says: no influence.",
    ),
    "backward changes its leaf": (
        "`backward` changes the tensor itself.",
        "`backward` writes into `.grad`, which is another tensor. The numbers of the leaf stay as they are.",
    ),
    # What requires grad, and has a node.
    "grad is not inherited": (
        "A tensor requires grad only if the program asks for that.",
        "What is computed from a tensor that requires grad requires it too, so that the gradient can flow back.",
    ),
    "requires_grad is copied": (
        "A tensor requires grad when the tensors around it do.",
        "A tensor requires grad only if the program asks for that or a recorded operation made the tensor.",
    ),
    "a plain copy has a node": (
        "A result always has a node.",
        "Operations are recorded only where an input requires grad and recording is not switched off.",
    ),
    # Memory and graph, each taken for the other.
    "the graph joins memories": (
        "Tensors of one graph share memory.",
        "The graph records operations. An operation that computes puts its result into new cells.",
    ),
    "memory joins graphs": (
        "Between tensors that share memory, the gradient finds its way.",
        "A gradient follows nodes, not memory. Two tensors can share every cell with no node between them.",
    ),
    # The ways to cut the graph.
    "detach copies": (
        "`detach` gives me numbers of my own.",
        "`detach` copies nothing: it makes another tensor that reads the same numbers in memory.",
    ),
    "detach works in place": (
        "`y.detach()` takes `y` itself off the graph.",
        "`detach` returns another tensor. The one before the dot keeps its node and still requires grad; what works in place is `detach_`.",
    ),
    "detach keeps the graph": (
        "A gradient still gets through a detached tensor.",
        "`detach` gives a tensor with no node, so `backward` cannot go on from there.",
    ),
    "detach has its own counter": (
        "A detached tensor and its source count their writes separately.",
        "`detach` shares the version counter along with the storage. So autograd notices a write through either tensor.",
    ),
    ".data is detach": (
        "`.data` does what `detach` does.",
        "`.data` and `detach` share the storage, but `.data` has a version counter of its own: autograd does not see what is written through it.",
    ),
    ".data keeps the gradient": (
        "`.data` still has the gradient information.",
        "What `.data` returns has no node, no `.grad`, and does not require grad.",
    ),
    # Writes in place, and who counts them.
    "no error, right gradient": (
        "No error was raised, so the gradient is right.",
        "Autograd compares version counters. A write that they do not count (through `.data`, through NumPy) is not noticed, and the gradient is computed from the new number.",
    ),
    "no_grad hides a write": (
        "Inside `no_grad` a write is not counted, so `backward` does not notice it.",
        "`no_grad` stops the recording of operations. The version counter still counts each write.",
    ),
    "every write breaks backward": (
        "After a write in place, `backward` raises an error.",
        "`backward` raises an error only where a node has saved the tensor that was written into and needs its value.",
    ),
    "a counter for each tensor": (
        "Each tensor counts the writes that were made through it.",
        "A view and its base have one version counter, and so have a detached tensor and its source. A write through either of them counts for both.",
    ),
    "shared memory, shared counter": (
        "Tensors that share a storage share a version counter.",
        "Storage and counter are two separate things. `.data`, or a detour through NumPy, gives a tensor that shares the storage but not the counter.",
    ),
    "computing is writing": (
        "`y = x + 1` changes `x`, and its version.",
        "Arithmetic that is not in place only reads, and its result has a new storage.",
    ),
    "in place makes a new tensor": (
        "After a write in place, such as `x += 1`, the name means a new tensor.",
        "In place means: into the existing cells. The tensor stays the same, and its version goes up.",
    ),
    # Calls of which people expect that they copy, or that they do not.
    "reshape is a view": (
        "`reshape` never copies.",
        "`reshape` gives a view where the strides allow it, and copies where they do not.",
    ),
    "reshape is a copy": (
        "`reshape` always copies.",
        "`reshape` copies only where the strides leave no other way; otherwise it gives a view.",
    ),
    "torch.tensor keeps the history": (
        "`torch.tensor(t)` keeps requires_grad and the graph.",
        "`torch.tensor` reads the numbers and makes a new leaf of them, as `t.detach().clone()` does.",
    ),
    "new_tensor keeps the history": (
        "`x.new_tensor(t)` keeps the graph of `t`.",
        "`new_tensor` reads the numbers of its argument and takes dtype and device from the tensor before the dot. The result is a new leaf.",
    ),
    "copy_ shares memory": (
        "After `y.copy_(x)` the two share memory.",
        "`copy_` writes the numbers of its argument into the existing cells of the tensor before the dot. Both keep their storage.",
    ),
    "copy_ is not recorded": (
        "`copy_` moves bare numbers, so no gradient passes.",
        "`copy_` is recorded like any other operation: the target gets a node that leads to the source.",
    ),
    "numpy() copies": (
        "`x.numpy()` is a copy.",
        "The array looks at the same memory, and autograd does not see what is written through it.",
    ),
    "to always copies": (
        "`x.to(...)` gives a copy.",
        "Where dtype and device are right already, `to` gives back the very same tensor.",
    ),
    "indexing is a view": (
        "Whatever is in the brackets, the result is a view.",
        "Slices and single numbers give a view. A list or a mask picks elements and copies them.",
    ),
    "a shallow copy is a copy": (
        "Copying the list (or the state_dict) copies the tensors in it.",
        "The new container holds the same tensors. Each needs a clone of its own.",
    ),
}

MISCONCEPTIONS = {
    name: Misconception(name, belief, argument)
    for name, (belief, argument) in _BELIEFS_AND_ARGUMENTS.items()
}
"""The catalogue, by name."""


def misconception(name: str) -> Misconception:
    """Return the misconception of this name in the catalogue, or in a lesson that is imported.

    KeyError, with the nearest names, if there is none.
    """
    # The catalogue goes first, or a lesson could change what other lessons say.
    if name not in MISCONCEPTIONS and name in _own_misconceptions:
        return _own_misconceptions[name]
    if name not in MISCONCEPTIONS:
        # Below difflib's own limit of 0.6: the names are sentences, and are recalled by one word.
        similar = difflib.get_close_matches(name, MISCONCEPTIONS, 3, 0.4)
        hint = "see copylab.quiz.MISCONCEPTIONS"
        if similar:
            hint = f"did you mean {' or '.join(map(repr, similar))}?"
        raise KeyError(f"no misconception is called {name!r}: {hint}")
    return MISCONCEPTIONS[name]


def require_name_or_sentence(text: str) -> None:
    """Raise ValueError for a text that is neither a name of the catalogue nor a sentence.

    A name begins with a small letter or a full stop and ends without one; any other text like that
    is a misspelt name, and would be shown to learners as a sentence.
    """
    looks_like_name = text[:1].islower() or text.startswith(".")
    if looks_like_name and not text.rstrip().endswith((".", "!", "?", "。")):
        _require_name(text)


def require_no_misspelt_name(text: str) -> None:
    """Raise ValueError for a text that is close to a name of the catalogue, and none of them."""
    # Above difflib's own limit of 0.6: any constant of a function may come here, and only a near miss
    # is meant as a name.
    if difflib.get_close_matches(text, MISCONCEPTIONS, 1, 0.75):
        _require_name(text)


def _require_name(text: str) -> None:
    if text in MISCONCEPTIONS:
        return
    similar = difflib.get_close_matches(text, MISCONCEPTIONS, 1, 0.4)
    hint = f": did you mean {similar[0]!r}?" if similar else "."
    raise ValueError(
        f"no misconception is called {text!r}{hint} A sentence of your own ends with a full stop"
    )
