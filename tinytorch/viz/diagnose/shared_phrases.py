"""Phrases on saved tensors and writes that sentences of `explain` and of pictures share.

They are not in `show`, the room of pictures' sentences, since `explain` is below that room. Each
returns a part of a sentence, named in its docstring by an example; the whole sentences are in
`show/graph_remarks.py` (the node's entry), `show/hazard_sentences.py` (the tensor's row) and
`write_findings.py` (`explain`). docs/pictures_inside.md has the table of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ..read import SavedRecord, Snapshot, TensorRecord
from ..wording import (
    escape_unseen,
    gettext,
    join_few_names,
    ngettext,
    write_expression,
)
from .finding_records import SavedEntry

# -- what was saved, and what was written to it since ------------------------------------------


def saved_noun(saved: SavedRecord) -> str:
    """Return the noun for what a node saved: `result`, `weight`, and for `self` another word.

    Nodes have the names of PyTorch's declarations, where the first argument is `self`: "its self" is
    no English.
    """
    nouns = {"self": gettext("input"), "other": gettext("second input")}
    return nouns.get(saved.name, saved.name)


def phrase_saved(snap: Snapshot, saved: SavedRecord) -> str:
    """Return `its result (y)`: the noun for what a node saved and, if it has one, the label."""
    noun = gettext("its {saved}", saved=saved_noun(saved))
    # A number of ours would tell a reader of this sentence nothing.
    if saved.tensor is not None and (name := snap.find_label(saved.tensor)):
        return gettext("{sentence} ({addition})", sentence=noun, addition=name)
    return noun


def add_count_of_others(sentence: str, saved_entries: Sequence[SavedEntry]) -> str:
    """Add ` (and 2 more saved tensors)` to a sentence on the first, if there are others."""
    others = len(saved_entries) - 1
    if not others:
        return sentence
    addition = ngettext("and {number} more saved tensor", "and {number} more saved tensors", others)
    return gettext("{sentence} ({addition})", sentence=sentence, addition=addition)


def phrase_versions_then_and_now(saved: SavedRecord) -> str:
    """Return `at version 0, now at 1`: in sentences on something stale, behind "saved".

    It is half a sentence: the whole ones are the texts with {then_and_now}. A translation that says
    "saved" in this half, too, has it there in brackets or behind a comma. Whatever tells what was
    saved from what is there now belongs in here if all of these sentences are to say it: the texts
    of both pictures, and `explain`. What one of them alone says goes to where that one is written.
    The caption of a card has the versions in fewer words, that of a row has none.
    """
    return gettext("at version {then}, now at {now}", then=saved.saved_version, now=saved.version)


def count_writes_since(saved: SavedRecord) -> int:
    """Return how many writes to something stale its counter has counted since it was saved.

    It is the counter's number. `t_()`, which changes no cell, counts as one; some calls that start
    weights count as two. Of a counter that the program has put back it is too few, and 0 if the
    version is now that of the save or a lower one.
    """
    return max((saved.version or 0) - (saved.saved_version or 0), 0)


def phrase_consequence(saved: SavedRecord) -> str:
    """Return what backward does about something stale: `backward will raise`.

    In pictures: `explain` has its verdict instead. In a run, once it has raised, it is `backward raised`.
    """
    if saved.has_raised:
        return gettext("backward raised")
    if saved.raises is None:
        return gettext("backward raises if it opens it")
    if not saved.raises:
        return gettext("its backward does not open it")
    return gettext("backward will raise")


# -- the line that wrote: known under a watch alone --------------------------------------------

# A sentence has it in brackets at its end. So it is the same sentence without a watch, and a
# drawing that has no room for the sentence takes the words without brackets.


def phrase_lines_that_wrote(*records: SavedRecord) -> str:
    """Return `written to by train.py, line 12`; empty if no watch saw which lines wrote."""
    lines = dict.fromkeys(saved.line_to_blame for saved in records if saved.line_to_blame)
    if not lines:
        return ""
    labels = join_few_names(line.word() for line in lines)
    return gettext("written to by {lines}", lines=escape_unseen(labels))


def add_lines_that_wrote(sentence: str, *records: SavedRecord) -> str:
    """Add ` (written to by train.py, line 12)` to a sentence, if a watch saw which lines wrote.

    What was not written has no line, and adds nothing.
    """
    addition = phrase_lines_that_wrote(*records)
    if not addition:
        return sentence
    return gettext("{sentence} ({addition})", sentence=sentence, addition=addition)


# -- who wrote, and the way out ----------------------------------------------------------------


def phrase_all_writes(tensor: TensorRecord) -> str:
    """Return `3 writes`: all that a tensor's version counter has counted, and not those since a save."""
    return ngettext("{number} write", "{number} writes", tensor.version or 0)


