"""The facts of a run that decide a question, in sentences.

A declaration in `ready_questions.py` names one of the functions that describe something, such as
`describe_node`, as its `because`. Most read the facts off the run. What can only be found by doing
(does a write show, does a gradient arrive) is tried in a run of its own, as `try_shared_write` does.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tinytorch.viz import Snapshot, collect_tensors_by_name, getattr_or_none, labels

from .. import tensor_facts
from ..player import Frame
from ..tensor_facts import TensorFact
from ..wording import (
    cache_in_language,
    gettext,
    gettext_noop,
    join_facts,
    join_list,
    join_sentences,
    ngettext,
)
from . import origins
from .answers import flatten_lists, format_number
from .runs import Moment, QuizRun

_MAX_ERROR = 400
"""Characters of the error of a run that are quoted."""
_MAX_NEW_VALUES = 6
"""Values of a name that are listed; of more, the first two and the last three."""
_MAX_NODES = 8
"""Nodes of a path that are listed; of more, the first four and the last three."""

_UNINITIALIZED = re.compile(r"\bempty(_like|_strided)?\(|\bnew_empty\(")


def is_uninitialized(code: str) -> bool:
    """Return True if a code makes a tensor whose numbers are what its memory held before."""
    return _UNINITIALIZED.search(code) is not None


def _make_describer(
    find_fact: Callable[..., TensorFact], explain: Callable[..., str] | None = None
) -> Callable[..., str]:
    """Return a function that returns the sentence of a fact of `tensor_facts.py`.

    explain: a function of `origins.py`, which says why it holds.
    """

    def describe_fact(run: QuizRun, *names: str, at: int | None) -> str:
        sentence = run.read_fact(find_fact, *names, at=at).sentence
        reason = "" if explain is None else explain(run, *names, at=at)
        return join_sentences([sentence, reason]) if reason else sentence

    return describe_fact


describe_same_tensor = _make_describer(tensor_facts.is_same_tensor, origins.explain_same_tensor)
describe_shared_storage = _make_describer(
    tensor_facts.shares_storage, origins.explain_shared_storage
)
describe_shared_counter = _make_describer(
    tensor_facts.shares_counter, origins.explain_shared_counter
)
describe_requires_grad = _make_describer(tensor_facts.requires_grad)


def describe_node(run: QuizRun, y: str, *, at: int | None) -> str:
    """Say which node a tensor has, and which it had before: a recorded write gives it another."""
    fact = run.read_fact(tensor_facts.has_node, y, at=at)
    return _list_nodes(run, y, at) or fact.sentence


def describe_leaf(run: QuizRun, y: str, *, at: int | None) -> str:
    """Say whether a tensor is a leaf, and which nodes it had before."""
    fact = run.read_fact(tensor_facts.is_leaf, y, at=at)
    nodes = _list_nodes(run, y, at)
    conclusion = tensor_facts.conclude_leaf(y, is_leaf=fact.holds)
    return join_sentences([nodes, conclusion]) if nodes else fact.sentence


def _list_nodes(run: QuizRun, y: str, at: int | None) -> str:
    """List the nodes of a tensor in time, in a sentence; empty if it had no other one before."""

    def name_node(moment: Moment) -> str | None:
        tensor = moment.snapshot.tensor(y)
        return None if tensor.grad_fn_name is None else labels.short_node_name(tensor.grad_fn_name)

    if len(run.history(name_node, at)) < 2:
        return ""
    nodes = _describe_new_values(run, name_node, at)
    return gettext("{what}: {facts}", what=f"`{y}.grad_fn`", facts=nodes)


def describe_version(run: QuizRun, x: str, *, at: int | None) -> str:
    """List the versions of a tensor in time, and the tensors that share its counter."""
    tensor, snapshot = run.tensor(x, at), run.snapshot(at)
    versions = _describe_new_values(run, lambda moment: moment.snapshot.tensor(x).version, at)
    sentence = gettext("{what}: {facts}", what=f"`{x}._version`", facts=versions)
    if tensor.counter is None:
        return sentence
    reason = origins.explain_version(run, x, at=at)
    sentence = join_sentences([sentence, reason]) if reason else sentence
    others = [other for other in snapshot.counter(tensor.counter).tensors if other != tensor.id]
    sharer_names = [
        _quote_names(snapshot, other) for other in others if snapshot.tensor(other).names
    ]
    if not sharer_names:
        return sentence
    sharer_sentence = gettext(
        "The version counter of `{x}` counts for {names} as well.",
        x=x,
        names=labels.join_names(sharer_names),
    )
    return join_sentences([sentence, sharer_sentence])


def describe_offset(run: QuizRun, x: str, *, at: int | None) -> str:
    """Say at which cell a tensor begins, and where and how others over its memory are read."""
    tensor, snapshot = run.tensor(x, at), run.snapshot(at)
    if tensor.offset is None:
        return gettext("`{x}` has no storage to begin in.", x=x)
    # "Its storage" and not "S1": NumPy arrays may make S1 of several storages, and an offset counts
    # from the beginning of the tensor's own.
    sentences = [gettext("`{x}` begins at cell {cell} of its storage.", x=x, cell=tensor.offset)]
    sharers = [other for other in snapshot.storage_sharers(tensor) if other.id != tensor.id]
    sentences += [
        gettext(
            "{name}, over the same memory, begins at cell {cell} of its storage and has the strides {strides}.",
            name=_quote_names(snapshot, sharer.id),
            cell=sharer.offset,
            strides=sharer.stride,
        )
        for sharer in sharers
        if sharer.names
    ]
    return join_sentences(sentences)


def describe_cells(run: QuizRun, x: str, *, at: int | None) -> str:
    """Say how many cells a storage has, and how many elements the tensor that looks at it."""
    cells, tensor = run.count_cells(x, at), run.tensor(x, at)
    if cells is None:
        return gettext("`{x}` has no storage.", x=x)
    if tensor.is_view and tensor.numel < cells:
        return ngettext(
            "`{x}` has {number} element, and its storage keeps all of its {cells} cells.",
            "`{x}` has {number} elements, and its storage keeps all of its {cells} cells.",
            tensor.numel,
            x=x,
            cells=cells,
        )
    return gettext(
        "Cells of the storage of `{x}`: {cells}. Elements of `{x}`: {elements}.",
        x=x,
        cells=cells,
        elements=tensor.numel,
    )


def describe_value(run: QuizRun, x: str, *, at: int | None) -> str:
    """List the values of a name in time."""
    values = _describe_new_values(run, lambda moment: moment.values[x], at)
    return gettext("{what}: {facts}", what=f"`{x}`", facts=values)


def describe_gradient(run: QuizRun, x: str, *, at: int | None) -> str:
    """List the gradients of a tensor in time, or say why it has none."""
    # Moments before the first gradient are left out. A later None is listed: it was set back.
    had_gradient = False

    def read_gradient(moment: Moment) -> Any:
        nonlocal had_gradient
        had_gradient = had_gradient or x in moment.grads
        if not had_gradient or x not in moment.values:
            raise KeyError(x)  # by which `QuizRun.history` leaves a moment out
        return moment.grads.get(x)

    gradients = _describe_new_values(run, read_gradient, at)
    if gradients:
        facts = gettext("{what}: {facts}", what=f"`{x}.grad`", facts=gradients)
        return join_sentences([facts, *_explain_wrong_gradient(run, x, at)])
    tensor = run.tensor(x, at)
    if not tensor.requires_grad:
        sentence = gettext_noop("`{x}.grad` is None: `{x}` does not require grad.")
    elif not tensor.is_leaf:
        sentence = gettext_noop("`{x}.grad` is None: `{x}` is not a leaf; its node is {node}.")
    else:
        return _describe_missed_leaf(run, x, at)
    return gettext(sentence, x=x, node=tensor.grad_fn_name)


def _describe_missed_leaf(run: QuizRun, x: str, at: int | None) -> str:
    """Say why a leaf that requires grad has no gradient: nothing ran that could give it one, or it was not met."""
    backward_steps = [step for step in run.list_steps(at) if ".backward(" in step.site.source]
    if not backward_steps:
        return gettext("`{x}.grad` is None: no `backward` has run.", x=x)
    site = backward_steps[-1].site
    # With `inputs` it stops at others, and in a loop or a function the line does not say where it began.
    if not site.source.endswith(".backward()") or len(backward_steps) > 1:
        return gettext("`{x}.grad` is None: no `backward` has reached `{x}`.", x=x)
    return gettext(
        "`{x}.grad` is None: line {line} (`{source}`) met no node that leads to `{x}`.",
        x=x,
        line=site.line,
        source=site.source,
    )


def _explain_wrong_gradient(run: QuizRun, x: str, at: int | None) -> list[str]:
    """Say which write made the last gradient of a tensor wrong, if one did and no error said so."""
    new_values = run.history(lambda moment: moment.grads[x], at)
    # Of the line that gave it its last value: a later backward may have made it wrong, or right
    # again.
    frames = [frame for frame in run.player.frames if frame.line == new_values[-1].line]
    # The first sentence names the write, those after it a way out.
    return [_quote_reason(frame) for frame in frames[-1:] if frame.has_wrong_gradient]


def _quote_reason(frame: Frame) -> str:
    """Return which write made the gradient of a step wrong, its code in code type."""
    return frame.code_words.quote_code(frame.explanation[0])


def _describe_new_values(run: QuizRun, read: Callable[[Moment], Any], at: int | None) -> str:
    """List values with the lines that made them: 1 after line 2 (...); 5 after line 6 (...)."""
    parts = []
    for (line, source), new_values in groupby(
        run.history(read, at), lambda new_value: (new_value.line, new_value.source)
    ):
        # Uninitialized cells hold other numbers in each run, and a stored output must not change.
        values = (
            [gettext("whatever lay there")]
            if is_uninitialized(source)
            else [format_number(each.value) for each in new_values]
        )
        if len(values) > _MAX_NEW_VALUES:
            values = [*values[:2], "...", *values[-3:]]
        # A line of a loop is named once, with all that it made in turn.
        sentence = gettext_noop("{value} after line {line} (`{source}`)")
        if len(values) > 1:
            sentence = gettext_noop(
                "{value} one after another, as line {line} (`{source}`) ran {number} times"
            )
        number = _count_runs(run, line, source, at)
        parts.append(
            gettext(sentence, value=", ".join(values), line=line, source=source, number=number)
        )
    if not parts:
        return ""
    if len(parts) > _MAX_NEW_VALUES:
        parts = [*parts[:2], "...", *parts[-3:]]
    return gettext("{course}.", course=gettext("; ").join(parts))


def _count_runs(run: QuizRun, line: int, source: str, at: int | None) -> int:
    """Return how often a statement had run by a moment; a line may have several, as that of a short loop."""
    # At a call of the program's functions the line is not done yet.
    steps = [step for step in run.list_steps(at) if step.kind != "call"]
    return sum((step.site.line, step.site.source) == (line, source) for step in steps)


def list_wrong_gradients(run: QuizRun) -> list[str]:
    """Return the sentences that say which writes made gradients wrong without an error."""
    frames = [frame for frame in run.player if frame.has_wrong_gradient]
    return list(map(_quote_reason, frames))


def describe_outcome(run: QuizRun) -> str:
    """Say how the run ended."""
    if run.trace.error is None:
        if run.is_endless:
            return describe_limit(run)
        # Of a belief about a wrong gradient, that nothing was raised alone proves nothing.
        return join_sentences([gettext("No line raised an error."), *list_wrong_gradients(run)[:1]])
    error = run.trace.error.partition("\n")[0]
    if len(error) >= _MAX_ERROR:
        error = error[:_MAX_ERROR] + " ..."
    frame = run.player[-1]
    explanation = [frame.code_words.quote_code(sentence) for sentence in frame.explanation]
    quoted = "`{}`".format(error.replace("`", "'"))
    if not explanation:
        return gettext("Line {line} raises {error}", line=run.error_line, error=quoted)
    # Behind what explains it: its words are many, and name no line and no variable.
    headline = gettext("Line {line} raises an error.", line=run.error_line)
    words = gettext("The error says: {error}", error=quoted)
    # The cause stands alone, then the way out, and the raw words apart.
    cause, *ways_out = explanation
    return "\n\n".join([join_sentences([headline, cause]), *ways_out, words])


def describe_limit(run: QuizRun) -> str:
    """Say that the run did not come to its end, and when it was stopped."""
    return gettext(
        "The program was stopped after {steps} steps, and was still running.",
        steps=format(len(run.trace.steps), ","),
    )


def describe_output(run: QuizRun, line: int) -> str:
    """Say what a line printed."""
    return gettext("Line {line} prints `{printed}`.", line=line, printed=run.read_output(line))


def describe_names_showing(run: QuizRun, number: float, *names: str, at: int | None) -> str:
    """Say which values each of several tensors has, and with which lines the number came."""
    sentences = []
    for name in names:
        value = format_number(run.value(name, at))
        sentences.append(gettext("`{name}` is {value}.", name=name, value=value))
    reason = origins.explain_number(run, number, names, at=at)
    return join_sentences([*sentences, reason] if reason else sentences)


# -- what can be counted ----------------------------------------------------------------


def _find_shown_tensors(snapshot: Snapshot) -> dict[str, str]:
    tensors = {}
    for _, members in snapshot.shown_storages:
        for tensor in members:
            tensors[tensor.id] = _quote_names(snapshot, tensor.id)
    return tensors


def _find_shown_storages(snapshot: Snapshot) -> dict[str, str]:
    storages = {}
    for storage, members in snapshot.shown_storages:
        names = [_quote_names(snapshot, tensor.id) for tensor in members]
        storages[storage.id] = labels.join_names(names)
    return storages


def _find_shown_counters(snapshot: Snapshot) -> dict[str, str]:
    names_by_counter: dict[str, list[str]] = {}
    for tensor_id, name in _find_shown_tensors(snapshot).items():
        tensor = snapshot.tensor(tensor_id)
        if tensor.counter is not None and snapshot.shows_counter(tensor):
            names_by_counter.setdefault(tensor.counter, []).append(name)
    return {counter: labels.join_names(names) for counter, names in names_by_counter.items()}


def _quote_names(snapshot: Snapshot, tensor_id: str) -> str:
    """Return the names of a tensor, each as code: as `x = y` they would read as an assignment."""
    return "/".join(f"`{name}`" for name in snapshot.label(tensor_id).split(" = "))


@dataclass(frozen=True)
class Countable:
    """What `count` can ask for: the question, and the members in a memory picture with names."""

    prompt: str
    find_in: Callable[[Snapshot], dict[str, str]]


COUNTABLES: Mapping[str, Countable] = {
    "names": Countable(
        gettext_noop("How many names are there?"), lambda snapshot: dict(snapshot.names)
    ),
    "tensors": Countable(gettext_noop("How many tensors are there?"), _find_shown_tensors),
    "storages": Countable(gettext_noop("How many storages are there?"), _find_shown_storages),
    "counters": Countable(
        gettext_noop("How many version counters are there?"), _find_shown_counters
    ),
}


def describe_count(run: QuizRun, kind: str, *, at: int | None) -> str:
    """Say how many there are of a kind, list them, each with its line, and say what added none."""
    find_in = COUNTABLES[kind].find_in
    members = find_in(run.snapshot(at))
    number = len(members)
    if not number:
        return gettext("There are none.")
    first_lines = origins.find_first_lines(run, find_in, at)
    template = gettext_noop("{names} (line {line})")
    # By their names alone: S1 and C1, as the words of a picture have them, are not in the drawing.
    if kind in ("storages", "counters"):
        template = gettext_noop("that of {names} (line {line})")
    each = join_facts(
        gettext(template, names=f"`{key}`" if kind == "names" else names, line=first_lines[key])
        for key, names in members.items()
    )
    if kind == "names":
        return ngettext("{number} name: {each}.", "{number} names: {each}.", number, each=each)
    sentences = {
        "tensors": ngettext(
            "{number} tensor: {each}.", "{number} tensors: {each}.", number, each=each
        ),
        "storages": ngettext(
            "{number} storage: {each}.", "{number} storages: {each}.", number, each=each
        ),
        "counters": ngettext(
            "{number} counter: {each}.", "{number} counters: {each}.", number, each=each
        ),
    }
    reason = origins.explain_count(run, kind, first_lines, at)
    return join_sentences([sentences[kind], reason]) if reason else sentences[kind]


# -- what `names_that` can ask for ------------------------------------------------------


@dataclass(frozen=True)
class TensorProperty:
    """A property of tensors: how to ask for it, and who has it.

    prompt: the question, with `{names}`.
    holds_for: returns True if a tensor has the property, called as `holds_for(run, name, at=at)`.
    describe: returns the sentence that says why, called in the same way.
    """

    prompt: str
    holds_for: Callable[..., bool]
    describe: Callable[..., str]


def _make_property(prompt: str, find_fact: Callable[..., TensorFact]) -> TensorProperty:
    """Make a property of a fact of `tensor_facts.py`."""

    def holds_for(run: QuizRun, name: str, *, at: int | None) -> bool:
        return run.read_fact(find_fact, name, at=at).holds

    return TensorProperty(prompt, holds_for, _make_describer(find_fact))


def _has_gradient(run: QuizRun, name: str, *, at: int | None) -> bool:
    return run.tensor(name, at).grad is not None


PROPERTIES: Mapping[str, TensorProperty] = {
    "is_leaf": _make_property(gettext_noop("Which of {names} are leaves?"), tensor_facts.is_leaf),
    "requires_grad": _make_property(
        gettext_noop("Which of {names} require grad?"), tensor_facts.requires_grad
    ),
    "on_graph": _make_property(
        gettext_noop("Which of {names} have a node (`grad_fn`)?"), tensor_facts.has_node
    ),
    # No fact of a moment: what decides it are the lines that changed `.grad`.
    "has_grad": TensorProperty(
        gettext_noop("Which of {names} have a `.grad` that is not None?"),
        _has_gradient,
        describe_gradient,
    ),
}

NameTest = str | Callable[[QuizRun, str], bool]
"""A name in PROPERTIES, or a function of the run and a name."""


def find_names(run: QuizRun, test: NameTest, *names: str, at: int | None) -> frozenset[str]:
    """Return the names for which a test is true."""
    if callable(test):
        return frozenset(name for name in names if test(run, name))
    holds_for = PROPERTIES[test].holds_for
    return frozenset(name for name in names if holds_for(run, name, at=at))


def describe_names(run: QuizRun, test: NameTest, *names: str, at: int | None) -> str:
    """Say of each name what decides if a test is true for it."""
    if callable(test):
        found = join_list(sorted(find_names(run, test, *names, at=at)))
        return gettext("The run says: {names}.", names=found or gettext("none"))
    describe = PROPERTIES[test].describe
    return join_sentences(describe(run, name, at=at) for name in names)


# -- what is tried ----------------------------------------------------------------------


def describe_shared_write(run: QuizRun, x: str, through: str, *, at: int | None) -> str:
    """Say what was written into `through`, and what `x` showed then."""
    return try_shared_write(run, x, through, at=at).sentence


def describe_gradient_path(run: QuizRun, x: str, of: str, *, at: int | None) -> str:
    """Say if `backward` from `of` gave `x` a gradient, and through which nodes it came."""
    return try_gradient_path(run, x, of, at=at).sentence


# A question asks for the answer, and `because` for its sentence: what is tried is tried once.
@cache_in_language(maxsize=64)
def try_shared_write(run: QuizRun, x: str, through: str, *, at: int | None) -> TensorFact:
    """`x` shows what is written into `through`: tried with a number in every element.

    ValueError if the code has no tensor of one of the names.
    """
    variables = run.make_variables(at)
    shown_tensor = _find_live_tensor(variables, x)
    written_tensor = _find_live_tensor(variables, through)
    before = list(flatten_lists(shown_tensor.tolist()))
    # The number must not be among the elements of `x` already, or nothing would change.
    unused = next(number for number in range(7, 9 + len(before)) if number not in before)
    # Each number but 0 is True to a bool: only the other value shows.
    mark: Any = not before[0] if before and isinstance(before[0], bool) else unused
    with run.engine.no_grad():
        written_tensor.fill_(mark)
    after = list(flatten_lists(shown_tensor.tolist()))
    # As printed: nan is not equal to nan.
    is_seen = repr(after) != repr(before)
    sentence = gettext_noop("Tried: `{code}`; `{name}` stays.")
    if len(after) <= 12:
        sentence = gettext_noop("Tried: `{code}`; `{name}` then shows {value}.")
    elif is_seen:
        sentence = gettext_noop("Tried: `{code}`; `{name}` changes.")
    # Filled in where a sentence has them: the one on many numbers shows none.
    code, value = f"{through}.fill_({mark})", format_number(shown_tensor.tolist())
    return TensorFact(is_seen, gettext(sentence, code=code, name=x, value=value))


@cache_in_language(maxsize=64)  # as above
def try_gradient_path(run: QuizRun, x: str, of: str, *, at: int | None) -> TensorFact:
    """A gradient arrives at `x`: tried with `of.sum().backward()`, unless one requires no grad.

    ValueError if the code has no tensor of one of the names.
    """
    variables = run.make_variables(at)
    source, result = _find_live_tensor(variables, x), _find_live_tensor(variables, of)
    if not source.requires_grad:
        sentence = gettext(
            "`{name}` does not require grad, so no gradient is computed for it.", name=x
        )
        return TensorFact(False, sentence)
    if not result.requires_grad:
        sentence = gettext(
            "`{name}` does not require grad: "
            "there is no node to begin at, and `backward` raises an error.",
            name=of,
        )
        return TensorFact(False, sentence)
    code = f"{of}.sum().backward()"
    # PyTorch warns where `.grad` of a result is read.
    with warnings.catch_warnings(action="ignore"):
        source.grad = None  # or one that is there already would be taken for one that arrives
        if not source.is_leaf:
            # Otherwise the gradient passes through and is not kept.
            source.retain_grad()
        try:
            result.sum().backward()
        # A graph that was freed, or a saved tensor that was written to since: that is an answer, too.
        except RuntimeError as error:
            reason = str(error).partition(". ")[0].partition("\n")[0]
            sentence = gettext(
                "Tried: `{code}` raises an error: {reason}.", code=code, reason=reason
            )
            return TensorFact(False, sentence)
        gradient = getattr_or_none(source, "grad")
    path = _describe_path(run.snapshot(at), x, of)
    if gradient is None:
        sentence = gettext(
            "Tried: `{code}`; `{name}.grad` stays None. {way}", code=code, name=x, way=path
        )
        return TensorFact(False, sentence)
    sentence = gettext(
        "Tried: `{code}`; `{name}.grad` is then {value}. {way}",
        code=code,
        name=x,
        value=format_number(gradient.tolist()),
        way=path,
    )
    return TensorFact(True, sentence)


def _find_live_tensor(variables: Mapping[str, Any], name: str) -> Any:
    # A question may be about `pair[0]`, so `variables[name]` is not enough.
    tensors = dict(collect_tensors_by_name(variables))
    if name not in tensors:
        raise ValueError(f"the code has no tensor called {name!r}")
    return tensors[name]


def _describe_path(snapshot: Snapshot, x: str, of: str) -> str:
    """Say which nodes lead from `of` to `x`."""
    if snapshot.tensor(of).grad_fn is None:
        return gettext("`{name}` has no node.", name=of)
    path = find_path(snapshot, x, of)
    if path is None:
        return gettext("None of the nodes behind `{of}` leads to `{name}`.", of=of, name=x)
    names = [labels.short_node_name(snapshot.node(node_id).name) for node_id in path]
    if len(names) > _MAX_NODES:
        names = [*names[:4], "...", *names[-3:]]
    return gettext("The path of nodes: {nodes}.", nodes=join_list(names))


def find_path(snapshot: Snapshot, x: str, of: str) -> list[str] | None:
    """Return the ids of the nodes on the shortest path from `of` to `x`; None where none leads there.

    KeyError for a name that the snapshot does not have.
    """
    source, start = snapshot.tensor(x), snapshot.tensor(of).grad_fn
    if start is None:
        return None
    # A result is reached at its own node, a leaf at the AccumulateGrad node that holds it.
    goals = {node.id for node in snapshot.nodes if node.variable == source.id}
    if source.grad_fn is not None:
        goals.add(source.grad_fn)
    paths, visited = [[start]], {start}
    # Breadth first: longer paths are appended while we go on.
    for path in paths:
        if path[-1] in goals:
            return path
        for end in snapshot.node(path[-1]).ends:
            if end not in visited:
                visited.add(end)
                paths.append([*path, end])
    return None
