"""Misconceptions about copying tensors, by name: what people say, and what speaks against it.

    misconception("clone cuts the graph")

The names are short statements, all of them wrong; most can be found in print. `predict` ties a wrong answer to one of
them, and a lesson may make its own with `Misconception(name, says, refutation)`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from tinytorch.viz.catalogue import gettext, gettext_noop

from .runs import Run


@dataclass(frozen=True)
class Misconception:
    """Something wrong that people believe.

    name: a short statement to know it by, such as "a name is a copy".
    says: the belief in a whole sentence, as its owner would say it.
    refutation: what speaks against it: a text, or a function that makes one from the run. Text that states facts of a
        run (which storage, which value) belongs into a function, which reads them off that run.
    """

    name: str
    says: str
    refutation: str | Callable[[Run], str]

    def against(self, run: Run) -> str:
        """The refutation, for this run."""
        return gettext(self.refutation) if isinstance(self.refutation, str) else self.refutation(run)


_SAID = {
    gettext_noop("a name is a copy"): (
        gettext_noop("`y = x` gives me a second tensor."),
        gettext_noop(
            "An assignment ties a second name to the same tensor. Nothing is made and nothing is copied: `y is x`."
        ),
    ),
    gettext_noop("equal numbers are one tensor"): (
        gettext_noop("They show the same numbers, so they are the same tensor."),
        gettext_noop("Two tensors can show the same numbers. Only `y is x` tells whether two names mean one tensor."),
    ),
    gettext_noop("a view is a copy"): (
        gettext_noop("A part of a tensor, or another shape of it, has memory of its own."),
        gettext_noop(
            "A view is another way to read the same storage: no number was copied, and a write through it is seen."
        ),
    ),
    gettext_noop("another tensor, another memory"): (
        gettext_noop("It is another tensor, so it has memory of its own."),
        gettext_noop("A tensor is a description of how to read a storage. Two tensors can read the same one."),
    ),
    gettext_noop("a copy shares memory"): (
        gettext_noop("What is written into the one is seen in the other."),
        gettext_noop(
            "Its numbers were copied into a storage of its own when its line ran. Later writes do not cross over."
        ),
    ),
    gettext_noop("a tensor is a formula"): (
        gettext_noop("If the source changes later, what was computed from it changes too."),
        gettext_noop("A tensor holds the numbers of the moment in which its line ran. It is not computed anew."),
    ),
    gettext_noop("id shows memory"): (
        gettext_noop("Another `id()` means another memory."),
        gettext_noop(
            "`id()` tells tensors apart, and a view is another tensor over the same memory. Ask the storages, "
            "or write and look."
        ),
    ),
    gettext_noop("clone cuts the graph"): (
        gettext_noop("A clone is a finished copy: it has no gradient any more."),
        gettext_noop(
            "A clone is computed, like `x * 1`. It has a node that leads back, and the gradient goes through it "
            "unchanged. What cuts is `detach`."
        ),
    ),
    gettext_noop("a clone is a leaf"): (
        gettext_noop("A copy is a fresh tensor, so it is a leaf."),
        gettext_noop(
            "A leaf that requires grad was made by you. A clone of a tensor that requires grad was made by an "
            "operation that was recorded."
        ),
    ),
    gettext_noop("a clone copies the graph"): (
        gettext_noop("To keep the gradient, `clone` has to copy the whole graph behind it."),
        gettext_noop("One node is added, and it points to the node that was there already."),
    ),
    gettext_noop("the copy has the gradient"): (
        gettext_noop("The gradient of the copy is in its own `.grad`."),
        gettext_noop(
            "`backward` fills `.grad` at leaves. At a tensor that was computed it only passes through, unless "
            "`retain_grad()` asked for it before."
        ),
    ),
    gettext_noop("a result never has a grad"): (
        gettext_noop("Only a leaf can ever have a `.grad`."),
        gettext_noop("`retain_grad()`, called before `backward`, keeps the gradient at any tensor that requires grad."),
    ),
    gettext_noop("backward overwrites"): (
        gettext_noop("The second `backward` replaces the gradient of the first."),
        gettext_noop("Gradients add up in `.grad` until somebody sets them back."),
    ),
    gettext_noop("the graph has the gradient"): (
        gettext_noop("The gradient is there as soon as the result is computed."),
        gettext_noop("Until `backward` walks it, the graph is only a record of what was computed from what."),
    ),
    gettext_noop("backward changes its leaf"): (
        gettext_noop("`backward` changes the tensor itself."),
        gettext_noop(
            "`backward` writes into `.grad`, which is another tensor. The numbers of the leaf stay as they are."
        ),
    ),
    gettext_noop("grad is not inherited"): (
        gettext_noop("It does not require grad, because nobody asked for it."),
        gettext_noop(
            "What is computed from a tensor that requires grad requires it too, so that the gradient can flow back."
        ),
    ),
    gettext_noop("requires_grad is copied"): (
        gettext_noop("The copy requires grad because its source does."),
        gettext_noop("`requires_grad` is passed on by operations that are recorded. This one was not."),
    ),
    gettext_noop("a plain copy has a node"): (
        gettext_noop("A copy always has a node that leads back."),
        gettext_noop("Operations are recorded only where an input requires grad and recording is not switched off."),
    ),
    gettext_noop("the graph joins memories"): (
        gettext_noop("They belong to one graph, so they share memory."),
        gettext_noop("The graph records operations. An operation that computes puts its result into new cells."),
    ),
    gettext_noop("memory joins graphs"): (
        gettext_noop("They share memory, so the gradient finds its way between them."),
        gettext_noop(
            "A gradient follows nodes, not memory. Two tensors can share every cell with no node between them."
        ),
    ),
    gettext_noop("detach copies"): (
        gettext_noop("`detach` gives me numbers of my own."),
        gettext_noop("`detach` copies nothing: another tensor over the same storage, only without a history."),
    ),
    gettext_noop("detach keeps the graph"): (
        gettext_noop("A gradient still gets through a detached tensor."),
        gettext_noop("`detach` gives a tensor with no node, so `backward` finds no way on from there."),
    ),
    gettext_noop("detach has its own counter"): (
        gettext_noop("A write into the detached tensor is not counted at its source."),
        gettext_noop(
            "`detach` shares the version counter along with the storage. That is how autograd notices such a write."
        ),
    ),
    gettext_noop(".data is detach"): (
        gettext_noop("`.data` does what `detach` does."),
        gettext_noop(
            "Both share the storage, but `.data` has a version counter of its own: autograd does not see what "
            "is written through it."
        ),
    ),
    gettext_noop(".data keeps the gradient"): (
        gettext_noop("`.data` still has the gradient information."),
        gettext_noop("`x.data` has no node, no `.grad`, and does not require grad."),
    ),
    gettext_noop("no error, right gradient"): (
        gettext_noop("It raised no error, so the gradient is right."),
        gettext_noop(
            "Autograd compares version counters. A write that they do not count (through `.data`, through "
            "NumPy) is not noticed, and the gradient is computed from the new number."
        ),
    ),
    gettext_noop("every write breaks backward"): (
        gettext_noop("After a write in place, `backward` raises an error."),
        gettext_noop("It does so only where a node has saved the tensor that was written into and needs its value."),
    ),
    gettext_noop("a counter for each tensor"): (
        gettext_noop("Each tensor counts the writes that were made through it."),
        gettext_noop("A version counter belongs to all tensors that share it, whichever of them was written through."),
    ),
    gettext_noop("shared memory, shared counter"): (
        gettext_noop("Tensors that share a storage share a version counter."),
        gettext_noop(
            "Storage and counter are two things. `.data` and NumPy give a tensor that shares the one and not the other."
        ),
    ),
    gettext_noop("computing is writing"): (
        gettext_noop("`y = x + 1` changes `x`, and its version."),
        gettext_noop("An operation that is not in place reads `x` and puts its result into a new storage."),
    ),
    gettext_noop("in place makes a new tensor"): (
        gettext_noop("After `x += 1` the name `x` means a new tensor."),
        gettext_noop("In place means: into the cells that are there. The tensor stays the same, its version goes up."),
    ),
    gettext_noop("reshape is a view"): (
        gettext_noop("`reshape` never copies."),
        gettext_noop("It gives a view where the strides allow it, and copies where they do not."),
    ),
    gettext_noop("reshape is a copy"): (
        gettext_noop("`reshape` always copies."),
        gettext_noop("It copies only where the strides leave no other way; otherwise it gives a view."),
    ),
    gettext_noop("torch.tensor keeps the history"): (
        gettext_noop("`torch.tensor(t)` keeps requires_grad and the graph."),
        gettext_noop("It reads the numbers and makes a new leaf of them, as `t.detach().clone()` does."),
    ),
    gettext_noop("new_tensor keeps the history"): (
        gettext_noop("`x.new_tensor(t)` keeps the graph of `t`."),
        gettext_noop("It reads the numbers of `t` and takes dtype and device from `x`. The result is a new leaf."),
    ),
    gettext_noop("copy_ shares memory"): (
        gettext_noop("After `y.copy_(x)` the two share memory."),
        gettext_noop("`copy_` writes the numbers of `x` into the cells that `y` has already. Both keep their storage."),
    ),
    gettext_noop("copy_ is not recorded"): (
        gettext_noop("`copy_` moves bare numbers, so no gradient passes."),
        gettext_noop("`copy_` is recorded like any other operation: the target gets a node that leads to the source."),
    ),
    gettext_noop("numpy() copies"): (
        gettext_noop("`x.numpy()` is a copy."),
        gettext_noop("The array looks at the same memory, and autograd does not see what is written through it."),
    ),
    gettext_noop("to always copies"): (
        gettext_noop("`x.to(...)` gives a copy."),
        gettext_noop("Where dtype and device are right already, `to` gives back the very same tensor."),
    ),
    gettext_noop("indexing is a view"): (
        gettext_noop("Whatever is in the brackets, the result is a view."),
        gettext_noop("Slices and single numbers give a view. A list or a mask picks elements and copies them."),
    ),
    gettext_noop("a shallow copy is a copy"): (
        gettext_noop("Copying the list (or the state_dict) copies the tensors in it."),
        gettext_noop("The new container holds the same tensors. Each needs a clone of its own."),
    ),
}

MISCONCEPTIONS = {name: Misconception(name, *said) for name, said in _SAID.items()}
"""The catalogue, by name."""


def misconception(name: str) -> Misconception:
    """The misconception of the catalogue with this name. KeyError, with the nearest names, if there is none."""
    if name not in MISCONCEPTIONS:
        near = difflib.get_close_matches(name, MISCONCEPTIONS, 3, 0.4)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see copylab.misconceptions.MISCONCEPTIONS"
        raise KeyError(f"no misconception is called {name!r}: {hint}")
    return MISCONCEPTIONS[name]