def phrase_backward(snap: Snapshot, tensor_id: str, reduction: str = "") -> str:
    """Return `loss.backward()`; of a tensor that no code names, "backward() on T7 (no name)".

    reduction: calls that come before, as `.sum()`.
    """
    expression = snap.find_expression(tensor_id)
    if expression:
        return f"{expression}{reduction}.backward()"
    call = f"{reduction}.backward()" if reduction else "backward()"
    return gettext("{call} on {tensor}", call=call, tensor=snap.label(tensor_id))


def name_in_python(tensor: TensorRecord) -> str:
    """Return a name of a tensor as a program can write it (`hs[0]`); empty if there is none.

    What a call or an operator returned cannot be named without computing it again.
    """
    for name in tensor.names:
        expression = write_expression(name)
        if expression and not _makes_new(ast.parse(expression, mode="eval").body):
            return expression
    return ""


def _makes_new(expression: ast.expr) -> bool:
    """Return True for an expression that is another object each time it is computed."""
    match expression:
        case ast.Name() | ast.Constant():
            return False
        case ast.Attribute(value=owner):
            return _makes_new(owner)
        # A call may give another index, or another answer, the next time.
        case ast.Subscript(value=owner, slice=index):
            return _makes_new(owner) or _has_call(index)
        case ast.IfExp(test=condition, body=first, orelse=second):
            return _makes_new(first) or _makes_new(second) or _has_call(condition)
        case ast.BoolOp(values=values):
            return any(map(_makes_new, values))
        case ast.List(elts=values) | ast.Tuple(elts=values):
            return any(map(_makes_new, values))
        case ast.Dict(values=values):
            return any(map(_makes_new, values))
    return True


def _has_call(expression: ast.expr) -> bool:
    """Return True for an expression that does something when it is computed."""
    kinds = (ast.Call, ast.NamedExpr, ast.Await)
    return any(isinstance(part, kinds) for part in ast.walk(expression))


def advise_copy(tensors: Iterable[TensorRecord]) -> str:
    """Return the way out that fits every write: into a copy of the first that has a name."""
    tensor = next((tensor for tensor in tensors if name_in_python(tensor)), None)
    if tensor is None:
        return gettext("write to a copy (clone), or write after backward")
    name = name_in_python(tensor)
    if tensor.is_view:
        # A copy of the view no longer reaches the tensor that the program means to write to.
        return gettext(
            "write after backward, or copy the whole base first and take {name} from the copy",
            name=name,
        )
    return gettext("write to a copy ({name}.clone()), or write after backward", name=name)


def name_counter_sharers(snap: Snapshot, tensor_id: str | None) -> tuple[str, ...]:
    """Return the names of the tensors that share a tensor's version counter, itself first; none for None."""
    if tensor_id is None:
        return ()
    sharers = [sharer for sharer in snap.counter_sharers(tensor_id) if sharer.id != tensor_id]
    names = [snap.label(sharer.id) for sharer in sharers if sharer.names]
    return (snap.label(tensor_id), *names)
